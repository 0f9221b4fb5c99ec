"""Telling a memory what holds, blocking: the twin of `remembrancer.memory.statements`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from remembrancer.lifecycle import Assertion, StatementReport
from remembrancer.sync.base import SyncMemoryBase


class SyncStating(SyncMemoryBase):
    """The methods of `SyncMemory` that take statements."""

    def assert_statements(
        self,
        assertions: Sequence[Assertion | Mapping[str, Any]],
        *,
        single_valued: Collection[str] = (),
        idempotency_key: str | None = None,
    ) -> StatementReport:
        """State something of entities, as `Memory.assert_statements`."""
        return self.run(
            self._memory.assert_statements,
            assertions,
            single_valued=single_valued,
            idempotency_key=idempotency_key,
        )
