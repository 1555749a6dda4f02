"""The JSON schema of a judge card's head; `judge-card.schema.json` beside this module is what it gives.

After a change of the head: `python -m darkcurrent.reports.card_schema > src/darkcurrent/reports/judge-card.schema.json`.
"""

from __future__ import annotations

import json
import sys

from darkcurrent.reports.card_head import CardHead

__all__ = ["schema_text"]


def schema_text() -> str:
    """Return the JSON schema (draft 2020-12) of the head."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **CardHead.model_json_schema()}
    return json.dumps(schema, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
