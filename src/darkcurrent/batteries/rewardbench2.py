"""Source `rewardbench2`: rows of RewardBench 2, and of each the pair of answers that is closest in length.

The rule (paper, section 5): the chosen answer is fixed, a rejected answer is eligible if its word count is near
enough, the nearest is taken, and of the rows a ranking by hash takes as many per stratum as are declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from darkcurrent.batteries.chat import render_prompt
from darkcurrent.batteries.columns import name_in
from darkcurrent.batteries.edges import null_stratum_of
from darkcurrent.batteries.rewardbench2_hub import hub_file
from darkcurrent.batteries.rows import read_rows, shown
from darkcurrent.batteries.select import NORMAL_FORM, Candidate, Draw, cluster_of, draw, excluded_by
from darkcurrent.canonical import digest_bytes, digest_text
from darkcurrent.errors import BatteryError
from darkcurrent.protocol.outside import RewardBench2Battery
from darkcurrent.records import Battery, Comparison, Item, Refusal

__all__ = ["closest", "read_rewardbench2"]

_COLUMNS = ("id", "prompt", "chosen", "rejected", "subset")
_SAME = "chosen and rejected are the same text: a clone, never a signal"


def closest(chosen: str, answers: list[str], max_words: int, max_percent: int) -> str | None:
    """Return the eligible answer that is nearest to the chosen one; None where none is eligible.

    A word is what stands between white space. An answer is eligible if the numbers of words differ by at most
    `max_words` and by at most `max_percent` of the chosen one's. The nearest has the smallest difference in words,
    then in characters (code points), then the smallest SHA-256.

    Examples
    --------
    >>> closest("one two three four", ["one two three", "one two", "a b c d e"], 20, 25)
    'a b c d e'
    >>> closest("one two three four", ["one two"], 20, 25) is None
    True
    """
    words = len(chosen.split())

    def distance(answer: str) -> tuple[int, int, str]:
        return (
            abs(len(answer.split()) - words),
            abs(len(answer) - len(chosen)),
            digest_text(answer),
        )

    near = [
        (apart, answer)
        for answer in answers
        for apart in [distance(answer)]
        if apart[0] <= max_words and 100 * apart[0] <= max_percent * words
    ]
    return min(near)[1] if near else None


def read_rewardbench2(table: RewardBench2Battery, folder: Path) -> Battery:
    """Select the items that a protocol declares.

    Where a row's only eligible rejected answers are the chosen text itself, it stands outside the draw: it is taken
    as a clone and its signal is refused.

    Raises
    ------
    BatteryError
        Where the file cannot be read, or a row does not have the hub's columns; names the row. What is wrong with
        the selection as a whole stands in the battery's `shortfalls`.
    """
    if table.revision is not None:
        path = hub_file(table.dataset, table.revision, table.file)
        name = table.file
        source = {"dataset": table.dataset, "revision": table.revision, "file": table.file}
    else:
        path = folder / str(table.path)
        if not path.exists():
            raise BatteryError(
                f"There is no file {path}: correct `battery.path`, which is relative to the study's folder, or name a commit of "
                f"the hub's {table.dataset} as `battery.revision` in its place."
            )
        name = str(table.path)
        source = {"file": name}
    reader = _Reader(table)
    for where, row in read_rows(path):
        reader.add(where.replace(str(path), name, 1), row)
    excluded = excluded_by(table.exclude, folder)
    drawn = draw(
        reader.candidates, table.seed, None if table.per_stratum == "all" else table.per_stratum, excluded
    )
    rows = {stratum: reader.rows[stratum] for stratum in sorted({*reader.rows, *(table.strata or ())})}
    receipt = {
        "source": {**source, "sha256": digest_bytes(path.read_bytes())},
        "normal_form": NORMAL_FORM,
        "exclude": list(excluded.receipts),
        "strata": {
            stratum: {
                "rows": count,
                "eligible": drawn.eligible.get(stratum, 0),
                "drawn": sum(place > 0 for place in reader.places(drawn, stratum)),
                "clone_only": sum(place == 0 for place in reader.places(drawn, stratum)),
            }
            for stratum, count in rows.items()
        },
        "nested": {
            label: {
                "per_stratum": size,
                "items": [row_id for row_id, place in drawn.places.items() if 0 < place <= size],
            }
            for label, size in table.nested.items()
        },
    }
    return reader.battery(drawn, receipt)


class _Reader:
    """Rows become candidates here, with the two texts of each; what cannot become one is refused."""

    def __init__(self, table: RewardBench2Battery) -> None:
        self.table = table
        self.candidates: list[Candidate] = []
        self.pairs: dict[str, tuple[str, str | None]] = {}
        self.refusals: list[Refusal] = []
        self.rows: Counter[str] = Counter()
        self.seen: dict[str, str] = {}

    def add(self, where: str, row: dict[str, Any]) -> None:
        table = self.table
        missing = [column for column in _COLUMNS if column not in row]
        if missing:
            raise BatteryError(
                f"{where} has no column `{missing[0]}`: give a file with the hub's columns {', '.join(_COLUMNS)}."
            )
        row_id, stratum = name_in(row, "id", where, "id"), name_in(row, "subset", where, "subset")
        if row_id in self.seen:
            raise BatteryError(
                f"{where} has the id `{row_id}` of {self.seen[row_id]}: give each row its own id."
            )
        self.seen[row_id] = where
        prompt = render_prompt(row["prompt"], where)
        chosen, rejected = _answers(row, "chosen", where), _answers(row, "rejected", where)
        if table.strata is not None and stratum not in table.strata:
            self._refuse(row_id, stratum, "`battery.strata` does not name its stratum")
            return
        self.rows[stratum] += 1
        if not chosen or not rejected:
            self._refuse(row_id, stratum, "it has fewer than two answers")
            return
        different = [answer for answer in rejected if answer != chosen[0]]
        near = closest(chosen[0], different, table.max_words, table.max_percent)
        if near is None and len(different) == len(rejected):
            self._refuse(
                row_id,
                stratum,
                f"no rejected answer is within {table.max_words} words and {table.max_percent} % of the chosen one",
            )
            return
        self.pairs[row_id] = (chosen[0], near)
        self.candidates.append(Candidate(row_id, stratum, prompt, matched=near is not None))

    def _refuse(self, row_id: str, stratum: str, reason: str) -> None:
        self.refusals.append(Refusal(where=row_id, stratum=stratum, arm=None, reason=reason))

    def places(self, drawn: Draw, stratum: str) -> list[int]:
        """Return the places of the rows of a stratum that were taken."""
        return [
            drawn.places[one.id]
            for one in self.candidates
            if one.stratum == stratum and one.id in drawn.places
        ]

    def battery(self, drawn: Draw, receipt: dict[str, Any]) -> Battery:
        """Return the items in the order of the draw."""
        candidates = {one.id: one for one in self.candidates}
        texts: dict[str, str] = {}

        def keep(text: str) -> str:
            key = digest_text(text)
            texts[key] = text
            return key

        items: list[Item] = []
        comparisons: list[Comparison] = []
        refusals = [*self.refusals, *drawn.refusals]
        for row_id, place in drawn.places.items():
            one = candidates[row_id]
            chosen, rejected = self.pairs[row_id]
            if rejected is None and "signal" in self.table.arms:
                refusals.append(Refusal(where=row_id, stratum=one.stratum, arm="signal", reason=_SAME))
                if "clone" not in self.table.arms:
                    continue
            roles = {"chosen": chosen}
            if "clone" in self.table.arms:
                comparisons.append(
                    Comparison(
                        item=row_id, arm="clone", u="chosen", v="chosen", null_stratum=null_stratum_of(chosen)
                    )
                )
            if "signal" in self.table.arms and rejected is not None:
                roles["rejected"] = rejected
                comparisons.append(
                    Comparison(item=row_id, arm="signal", u="chosen", v="rejected", target="chosen")
                )
            items.append(
                Item(
                    id=row_id,
                    stratum=one.stratum,
                    cluster=cluster_of(one.prompt),
                    prompt=keep(one.prompt),
                    texts={role: keep(text) for role, text in roles.items()},
                    facts={
                        "place": place,
                        "nested": [name for name, size in self.table.nested.items() if 0 < place <= size],
                        "words": {role: len(text.split()) for role, text in roles.items()},
                        "characters": {role: len(text) for role, text in roles.items()},
                    },
                )
            )
        return Battery(
            items=tuple(items),
            comparisons=tuple(comparisons),
            texts=texts,
            # By id, so that the order of the rows in the file changes nothing.
            refusals=tuple(sorted(refusals, key=lambda one: (one.stratum, one.where))),
            receipts={"selection": receipt},
            shortfalls=tuple(_shortfalls(self.table, receipt)),
        )


def _shortfalls(table: RewardBench2Battery, receipt: dict[str, Any]) -> Iterator[str]:
    """Say which strata do not give what was declared, and what to change."""
    strata = receipt["strata"]
    if not strata:
        yield "The file has no row: check `battery.path` or `battery.file`."
    absent = [stratum for stratum, found in strata.items() if found["rows"] == 0]
    if absent:
        yield f"{_listed(absent)} no row: correct `battery.strata`."
    empty = [name for name, found in strata.items() if found["rows"] and not found["eligible"]]
    if empty:
        rows = sum(strata[name]["rows"] for name in empty)
        yield (
            f"{_listed(empty)} no eligible row of {rows}: name the other strata in `battery.strata`, or widen "
            "`battery.max_words` and `battery.max_percent`."
        )
    demands = {f"battery.nested.{name}": size for name, size in table.nested.items()}
    if table.per_stratum != "all":
        demands = {"battery.per_stratum": table.per_stratum, **demands}
    for key, size in demands.items():
        count = "eligible" if key == "battery.per_stratum" else "drawn"
        short = {name: found[count] for name, found in strata.items() if 0 < found[count] < size}
        if short:
            listed = ", ".join(f"`{name}` {number}" for name, number in short.items())
            hint = ', set it to "all",' if count == "eligible" else ""
            yield (
                f"`{key}` is {size}, and too few rows are {count} in these strata: {listed}. Lower it to at most "
                f"{min(short.values())}{hint} or name the other strata in `battery.strata`."
            )


def _listed(strata: list[str]) -> str:
    names = ", ".join(f"`{stratum}`" for stratum in strata)
    return f"The stratum {names} has" if len(strata) == 1 else f"The strata {names} have"


def _answers(row: dict[str, Any], column: str, where: str) -> list[str]:
    value = row[column]
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(answer, str) for answer in value):
        raise BatteryError(f"{where}: `{column}` is {shown(value)}, not a list of texts: correct the row.")
    return value
