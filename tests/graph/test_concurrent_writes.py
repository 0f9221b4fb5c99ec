"""Writers that meet: no update is lost, no deadlock comes to the surface, and what is counted adds up."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import AsyncIterator

import pytest

from remembrancer.graph import Database, Neo4jStore
from remembrancer.records import RecordBatch, RecordKind, ThemeAddition
from remembrancer.testing.samples import day, entity, episode, fact, message, relationship, sample_id, theme

pytestmark = pytest.mark.neo4j

WRITERS = 16


@pytest.fixture
async def store(neo4j_database: Database) -> AsyncIterator[Neo4jStore]:
    async with Neo4jStore.open(database=neo4j_database, namespace=f"meeting-{uuid.uuid4()}") as opened:
        yield opened


async def placeholders(store: Neo4jStore) -> list[dict[str, object]]:
    return await store.database.read(
        "MATCH (n:Placeholder {namespace: $namespace}) RETURN labels(n) AS labels, n.id AS id",
        {"namespace": store.namespace},
    )


async def test_writes_in_opposite_order_all_land(store: Neo4jStore) -> None:
    numbers = list(range(12))

    async def writer(own: int) -> None:
        for turn in range(4):
            order = numbers if (own + turn) % 2 else numbers[::-1]
            await store.write(
                RecordBatch(
                    entities=[entity(number, name=f"by {own}") for number in order],
                    facts=[fact(1000 * own + turn, entities=order), *(fact(n, entities=order[:3]) for n in order)],
                    assertions=[relationship(1000 * own + turn, order[0], order[-1], relation_type=f"r {own} {turn}")],
                )
            )

    await asyncio.gather(*(writer(own) for own in range(1, WRITERS + 1)))
    facts = await store.find_facts(limit=1000)
    own = {fact.id: fact for fact in facts if int(fact.id[-12:], 16) >= 1000}
    assert len(own) == 4 * WRITERS
    assert all(set(fact.entity_ids) == {sample_id("entity", n) for n in numbers} for fact in own.values())
    edges = await store.get_relationships_for_entity(sample_id("entity", 0))
    assert len(edges) == 4 * WRITERS
    assert await placeholders(store) == []


async def test_additions_to_shared_themes_in_opposite_order_are_all_there_once(store: Neo4jStore) -> None:
    themes = list(range(5))
    await store.write(RecordBatch(themes=[theme(number) for number in themes]))

    async def writer(own: int) -> None:
        order = themes if own % 2 else themes[::-1]
        added = [fact(100 * own + number) for number in order]
        await store.write(
            RecordBatch(
                facts=added,
                theme_additions=[
                    ThemeAddition(theme_id=sample_id("theme", number), fact_ids=[one.id])
                    for number, one in zip(order, added, strict=True)
                ],
            )
        )

    await asyncio.gather(*(writer(own) for own in range(1, WRITERS + 1)))
    for number in themes:
        stored = await store.get_theme(sample_id("theme", number))
        assert stored is not None
        assert sorted(stored.fact_ids) == sorted(sample_id("fact", 100 * own + number) for own in range(1, WRITERS + 1))


async def test_puts_and_deletes_of_shared_placeholders_leave_none_behind(store: Neo4jStore) -> None:
    """A placeholder may vanish between the look at it and its lock: only the server notices."""
    shared = list(range(6))

    async def writer(own: int) -> None:
        rng = random.Random(own)
        for _ in range(12):
            await store.put_fact(fact(own, entities=rng.sample(shared, 3), episodes=rng.sample(shared, 2)))
            if rng.random() < 0.6:
                assert await store.delete_fact(sample_id("fact", own))
        await store.delete_fact(sample_id("fact", own))

    await asyncio.gather(*(writer(own) for own in range(100, 100 + WRITERS)))
    assert await store.find_facts() == []
    assert await placeholders(store) == []


async def test_records_that_go_together_with_those_that_name_them_leave_no_placeholders(store: Neo4jStore) -> None:
    """Of two deletions that meet, the later one must see what the earlier one left."""
    for number in range(20):
        episodes = [episode(number, messages=[message(number)], facts=[number])]
        about = [fact(number, entities=[number, 100 + number], episodes=[number])]
        edges = [relationship(number, number, 100 + number)]
        entities = [entity(number), entity(100 + number)]
        themes = [theme(number, facts=[number])]
        await store.write(
            RecordBatch(entities=entities, relationships=edges, episodes=episodes, facts=about, themes=themes)
        )
        kinds: list[RecordKind] = ["fact", "message", "episode", "theme", "entity", "relationship"]
        await asyncio.gather(
            *(store.write(RecordBatch(removals={kind: [sample_id(kind, number)]})) for kind in kinds),
            store.write(RecordBatch(removals={"entity": [sample_id("entity", 100 + number)]})),
        )
    assert await placeholders(store) == []


@pytest.mark.parametrize("kind", ["message", "episode", "fact", "theme", "entity", "relationship"])
async def test_of_many_that_delete_one_record_one_does(store: Neo4jStore, kind: RecordKind) -> None:
    for number in range(6):
        messages = [message(number)]
        await store.write(
            RecordBatch(
                entities=[entity(number), entity(100 + number)],
                relationships=[relationship(number, number, 100 + number)],
                episodes=[episode(number, messages=messages, facts=[number])],
                facts=[fact(number, entities=[number], episodes=[number], tags=["t"])],
                themes=[theme(number, facts=[number])],
            )
        )
        done = await asyncio.gather(
            *(store.write(RecordBatch(removals={kind: [sample_id(kind, number)]})) for _ in range(WRITERS))
        )
        told = [record_id for receipt in done for record_id in receipt.removed.get(kind, ())]
        assert told == [sample_id(kind, number)]


async def test_tags_that_come_and_go_leave_none_behind(store: Neo4jStore) -> None:
    async def writer(own: int) -> None:
        rng = random.Random(own)
        for _ in range(10):
            await store.put_fact(fact(own, tags=rng.sample(["a", "b", "c", "d"], 2)))
        await store.put_fact(fact(own, tags=["kept"]))

    await asyncio.gather(*(writer(own) for own in range(WRITERS)))
    rows = await store.database.read(
        "MATCH (t:Tag {namespace: $namespace}) RETURN t.name AS name", {"namespace": store.namespace}
    )
    assert rows == [{"name": "kept"}]
    assert len(await store.find_facts(tags=["kept"])) == WRITERS


async def test_uses_counted_by_many_add_up(store: Neo4jStore) -> None:
    facts = [fact(number) for number in range(10)]
    await store.write(RecordBatch(facts=facts))

    async def user(own: int) -> None:
        async with Neo4jStore.open(database=store.database, namespace=store.namespace) as another:
            for turn in range(5):
                order = facts if own % 2 else facts[::-1]
                await another.touch_facts([one.id for one in order] * 2, at=day(own))
                if turn % 2:
                    await another.flush_usage()

    await asyncio.gather(*(user(own) for own in range(WRITERS)))
    stored = await store.get_facts([one.id for one in facts])
    assert [one.access_count for one in stored.values()] == [WRITERS * 5 * 2] * len(facts)


async def test_uses_counted_while_they_are_written_add_up(store: Neo4jStore) -> None:
    await store.put_fact(fact(1))
    counted = 0

    async def user() -> None:
        nonlocal counted
        for _ in range(50):
            await store.touch_facts([sample_id("fact", 1)])
            counted += 1
            await asyncio.sleep(0)

    async def flusher() -> None:
        for _ in range(10):
            await store.flush_usage()

    await asyncio.gather(*(user() for _ in range(WRITERS)), flusher(), flusher())
    await store.flush_usage()
    stored = await store.get_fact(sample_id("fact", 1))
    assert stored is not None
    assert stored.access_count == counted == 50 * WRITERS
