"""The audit trail as a store keeps it: passes, what each did, and what is told of one record.

Only `MemoryStore.write` adds to it, with `RecordBatch.audit`. Putting or removing a record leaves it alone.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from remembrancer.records import AuditEntry, Pass
from remembrancer.records.history import Evidence, History

MAX_EVIDENCE = 1_000
"""The most facts that `why` lists."""


@runtime_checkable
class AuditTrail(Protocol):
    """A store that keeps what passes did; each call is one statement and one wire trip."""

    async def get_pass(self, pass_id: str) -> Pass | None:
        """The pass, or `None`."""
        ...

    async def list_passes(self, *, limit: int = 100, offset: int = 0) -> list[Pass]:
        """Passes, latest first, then by id."""
        ...

    async def pass_entries(self, pass_id: str, *, limit: int = 1_000, offset: int = 0) -> list[AuditEntry]:
        """What a pass did to each record, in the order of its plan; nothing for one that is not stored."""
        ...

    async def record_entries(self, record_id: str) -> list[tuple[Pass, AuditEntry]]:
        """What passes did to a record, of whatever kind, oldest first."""
        ...

    async def history(self, record_id: str) -> History:
        """What is known of an id; `History.is_empty` when nothing is."""
        ...

    async def why(self, record_id: str, *, limit: int = 100) -> Evidence | None:
        """What a stored record rests on; `None` when there is none.

        Args:
            record_id: The record; of several kinds with one id fact, entity, episode, message, theme, relationship.
            limit: The most facts to list, 0 to `MAX_EVIDENCE`.
        """
        ...
