"""Several studies, or configurations of one, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from darkcurrent.analysis import SHOWN, ComparedCell, compare_cells
from darkcurrent.errors import UsageError
from darkcurrent.results import Analysis, CellComparison, CellName, CellResult, Comparison, StudyName
from darkcurrent.study import Study

__all__ = ["compare_studies", "shown_calls"]


def compare_studies(
    studies: Sequence[Study],
    configurations: Mapping[str, str] | None = None,
    criteria: Mapping[str, str] | None = None,
) -> tuple[list[Analysis], Comparison]:
    """Analyze studies, and compare the first one's cells with those of the others, verdict by verdict.

    Parameters
    ----------
    studies : sequence of Study
        One or more, captured or imported. One alone is compared with itself, where `configurations` or `criteria`
        says what with what.
    configurations, criteria : mapping of str to str, optional
        A name in the first study to its counterpart in the others; what is not in it keeps its name.

    Returns
    -------
    list of Analysis, Comparison
        The analyses in the order given, and the shared calls.

    Raises
    ------
    UsageError
        Where there is nothing to compare, or a mapped name is in no study.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import darkcurrent
    >>> pairs = [{"prompt": f"Is {n} even?", "chosen": "yes", "rejected": "no"} for n in range(0, 160, 2)]
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     folders = [Path(temporary, name) for name in ("may", "june")]
    ...     for folder in folders:
    ...         _ = darkcurrent.audit({"backend": "simulated"}, pairs, journal=folder)
    ...     _, found = compare_studies([darkcurrent.Study(folder) for folder in folders])
    >>> found.cells[0].reproduced, found.cells[0].shared
    (240, 240)
    """
    mapped, renamed = configurations or {}, criteria or {}
    if len(studies) < 2 and not (mapped or renamed):
        raise UsageError(
            "One study alone needs `--configurations a=b` or `--criteria a=b`: give another folder, or say what to compare."
        )
    ledgers = [shown_calls(study) for study in studies]
    analyses = [study.analyze() for study in studies]
    others = range(1, len(studies)) if len(studies) > 1 else range(1)
    for mapping, field in ((mapped, "configuration"), (renamed, "criterion")):
        _check(mapping, field, analyses[0], [analyses[other] for other in others])
    cells: list[CellComparison] = []
    unmatched: list[str] = []
    for other in others:
        found = {(cell.configuration, cell.criterion): cell for cell in analyses[other].cells}
        for cell in analyses[0].cells:
            own = cell.configuration, cell.criterion
            its = mapped.get(own[0], own[0]), renamed.get(own[1], own[1])
            if other == 0 and its == own:
                continue
            counterpart = found.get(its)
            if counterpart is None:
                unmatched.append(
                    f"study {other + 1} has no cell {' / '.join(its)}, so that {' / '.join(own)} of study 1 is compared with "
                    "nothing there: name its counterpart with --configurations or --criteria"
                )
                continue
            cells.append(
                compare_cells(
                    _cell(studies[0], 1, ledgers[0], cell),
                    _cell(studies[other], other + 1, ledgers[other], counterpart),
                )
            )
    names = [
        StudyName(number=number, study=each.study, study_digest=each.study_digest, state=each.state)
        for number, each in enumerate(analyses, start=1)
    ]
    return analyses, Comparison(studies=names, cells=cells, unmatched=unmatched)


def shown_calls(study: Study) -> pl.DataFrame:
    """Return a study's ledger with the digests of what each call showed: columns `rubric`, `prompt`, `text_a` to `text_c`.

    They are null where they are not on record; in imported data `prompt` is the whole request.
    """
    ledger = study.ledger()
    if study.is_imported:
        forward = pl.col("order") != "BA"
        first, second = pl.col("text_first"), pl.col("text_second")
        return ledger.with_columns(
            text_a=pl.when(forward).then(first).otherwise(second),
            text_b=pl.when(forward).then(second).otherwise(first),
            **dict.fromkeys(("rubric", "text_c"), pl.lit(None, dtype=pl.String)),
        )
    calls = [
        call
        for configuration in study.frozen.protocol.configuration
        for call in study.frozen.schedule(configuration.name)
    ]
    digests = {name: [getattr(call, name) for call in calls] for name in ("call_id", *SHOWN)}
    columns = pl.DataFrame(digests, schema=dict.fromkeys(digests, pl.String))
    return ledger.join(columns, on="call_id", how="left", maintain_order="left")


def _check(mapping: Mapping[str, str], field: str, first: Analysis, others: Sequence[Analysis]) -> None:
    here = {getattr(cell, field) for cell in first.cells}
    there = {getattr(cell, field) for each in others for cell in each.cells}
    for name, known, where in [
        *((own, here, "the first study") for own in mapping),
        *((its, there, "the others" if others[0] is not first else "this study") for its in mapping.values()),
    ]:
        if name not in known:
            listed = ", ".join(f"`{one}`" for one in sorted(known))
            raise UsageError(f"There is no {field} `{name}` in {where}: known are {listed}.")


def _cell(study: Study, number: int, ledger: pl.DataFrame, cell: CellResult) -> ComparedCell:
    configuration, criterion = cell.configuration, cell.criterion
    calls = ledger.filter(
        pl.col("configuration") == configuration, pl.col("criterion") == criterion
    ).with_columns(pl.col(name).cast(pl.String) for name in SHOWN)
    return ComparedCell(
        name=CellName(number=number, configuration=configuration, criterion=criterion, state=cell.state),
        calls=calls,
        prompts="whole request" if study.is_imported else "item",
        configuration_digest=None
        if study.is_imported
        else str(study.frozen.configurations[configuration]["digest"]),
    )
