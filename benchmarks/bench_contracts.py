"""How long one million replies of 40 bytes take to read, beside a ``json.loads`` loop over the same texts.

Run: ``python benchmarks/bench_contracts.py``. Times are CPU seconds of one core, the best of three rounds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

from darkcurrent.verdicts import CONTRACTS, get_contract, parse_verdict

REPLIES = 1_000_000
LENGTH = 40
LOOPS_AT_MOST = 4.0  # times of the json.loads loop
SECONDS_AT_MOST = 10.0

VALID = {
    "sole-object": ['{"winner":"A"}', '{"winner": "B"}', ' {"winner" : "tie"}\n'],
    "legacy": ['{"winner":"B","winner":"A"}', '{"winner": "B"}'],
    "label": ["A", "\nB", " tie"],
    "bracket": ["Final verdict: [[A]]", "[[C]] because of", "so [[B]]."],
    "json-field": ['{"why":"x","winner":"A"}', '{"winner":"tie","score":1}'],
    "score-pair": ["8 7\nA is better", "7.5, 8"],
    "regex": ["Output (a)", "So: Output (b)"],
}
INVALID = [
    '```json\n{"winner":"A"}\n```',
    "I think that A is better.",
    '{"winner":"A","why":"x"}',
    "ERROR: 429",
]


def seconds(read: Callable[[str], object], texts: Sequence[str]) -> float:
    rounds = []
    for _ in range(3):
        start = time.process_time()
        for text in texts:
            read(text)
        rounds.append(time.process_time() - start)
    return min(rounds)


def replies(forms: Sequence[str], count: int) -> list[str]:
    texts = [form.ljust(LENGTH) for form in forms]
    assert {len(text.encode()) for text in texts} == {LENGTH}
    return [texts[place % len(texts)] for place in range(count)]


def main() -> int:
    texts = replies(VALID["sole-object"], REPLIES)
    assert all(parse_verdict(text).value for text in texts[:3])
    plain, ours = seconds(json.loads, texts), seconds(parse_verdict, texts)
    print(f"{REPLIES:,} replies of {LENGTH} bytes")
    print(f"json.loads loop      {plain:6.2f} s")
    print(f"sole-object          {ours:6.2f} s   {ours / plain:.2f} times json.loads")
    few = REPLIES // 10
    print(f"\nmicroseconds per reply of {LENGTH} bytes ({few:,} each)")
    for name in CONTRACTS:
        pattern = {"pattern": r"(?s).*Output \((a|b)\)\s*", "labels": {"A": ["a"], "B": ["b"], "tie": []}}
        contract = get_contract(name, **(pattern if name == "regex" else {}))

        def read(text: str, contract: object = contract) -> object:
            return parse_verdict(text, contract)  # type: ignore[arg-type]

        assert all(read(text).value for text in replies(VALID[name], 9))  # type: ignore[attr-defined]
        valid = seconds(read, replies(VALID[name], few)) / few * 1e6
        invalid = seconds(read, replies(INVALID, few)) / few * 1e6
        print(f"{name:<12} valid {valid:6.2f}   invalid {invalid:6.2f}")
    return int(ours > min(SECONDS_AT_MOST, LOOPS_AT_MOST * plain))


if __name__ == "__main__":
    raise SystemExit(main())
