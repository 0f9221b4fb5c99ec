"""What holds writers apart: locks hold from the first write to a database on, and who names an entity meets them."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest
from tests.graph.test_query_files import FILES

from remembrancer.graph import Database, Neo4jStore, migrations, queries
from remembrancer.graph.connection import Transaction
from remembrancer.graph.indexes import needed_indexes
from remembrancer.records import RecordBatch
from remembrancer.server import LocalServer
from remembrancer.testing.samples import entity, fact, relationship, sample_id

pytestmark = pytest.mark.neo4j

NOTHING: dict[str, list[str]] = {
    kind: [] for kind in ("entities", "messages", "episodes", "facts", "themes", "relationships")
}


@pytest.fixture
async def store(neo4j_database: Database) -> AsyncIterator[Neo4jStore]:
    async with Neo4jStore.open(database=neo4j_database, namespace=f"test-{uuid.uuid4()}") as opened:
        yield opened


async def lock(transaction: Transaction, store: Neo4jStore, **ids: list[str]) -> None:
    await transaction.run(queries.load("pass.lock"), {"namespace": store.namespace, **NOTHING, **ids})


async def waits(store: Neo4jStore, write: Coroutine[Any, Any, object], **ids: list[str]) -> bool:
    """Whether a write waits for who has locked these records; it is done when this returns."""
    async with store.database.holding() as transaction:
        await lock(transaction, store, **ids)
        writing = asyncio.create_task(write)
        is_held_up = False
        while not is_held_up and not (await asyncio.wait([writing], timeout=0.02))[0]:
            is_held_up = await has_blocked(store)
    await writing
    return is_held_up


async def has_blocked(store: Neo4jStore) -> bool:
    """Whether some transaction of this namespace waits for another one."""
    rows = await store.database.read("SHOW TRANSACTIONS YIELD status, parameters RETURN status, parameters", {})
    mine = (row for row in rows if row["parameters"].get("namespace") == store.namespace)
    return any(row["status"].startswith("Blocked") for row in mine)


def test_a_key_whose_removal_locks_is_known_to_every_database() -> None:
    """A server skips the removal of a key that no record and no index has ever had, and its lock with it."""
    removed = {key for text in FILES.values() for key in re.findall(r"\bREMOVE \w+\.(\w+)", text)}
    made = needed_indexes(statement for migration in migrations() for statement in migration.statements)
    assert removed == {"fresh"}
    assert removed <= {key for index in made for key in index.properties}


@pytest.mark.long
async def test_the_first_pass_over_an_empty_database_locks_what_it_looks_at(own_server: LocalServer) -> None:
    auth = (own_server.username, own_server.password)
    async with (
        Database.open(own_server.bolt_uri, auth=auth) as database,
        Neo4jStore.open(database=database, namespace="the first") as store,
    ):
        edge = relationship(1, 1, 2)
        await store.write(RecordBatch(entities=[entity(1), entity(2)], facts=[fact(1)], relationships=[edge]))
        assert await waits(store, store.put_fact(fact(1, content="other")), facts=[sample_id("fact", 1)])
        assert await waits(store, store.put_entity(entity(1, name="other")), entities=[sample_id("entity", 1)])
        assert await waits(store, store.put_relationship(edge), relationships=[edge.id])


@pytest.mark.parametrize("others", [0, 150], ids=["few edges", "many edges"])
async def test_who_makes_a_fact_name_an_entity_waits_for_the_pass_that_has_locked_it(
    store: Neo4jStore, others: int
) -> None:
    """Else a resolution could look for what names the entity, find nothing, and leave behind what came right after."""
    await store.write(
        RecordBatch(
            entities=[entity(1), entity(2)],
            facts=[fact(1), *(fact(100 + n, entities=[1]) for n in range(others))],
        )
    )
    entity_id = sample_id("entity", 1)
    assert await waits(store, store.put_fact(fact(1, entities=[1])), entities=[entity_id])
    assert await waits(store, store.put_fact(fact(2, entities=[1])), entities=[entity_id])
    assert await waits(store, store.put_relationship(relationship(1, 2, 1)), entities=[entity_id])
    assert not await waits(store, store.put_fact(fact(3, entities=[2])), entities=[entity_id])
