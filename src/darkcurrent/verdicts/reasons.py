"""Why a call has no verdict: one closed vocabulary, in the order in which reasons win."""

from __future__ import annotations

from typing import Final

__all__ = ["REASONS", "rank"]

# Several of these can be true of one call. The first true one, in the order written here, is its reason: what
# stopped the call from being answered, then what the server says of its answer, then what the text is as a
# whole, then what is wrong inside it.
REASONS: Final[dict[str, str]] = {
    # there is no reply of the declared judge to read; only the capture layer and the ledger give these
    "missing": "The call was scheduled and never sent.",
    "ambiguous": "The request may have been sent, but no answer and no failure is on record.",
    "deadline": "The campaign's time was over before an answer came.",
    "request-refused": "The server refused the request, for example because the prompt is too long for it.",
    "judge-raised": "The judge is a Python callable, and it raised an exception instead of returning an answer.",
    "transport": "The request failed on the way and left no usable reply.",
    "reply-too-large": "The reply is larger than the capture layer reads.",
    "mismatched-model": "The reply comes from a model that was not declared.",
    "recorded-invalid": "Whoever recorded the call noted that it gave no verdict.",
    # what the server says of its own reply
    "filtered": "The server says that a content filter stopped the reply.",
    "truncated": "The reply was cut: the server says so, or the text ends inside the value it began.",
    # what the text is as a whole
    "reasoning-only": "Reasoning came and no answer after it.",
    "empty": "The reply has no text.",
    "whitespace": "The reply is white space only.",
    "error-text": "The reply is an error message that was recorded as if it were an answer.",
    "too-deep": "The text nests deeper than a contract reads.",
    "byte-order-mark": "The text begins with a byte order mark (U+FEFF).",
    "reasoning-inside": "The text carries its reasoning in <think> tags where an answer is expected.",
    "fenced": "The answer stands in a Markdown code fence.",
    "several-objects": "The text holds more than one JSON object.",
    "several-verdicts": "The text holds more than one verdict.",
    "prose-around": "Other text stands before or after the answer.",
    "refusal-like": "The text reads like a refusal to judge.",
    "not-json": "The text is not JSON.",
    # what is wrong inside a text that has the right form
    "duplicate-keys": "An object that is read has a key twice.",
    "wrong-key": "The declared key is not there.",
    "extra-keys": "Keys other than the declared one are there.",
    "wrong-type": "A value of another type stands where an object or a label is declared.",
    "wrong-value": "What stands in the place of the verdict is not one of the declared labels.",
    "no-verdict": "Nothing in the text has the declared form of a verdict.",
}
"""Code to a one-sentence description, the most specific reason first."""

_RANKS: Final = {code: place for place, code in enumerate(REASONS)}


def rank(code: str) -> int:
    """Return the place of a reason in the order of precedence, 0 for the one that wins over all others.

    Raises
    ------
    KeyError
        If `code` is not in the vocabulary.
    """
    return _RANKS[code]
