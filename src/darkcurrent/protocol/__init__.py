"""What is declared before any call, and the folder in which it is frozen."""

from darkcurrent.protocol.freeze import Frozen, freeze, load_frozen
from darkcurrent.protocol.load import load_protocol, parse_protocol
from darkcurrent.protocol.model import Protocol

__all__ = ["Frozen", "Protocol", "freeze", "load_frozen", "load_protocol", "parse_protocol"]
