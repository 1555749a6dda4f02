"""The colours of every chart and of the page: each is named once, with its light and its dark value."""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["DARK", "LIGHT", "PAGE", "Palette"]


@dataclass(frozen=True)
class Palette:
    """Colours by what they say.

    Attributes
    ----------
    ink, soft, line, paper, band : str
        Text, lesser text, rules and frames, ground, and the ground of every other row.
    good, bad, warn : str
        What passes, what misses, what is held or deserves a look. Words beside them say the same.
    blue, orange, green, yellow, purple, grey, pale : str
        Kinds within one chart; told apart by people who see few colours, and by their order.
    """

    ink: str
    soft: str
    line: str
    paper: str
    band: str
    good: str
    bad: str
    warn: str
    blue: str
    orange: str
    green: str
    yellow: str
    purple: str
    grey: str
    pale: str

    def css(self) -> str:
        """Return the colours as declarations of custom properties."""
        return " ".join(f"--{name}: {value};" for name, value in asdict(self).items())


LIGHT = Palette(
    ink="#1c2126",
    soft="#545e69",
    line="#d5dbe1",
    paper="#ffffff",
    band="#f4f6f8",
    good="#116329",
    bad="#b3261e",
    warn="#8a5300",
    blue="#2166ac",
    orange="#d95f02",
    green="#3a9a6f",
    yellow="#e0b52e",
    purple="#7b4fa3",
    grey="#a9b1ba",
    pale="#dfe4e9",
)

DARK = Palette(
    ink="#e6e9ec",
    soft="#a3adb8",
    line="#3a424b",
    paper="#14181c",
    band="#1c2228",
    good="#6bd68a",
    bad="#ff8a80",
    warn="#f0b45b",
    blue="#6aaee8",
    orange="#f0883e",
    green="#5cc79a",
    yellow="#e6c65c",
    purple="#b692dd",
    grey="#6f7a86",
    pale="#343c45",
)

PAGE = Palette(**{name: f"var(--{name})" for name in asdict(LIGHT)})
"""The page's own colours, which follow its theme."""
