"""The twin of the database in memory: same answers, nothing to install, gone with the process."""

from remembrancer.inmemory.index import IN_MEMORY_INDEX_WARN_THRESHOLD, InMemoryIndex
from remembrancer.inmemory.ranking import rank
from remembrancer.inmemory.store import InMemoryStore

__all__ = ["IN_MEMORY_INDEX_WARN_THRESHOLD", "InMemoryIndex", "InMemoryStore", "rank"]
