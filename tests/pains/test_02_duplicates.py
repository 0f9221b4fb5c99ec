"""Kind 2: one thing is one record."""

from __future__ import annotations

import asyncio

import pytest
from tests.pains.conftest import OpenMemory, said

from remembrancer import Memory
from remembrancer.records import RecordBatch
from remembrancer.testing.samples import entity, fact, relationship, sample_id

pytestmark = pytest.mark.neo4j


async def test_one_message_id_is_one_message(memory: Memory) -> None:
    given = said("Ada Berg works at Acme Corp.", id=sample_id("message", 1))
    await memory.ingest([given])
    again = await memory.ingest([given])
    assert again.duplicates == (given["id"],)
    (episode,) = await memory.store.list_episodes()
    assert len(episode.messages) == 1


async def test_a_script_run_twice_doubles_nothing(memory: Memory) -> None:
    script = [said("Ada Berg works at Acme Corp."), said("Bob Stone lives in Berlin.", 1)]
    first = await memory.ingest(script)
    before = await memory.store.find_facts()
    second = await memory.ingest(script)
    assert (second.created, len(second.duplicates)) == ({}, 2)
    assert await memory.store.find_facts() == before
    assert all(one.source_message_ids for one in before)
    assert set(first.created["message"]) == {one for fact in before for one in fact.source_message_ids}


@pytest.mark.parametrize(
    "name", ["ada lovelace", "ADA  LOVELACE", "Ada\u00a0Lovelace", "\uff21da Lovelace", " Ada Lovelace. "]
)
async def test_equal_names_of_one_type_meet_whatever_the_vectors_say(open_memory: OpenMemory, name: str) -> None:
    memory = await open_memory()
    far = [[1.0, *[0.0] * 63], [-1.0, *[0.0] * 63]]
    await memory.store.write(RecordBatch(claims=[entity(1, name="Ada Lovelace", embedding=far[0])]))
    receipt = await memory.store.write(RecordBatch(claims=[entity(2, name=name, embedding=far[1])]))
    assert receipt.claimed == {sample_id("entity", 2): sample_id("entity", 1)}
    assert len(await memory.store.find_entities()) == 1


async def test_sixteen_writers_make_one_entity(open_memory: OpenMemory) -> None:
    first = await open_memory()
    others = [await open_memory(first.namespace) for _ in range(3)]
    await asyncio.gather(
        *(
            [first, *others][n % 4].store.write(
                RecordBatch(claims=[entity(n, name="Ada")], facts=[fact(n, entities=[n])])
            )
            for n in range(16)
        )
    )
    (only,) = await first.store.find_entities(include_invalidated=True)
    assert len(await first.store.find_facts(entity_id=only.id, limit=50)) == 16


async def test_a_merge_moves_every_edge_and_is_undone(memory: Memory) -> None:
    await memory.store.write(
        RecordBatch(
            entities=[entity(1, name="Ada"), entity(2, name="The ADA"), entity(3, name="Acme")],
            relationships=[relationship(1, 2, 3)],
            facts=[fact(1, entities=[2])],
        )
    )
    report = await memory.resolve_entities()
    assert report.entities_absorbed == 1
    kept = (await memory.store.find_facts())[0].entity_ids[0]
    (edge,) = await memory.store.get_relationships_for_entity(kept)
    gone = ({sample_id("entity", 1), sample_id("entity", 2)} - {kept}).pop()
    absorbed = await memory.store.get_entity(gone)
    assert absorbed is not None
    assert (absorbed.superseded_by, absorbed.name) == (kept, "The ADA" if gone == sample_id("entity", 2) else "Ada")
    assert kept in (edge.source_id, edge.target_id)
    await memory.undo(str(report.pass_id))
    assert {one.name for one in await memory.store.find_entities()} == {"Ada", "The ADA", "Acme"}
    assert (await memory.store.find_facts())[0].entity_ids == (sample_id("entity", 2),)


async def test_namesakes_of_two_namespaces_never_merge(open_memory: OpenMemory) -> None:
    ours, theirs = await open_memory(), await open_memory()
    for one in (ours, theirs):
        await one.store.put_entity(entity(1, name="Ada"))
    assert (await ours.resolve_entities()).entities_absorbed == 0
    receipt = await ours.store.write(RecordBatch(claims=[entity(2, name="Ada")]))
    assert set(receipt.claimed.values()) == {sample_id("entity", 1)}
    assert len(await theirs.store.find_entities()) == 1


async def test_what_recall_said_is_not_learnt_again(memory: Memory) -> None:
    await memory.ingest([said("Ada Berg works at Acme Corp in Berlin.")])
    before = len(await memory.store.find_facts(limit=1_000))
    for minute in range(20):
        answer = await memory.recall("Where does Ada Berg work?")
        echo = {"role": "assistant", "content": answer.hits[0].text, "timestamp": f"2025-02-01T00:{minute:02}:00Z"}
        await memory.ingest([echo])
    assert len(await memory.store.find_facts(limit=1_000)) == before


async def test_a_statement_is_found_at_its_subject(memory: Memory) -> None:
    await memory.store.put_entity(entity(1, name="Daniel"))
    await memory.assert_statements([{"subject_id": sample_id("entity", 1), "predicate": "port", "value": 1}])
    (found,) = await memory.store.find_facts(entity_id=sample_id("entity", 1))
    assert found.statement is not None
