"""Exact similarity search in memory: live on an in-memory store, or a snapshot of any other.

Every vector is compared with the query, so answers are exact and the work grows with the number of records.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from remembrancer.inmemory.graph import RecordGraph
from remembrancer.inmemory.ranking import Row, VectorTable, unit_row
from remembrancer.ports import Hit, MemoryIndex, MemoryStore
from remembrancer.ports.arguments import flag, keys, moment, query_vector, similarity, whole_number
from remembrancer.records import EmbeddingDimensionMismatchError, Entity, Fact, InvalidInputError, RecordKind
from remembrancer.records.belief import is_believed
from remembrancer.records.key import require_ids
from remembrancer.records.window import is_changed_since, is_valid_at

_logger = logging.getLogger(__name__)

IN_MEMORY_INDEX_WARN_THRESHOLD = 10_000
"""From how many indexed records on comparing each of them is worth a warning."""

_KINDS: tuple[RecordKind, ...] = ("entity", "fact", "theme", "episode", "message")
_PAGE = 1_000


class _Embedded(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def embedding(self) -> Sequence[float] | None: ...


class _Shelf:
    """The indexed records of one kind, in listing order."""

    def __init__(self, records: Iterable[_Embedded], former: _Shelf | None = None) -> None:
        known = former.rows if former else {}
        self.records: dict[str, Any] = {}
        self.rows: dict[str, tuple[Sequence[float], Row]] = {}
        for record in records:
            if record.embedding is not None:
                row = known.get(record.id)
                if row is None or row[0] is not record.embedding:
                    row = (record.embedding, unit_row(record.embedding))
                self.records[record.id] = record
                self.rows[record.id] = row
        self.table = VectorTable({record_id: row for record_id, (_, row) in self.rows.items()})


class InMemoryIndex(MemoryIndex):
    """Similarity search by comparing every vector.

    Args:
        store: An in-memory store to be live on; any other store is read by `rebuild`.
        expected_dimensions: Length that every vector must have; `None`: that of the store's embedding space, if it
            has one.
        silence_scale_warning: Never warn that there are `IN_MEMORY_INDEX_WARN_THRESHOLD` records or more.

    Raises:
        InvalidInputError: A store that this index cannot be live on, or dimensions below 1.
    """

    def __init__(
        self,
        store: MemoryStore | None = None,
        *,
        expected_dimensions: int | None = None,
        silence_scale_warning: bool = False,
    ) -> None:
        if expected_dimensions is not None:
            whole_number(expected_dimensions, field="expected_dimensions", least=1)
        self._required = expected_dimensions
        self._expected = expected_dimensions
        self._is_silent = flag(silence_scale_warning, field="silence_scale_warning")
        self._shelves: Mapping[RecordKind, _Shelf] = {kind: _Shelf(()) for kind in _KINDS}
        self._graph: RecordGraph | None = None
        self._version = 0
        if store is not None:
            self._graph = _graph_of(store)
            if self._graph is None:
                raise InvalidInputError("store", "not an in-memory store; index it with rebuild(store)")
            self._expected = self._expected_of(store)

    def serves(self, store: MemoryStore) -> bool:
        """Whether this index is live on the store."""
        return self._graph is not None and _graph_of(store) is self._graph

    async def rebuild(self, store: MemoryStore) -> None:
        """Index all records of the store that have an embedding, closed and quarantined ones too.

        On an in-memory store the index is live from then on; of another store it holds a snapshot. On failure the
        former content still answers.

        Raises:
            EmbeddingDimensionMismatchError: A vector of another length than expected.
        """
        graph, expected = _graph_of(store), self._expected_of(store)
        if graph is not None:
            version = graph.version
            shelves = self._gathered(_listed(graph), expected)
        else:
            version = 0
            shelves = self._gathered(await _read(store), expected)
        self._graph, self._version, self._shelves, self._expected = graph, version, shelves, expected

    async def search_entities(
        self,
        embedding: Sequence[float],
        *,
        limit: int = 20,
        min_similarity: float = 0.5,
        include_invalidated: bool = True,
    ) -> list[Hit]:
        """Nearest entities."""

        def passes(entity: Entity) -> bool:
            return entity.is_live

        keep_all = flag(include_invalidated, field="include_invalidated")
        return self._search("entity", "search_entities", embedding, limit, min_similarity, None if keep_all else passes)

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
        """Nearest facts; the filters are those of the port."""
        passes = _fact_filter(
            include_invalidated=flag(include_invalidated, field="include_invalidated"),
            include_quarantined=flag(include_quarantined, field="include_quarantined"),
            valid_at=moment(valid_at, field="valid_at"),
            changed_since=moment(changed_since, field="changed_since"),
            believed_at=moment(believed_at, field="believed_at"),
            tags=frozenset(keys(tags, field="tags")),
            theme_ids=None if theme_ids is None else frozenset(require_ids(theme_ids, field="theme_ids")),
        )
        return self._search("fact", "search_facts", embedding, limit, min_similarity, passes)

    async def search_themes(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest themes."""
        return self._search("theme", "search_themes", embedding, limit, min_similarity)

    async def nearest_themes(self, embeddings: Sequence[Sequence[float]], *, limit: int) -> list[list[Hit]]:
        """For each vector its nearest themes, at most `limit`, whatever their similarity."""
        return [
            self._search("theme", f"nearest_themes.{place}", embedding, limit, -1.0)
            for place, embedding in enumerate(embeddings)
        ]

    async def search_episodes(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest episodes."""
        return self._search("episode", "search_episodes", embedding, limit, min_similarity)

    async def search_messages(
        self, embedding: Sequence[float], *, limit: int = 20, min_similarity: float = 0.5
    ) -> list[Hit]:
        """Nearest messages."""
        return self._search("message", "search_messages", embedding, limit, min_similarity)

    def nearest(
        self, kind: RecordKind, embedding: Sequence[float], limit: int, passes: Callable[[Any], bool]
    ) -> dict[str, float]:
        """Ids and cosines of the nearest records of a kind that pass, whatever their similarity."""
        return dict(self._search(kind, f"nearest {kind}", embedding, limit, -1.0, passes))

    def _search(
        self,
        kind: RecordKind,
        search: str,
        embedding: Sequence[float],
        limit: int,
        min_similarity: float,
        passes: Callable[[Any], bool] | None = None,
    ) -> list[Hit]:
        most, least = whole_number(limit, field="limit"), similarity(min_similarity)
        query = query_vector(embedding, dimensions=self._expected, search=search)
        shelf = self._current()[kind]
        return shelf.table.nearest(
            query,
            limit=most,
            min_similarity=least,
            passes=None if passes is None else lambda record_id: passes(shelf.records[record_id]),
        )

    def _current(self) -> Mapping[RecordKind, _Shelf]:
        if self._graph is not None and self._graph.version != self._version:
            version = self._graph.version
            self._shelves = self._gathered(_listed(self._graph), self._expected)
            self._version = version
        return self._shelves

    def _gathered(
        self, records: Mapping[RecordKind, Iterable[_Embedded]], expected: int | None
    ) -> Mapping[RecordKind, _Shelf]:
        shelves = {kind: _Shelf(records[kind], self._shelves[kind]) for kind in _KINDS}
        for kind, shelf in shelves.items():
            for embedding, _ in shelf.rows.values():
                if expected is not None and len(embedding) != expected:
                    raise EmbeddingDimensionMismatchError(expected, len(embedding), f"rebuild ({kind})")
        total = sum(len(shelf.records) for shelf in shelves.values())
        if total >= IN_MEMORY_INDEX_WARN_THRESHOLD and not self._is_silent:
            self._is_silent = True
            _logger.warning("the in-memory index compares each query with all of its %d records", total)
        return shelves

    def _expected_of(self, store: MemoryStore) -> int | None:
        if self._required is not None or store.space is None:
            return self._required
        return store.space.dimensions


def _fact_filter(
    *,
    include_invalidated: bool,
    include_quarantined: bool,
    valid_at: dt.datetime | None,
    changed_since: dt.datetime | None,
    believed_at: dt.datetime | None,
    tags: frozenset[str],
    theme_ids: frozenset[str] | None,
) -> Callable[[Fact], bool]:
    def passes(fact: Fact) -> bool:
        return (
            is_believed(fact, believed_at, include_invalidated=include_invalidated)
            and (include_quarantined or not fact.is_quarantined)
            and (valid_at is None or is_valid_at(fact, valid_at))
            and (changed_since is None or is_changed_since(fact, changed_since))
            and (not tags or not tags.isdisjoint(fact.tags))
            and (theme_ids is None or fact.theme_id in theme_ids)
        )

    return passes


def _graph_of(store: object) -> RecordGraph | None:
    graph = getattr(store, "record_graph", None)
    return graph if isinstance(graph, RecordGraph) else None


def _listed(graph: RecordGraph) -> Mapping[RecordKind, list[_Embedded]]:
    return {kind: [graph.get((kind, record_id)) for record_id in graph.listed(kind)] for kind in _KINDS}


async def _read(store: MemoryStore) -> Mapping[RecordKind, list[_Embedded]]:
    entities = await _pages(lambda **page: store.find_entities(include_invalidated=True, **page))
    facts = await _pages(lambda **page: store.find_facts(include_invalidated=True, **page))
    episodes = await _pages(lambda **page: store.list_episodes(**page))
    messages = {message.id: message for episode in episodes for message in episode.messages}
    return {
        "entity": entities,
        "fact": facts,
        "theme": list(await store.list_themes()),
        "episode": episodes,
        "message": [messages[message_id] for message_id in sorted(messages)],
    }


async def _pages(read: Callable[..., Any]) -> list[Any]:
    found: list[Any] = []
    while True:
        page = await read(limit=_PAGE, offset=len(found))
        found += page
        if len(page) < _PAGE:
            return found
