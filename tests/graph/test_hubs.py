"""A walk that meets a hub reads no more of it than it may visit, and says so by the order of what it finds there."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.retrieval import GraphRetrieval
from remembrancer.inmemory import InMemoryStore
from remembrancer.records import MemoryQuery, RecordBatch, Relationship
from remembrancer.retrieval import extract_subgraph_plain
from remembrancer.retrieval.subgraph import _Walk
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.samples import SPACE, day, entity, fact, relationship, sample_id
from remembrancer.testing.worlds import batches, walks

pytestmark = pytest.mark.neo4j

NOW = FixedClock(day(30))
FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


class HubWalk(_Walk):
    """The plain walk, but neighbours of a hub come by their own ids."""

    def __init__(self, store: InMemoryStore, hub_degree: int) -> None:
        super().__init__(store)
        self._hub_degree = hub_degree

    async def _edges(
        self, entity_id: str, valid_at: dt.datetime | None, relation_types: Sequence[str], include_invalidated: bool
    ) -> list[Relationship]:
        edges = await super()._edges(entity_id, valid_at, relation_types, include_invalidated)
        if len(await self._store.get_relationships_for_entity(entity_id, include_invalidated=True)) > self._hub_degree:
            edges.sort(key=lambda edge: edge.target_id if edge.source_id == entity_id else edge.source_id)
        return edges


async def filled(database: Database, batch: RecordBatch) -> Neo4jStore:
    namespace = f"hubs-{uuid.uuid4()}"
    async with Neo4jStore.open(database=database, namespace=namespace, space=SPACE, clock=NOW) as store:
        await store.write(batch)
    return store


def walker(store: Neo4jStore, hub_degree: int) -> GraphRetrieval:
    return GraphRetrieval(store.database, store.namespace, number=1, dimensions=None, hub_degree=hub_degree)


@FEW
@given(batch=batches(), walk=walks(), hub_degree=st.integers(0, 4))
async def test_of_a_hub_the_first_neighbours_by_id_are_visited(
    neo4j_database: Database, batch: RecordBatch, walk: dict[str, Any], hub_degree: int
) -> None:
    store, twin = await filled(neo4j_database, batch), InMemoryStore(space=SPACE, clock=NOW)
    await twin.write(batch)
    arguments = {**walk, "seeds": list(dict.fromkeys(walk["seeds"]))}
    expected = await HubWalk(twin, hub_degree).extract_subgraph(**arguments)
    retrieval = walker(store, hub_degree)
    for _ in range(2):  # the second time it knows that there are hubs
        found = await retrieval.extract_subgraph(**arguments)
        assert [one.id for one in found.entities] == [one.id for one in expected.entities]
        assert {one.id for one in found.relationships} == {one.id for one in expected.relationships}


@FEW
@given(batch=batches(), walk=walks())
async def test_without_hubs_both_forms_give_one_answer(
    neo4j_database: Database, batch: RecordBatch, walk: dict[str, Any]
) -> None:
    store, twin = await filled(neo4j_database, batch), InMemoryStore(space=SPACE, clock=NOW)
    await twin.write(batch)
    retrieval = walker(store, 1_000)
    retrieval._has_hubs = True
    found = await retrieval.extract_subgraph(**{**walk, "seeds": list(dict.fromkeys(walk["seeds"]))})
    expected = await extract_subgraph_plain(twin, **walk)
    assert [one.id for one in found.entities] == [one.id for one in expected.entities]
    assert [one.id for one in found.relationships] == [one.id for one in expected.relationships]


async def test_the_facts_around_an_entity_come_whichever_form_walks(neo4j_database: Database) -> None:
    spokes = range(2, 8)
    batch = RecordBatch(
        entities=[entity(1), *(entity(number) for number in spokes)],
        relationships=[relationship(number, 1, number) for number in spokes],
        facts=[fact(number, entities=[number]) for number in spokes],
    )
    store = await filled(neo4j_database, batch)
    query = MemoryQuery(entity_ids=[sample_id("entity", 2)], max_hops=2, limit=100)
    bounded, quick = walker(store, 3), walker(store, 1_000)
    assert await bounded.retrieve(query, filter_first=True) == await quick.retrieve(query, filter_first=True)
    assert (bounded._has_hubs, quick._has_hubs) == (True, False)
    assert await bounded.retrieve(query, filter_first=True) == await quick.retrieve(query, filter_first=True)
