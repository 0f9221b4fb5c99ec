"""The index in Neo4j: vector search inside the database, live on its store.

The vector indexes know the namespace and the filters, so a filter never takes hits away after the search. Their scores
are (1 + cosine) / 2 and are mapped back inside the query.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from remembrancer.graph.spaces import SpaceGuard
from remembrancer.graph.values import as_vector, asked, standing
from remembrancer.ports import Hit, MemoryIndex, MemoryStore
from remembrancer.ports.arguments import flag, keys, moment, query_vector, similarity, whole_number
from remembrancer.records import SIMILARITY_TOLERANCE, InvalidInputError
from remembrancer.records.key import require_ids

if TYPE_CHECKING:
    from remembrancer.graph.store import Neo4jStore


class Neo4jIndex(MemoryIndex):
    """Similarity search over the records of one store."""

    def __init__(self, store: Neo4jStore, *, guard: SpaceGuard, dimensions: int | None) -> None:
        self._store = store
        self._guard = guard
        self._dimensions = dimensions

    def serves(self, store: MemoryStore) -> bool:
        """Whether this index is live on the store."""
        return store is self._store

    async def rebuild(self, store: MemoryStore) -> None:
        """Nothing to do for the index's own store: the database keeps its vector indexes itself.

        Raises:
            InvalidInputError: Another store.
        """
        if not self.serves(store):
            raise InvalidInputError("store", "an index in Neo4j serves only the store that it belongs to")

    async def _search(self, name: str, embedding: object, *, limit: int, least: float, **filters: Any) -> list[Hit]:
        vector = query_vector(embedding, dimensions=self._dimensions, search=name.replace("index.", "search_"))
        most = whole_number(limit, field="limit")
        least = similarity(least)
        if self._dimensions is None or most == 0:
            return []
        parameters = {
            "embedding": as_vector(vector),
            "limit": most,
            "asked": asked(most),
            "least": least - SIMILARITY_TOLERANCE,
            **filters,
        }
        rows = await self._guard.searched(name, parameters)
        return [Hit(row["id"], row["score"]) for row in rows]

    async def search_entities(
        self,
        embedding: Sequence[float],
        *,
        limit: int = 20,
        min_similarity: float = 0.5,
        include_invalidated: bool = True,
    ) -> list[Hit]:
        """Nearest entities."""
        live = [True, False] if flag(include_invalidated, field="include_invalidated") else [True]
        return await self._search("index.entities", embedding, limit=limit, least=min_similarity, live=live)

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
        """Nearest facts; a search with tags, `changed_since` or `believed_at` compares every fact that passes."""
        instant = moment(valid_at, field="valid_at")
        since = moment(changed_since, field="changed_since")
        believed = moment(believed_at, field="believed_at")
        wanted = list(keys(tags, field="tags"))
        themes = None if theme_ids is None else list(require_ids(theme_ids, field="theme_ids"))
        with_closed = flag(include_invalidated, field="include_invalidated")
        with_quarantined = flag(include_quarantined, field="include_quarantined")
        filters: dict[str, Any] = {"valid_at": instant, "theme_ids": themes}
        if wanted or since is not None or believed is not None:
            filters |= {
                "tags": wanted,
                "changed_since": since,
                "believed_at": believed,
                "live": [True, False] if with_closed else [True],
                "quarantined": [True, False] if with_quarantined else [False],
            }
            return await self._search("index.listed_facts", embedding, limit=limit, least=min_similarity, **filters)
        filters["standing"] = standing(include_invalidated=with_closed, include_quarantined=with_quarantined)
        return await self._search("index.facts", embedding, limit=limit, least=min_similarity, **filters)

    async def search_themes(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest themes."""
        return await self._search("index.themes", embedding, limit=limit, least=min_similarity)

    async def search_episodes(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest episodes."""
        return await self._search("index.episodes", embedding, limit=limit, least=min_similarity)

    async def search_messages(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest messages."""
        return await self._search("index.messages", embedding, limit=limit, least=min_similarity)

    async def nearest_themes(self, embeddings: Sequence[Sequence[float]], *, limit: int) -> list[list[Hit]]:
        """For each vector its nearest themes, in one statement for all."""
        vectors = [
            query_vector(vector, dimensions=self._dimensions, search=f"nearest_themes.{place}")
            for place, vector in enumerate(embeddings)
        ]
        most = whole_number(limit, field="limit")
        found: list[list[Hit]] = [[] for _ in vectors]
        if self._dimensions is None or not vectors or not most:
            return found
        parameters = {"embeddings": [as_vector(vector) for vector in vectors], "limit": most, "asked": asked(most)}
        rows = await self._guard.searched("index.nearest_themes", parameters)
        for row in rows:
            found[row["place"]].append(Hit(row["id"], row["score"]))
        return found
