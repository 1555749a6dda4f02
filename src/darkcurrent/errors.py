"""The one tree of errors.

::

    DarkcurrentError                 exit 1
    ├── UsageError                   exit 2   what the person gave cannot be used as it is
    │   ├── ProtocolError                     a key of protocol.toml
    │   ├── BatteryError                      a row or file that items come from
    │   ├── MissingExtraError                 an optional part is not installed
    │   ├── SecretError                       an environment variable for a key is not set
    │   └── StatsInputError                   arguments of a statistic (also a ValueError)
    ├── CaptureError                 exit 5   the capture stopped
    │   ├── TransportError                    a request failed and left no usable reply
    │   ├── ModelMismatchError                a model served that was not declared
    │   ├── DeadlineError                     the campaign's time is over
    │   └── JournalLockedError                another process writes this journal
    └── IntegrityError               exit 6   a frozen file or a journal is not what was written

Every message says what is wrong, where, and what to do about it, in one sentence.

Examples
--------
>>> import darkcurrent
>>> try:
...     darkcurrent.audit(7, [])
... except darkcurrent.errors.UsageError as error:
...     print(error.exit_code)
2
"""

from __future__ import annotations

__all__ = [
    "BatteryError",
    "CaptureError",
    "DarkcurrentError",
    "DeadlineError",
    "IntegrityError",
    "JournalLockedError",
    "MissingExtraError",
    "ModelMismatchError",
    "ProtocolError",
    "SecretError",
    "StatsInputError",
    "TransportError",
    "UsageError",
]


class DarkcurrentError(Exception):
    """Base of every error that darkcurrent raises on purpose."""

    exit_code = 1


class UsageError(DarkcurrentError):
    """What the person gave cannot be used as it is."""

    exit_code = 2


class ProtocolError(UsageError):
    """A key of a protocol is unknown, missing, or has a value that cannot be used."""


class BatteryError(UsageError):
    """A file or a row that items come from cannot be used."""


class MissingExtraError(UsageError):
    """An optional part is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'darkcurrent[{extra}]'.")


class SecretError(UsageError):
    """An environment variable that should hold a key is not set."""


class StatsInputError(UsageError, ValueError):
    """Arguments of a statistic are out of their range."""


class CaptureError(DarkcurrentError):
    """The capture stopped; what was recorded is kept."""

    exit_code = 5


class TransportError(CaptureError):
    """A request failed and left no usable reply."""


class ModelMismatchError(CaptureError):
    """A model served that the protocol does not name."""


class DeadlineError(CaptureError):
    """The campaign's declared time is over."""


class JournalLockedError(CaptureError):
    """Another process holds the journal."""


class IntegrityError(DarkcurrentError):
    """A frozen file or a journal is not what was written."""

    exit_code = 6
