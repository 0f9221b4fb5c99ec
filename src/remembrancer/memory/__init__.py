"""The memory: the one object that most programs need. It wires the parts together and decides nothing itself."""

from remembrancer.memory.base import THEME_SIMILARITY
from remembrancer.memory.memory import DEFAULT_NAMESPACE, Memory
from remembrancer.memory.reading import AnyRecord

__all__ = ["DEFAULT_NAMESPACE", "THEME_SIMILARITY", "AnyRecord", "Memory"]
