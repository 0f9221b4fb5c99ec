"""The past of a memory, blocking: the twin of `remembrancer.memory.upkeep`."""

from __future__ import annotations

from remembrancer.lifecycle import Plan
from remembrancer.records import Erasure, Evidence, History, Pass, Source
from remembrancer.sync.base import SyncMemoryBase


class SyncUpkeep(SyncMemoryBase):
    """The methods of `SyncMemory` that tell of passes, take them back, and forget."""

    def history(self, record_id: str) -> History:
        """What became of a record, as `Memory.history`."""
        return self.run(self._memory.history, record_id)

    def why(self, record_id: str, *, limit: int = 100) -> Evidence:
        """What a record rests on, as `Memory.why`."""
        return self.run(self._memory.why, record_id, limit=limit)

    def passes(self, *, limit: int = 100, offset: int = 0) -> list[Pass]:
        """What was done to this memory, as `Memory.passes`."""
        return self.run(self._memory.passes, limit=limit, offset=offset)

    def restore(self, record_id: str, *, dry_run: bool = False) -> Plan:
        """Bring a record back, as `Memory.restore`."""
        return self.run(self._memory.restore, record_id, dry_run=dry_run)

    def undo(self, pass_id: str, *, dry_run: bool = False) -> Plan:
        """Take back a pass, as `Memory.undo`."""
        return self.run(self._memory.undo, pass_id, dry_run=dry_run)

    def forget(
        self,
        target: str | Source | None = None,
        *,
        everything: bool = False,
        hard: bool = True,
        dry_run: bool = False,
    ) -> Erasure:
        """Erase with all that was made from it, as `Memory.forget`."""
        return self.run(self._memory.forget, target, everything=everything, hard=hard, dry_run=dry_run)
