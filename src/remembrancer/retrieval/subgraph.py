"""A bounded walk over the knowledge graph, breadth first.

What comes back are the edges that were walked, not all edges between the entities found: an edge between two entities
that both lie `max_hops` away was never walked. The order is that of discovery: within a hop by the parent's place,
then by the relationship's id; so a cap always keeps the same entities.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Iterable, Sequence

from remembrancer.ports import ExtractsSubgraphs, MemoryStore
from remembrancer.ports.arguments import flag, keys, moment, whole_number
from remembrancer.records import Entity, Relationship, Subgraph, is_valid_at
from remembrancer.records.belief import as_believed, is_believed
from remembrancer.records.key import require_ids
from remembrancer.retrieval.answer import served

DEFAULT_MAX_SUBGRAPH_ENTITIES = 500
"""How many entities a walk visits at most unless told otherwise."""

MAX_HOPS = 5
"""How far a walk may go."""


async def extract_subgraph(
    store: MemoryStore,
    seeds: Sequence[str],
    *,
    max_hops: int = 2,
    valid_at: dt.datetime | None = None,
    relation_types: Sequence[str] = (),
    include_invalidated: bool = False,
    max_entities: int = DEFAULT_MAX_SUBGRAPH_ENTITIES,
    believed_at: dt.datetime | None = None,
) -> Subgraph:
    """Walk from some entities along their relationships, in both directions.

    Closed and superseded entities are neither returned nor walked through, and an edge whose end is missing or closed
    is left out.

    Args:
        store: Where the graph lies; one that walks its graph itself is asked to.
        seeds: Where to start, in this order; repeats count once. One that is not stored or closed uses up a place
            under the cap.
        max_hops: How far to go, 0 to `MAX_HOPS`; 0 gives the seeds and no edges.
        valid_at: Only edges that hold at this instant; `None`: windows are not looked at.
        relation_types: Only edges of these types; empty: all.
        include_invalidated: Closed entities and edges too.
        max_entities: How many entities to visit at most, 0 or more.
        believed_at: Only what had been recorded by this instant; what was closed later counts as open.

    Returns:
        Entities in visiting order and edges in the order they were walked, without embeddings.

    Raises:
        InvalidInputError: An argument out of its bounds; names it.
    """
    walk = store.extract_subgraph if isinstance(store, ExtractsSubgraphs) else _Walk(store).extract_subgraph
    return await _checked(
        walk,
        seeds,
        max_hops=max_hops,
        valid_at=valid_at,
        relation_types=relation_types,
        include_invalidated=include_invalidated,
        max_entities=max_entities,
        believed_at=believed_at,
    )


async def extract_subgraph_plain(
    store: MemoryStore,
    seeds: Sequence[str],
    *,
    max_hops: int = 2,
    valid_at: dt.datetime | None = None,
    relation_types: Sequence[str] = (),
    include_invalidated: bool = False,
    max_entities: int = DEFAULT_MAX_SUBGRAPH_ENTITIES,
    believed_at: dt.datetime | None = None,
) -> Subgraph:
    """The same walk, step by step through the store's port: the reference for stores that walk themselves."""
    return await _checked(
        _Walk(store).extract_subgraph,
        seeds,
        max_hops=max_hops,
        valid_at=valid_at,
        relation_types=relation_types,
        include_invalidated=include_invalidated,
        max_entities=max_entities,
        believed_at=believed_at,
    )


async def _checked(
    walk: Callable[..., Awaitable[Subgraph]],
    seeds: object,
    *,
    max_hops: object,
    valid_at: object,
    relation_types: object,
    include_invalidated: object,
    max_entities: object,
    believed_at: object,
) -> Subgraph:
    believed = moment(believed_at, field="believed_at")
    found = await walk(
        tuple(dict.fromkeys(require_ids(seeds, field="seeds"))),
        max_hops=whole_number(max_hops, field="max_hops", most=MAX_HOPS),
        valid_at=moment(valid_at, field="valid_at"),
        relation_types=keys(relation_types, field="relation_types"),
        include_invalidated=flag(include_invalidated, field="include_invalidated"),
        max_entities=whole_number(max_entities, field="max_entities"),
        believed_at=believed,
    )
    if believed is None:
        return found
    return Subgraph(
        entities=[as_believed(entity, believed) for entity in found.entities],
        relationships=[as_believed(edge, believed) for edge in found.relationships],
    )


class _Walk(ExtractsSubgraphs):
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._visited: dict[str, None] = {}
        self._stored: dict[str, Entity] = {}
        self._walked: dict[str, Relationship] = {}

    async def extract_subgraph(
        self,
        seeds: Sequence[str],
        *,
        max_hops: int,
        valid_at: dt.datetime | None,
        relation_types: Sequence[str],
        include_invalidated: bool,
        max_entities: int,
        believed_at: dt.datetime | None = None,
    ) -> Subgraph:
        self._believed_at = believed_at
        frontier = list(dict.fromkeys(seeds))
        await self._look_up(frontier, include_invalidated)
        for hop in range(max_hops + 1):
            found: dict[str, None] = {}
            for entity_id in frontier:
                if len(self._visited) >= max_entities:
                    break
                self._visited[entity_id] = None
                if hop < max_hops and entity_id in self._stored:
                    edges = await self._edges(entity_id, valid_at, relation_types, include_invalidated)
                    self._walked.update((edge.id, edge) for edge in edges if edge.id not in self._walked)
                    found.update(dict.fromkeys(_other_end(edge, entity_id) for edge in edges))
            if len(self._visited) >= max_entities:
                break
            unvisited = [entity_id for entity_id in found if entity_id not in self._visited]
            frontier = await self._look_up(unvisited, include_invalidated)
        return self._result()

    async def _look_up(self, ids: Sequence[str], include_invalidated: bool) -> list[str]:
        stored = await self._store.get_entities(ids)
        reachable = {
            entity_id: entity
            for entity_id, entity in stored.items()
            if is_believed(entity, self._believed_at, include_invalidated=include_invalidated)
        }
        self._stored.update(reachable)
        return list(reachable)

    async def _edges(
        self,
        entity_id: str,
        valid_at: dt.datetime | None,
        relation_types: Sequence[str],
        include_invalidated: bool,
    ) -> list[Relationship]:
        edges = await edges_at(
            self._store,
            entity_id,
            relation_types=relation_types,
            include_invalidated=include_invalidated,
            believed_at=self._believed_at,
        )
        return [edge for edge in edges if valid_at is None or is_valid_at(edge, valid_at)]

    def _result(self) -> Subgraph:
        entities = {entity_id: self._stored[entity_id] for entity_id in self._visited if entity_id in self._stored}
        return Subgraph(
            entities=served(entities.values()),
            relationships=tuple(edges_between(self._walked.values(), entities)),
        )


async def edges_at(
    store: MemoryStore,
    entity_id: str,
    *,
    relation_types: Sequence[str],
    include_invalidated: bool,
    believed_at: dt.datetime | None,
) -> list[Relationship]:
    """All edges at an entity that are of one of the types, by id."""
    only = relation_types[0] if len(relation_types) == 1 and relation_types[0] else None
    edges = await store.get_relationships_for_entity(
        entity_id, relation_type=only, include_invalidated=include_invalidated or believed_at is not None
    )
    return [
        edge
        for edge in edges
        if (not relation_types or edge.relation_type in relation_types)
        and is_believed(edge, believed_at, include_invalidated=include_invalidated)
    ]


def edges_between(edges: Iterable[Relationship], entities: Iterable[str]) -> list[Relationship]:
    """Those of the edges that have both ends among the entities, in their order."""
    ends = frozenset(entities)
    return [edge for edge in edges if edge.source_id in ends and edge.target_id in ends]


def _other_end(edge: Relationship, entity_id: str) -> str:
    return edge.target_id if edge.source_id == entity_id else edge.source_id
