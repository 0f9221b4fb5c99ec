"""What the doctor sees when it looks deep: nothing in a memory that ingest filled, and each thing that may be wrong."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest

from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.connection import Transaction
from remembrancer.graph.doctor import MAX_EXAMPLES, Examination, Finding, embedding_space, examine, holds_records
from remembrancer.memory import Memory
from remembrancer.records import EmbeddingSpace
from remembrancer.testing.samples import sample_id

pytestmark = pytest.mark.neo4j

WRONGS = [
    ("MATCH (:Episode {namespace: $namespace})-[e:HAS_FACT]->() DELETE e", "episode_facts"),
    ("MATCH (:Fact {namespace: $namespace})-[e:FROM_EPISODE]->() DELETE e", "episode_facts"),
    ("MATCH (:Theme {namespace: $namespace})-[e:HAS_FACT]->() DELETE e", "theme_facts"),
    ("MATCH (f:Fact {namespace: $namespace}) SET f.theme_id = null", "theme_facts"),
    ("MATCH (f:Theme {namespace: $namespace}) DETACH DELETE f", "theme_facts"),
    ("MATCH (m:Message {namespace: $namespace}) SET m.position = 7", "message_places"),
    ("MATCH (m:Message {namespace: $namespace}) SET m.episode_id = null", "message_places"),
    (
        "MATCH (m:Message {namespace: $namespace}) WITH m ORDER BY m.id LIMIT 1 "
        "MATCH (e:Episode {namespace: $namespace}) MERGE (e)-[r:HAS_MESSAGE]->(m) "
        "ON CREATE SET r.namespace = $namespace, r.positions = [0]",
        "message_places",
    ),
    ("MATCH (m:Message {namespace: $namespace}) SET m.day = '1999-12-31'", "copies"),
    ("MATCH (f:Fact {namespace: $namespace}) SET f.live = false", "copies"),
    ("MATCH (f:Fact {namespace: $namespace}) SET f.invalidated_by = 'x'", "copies"),
    ("MATCH (f:Fact {namespace: $namespace}) SET f.quarantined = true", "copies"),
    ("MATCH (e:Entity {namespace: $namespace}) SET e.live = null", "copies"),
    ("MATCH (t:Theme {namespace: $namespace}) SET t.live = false", "copies"),
    ("MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() SET r.live = false", "copies"),
    ("MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() SET r.source_id = 'x'", "copies"),
    ("CREATE (:Tag {namespace: $namespace, name: 'left behind'})", "bad_placeholders"),
    ("CREATE (:Entity:Placeholder {namespace: $namespace, id: 'x'})", "bad_placeholders"),
    ("MATCH (e:Entity {namespace: $namespace}) SET e:Placeholder", "bad_placeholders"),
    ("MATCH (:Fact {namespace: $namespace})-[r:MENTIONS]->() SET r.namespace = null", "walls"),
    (
        "MATCH (f:Fact {namespace: $namespace}) WITH f LIMIT 1 "
        "CREATE (f)-[:MENTIONS {namespace: $namespace}]->(:Entity {namespace: $namespace + '-other', id: 'x'})",
        "walls",
    ),
]

MESSAGES = [
    {
        "role": "user",
        "content": f"Priya Raman works at Northwind {number}.",
        "timestamp": f"2026-03-{number:02}T09:00:00Z",
    }
    for number in range(1, 4)
]


@pytest.fixture
async def memory(neo4j_database: Database) -> AsyncIterator[Memory]:
    async with Neo4jStore.open(database=neo4j_database, namespace=f"test-{uuid.uuid4()}") as store:
        memory = Memory(store, store.index)
        await memory.ingest(MESSAGES)
        yield memory


async def examined(memory: Memory) -> Examination:
    return await examine(database_of(memory), memory.namespace, deep=True)


def database_of(memory: Memory) -> Database:
    assert isinstance(memory.store, Neo4jStore)
    return memory.store.database


async def change(memory: Memory, statement: str) -> None:
    async def work(transaction: Transaction) -> Any:
        return await transaction.run(statement, {"namespace": memory.namespace})

    await database_of(memory).write(work)


def seen(found: Examination, check: str) -> list[Finding]:
    return [finding for finding in found.findings if finding.check == check]


async def test_a_memory_that_ingest_filled_is_well(memory: Memory) -> None:
    found = await examined(memory)
    assert found.is_well
    assert list(found.findings) == []
    assert {one.kind: one.stored for one in found.counts}["message"] == len(MESSAGES)


@pytest.mark.parametrize(("statement", "check"), WRONGS)
async def test_the_doctor_sees(memory: Memory, statement: str, check: str) -> None:
    await change(memory, statement)
    found = await examined(memory)
    (finding,) = seen(found, check)
    assert finding.is_wrong
    assert not found.is_well
    assert finding.total >= len(finding.examples) > 0


async def test_what_is_named_but_not_stored_is_worth_knowing_and_not_wrong(memory: Memory) -> None:
    await change(
        memory,
        "MATCH (f:Fact {namespace: $namespace}) WITH f LIMIT 1 "
        "CREATE (f)-[:MENTIONS {namespace: $namespace, positions: [COUNT { (f)-[:MENTIONS]->() }]}]->"
        f"(:Entity:Placeholder {{namespace: $namespace, id: '{sample_id('entity', 1)}'}})",
    )
    found = await examined(memory)
    (finding,) = seen(found, "placeholders")
    assert (finding.is_wrong, list(finding.examples)) == (False, [f"entity {sample_id('entity', 1)} (named by 1)"])
    assert found.is_well


async def test_examples_are_bounded_and_the_total_is_not(memory: Memory) -> None:
    await change(
        memory,
        f"UNWIND range(1, {MAX_EXAMPLES + 5}) AS number "
        "CREATE (:Tag {namespace: $namespace, name: 'tag ' + toString(number)})",
    )
    (finding,) = seen(await examined(memory), "bad_placeholders")
    assert (finding.total, len(finding.examples)) == (MAX_EXAMPLES + 5, MAX_EXAMPLES)


async def test_a_namespace_that_names_an_unknown_embedding_space_is_wrong(memory: Memory) -> None:
    await change(memory, "MATCH (n:Namespace {name: $namespace}) SET n.space = 999")
    found = await examined(memory)
    assert seen(found, "namespace")
    assert not found.is_well


async def test_used_facts_are_counted(memory: Memory) -> None:
    facts = await memory.store.find_facts()
    await memory.store.touch_facts([facts[0].id, facts[0].id, facts[1].id])
    await memory.store.flush_usage()
    usage = (await examined(memory)).usage
    assert (usage.is_counted, usage.facts, usage.uses) == (True, 2, 3)
    assert usage.last_at is not None


async def test_looking_makes_no_namespace(neo4j_database: Database) -> None:
    name = f"test-{uuid.uuid4()}"
    await examine(neo4j_database, name, deep=True)
    assert await embedding_space(neo4j_database, name) is None
    assert not await holds_records(neo4j_database, name)
    found = await neo4j_database.read("MATCH (n:Namespace {name: $name}) RETURN n", {"name": name})
    assert found == []


async def test_the_space_of_a_namespace_is_known_without_opening_it(neo4j_database: Database) -> None:
    space = EmbeddingSpace(model="samples", dimensions=4)
    name = f"test-{uuid.uuid4()}"
    async with Neo4jStore.open(database=neo4j_database, namespace=name, space=space):
        assert await embedding_space(neo4j_database, name) == space
