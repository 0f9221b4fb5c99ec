"""Kind 4: nothing of one namespace is told in another. The whole surface is walked in tests/isolation."""

from __future__ import annotations

import asyncio

import pytest
from tests.pains.conftest import EMBEDDER, OpenMemory, said

from remembrancer import InvalidInputError, Memory, MemoryQuery
from remembrancer.records import RecordBatch
from remembrancer.testing.samples import entity, fact, relationship, sample_id

pytestmark = pytest.mark.neo4j


async def test_equal_texts_of_two_namespaces_are_told_apart(open_memory: OpenMemory) -> None:
    ours, theirs = await open_memory(), await open_memory()
    for whose, one in ((1, ours), (2, theirs)):
        await one.ingest([said("Ada Berg works at Acme Corp.", id=sample_id("message", whose))])
    told = {hit.id for hit in (await ours.recall("Where does Ada Berg work?", limit=1_000)).hits}
    their_ids = {one.id for one in await theirs.store.find_facts()} | {sample_id("message", 2)}
    assert sample_id("message", 1) in told
    assert not told & their_ids
    for one in their_ids - {one.id for one in await ours.store.find_facts()}:
        assert await ours.get(one) is None


async def test_a_memory_without_a_namespace_is_refused(
    neo4j_server: tuple[str, tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REMEMBRANCER_NAMESPACE", raising=False)
    with pytest.raises(InvalidInputError, match="namespace"):
        async with Memory.connect(neo4j_server[0], auth=neo4j_server[1]):
            pass


async def test_a_small_namespace_beside_a_large_one_gets_all_it_asks_for(open_memory: OpenMemory) -> None:
    small, large = await open_memory(), await open_memory()
    vectors = await EMBEDDER.embed([f"the harbour {n}" for n in range(2_000)])
    facts = [fact(n, content=f"the harbour {n}", embedding=list(one)) for n, one in enumerate(vectors)]
    await large.store.write(RecordBatch(facts=facts))
    await small.store.write(RecordBatch(facts=facts[:12]))
    found = await small.retrieve(MemoryQuery(text="the harbour", limit=10, min_similarity=0))
    assert len(found.facts) == 10
    assert len((await small.recall("the harbour", limit=12)).hits) == 12


async def test_a_walk_stays_at_home(open_memory: OpenMemory) -> None:
    ours, theirs = await open_memory(), await open_memory()
    await ours.store.write(RecordBatch(entities=[entity(1), entity(2)], relationships=[relationship(1, 1, 2)]))
    await theirs.store.write(RecordBatch(entities=[entity(2), entity(3)], relationships=[relationship(2, 2, 3)]))
    walked = await ours.subgraph([sample_id("entity", 1)], max_hops=5)
    assert {one.id for one in walked.entities} == {sample_id("entity", 1), sample_id("entity", 2)}


async def test_concurrent_ingests_of_many_namespaces_keep_to_their_own(open_memory: OpenMemory) -> None:
    memories = [await open_memory() for _ in range(4)]
    await asyncio.gather(
        *(one.ingest([said(f"Boat {n} of {one.namespace} is blue.", n)]) for n in range(3) for one in memories)
    )
    for one in memories:
        messages = [message for episode in await one.store.list_episodes() for message in episode.messages]
        assert sorted(message.content for message in messages) == [
            f"Boat {n} of {one.namespace} is blue." for n in range(3)
        ]
