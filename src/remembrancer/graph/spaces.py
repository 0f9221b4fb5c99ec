"""Keeping a store in the embedding space that its namespace is in, while that may be moved to another.

Who searches in a space that the namespace has left gets no row, from statements that always look for the mark of having
left; then it is asked where the namespace is. Who writes looks first, in the same transaction. While the namespace is
being moved, writers hold its lock and take the vectors that were made for the next space from what they write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, has_no_index
from remembrancer.graph.migrations import schema_state
from remembrancer.records import (
    EmbeddingSpace,
    EmbeddingSpaceMismatchError,
    MigrationError,
    Receipt,
    RecordKind,
    RemembranceError,
)
from remembrancer.records.tier import TierItem

SEARCHES = frozenset({"conflict.near", "conflict.similar", "survey.near", "survey.embeddings", "survey.vectors"})
"""Statements of a store's other parts that search in the space."""


class SpaceGuard:
    """Sees to it that one store reads and writes where its namespace is.

    Args:
        database: Where the records live.
        namespace: Whose memory.
        number: Number of the space in which the store was opened.
        space: That space; without one there are no vectors to guard.
    """

    def __init__(self, database: Database, namespace: str, *, number: int, space: EmbeddingSpace | None) -> None:
        self._database = database
        self._namespace = namespace
        self._number = number
        self._space = space

    async def searched(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        """The rows of a search in this space.

        Raises:
            EmbeddingSpaceMismatchError: The namespace has left the space.
        """
        dimensions = 384 if self._space is None else self._space.dimensions
        text = queries.load(name, self._number, dimensions)
        try:
            rows = await self._database.read(text, {"namespace": self._namespace, **parameters})
        except RemembranceError as error:
            if has_no_index(error):  # it went with the last namespace that left the space
                await self._look()
            raise
        if not rows and self._space is not None:
            await self._look()
        return rows

    async def _look(self) -> None:
        found = await self._database.read(queries.load("reembedding.state"), {"namespace": self._namespace})
        await self._require(found)

    async def entered(self, transaction: Transaction) -> str | None:
        """Look where the namespace is before writing; what holds vectors of the space that it is on its way to.

        Raises:
            EmbeddingSpaceMismatchError: The namespace has left the space.
        """
        found = await transaction.run(queries.load("reembedding.state"), {"namespace": self._namespace})
        if found and found[0]["next_space"] is not None:
            found = await transaction.run(queries.load("reembedding.lock"), {"namespace": self._namespace})
        await self._require(found)
        pending = found[0]["next_space"] if found else None
        return None if pending is None else f"embedding_{pending}"

    async def outdate(
        self,
        transaction: Transaction,
        pending: str | None,
        *,
        receipt: Receipt | None = None,
        items: Sequence[TierItem] = (),
    ) -> None:
        """Take the vectors of the next space from what was just written; `pending` is what `entered` gave."""
        if pending is None:
            return
        written = [] if receipt is None else [receipt.created, receipt.changed]
        kinds: dict[str, RecordKind] = {
            "messages": "message",
            "entities": "entity",
            "episodes": "episode",
            "facts": "fact",
            "themes": "theme",
        }
        ids = {name: sorted({one for some in written for one in some.get(kind, ())}) for name, kind in kinds.items()}
        keys = sorted([item.tier, item.scope or "", item.id] for item in items)
        parameters = {"namespace": self._namespace, "new": pending, "items": keys, **ids}
        await transaction.run(queries.load("reembedding.outdate"), parameters)

    async def _require(self, found: Sequence[Row]) -> None:
        number = found[0]["space"] if found else None
        if self._space is None or number is None or number == self._number:
            return
        state = await schema_state(self._database)
        if state is None or not 1 <= number <= len(state.spaces):
            raise MigrationError(f"namespace {self._namespace!r} names embedding space {number}, and there is none")
        there = state.spaces[number - 1]
        raise EmbeddingSpaceMismatchError(
            namespace=self._namespace,
            expected_model=there.model,
            expected=there.dimensions,
            actual_model=self._space.model,
            actual=self._space.dimensions,
        )
