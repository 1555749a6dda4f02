"""From comparisons to calls in a fixed order. Nothing here can see a verdict."""

from darkcurrent.schedules.hashed import hash_schedule
from darkcurrent.schedules.shards import Shard, divide

__all__ = ["Shard", "divide", "hash_schedule"]
