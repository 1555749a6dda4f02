"""Write the golden archives anew: `make golden`.

They are what later versions must replay. Until the first release they may be written anew whenever an analysis gets
new fields; after it, never: a later format gets files of its own.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from darkcurrent.archive.pack import Declaration, pack
from support.archives import captured

__all__ = ["GOLDEN", "main"]

GOLDEN = Path(__file__).parents[1] / "golden"

_HEAD = """format = 1
[study]
name = "{name}"
"""
_TAIL = """
[[configuration]]
name = "fair"
backend = "simulated"
properties = { utility = 0.9, dark_current = 0.05, seed = 3 }
[[configuration]]
name = "first"
backend = "simulated"
properties = { habit = "first" }
[[configuration]]
name = "fenced"
backend = "simulated"
properties = { utility = 0.9, fenced = 0.3, seed = 3 }
[schedule]
seed = 20261201
[capture]
in_flight = 16
[gates]
clone_threshold = 0.3
utility_threshold = 0.6
"""
PROTOCOLS = {
    "pairs": """
[battery]
source = "finite-code"
arms = ["clone", "signal", "equivalent"]
settings = [0]
edge_controls = 1
[criteria.neutral]
rubric = "code-neutral"
[criteria.strict]
rubric = "code-strict"
""",
    "crossover": """
[battery]
source = "finite-code"
settings = [0]
[criteria.neutral]
rubric = "code-neutral"
[criteria.strict]
rubric = "code-strict"
""",
    "context": """
[battery]
source = "context"
settings = [0]
[criteria.neutral]
rubric = "code-neutral"
""",
    "ladder": """
[battery]
source = "ladder"
[criteria.neutral]
rubric = "neutral"
""",
}


def main() -> None:
    """Capture four studies of simulated judges and write their archives."""
    GOLDEN.mkdir(exist_ok=True)
    for name, middle in PROTOCOLS.items():
        with tempfile.TemporaryDirectory() as folder:
            kind = 'kind = "crossover"\n' if name == "crossover" else ""
            tail = _TAIL.replace("[schedule]\n", f"[schedule]\n{kind}")
            study = captured(Path(folder) / "study", _HEAD.format(name=name) + middle + tail)
            path = GOLDEN / f"{name}.zip"
            path.unlink(missing_ok=True)
            pack(
                study,
                path,
                Declaration(
                    title=f"Golden archive: {name} (simulated judges)",
                    licence="CC0-1.0",
                    sources=("darkcurrent's own battery, Apache-2.0",),
                ),
            )


if __name__ == "__main__":
    main()
