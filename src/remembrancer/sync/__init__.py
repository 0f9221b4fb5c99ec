"""The blocking twin of `Memory`: the same names and signatures, for programs that do not wait.

Each `SyncMemory` runs one event loop in a daemon thread of its own. So it may be used from many threads at once, and
in a notebook or a coroutine, where an event loop runs already; a call from a coroutine blocks that coroutine's loop
until the answer is there. What a caller hands in (an embedder, a stream of messages, `progress`) is used on the
background loop and must not call the memory back.
"""

from remembrancer.sync.background import MemoryClosedError
from remembrancer.sync.memory import SyncMemory
from remembrancer.sync.tiers import SyncTieredMemory, SyncTurnMemory

__all__ = ["MemoryClosedError", "SyncMemory", "SyncTieredMemory", "SyncTurnMemory"]
