"""From comparisons to calls in a fixed order. Nothing here can see a verdict."""

from darkcurrent.schedules.hashed import hash_schedule

__all__ = ["hash_schedule"]
