"""Where matched items come from: one module or package per source."""

from __future__ import annotations

__all__: list[str] = []
