"""A study's folder, and the steps from its protocol to its report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from darkcurrent.analysis import Declared, analyze
from darkcurrent.batteries import load_battery
from darkcurrent.canonical import canonical_json, digest_text
from darkcurrent.capture import (
    CampaignState,
    JournalSummary,
    Progress,
    campaign_state,
    is_running,
    journal_path,
    run_campaign,
)
from darkcurrent.errors import ProtocolError, UsageError
from darkcurrent.importers import ImportedStudy, load_imported
from darkcurrent.judges import delimiters_in, freeze_configuration
from darkcurrent.ledger import campaign_ledger, compact, read_of_study
from darkcurrent.protocol import Frozen, Protocol, freeze, load_frozen, load_protocol
from darkcurrent.protocol.configurations import Configuration, RawConfiguration
from darkcurrent.protocol.rubrics import rubric_text
from darkcurrent.protocol.timestamp import FOLDER, Commitment, stamp
from darkcurrent.records import Battery, Call, Item
from darkcurrent.reports import (
    Provenance,
    csv_tables,
    drawn_figures,
    html_report,
    judge_card,
    markdown_report,
    provenance_of_frozen,
    provenance_of_imported,
)
from darkcurrent.results import Analysis
from darkcurrent.schedules import StoredAssignment, calls_of, divide, plan, refuse_unfit
from darkcurrent.verdicts import contract_of
from darkcurrent.writing import write_file, write_files

__all__ = ["Draft", "Study"]


class Draft(NamedTuple):
    """What freezing fixes."""

    protocol: Protocol
    battery: Battery
    identities: dict[str, dict[str, Any]]
    schedules: dict[str, tuple[Call, ...]]
    assignment: StoredAssignment | None


_FLAG = "holds-prompt-tags"


class Study:
    """A folder with `protocol.toml`, `frozen/`, `journal/`, `analysis.json`, `report.html` and `report.md`.

    Parameters
    ----------
    folder : Path
        It need not exist before something is written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import darkcurrent
    >>> pairs = [{"prompt": f"Is {n} even?", "chosen": "yes", "rejected": "no"} for n in range(0, 160, 2)]
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     folder = Path(temporary, "study")
    ...     audit = darkcurrent.audit({"backend": "simulated"}, pairs, journal=folder)
    ...     study = darkcurrent.Study(folder)
    ...     print(study.state("judge")[0], study.ledger().height, study.analyze() == audit.analysis)
    COMPLETE 240 True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def protocol_path(self) -> Path:
        """The protocol as a person edits it."""
        return self.folder / "protocol.toml"

    @property
    def is_frozen(self) -> bool:
        """Whether `frozen/` exists."""
        return (self.folder / "frozen").exists()

    @property
    def is_imported(self) -> bool:
        """Whether the verdicts were recorded by others: `imported/` exists."""
        return (self.folder / "imported").exists()

    @cached_property
    def imported(self) -> ImportedStudy:
        """The imported verdicts, every byte checked when it is read."""
        return load_imported(self.folder / "imported")

    @cached_property
    def frozen(self) -> Frozen:
        """The frozen study, every byte checked.

        Raises
        ------
        UsageError
            Where there is none, also because the verdicts were imported.
        """
        if self.is_imported:
            raise UsageError(
                f"{self.folder} holds imported verdicts, and nothing to run: use `darkcurrent analyze {self.folder}`."
            )
        return load_frozen(self.folder / "frozen")

    def protocol_was_edited(self) -> bool:
        """Say whether the protocol in the folder is no longer the frozen one, which alone counts."""
        frozen = (self.frozen.folder / "protocol.toml").read_bytes()
        return (
            self.protocol_path.exists()
            and self.protocol_path.read_bytes().removeprefix(b"\xef\xbb\xbf") != frozen
        )

    def freeze(self) -> str:
        """Freeze the study: battery, configurations and schedule; return the study digest.

        Raises
        ------
        UsageError
            Where it is frozen already, or the protocol or the battery cannot be used.
        """
        if self.is_frozen:
            raise UsageError(
                f"{self.folder} is frozen already and is never overwritten: start a new study in another folder."
            )
        draft = self.draft()
        text = self.protocol_path.read_bytes().decode("utf-8-sig")
        return freeze(
            self.folder / "frozen",
            draft.protocol,
            text,
            draft.battery,
            draft.identities,
            draft.schedules,
            draft.assignment,
        )

    def draft(
        self, identify: Callable[[Configuration, Path], dict[str, Any]] = freeze_configuration
    ) -> Draft:
        """Return what freezing would fix; nothing is written.

        Parameters
        ----------
        identify : callable
            From a configuration and the folder to its identity.

        Raises
        ------
        UsageError
            Where the protocol or the battery cannot be used.
        """
        protocol = load_protocol(self.protocol_path)
        for configuration in protocol.configuration:
            try:
                contract_of(configuration)
            except UsageError as error:
                raise ProtocolError(f"configuration `{configuration.name}`: {error}") from error
        battery = _flagged(load_battery(protocol, self.folder), protocol)
        rubrics, texts = self._rubrics(protocol, battery.instruction)
        battery = battery.model_copy(update={"texts": {**battery.texts, **texts}})
        identities = {c.name: identify(c, self.folder) for c in protocol.configuration}
        planned = plan(protocol.schedule, battery, rubrics)
        schedules = {
            name: calls_of(planned, battery, rubrics, name, identity["digest"])
            for name, identity in identities.items()
        }
        for calls in schedules.values():
            divide(calls, protocol.capture.shards, protocol.schedule.kind)  # says so where it cannot be done
        refuse_unfit(protocol.schedule, battery, rubrics, schedules, planned.assignment)
        return Draft(protocol, battery, identities, schedules, planned.assignment)

    def stamp(self, url: str, authorities: Path | None = None) -> Commitment:
        """Have a time-stamp authority put its time on the study digest, before the first call.

        Parameters
        ----------
        url : str
            Where the authority answers (RFC 3161 over HTTP).
        authorities : Path, optional
            A PEM file with the certificates that are trusted for it; those of the system by default.

        Raises
        ------
        UsageError
            Where a call was made already, or the study has a token.
        TransportError
            Where the authority gives none. The study is frozen all the same, and can be stamped later.
        """
        frozen = self.frozen
        if any(journal_path(self.folder, c.name).exists() for c in frozen.protocol.configuration):
            raise UsageError(
                f"{self.folder} has made its first call already: a time from now on would show nothing of what was fixed before."
            )
        manifest = json.loads((frozen.folder / "manifest.json").read_bytes())
        content = canonical_json({key: manifest[key] for key in ("files", "format")})
        return stamp(self.folder / FOLDER, frozen.study_digest, content, url, authorities)

    def _rubrics(self, protocol: Protocol, instruction: str) -> tuple[dict[str, str], dict[str, str]]:
        texts = {
            name: rubric_text(name, criterion, self.folder, instruction)
            for name, criterion in protocol.criteria.items()
        }
        digests = {name: digest_text(text) for name, text in texts.items()}
        return digests, {digests[name]: text for name, text in texts.items()}

    def configuration(self, name: str) -> Configuration:
        """Return a configuration of the frozen protocol by its name.

        Raises
        ------
        UsageError
            Where there is none of this name.
        """
        for configuration in self.frozen.protocol.configuration:
            if configuration.name == name:
                return configuration
        known = ", ".join(f"`{configuration.name}`" for configuration in self.frozen.protocol.configuration)
        raise UsageError(f"There is no configuration `{name}` in this study: known are {known}.")

    def run(
        self,
        name: str,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        function: Callable[..., Any] | None = None,
    ) -> CampaignState:
        """Capture what is missing of one configuration's campaign; `function` as in `run_campaign`."""
        return run_campaign(self.folder, self.frozen, self.configuration(name), on_progress, function)

    def states(self) -> dict[str, tuple[CampaignState, JournalSummary | None, int]]:
        """Return the state of each configuration's campaign."""
        return {
            configuration.name: self.state(configuration.name)
            for configuration in self.frozen.protocol.configuration
        }

    def state(self, name: str) -> tuple[CampaignState, JournalSummary | None, int]:
        """Return how far a campaign is, what its journal says, and how many calls are scheduled.

        Raises
        ------
        IntegrityError
            Where the journal was begun under another study digest.
        """
        scheduled = len(self.frozen.schedule(name))
        summary = read_of_study(journal_path(self.folder, name), self.frozen.study_digest)
        return campaign_state(summary, scheduled), summary, scheduled

    def running(self) -> list[str]:
        """Return the configurations that a process captures right now."""
        if self.is_imported:
            return []
        names = [configuration.name for configuration in self.frozen.protocol.configuration]
        return [name for name in names if is_running(self.folder, name)]

    def ledger(self) -> pl.DataFrame:
        """Return one row per scheduled or recorded call of every configuration."""
        if self.is_imported:
            return self.imported.ledger()
        return pl.concat(ledger for _, ledger, _ in self._captured())

    def _captured(self) -> Iterator[tuple[str, pl.DataFrame, JournalSummary | None]]:
        """Yield each configuration's name, ledger and journal summary, a campaign at a time; each journal is read once."""
        for configuration in self.frozen.protocol.configuration:
            yield (
                configuration.name,
                *campaign_ledger(
                    self.frozen.schedule(configuration.name),
                    journal_path(self.folder, configuration.name),
                    contract_of(configuration),
                    self.frozen.study_digest,
                ),
            )

    def declared(self) -> Declared:
        """Return what an analysis has to know besides the ledger."""
        return self.imported.declared() if self.is_imported else Declared.of(self.frozen)

    def evaluate(self) -> Analysis:
        """Evaluate what is captured."""
        declared = self.declared()
        ledgers: list[pl.DataFrame] = []
        summaries: dict[str, JournalSummary | None] = {}
        if self.is_imported:
            ledgers.append(compact(self.imported.ledger()))
            summaries |= dict.fromkeys(declared.configurations)
        else:
            for name, ledger, summary in self._captured():
                ledgers.append(compact(ledger))
                summaries[name] = summary
        return analyze(declared, pl.concat(ledgers), summaries)

    def analyze(self) -> Analysis:
        """Evaluate what is captured and write `analysis.json`."""
        result = self.evaluate()
        write_file(self.folder / "analysis.json", result.model_dump_json(indent=1, by_alias=True) + "\n")
        return result

    def provenance(self, analysis: Analysis) -> Provenance:
        """Return where the numbers of an analysis come from."""
        if self.is_imported:
            return provenance_of_imported(self.imported)
        return provenance_of_frozen(analysis, self.frozen, self.protocol_was_edited())

    def report(self, analysis: Analysis, html: Path | None = None) -> tuple[Path, Path]:
        """Write `report.html` and `report.md`; return their paths."""
        html_path, markdown_path = html or self.folder / "report.html", self.folder / "report.md"
        provenance = self.provenance(analysis)
        write_file(html_path, html_report(analysis, provenance))
        write_file(markdown_path, markdown_report(analysis, provenance))
        return html_path, markdown_path

    def card(self, analysis: Analysis, name: str) -> str:
        """Return the judge card of a configuration."""
        if self.is_imported:
            return judge_card(analysis, name, {}, None)
        frozen = self.frozen.configurations[name]
        return judge_card(analysis, name, frozen["declared"], frozen["digest"])

    def write_csv(self, analysis: Analysis, folder: Path) -> list[Path]:
        """Write every table into a folder, one CSV file each, and return their paths.

        Raises
        ------
        UsageError
            Where nothing can be written there.
        """
        return write_files(folder, ((name, text.encode()) for name, text in csv_tables(analysis).items()))

    def write_figures(self, analysis: Analysis, folder: Path) -> list[Path]:
        """Write every chart into a folder, as SVG and as PNG, and return their paths.

        Raises
        ------
        UsageError
            Where nothing can be written there.
        """
        return write_files(folder, drawn_figures(analysis))


def _flagged(battery: Battery, protocol: Protocol) -> Battery:
    """Flag the items whose texts hold the tags, or the marks of a template, that a prompt is built with."""
    templates = [c.template for c in protocol.configuration if isinstance(c, RawConfiguration)]

    def flags(item: Item) -> tuple[str, ...]:
        others = tuple(flag for flag in item.flags if flag != _FLAG)  # items of an earlier study may carry it
        texts = (battery.texts[key] for key in (item.prompt, *item.texts.values()))
        return (*others, _FLAG) if delimiters_in(texts, templates) else others

    items = tuple(item.model_copy(update={"flags": flags(item)}) for item in battery.items)
    return battery.model_copy(update={"items": items})
