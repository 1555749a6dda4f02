"""`darkcurrent label write` and `darkcurrent label read`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from darkcurrent.cli.common import Folder, Json, print_json, say, study_of
from darkcurrent.printable import printable

if TYPE_CHECKING:
    from darkcurrent.protocol.outside import EquivalenceBattery

__all__ = ["app"]

app = typer.Typer(help="Collect human labels of equivalent answers.", no_args_is_help=True)


@app.command()
def write(folder: Folder, as_json: Json = False) -> None:
    """Write a blinded sheet for each rater into DIR/labels."""
    from darkcurrent.batteries.equivalence import write_label_sheets

    table, study = _declared(folder)
    paths = [str(path) for path in write_label_sheets(table, study, folder)]
    if as_json:
        print_json({"sheets": paths})
        return
    for path in paths:
        typer.echo(printable(path))
    say(
        f"Give each rater one sheet and {folder / 'labels' / 'README.txt'}; then: darkcurrent label read {folder}"
    )


@app.command()
def read(folder: Folder, as_json: Json = False) -> None:
    """Read the filled sheets back: agreement, and the pairs that reach the declared rule. Changes nothing."""
    from darkcurrent.batteries.equivalence import read_labels
    from darkcurrent.batteries.sheets import ANSWERS
    from darkcurrent.errors import BatteryError

    table, study = _declared(folder)
    pairs, labels = read_labels(table, study, folder)
    strata = Counter(pair.stratum for pair in pairs)
    admitted = Counter(pair.stratum for pair in pairs if pair.id in labels.admitted)
    found: dict[str, Any] = {
        "pairs": len(pairs),
        "alpha": labels.alpha,
        "min_alpha": table.labels.min_alpha,
        "admit": table.labels.admit,
        "admitted": len(labels.admitted) if labels.problem is None else 0,
        "strata": {
            name: {"pairs": strata[name], "reach_the_rule": admitted[name]} for name in sorted(strata)
        },
        "raters": {
            rater: {answer: Counter(one.labels.values())[answer] for answer in ANSWERS}
            for rater, one in labels.ratings.items()
        },
        "problem": labels.problem,
    }
    if as_json:
        print_json(found)
    else:
        alpha = "not defined" if labels.alpha is None else f"{labels.alpha:.3f}"
        typer.echo(f"Krippendorff's alpha (nominal): {alpha}, at least {table.labels.min_alpha} is declared")
        for rater, counts in found["raters"].items():
            typer.echo(f"  {rater}: {', '.join(f'{count} {answer}' for answer, count in counts.items())}")
        typer.echo(f"{len(labels.admitted)} of {len(pairs)} pairs reach the rule `{table.labels.admit}`")
        for name, counts in found["strata"].items():
            typer.echo(printable(f"  {name}: {counts['reach_the_rule']} of {counts['pairs']}"))
    if labels.problem:
        raise BatteryError(labels.problem)
    if not as_json:
        say(f"Next: darkcurrent freeze {folder}")


def _declared(folder: Path) -> tuple[EquivalenceBattery, str]:
    """Return the battery's table and the study's name; labels belong to one source and come before freezing."""
    from darkcurrent.errors import UsageError
    from darkcurrent.protocol import load_protocol
    from darkcurrent.protocol.outside import EquivalenceBattery

    study = study_of(folder)
    if study.is_frozen:
        raise UsageError(
            f"{folder} is frozen, and its labels with it: they stand in {folder / 'frozen' / 'receipts' / 'labels.json'}."
        )
    protocol = load_protocol(study.protocol_path)
    if not isinstance(protocol.battery, EquivalenceBattery):
        raise UsageError(
            f'{study.protocol_path}: only a battery with `source = "equivalence"` has labels: declare one.'
        )
    return protocol.battery, protocol.study.name
