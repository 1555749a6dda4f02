"""Where the numbers come from: every digest, who answered, what it used, and how the capture went."""

from __future__ import annotations

import json
from dataclasses import dataclass

from darkcurrent.importers import ImportedStudy
from darkcurrent.protocol import Frozen
from darkcurrent.protocol.model import Price
from darkcurrent.reports.tables import Table
from darkcurrent.reports.words import share
from darkcurrent.results import Analysis, CampaignResult

__all__ = ["Provenance", "provenance_of_frozen", "provenance_of_imported"]


@dataclass(frozen=True)
class Provenance:
    """What a report tells of its origin besides the analysis.

    Attributes
    ----------
    tables : tuple of Table
        Those that have rows.
    protocol : str
        `protocol.toml` as it was frozen; empty for imported verdicts.
    """

    tables: tuple[Table, ...]
    protocol: str = ""


def provenance_of_frozen(analysis: Analysis, frozen: Frozen, edited: bool) -> Provenance:
    """Return where a captured study comes from.

    Parameters
    ----------
    edited : bool
        Whether the protocol in the folder is no longer the frozen one.
    """
    digests = [("study", frozen.study_digest)]
    digests += [(f"configuration {name}", each["digest"]) for name, each in frozen.configurations.items()]
    digests += [(f"frozen/{name}", sha256) for name, sha256 in frozen.digests.items()]
    prices = frozen.protocol.capture.prices
    tables = (
        _digests(
            digests,
            "Everything that was fixed before the first call, by SHA-256; checked when this was written.",
        ),
        _identity(analysis, frozen),
        _usage(analysis, prices),
        _deviations(analysis, edited),
    )
    protocol = frozen.read("protocol.toml").decode("utf-8")
    return Provenance(tuple(table for table in tables if table.rows), protocol)


def provenance_of_imported(imported: ImportedStudy) -> Provenance:
    """Return where recorded verdicts come from."""
    digests = [("study", imported.manifest["study_digest"])]
    digests += [(f"source {name}", sha256) for name, sha256 in _sources(imported)]
    digests += [(f"imported/{name}", sha256) for name, sha256 in imported.manifest["files"].items()]
    return Provenance((_digests(digests, "What was read and what was kept of it, by SHA-256."),))


def _sources(imported: ImportedStudy) -> list[tuple[str, str]]:
    return [(str(each["name"]), str(each["sha256"])) for each in imported.manifest["sources"]]


def _digests(digests: list[tuple[str, str]], note: str) -> Table:
    return Table("digests", "Digests", note, ("what", "SHA-256"), tuple(digests))


def _identity(analysis: Analysis, frozen: Frozen) -> Table:
    rows: list[tuple[str, ...]] = []
    for campaign in analysis.campaigns:
        name, own = campaign.configuration, frozen.configurations[campaign.configuration]
        rows += [
            (name, f"declared {key}", _said(value)) for key, value in own["declared"].items() if key != "name"
        ]
        rows += [
            (name, f"artifact {key}", f"{_said(value)} (verified at freezing)")
            for key, value in own["artifacts"].items()
        ]
        basis = campaign.basis or "not asked yet"
        rows += [
            (name, f"when capture began: {key}", f"{_said(value)} ({basis})")
            for key, value in (campaign.identity or {}).items()
        ]
        rows += [(name, "served model", model) for model in campaign.served_models]
    note = "Who was asked. A verified digest was computed from the bytes; all else is what a person or a service declared."
    return Table("identity", "Identity", note, ("configuration", "what", "value"), tuple(rows), left=3)


def _usage(analysis: Analysis, prices: dict[str, Price]) -> Table:
    rows = tuple(
        (
            campaign.configuration,
            share(campaign.terminal, campaign.scheduled),
            _count(campaign.prompt_tokens),
            _count(campaign.completion_tokens),
            str(campaign.usage_unknown),
            _cost(campaign, prices),
            str(sum(campaign.timeline.refused) if campaign.timeline else 0),
        )
        for campaign in analysis.campaigns
    )
    columns = ("configuration", "calls ended", "tokens in", "tokens out", "no usage", "cost", "refusals")
    note = "What it used. Cost: by the declared prices, in their currency; calls that report no usage are not in it."
    return Table("usage", "Usage", note, columns, rows, left=1)


def _cost(campaign: CampaignResult, prices: dict[str, Price]) -> str:
    price = prices.get(campaign.configuration)
    if price is None or campaign.prompt_tokens is None or campaign.completion_tokens is None:
        return "–"
    cost = (campaign.prompt_tokens * price.prompt + campaign.completion_tokens * price.completion) / 1e6
    return f"{cost:.4g}"


def _deviations(analysis: Analysis, edited: bool) -> Table:
    rows = [(campaign.configuration, what) for campaign in analysis.campaigns for what in campaign.deviations]
    if edited:
        rows.append(("study", "protocol.toml was edited after freezing; the frozen one counts"))
    note = "What happened to the capture besides its calls."
    return Table("deviations", "Deviations", note, ("where", "what"), tuple(rows))


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _count(tokens: int | None) -> str:
    return "–" if tokens is None else str(tokens)
