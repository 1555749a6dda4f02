"""The JSON schema that ships is the one of the model."""

from __future__ import annotations

import json
from importlib.resources import files

from darkcurrent.protocol.model import Protocol
from darkcurrent.protocol.schema import schema_text


def test_the_shipped_schema_is_the_generated_one():
    shipped = files("darkcurrent.protocol").joinpath("schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == json.loads(schema_text())
    assert shipped == schema_text()


def test_the_schema_knows_each_table_and_refuses_other_keys():
    schema = json.loads(schema_text())
    assert set(schema["properties"]) == set(Protocol.model_fields)
    tables = [schema, *(row for row in schema["$defs"].values() if row["type"] == "object")]
    assert all(table["additionalProperties"] is False for table in tables)
