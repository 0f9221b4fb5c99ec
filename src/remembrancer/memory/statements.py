"""Telling a memory what holds, as subject, predicate and object or value."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from remembrancer.lifecycle import Assertion, StatementReport, assert_statements
from remembrancer.memory.base import MemoryBase


class Stating(MemoryBase):
    """The methods of `Memory` that take statements."""

    async def assert_statements(
        self,
        assertions: Sequence[Assertion | Mapping[str, Any]],
        *,
        single_valued: Collection[str] = (),
        idempotency_key: str | None = None,
    ) -> StatementReport:
        """State something of entities, in one transaction: all of it, or nothing.

        Of a single-valued predicate a new value ends the window of the one before at its own start, whatever their
        words; the windows are the same in whatever order statements arrive. What was ended stays readable: at an
        earlier instant it is what held.

        Args:
            assertions: What to state, or maps of its fields.
            single_valued: Predicates that hold one value at a time, such as `state`, `port` or `works_at`.
            idempotency_key: The same key a second time writes nothing.

        Raises:
            InvalidInputError: An assertion is wrong, or its id is that of another fact; names it.
            ConcurrencyError: Others kept stating things of the same subjects. Nothing was written.
            ServerUnavailableError: The database or the embedder could not be reached.
        """
        return await assert_statements(
            self.store,
            assertions,
            single_valued=single_valued,
            embedder=self.embedder,
            idempotency_key=idempotency_key,
            clock=self._clock,
        )
