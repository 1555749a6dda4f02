"""The battery `controls`: identical pairs that are empty, blank, or a real answer; each kind a stratum of its own.

Two identical texts have no order, so a clone is one call. So many calls of a stratum are so many prompts: the
same prompt asked again would be the same request, and its answers no further observations. (The controls of
arXiv:2606.15610 sent one pair in two nominal orders and one prompt in every edge call, and its appendix says that
these are repetitions.)
"""

from __future__ import annotations

import tomllib
from importlib.resources import files

from darkcurrent.batteries.edges import EDGES
from darkcurrent.canonical import digest_text
from darkcurrent.records import Battery, Comparison, Item, NullStratum

__all__ = ["build"]


def build(empty: int, whitespace: int, nonblank: int) -> Battery:
    """Return so many clones of each null stratum, over the first prompts of the bundled list.

    Parameters
    ----------
    empty, whitespace, nonblank : int
        Clones of the empty string, of white space only, and of a short answer; at most 40 each.
    """
    wanted = {"empty": empty, "whitespace": whitespace, "nonblank": nonblank}
    table = tomllib.loads(files(__package__).joinpath("controls.toml").read_text(encoding="utf-8"))
    rows = table["control"][: max(wanted.values())]
    strata: dict[str, NullStratum] = {role: stratum for role, stratum, _ in EDGES} | {"nonblank": "core"}
    edges = {role: text for role, _, text in EDGES}
    items, comparisons = [], []
    texts: dict[str, str] = {}
    for number, row in enumerate(rows):
        shown = {role: edges.get(role, row["answer"]) for role, count in wanted.items() if number < count}
        item = Item(
            id=f"controls/{number:02d}",
            stratum="controls",
            cluster=f"controls/{number:02d}",
            prompt=digest_text(row["prompt"]),
            texts={role: digest_text(text) for role, text in shown.items()},
        )
        items.append(item)
        comparisons += [
            Comparison(item=item.id, arm="clone", u=role, v=role, null_stratum=strata[role]) for role in shown
        ]
        texts |= {digest_text(text): text for text in (row["prompt"], *shown.values())}
    return Battery(items=tuple(items), comparisons=tuple(comparisons), texts=texts)
