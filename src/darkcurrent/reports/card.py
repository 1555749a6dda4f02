"""The judge card: what an audit found of one configuration, in the manner of a model card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from darkcurrent.reports.card_head import card_head
from darkcurrent.reports.marks import SENTENCE, marked, marked_table
from darkcurrent.reports.numbers import number, share
from darkcurrent.reports.risk_tables import losses_words, risk_table
from darkcurrent.reports.table import Table
from darkcurrent.reports.words import cell_sentences, commitment_words, declared, items_words, limits
from darkcurrent.reports.yaml_head import yaml_lines
from darkcurrent.results import Analysis, CellResult
from darkcurrent.risk import Losses

__all__ = ["judge_card"]


def judge_card(analysis: Analysis, name: str, settings: dict[str, Any], digest: str | None) -> str:
    """Return the card of a configuration: a YAML head, and Markdown.

    Parameters
    ----------
    name : str
        The configuration.
    settings : dict
        What the protocol declares of it; empty for imported verdicts.
    digest : str or None
        Of the frozen configuration.
    """
    head = card_head(analysis, name, settings, digest).model_dump(mode="json", by_alias=True)
    own = analysis.model_copy(
        update={
            "cells": [cell for cell in analysis.cells if cell.configuration == name],
            "campaigns": [each for each in analysis.campaigns if each.configuration == name],
            "risk": analysis.risk.model_copy(
                update={"cells": [cell for cell in analysis.risk.cells if cell.configuration == name]}
            ),
        }
    )
    # a sentence may speak of the family of cells that Holm's adjustment runs over: that of the whole study
    said = [
        sentence
        for cell, (_, sentence) in zip(analysis.cells, cell_sentences(analysis), strict=True)
        if cell.configuration == name
    ]
    body = _body(own, settings, digest, said)
    return "\n".join(["---", *yaml_lines(head), "---", "", f"# Judge card: {marked(name)}", "", *body, ""])


def _body(analysis: Analysis, settings: dict[str, Any], digest: str | None, said: list[str]) -> Iterator[str]:
    for cell, sentence in zip(analysis.cells, said, strict=True):
        yield f"- **{marked(cell.criterion)}: {marked(cell.joint)}.** {marked(sentence, SENTENCE)}"
    yield from ("", "## Intended use", "")
    yield from _use(analysis)
    yield from ("", *marked_table(_configuration(analysis, settings, digest)))
    yield from ("", *marked_table(_axes(analysis)))
    if analysis.risk.cells:
        yield from ("", *marked_table(risk_table(analysis.risk)))
    groups = _subgroups(analysis)
    if groups.rows:
        yield from ("", *marked_table(groups, 200))
    yield from ("", "## Limits", "", *(f"- {marked(limit, SENTENCE)}" for limit in limits(analysis)))
    yield from ("", marked(commitment_words(analysis), SENTENCE))


def _use(analysis: Analysis) -> Iterator[str]:
    battery = analysis.battery
    criteria = ", ".join(marked(cell.criterion) for cell in analysis.cells)
    yield (
        f"Evaluated for one task: to say which of two answers to a prompt is better, or that neither is, under the criteria "
        f"{criteria}, on {items_words(battery)} from {marked(str(battery['source']))}."
    )
    yield ""
    yield (
        "What it is going to be used for is declared by whoever uses it: an audit does not know it. Not evaluated: other items, "
        "rubrics, languages or domains, scores of single answers, rankings of more than two, and any change of the configuration "
        "below."
    )


def _configuration(analysis: Analysis, settings: dict[str, Any], digest: str | None) -> Table:
    campaign = analysis.campaigns[0]
    rows = [
        (key, value if isinstance(value, str) else json.dumps(value))
        for key, value in settings.items()
        if key != "name" and value not in (None, {}, [])
    ]
    rows += [("served model", model) for model in campaign.served_models[:20]]
    rows.append(("identity", campaign.basis or "not known"))
    if digest:
        rows.append(("digest", digest))
    rows.append(("study digest", analysis.study_digest))
    note = "What was asked, and how. Only a verified digest was computed from bytes; all else is declared."
    return Table("configuration", "Configuration", note, ("what", "value"), tuple(rows))


def _axes(analysis: Analysis) -> Table:
    losses = Losses(**analysis.risk.losses.model_dump())
    rows = tuple(row for cell in analysis.cells for row in _rows(analysis, cell))
    note = (
        "Each axis with the test that can fail it and the loss that a failure stands for. No axis makes up for another. Losses "
        f"shown first: {losses_words(losses)}; the command risk takes your own."
    )
    return Table(
        "axes", "Axes", note, ("criterion", "axis", "stress test", "loss", "result", "gate"), rows, left=5
    )


def _rows(analysis: Analysis, cell: CellResult) -> Iterator[tuple[str, ...]]:
    campaign = analysis.campaigns[0]
    held, gates = cell.state == "HOLD", analysis.gates
    core, signal = cell.clone["core"], cell.signal
    valid = share(campaign.terminal - campaign.invalid, campaign.scheduled)

    def row(axis: str, test: str, loss: str, result: str, gate: str = "no gate") -> tuple[str, ...]:
        return cell.criterion, axis, test, loss, "–" if held else result, gate

    yield (
        cell.criterion, "eligible verdicts", "every scheduled call, read under the declared contract without repair",
        "λ_I", f"{valid} valid", "HOLD" if held else "PASS" if cell.state == "EVALUATED" else "NOT GRADED",
    )  # fmt: skip
    yield row(
        "invented preferences",
        f"byte-identical texts; rate to be excluded {declared(gates['clone_threshold'])}",
        "λ_c, at a prevalence of π_c",
        f"{share(core.adverse, core.n)} not tied, at most {number(core.upper)}" if core.n else "not tested",
        core.gate,
    )
    yield row(
        "target chosen",
        f"a better and a worse text in both orders; lower bound to be reached {declared(gates['utility_threshold'])}",
        "λ_W for a wrong choice, λ_T for a tie",
        f"mean {number(signal.mean)}, lower bound {number(signal.lower)}" if signal.items else "not tested",
        signal.gate,
    )
    patterns = cell.patterns.get("signal", {})
    if total := sum(patterns.values()) - patterns.get("incomplete", 0):
        yield row(
            "place", "the same pair with the slots swapped", "in λ_W and λ_T",
            f"the same slot twice in {share(patterns.get('position', 0), total)} pairs",
        )  # fmt: skip
    if cell.equivalent is not None:
        pairs = cell.equivalent
        yield row(
            "equal texts", f"different texts; what proves them equal: {pairs.certified or 'nothing'}",
            "λ_e, at a prevalence of π_e" if pairs.certified else "none: not certified",
            f"{share(pairs.adverse, pairs.pairs)} pairs not tied",
        )  # fmt: skip
    if cell.ladder is not None:
        yield row(
            "size of a difference", "contrasts of known size", "in λ_W and λ_T",
            f"hardest step at .75 or more: {cell.ladder.smallest_75 or 'none'}",
        )  # fmt: skip
    for arm, one in cell.context.items():
        yield row(
            f"a third text ({arm})", "the same pair without and with a text that cannot win", "in λ_W and λ_T",
            f"{one.adverse} of {one.items} items changed or became invalid",
        )  # fmt: skip
    if cell.retest is not None:
        yield row(
            "repetition", "the same request asked again", "none of its own",
            f"the same verdict in {share(cell.retest.same, cell.retest.units)} units",
        )  # fmt: skip


def _subgroups(analysis: Analysis) -> Table:
    threshold = analysis.gates["utility_threshold"]
    rows = tuple(
        (
            cell.criterion,
            name,
            str(own.items),
            number(own.mean),
            "below the threshold" if threshold is not None and own.mean < threshold else "–",
        )
        for cell in analysis.cells
        for name, own in sorted(cell.signal.strata.items(), key=lambda each: (each[1].mean, each[0]))
    )
    note = (
        "Utility by stratum, weakest first; described, not tested: a mean over few items may lie below by chance, and "
        "a pooled pass can hide a weak stratum."
    )
    return Table("subgroups", "Subgroups", note, ("criterion", "stratum", "items", "mean", "remark"), rows)
