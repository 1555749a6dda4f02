"""The JSON schema of `protocol.toml`, for editors; `schema.json` beside this module is what it gives.

After a change of the model: `python -m darkcurrent.protocol.schema > src/darkcurrent/protocol/schema.json`.
"""

from __future__ import annotations

import json
import sys

from darkcurrent.protocol.model import Protocol

__all__ = ["schema_text"]


def schema_text() -> str:
    """Return the JSON schema (draft 2020-12) of a protocol."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Protocol.model_json_schema()}
    return json.dumps(schema, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
