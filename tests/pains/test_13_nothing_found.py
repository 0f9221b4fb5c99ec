"""Kind 13: an answer is full where there is something, and explains itself where there is not."""

from __future__ import annotations

import pytest
from tests.pains.conftest import OpenMemory, said

from remembrancer import Memory, MemoryQuery
from remembrancer.records import RecordBatch
from remembrancer.testing.samples import fact

pytestmark = pytest.mark.neo4j


async def test_a_broad_question_gets_as_many_as_there_are(memory: Memory) -> None:
    await memory.ingest([said(f"Boat number {n} lies in harbour {n % 3}.", n) for n in range(30)])
    assert len((await memory.recall("anything about boats", limit=25)).hits) == 25


async def test_every_hit_says_why(memory: Memory) -> None:
    await memory.ingest([said("Ada Berg works at Acme Corp."), said("The sea is calm today.", 1)])
    answer = await memory.recall("Where does Ada Berg work?")
    assert answer.hits
    for hit in answer.hits:
        assert hit.parts
        assert hit.score >= sum(hit.parts.values()) - 5e-5 * len(hit.parts)  # each is told to four places
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)


async def test_pages_neither_skip_nor_repeat(memory: Memory) -> None:
    await memory.store.write(RecordBatch(facts=[fact(n) for n in range(45)]))
    pages = [await memory.store.find_facts(limit=20, offset=start) for start in (0, 20, 40, 60)]
    ids = [one.id for page in pages for one in page]
    assert [len(page) for page in pages] == [20, 20, 5, 0]
    assert len(set(ids)) == 45


async def test_an_empty_answer_says_what_made_it_empty(open_memory: OpenMemory) -> None:
    memory = await open_memory(embedder=None)
    assert (await memory.recall("harbour")).empty_because == "nothing stored"
    assert (await memory.recall("?!")).empty_because == "nothing asked"
    await memory.store.put_fact(fact(1, content="the harbour is open", invalidated_by="told so"))
    assert (await memory.recall("harbour")).empty_because == "nothing held then"
    assert (await memory.recall("submarine")).empty_because == "nothing similar"
    await memory.store.put_fact(fact(2, content="the harbour is closed"))
    assert (await memory.recall("harbour")).empty_because is None


async def test_a_structured_question_says_what_it_found(memory: Memory) -> None:
    await memory.store.write(RecordBatch(facts=[fact(n, tags=["a"]) for n in range(5)]))
    found = await memory.retrieve(MemoryQuery(tags=["a"], limit=3))
    assert len(found.facts) == 3
    assert (await memory.retrieve(MemoryQuery(tags=["b"]))).facts == ()
