"""`darkcurrent plan`."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from darkcurrent.cli.common import Folder, Json, console, print_json, say, study_of
from darkcurrent.errors import UsageError
from darkcurrent.printable import printable

if TYPE_CHECKING:
    from darkcurrent.planning import CampaignPlan, CellChances
    from darkcurrent.protocol import Protocol
    from darkcurrent.protocol.model import Price

__all__ = ["command"]


def command(
    folder: Folder,
    price_in: Annotated[
        float | None, typer.Option("--price-in", min=0, help="What a million tokens of prompts cost.")
    ] = None,
    price_out: Annotated[
        float | None, typer.Option("--price-out", min=0, help="What a million tokens of answers cost.")
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices", metavar="FILE", help="Prices by configuration, in TOML; default: the protocol's."
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", min=0, help="Calls per second of a campaign, for the time.")
    ] = None,
    answer_tokens: Annotated[
        int | None,
        typer.Option("--answer-tokens", min=1, help="Tokens of an answer; default: a bare verdict's."),
    ] = None,
    tokenize: Annotated[
        bool, typer.Option("--tokenize", help="Ask servers that have a tokenizer; makes no judge call.")
    ] = False,
    true_adverse: Annotated[
        float,
        typer.Option(
            "--true-adverse", min=0, max=1, help="Suppose that the judge does not tie so many clones."
        ),
    ] = 0.005,
    true_utility: Annotated[
        float,
        typer.Option(
            "--true-utility", min=0, max=1, help="Suppose that the judge chooses the right text so often."
        ),
    ] = 0.85,
    correlation: Annotated[
        float,
        typer.Option(
            "--correlation", min=-1, max=1, help="Suppose that the two orders of a pair agree so much."
        ),
    ] = 0.0,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            min=1,
            metavar="CALLS",
            help="Share so many calls of a configuration between clones and contrasts.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what a study takes and what it can show, before any call: calls, tokens, cost, time, and the chance to pass."""
    from darkcurrent.planning import Truth, best_allocation, chances, plan_campaigns
    from darkcurrent.planning.chances import family_of
    from darkcurrent.planning.tokens import ANSWER_TOKENS

    for name, value in (("--rate", rate), ("--price-in", price_in), ("--price-out", price_out)):
        if value is not None and (not math.isfinite(value) or (name == "--rate" and value == 0)):
            raise UsageError(f"{name} is {value}: give a finite number above 0.")
    study = study_of(folder)
    if study.is_frozen or study.is_imported:
        protocol, texts = study.frozen.protocol, study.frozen.texts
        schedules = {each.name: study.frozen.schedule(each.name) for each in protocol.configuration}
    else:
        # Of the identities only the digests go into a schedule, and they change no count.
        draft = study.draft(lambda configuration, folder: {"digest": "0" * 64})
        protocol, texts, schedules = draft.protocol, draft.battery.texts, draft.schedules
    campaigns = plan_campaigns(
        protocol,
        schedules,
        texts,
        folder,
        prices=_prices(protocol, price_in, price_out, prices),
        rate=rate,
        answer_tokens=answer_tokens or ANSWER_TOKENS,
        tokenize=tokenize,
    )
    truth = Truth(true_adverse, true_utility, correlation)
    cell = chances(protocol, schedules[protocol.configuration[0].name], truth)
    best = None
    if budget is not None:
        gates = protocol.gates
        if gates.clone_threshold is None or gates.utility_threshold is None:
            raise UsageError(
                "--budget needs both thresholds in `[gates]`: there is no chance to pass what is not declared."
            )
        best = best_allocation(
            budget // len(protocol.criteria),
            truth,
            gates.clone_threshold,
            gates.utility_threshold,
            family_of(protocol),
        )
    notes = _notes(protocol, campaigns, cell)
    if best is not None and (best.clones > cell.clones or best.signals > cell.signals):
        notes.append(
            f"the battery has {cell.clones} clones and {cell.signals} contrasts: this sharing takes a larger one"
        )
    if as_json:
        print_json(
            {
                "frozen": study.is_frozen,
                "campaigns": [asdict(one) for one in campaigns],
                "total": _total(campaigns),
                "supposed": asdict(truth),
                "cell": asdict(cell),
                "budget": None
                if best is None
                else {"calls": budget, **{f"cell_{k}": v for k, v in asdict(best).items()}},
                "notes": notes,
            }
        )
        return
    _show(campaigns, cell)
    if best is not None:
        typer.echo(
            f"\nOf {budget} calls for a configuration, {best.calls} in each cell: {best.clones} clones and {best.signals} "
            f"contrasts in both orders. Chance to pass: null {best.clone:.3f}, utility {best.utility:.3f}, "
            f"where {true_adverse:g} of clones are not tied and {true_utility:g} of contrasts are right."
        )
    for note in notes:
        say(f"note: {note}")


def _prices(
    protocol: Protocol, price_in: float | None, price_out: float | None, path: Path | None
) -> dict[str, Price]:
    from darkcurrent.planning import load_prices
    from darkcurrent.protocol.model import Price

    names = [configuration.name for configuration in protocol.configuration]
    if (price_in is None) != (price_out is None):
        raise UsageError("--price-in and --price-out go together: give both or none.")
    if price_in is not None and price_out is not None:
        if path is not None:
            raise UsageError("--prices and --price-in exclude each other: give one.")
        return dict.fromkeys(names, Price(prompt=price_in, completion=price_out))
    if path is None:
        return dict(protocol.capture.prices)
    found = load_prices(path)
    for name in found.keys() - set(names):
        raise UsageError(
            f"{path} has a price of `{name}`, which is no configuration of this study: remove it."
        )
    return found


def _total(campaigns: list[CampaignPlan]) -> dict[str, Any]:
    """Sum what is known of every campaign that has it; None where none has."""

    def sum_of(key: str) -> Any:
        known = [value for one in campaigns if (value := getattr(one, key)) is not None]
        return sum(known) if known else None

    keys = ("calls", "prompt_tokens", "completion_tokens", "most_tokens", "cost", "most_cost", "seconds")
    return {key: sum_of(key) for key in keys}


def _notes(protocol: Protocol, campaigns: list[CampaignPlan], cell: CellChances) -> list[str]:
    """Return how the numbers came about, and what a person would rather know before the first call."""
    ways: dict[str, list[str]] = {}
    for one in campaigns:
        if one.counted is not None:
            ways.setdefault(one.counted, []).append(one.configuration)
    notes = [f"prompt tokens of {', '.join(names)}: {way}" for way, names in ways.items()]
    unpriced = [one.configuration for one in campaigns if one.prompt_tokens is not None and one.cost is None]
    if unpriced:
        notes.append(
            f"no price is known of {', '.join(unpriced)}: give --price-in and --price-out, or --prices"
        )
    deadline = protocol.capture.deadline_minutes * 60
    notes += [
        f"{one.configuration}: {_time(one.seconds)} is more than `capture.deadline_minutes` allows"
        for one in campaigns
        if one.seconds is not None and one.seconds > deadline
    ]
    if cell.clone and cell.clone_allowed is None:
        notes.append(
            f"no judge can pass the clone gate with {cell.clones} clones: it takes {cell.clone_smallest}"
        )
    notes.append(
        "the chances suppose independent items with one rate; they say how often such a judge would pass, and nothing of yours"
    )
    return notes


def _show(campaigns: list[CampaignPlan], cell: CellChances) -> None:
    from rich.table import Table

    page = console()
    heads = (
        "configuration",
        "calls",
        "arms",
        "prompt tokens",
        "answer tokens",
        "most tokens",
        "cost",
        "most cost",
        "time",
    )
    table = Table(*heads, box=None, pad_edge=False)
    for one in [*campaigns, *([_sum_row(campaigns)] if len(campaigns) > 1 else [])]:
        table.add_row(
            printable(one.configuration),
            f"{one.calls}",
            ", ".join(f"{arm} {count}" for arm, count in one.arms.items()),
            *(_count(value) for value in (one.prompt_tokens, one.completion_tokens, one.most_tokens)),
            *("–" if value is None else f"{value:.2f}" for value in (one.cost, one.most_cost)),
            "–" if one.seconds is None else _time(one.seconds),
        )
    page.print(table)
    fewest = f"; the fewest that can pass: {cell.clone_smallest}" if cell.clone_smallest is not None else ""
    allowed = (
        "none can pass" if cell.clone_allowed is None else f"at most {cell.clone_allowed} may be adverse"
    )
    cells = "1 cell" if cell.family == 1 else f"{cell.family} cells"
    strata = "1 stratum" if cell.strata == 1 else f"{cell.strata} strata"
    lines = [
        (
            f"Null: {cell.clones} clones, {cells} in the family, {allowed}{fewest}.",
            "true adverse",
            cell.clone,
        ),
        (
            f"Utility: {cell.signals} items in {strata} ({cell.method}).",
            "true utility",
            cell.utility,
        ),
    ]
    for title, head, found in lines:
        if found:
            power = Table(head, *(f"{rate:g}" for rate in found), box=None, pad_edge=False)
            power.add_row("chance to pass", *(f"{chance:.3f}" for chance in found.values()))
            page.print(f"\n{title}", markup=False, highlight=False)
            page.print(power)


def _sum_row(campaigns: list[CampaignPlan]) -> CampaignPlan:
    from darkcurrent.planning import CampaignPlan

    return CampaignPlan(configuration="all", arms={}, **_total(campaigns))


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
