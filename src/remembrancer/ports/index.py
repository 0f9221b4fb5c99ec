"""The index: similarity search over the embeddings of a store's records.

Scores are exact cosines. Hits come by score descending, ties in the store's listing order. A hit's score may fall
short of `min_similarity` by `SIMILARITY_TOLERANCE`, which is what rounding to float32 takes away.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from remembrancer.ports.store import MemoryStore


class Hit(NamedTuple):
    """One record found by similarity."""

    id: str
    score: float


@runtime_checkable
class MemoryIndex(Protocol):
    """Similarity search. Filters act before the limit, so a search never gives fewer hits than exist."""

    def serves(self, store: MemoryStore) -> bool:
        """Whether this index is live on the store: what is written there is found here."""
        ...

    async def rebuild(self, store: MemoryStore) -> None:
        """Index all records of the store that have an embedding; on failure the former content still answers.

        Raises:
            EmbeddingDimensionMismatchError: A vector of another length than the index expects.
        """
        ...

    async def search_entities(
        self,
        embedding: Sequence[float],
        *,
        limit: int = 20,
        min_similarity: float = 0.5,
        include_invalidated: bool = True,
    ) -> list[Hit]:
        """Nearest entities."""
        ...

    async def search_facts(
        self,
        embedding: Sequence[float],
        *,
        limit: int = 20,
        min_similarity: float = 0.5,
        include_invalidated: bool = True,
        include_quarantined: bool = True,
        valid_at: dt.datetime | None = None,
        changed_since: dt.datetime | None = None,
        believed_at: dt.datetime | None = None,
        tags: Sequence[str] = (),
        theme_ids: Sequence[str] | None = None,
    ) -> list[Hit]:
        """Nearest facts.

        Args:
            embedding: Query vector.
            limit: The most hits.
            min_similarity: The least cosine, -1 to 1, included.
            include_invalidated: Closed facts too.
            include_quarantined: Quarantined facts too.
            valid_at: Only facts that hold at this instant.
            changed_since: Only facts that began or end after this instant.
            believed_at: Only facts that had been recorded by this instant, and unless `include_invalidated` is given
                were not closed then.
            tags: Only facts with at least one of these; empty: no filter.
            theme_ids: Only facts with one of these `theme_id`s; `None`: no filter.
        """
        ...

    async def nearest_themes(self, embeddings: Sequence[Sequence[float]], *, limit: int) -> list[list[Hit]]:
        """For each vector its nearest themes, at most `limit`, whatever their similarity."""
        ...

    async def search_themes(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest themes."""
        ...

    async def search_episodes(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest episodes."""
        ...

    async def search_messages(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest messages."""
        ...
