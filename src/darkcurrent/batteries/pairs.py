"""Source `pairs`: matched texts from a file of one's own, one row per item."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from darkcurrent.batteries.chat import render_prompt
from darkcurrent.batteries.columns import answer_in, name_in, name_or, value_in
from darkcurrent.batteries.edges import null_stratum_of
from darkcurrent.batteries.rows import read_rows
from darkcurrent.canonical import digest_text
from darkcurrent.errors import BatteryError
from darkcurrent.protocol.batteries import PairsBattery, PairsColumns
from darkcurrent.records import Battery, Comparison, Item, Refusal

__all__ = ["read_pairs"]


def read_pairs(table: PairsBattery, folder: Path) -> Battery:
    """Read the rows of a pairs file.

    The clone arm shows the chosen text twice; the signal arm shows chosen and rejected. Where a column holds a
    list, its first text is taken. A row whose label says `tie` has no chosen text: its `first` text is used for
    the clone arm, and the signal arm is refused.

    Raises
    ------
    BatteryError
        Where a row cannot be used; names the row and says why.
    """
    reader = _Reader(table, folder)
    for number, (where, row) in enumerate(read_rows(folder / table.path)):
        reader.add(number, where, row)
    return Battery(
        items=tuple(reader.items),
        comparisons=tuple(reader.comparisons),
        texts=reader.texts,
        refusals=tuple(reader.refusals),
    )


class _Reader:
    def __init__(self, table: PairsBattery, folder: Path) -> None:
        self.table = table
        self.folder = folder
        self.columns = table.columns
        self.items: list[Item] = []
        self.comparisons: list[Comparison] = []
        self.refusals: list[Refusal] = []
        self.texts: dict[str, str] = {}
        self.seen: dict[str, str] = {}

    def add(self, number: int, where: str, row: dict[str, Any]) -> None:
        columns = self.columns
        if columns.id == "@row":
            item_id = f"row-{number:05d}"
        else:
            item_id = name_in(row, columns.id, where, "id", ', or number the rows: `id = "@row"`')
        if item_id in self.seen:
            raise BatteryError(
                f"{where} has the id `{item_id}` of {self.seen[item_id]}: give each row its own id."
            )
        self.seen[item_id] = where
        stratum = name_or(row, columns.stratum, where, "stratum", "all")
        cluster = name_or(row, columns.cluster, where, "cluster", item_id)
        chosen, rejected, tied = self._sides(row, where)
        prompt = render_prompt(value_in(row, columns.prompt, where, "prompt"), where)
        roles = (
            {"chosen": chosen, "rejected": rejected}
            if "signal" in self.table.arms and not tied
            else {"chosen": chosen}
        )
        if len(set(roles.values())) < len(roles):
            if self.table.identical == "error":
                raise BatteryError(
                    f"{where}: chosen and rejected are the same text, so there is nothing to choose: remove the row, or set "
                    f'`identical = "clone"` in `[battery]` to use such rows as clones only.'
                )
            del roles["rejected"]
            self._refuse(where, stratum, "chosen and rejected are the same text")
        elif tied and "signal" in self.table.arms:
            self._refuse(where, stratum, "the label says tie")
        if "clone" in self.table.arms:
            self.comparisons.append(
                Comparison(
                    item=item_id, arm="clone", u="chosen", v="chosen", null_stratum=null_stratum_of(chosen)
                )
            )
        if "rejected" in roles:
            self.comparisons.append(
                Comparison(item=item_id, arm="signal", u="chosen", v="rejected", target="chosen")
            )
        elif "clone" not in self.table.arms:
            return  # nothing is shown of this row, so it is no item
        texts = {role: self._keep(text) for role, text in roles.items()}
        self.items.append(
            Item(id=item_id, stratum=stratum, cluster=cluster, prompt=self._keep(prompt), texts=texts)
        )

    def _sides(self, row: dict[str, Any], where: str) -> tuple[str, str, bool]:
        """Return the chosen text, the rejected text, and whether the label says that neither is better."""
        columns: PairsColumns = self.columns
        if columns.label is None or columns.first is None or columns.second is None:
            return (
                answer_in(row, columns.chosen, where, "chosen"),
                answer_in(row, columns.rejected, where, "rejected"),
                False,
            )
        first, second = (
            answer_in(row, columns.first, where, "first"),
            answer_in(row, columns.second, where, "second"),
        )
        label = value_in(row, columns.label, where, "label")
        key = label if isinstance(label, str) else json.dumps(label, default=str)
        better = columns.labels.get(key)
        if better is None:
            known = ", ".join(f"`{name}`" for name in columns.labels)
            raise BatteryError(
                f"{where}: the label is `{key[:60]}`, and `battery.columns.labels` explains only {known}."
            )
        return (second, first, False) if better == "second" else (first, second, better == "tie")

    def _keep(self, text: str) -> str:
        key = digest_text(text)
        self.texts[key] = text
        return key

    def _refuse(self, where: str, stratum: str, reason: str) -> None:
        # Relative, so that a study has the same digest wherever its folder lies.
        within = where.removeprefix(f"{self.folder}/")
        self.refusals.append(Refusal(where=within, stratum=stratum, arm="signal", reason=reason))
