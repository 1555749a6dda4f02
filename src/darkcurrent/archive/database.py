"""The tables of an archive in DuckDB: another reader of Parquet, and another way to every count."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from darkcurrent.archive.columns import TABLES, Column
from darkcurrent.archive.layout import table_file
from darkcurrent.errors import IntegrityError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["check_values", "quoted", "tables_of"]

_TYPES: Final = {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}
_MEMORY: Final = "3GB"
"""What the tables may take; a Parquet file that unpacks to more is refused, not obeyed."""


@contextmanager
def tables_of(files: Mapping[str, bytes], rows: Mapping[str, int]) -> Iterator[DuckDBPyConnection]:
    """Open the tables, with the columns and the number of rows that they must have.

    The files lie in a private folder under names of our own while they are read. After that the engine may touch
    no file and no network.

    Raises
    ------
    IntegrityError
        Where a file is no Parquet, has other columns, or another number of rows than `rows` says.
    """
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY,
        "threads": 2,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "temp_directory": "",
    }
    with (
        tempfile.TemporaryDirectory(prefix="darkcurrent-") as folder,
        duckdb.connect(":memory:", config=settings) as connection,
    ):
        connection.execute("SET enable_progress_bar = false")  # it would stand among the data on stdout
        for table, columns in TABLES.items():
            path = Path(folder) / f"{table}.parquet"
            path.write_bytes(files[table_file(table)])
            try:
                _load(connection, table, columns, path, rows[table])
            except duckdb.Error as error:
                raise IntegrityError(
                    f"{table_file(table)} cannot be read as Parquet ({ascii(str(error).splitlines()[0])[:160]})."
                ) from error
            path.unlink()
        connection.execute("SET enable_external_access = false")
        try:
            yield connection
        except duckdb.Error as error:
            raise IntegrityError(
                f"data/tables: the tables cannot be counted ({ascii(str(error).splitlines()[0])[:160]})."
            ) from error


def _load(
    connection: DuckDBPyConnection, table: str, columns: Mapping[str, Column], path: Path, rows: int
) -> None:
    source = "read_parquet(?, hive_partitioning = false)"
    found = [
        (name, kind)
        for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {source}", [str(path)]).fetchall()  # noqa: S608
    ]
    due = [(name, _TYPES[column.kind]) for name, column in columns.items()]
    for place, (has, wants) in enumerate(zip(found, due, strict=False), start=1):
        if has != wants:
            raise IntegrityError(
                f"{table_file(table)}: column {place} is {ascii(has[0])[:80]} of type {has[1]}, and the format has "
                f"`{wants[0]}` of type {wants[1]} there."
            )
    if len(found) != len(due):
        raise IntegrityError(f"{table_file(table)} has {len(found)} columns, and the format has {len(due)}.")
    stated = connection.execute("SELECT num_rows FROM parquet_file_metadata(?)", [str(path)]).fetchall()[0][0]
    if stated != rows:
        raise IntegrityError(f"{table_file(table)} has {stated} rows, and archive.json says {rows}.")
    connection.execute(f"CREATE TABLE {table} AS SELECT * FROM {source}", [str(path)])  # noqa: S608
    counted = connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]  # noqa: S608
    if counted != rows:
        raise IntegrityError(f"{table_file(table)} holds {counted} rows, and archive.json says {rows}.")


def quoted(name: str) -> str:
    """Return one of our own column names as SQL; some hold a colon or are words of SQL."""
    return f'"{name}"'


def check_values(connection: DuckDBPyConnection) -> int:
    """Compare every value with what its column may hold; return how many were looked at.

    Raises
    ------
    IntegrityError
        Where one does not fit; it names the file, the row and the column.
    """
    looked_at = 0
    for table, columns in TABLES.items():
        for name, column in columns.items():
            wrong, arguments = _wrong(quoted(name), column)
            query = f"SELECT rowid, {quoted(name)} FROM {table} WHERE {wrong} ORDER BY rowid LIMIT 1"  # noqa: S608
            for row, value in connection.execute(query, arguments).fetchall():
                raise IntegrityError(
                    f"{table_file(table)}, row {row + 1}, column `{name}`: {ascii(value)[:80]} is none of the values that "
                    "the format allows there."
                )
        looked_at += len(columns) * connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]  # noqa: S608
    return looked_at


def _wrong(name: str, column: Column) -> tuple[str, list[Any]]:
    """Return the condition that a value does not fit its column."""
    absent = "false" if column.nullable else f"{name} IS NULL"
    if column.values:
        return f"{absent} OR {name} NOT IN ({', '.join('?' * len(column.values))})", list(column.values)
    if column.kind == "string":
        return f"{absent} OR length({name}) > ? OR NOT regexp_full_match({name}, ?)", [
            column.longest,
            column.pattern,
        ]
    if column.kind == "number":
        return f"{absent} OR NOT isfinite({name}) OR {name} < 0", []
    return (f"{absent} OR {name} < 0", []) if column.kind == "integer" else (absent, [])
