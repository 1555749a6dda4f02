"""Where work is done: in processes of this machine, or on the nodes of a Ray cluster (extra `ray`)."""

from darkcurrent.executors.base import Executor
from darkcurrent.executors.local import LocalExecutor

__all__ = ["Executor", "LocalExecutor"]
