"""Write the JSON schemas that the package ships: `python -m darkcurrent.archive.schema`."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from darkcurrent.archive.columns import TABLES, row_schema

__all__ = ["main", "schema_text", "shipped_schema"]


def schema_text(table: str) -> str:
    """Return the JSON schema of a table's rows as its file holds it."""
    return json.dumps(row_schema(table), indent=1, ensure_ascii=True) + "\n"


def shipped_schema(table: str) -> bytes:
    """Return the same as the package ships it."""
    return files(__package__).joinpath(f"schemas/{table}.json").read_bytes()


def main(folder: Path = Path(__file__).parent / "schemas") -> None:
    """Write one file for each table."""
    for table in TABLES:
        (folder / f"{table}.json").write_text(schema_text(table), encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
