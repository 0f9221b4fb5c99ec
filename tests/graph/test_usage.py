"""Uses of facts are counted in the background and written before a store is closed, unless the user may not write."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from remembrancer.graph import Database, Neo4jStore, usage
from remembrancer.graph.connection import Transaction
from remembrancer.records import RemembranceError, ServerUnavailableError
from remembrancer.testing.samples import fact, sample_id

pytestmark = pytest.mark.neo4j

ONE = sample_id("fact", 1)


@pytest.fixture
def namespace() -> str:
    return f"usage-{uuid.uuid4()}"


async def uses(database: Database, namespace: str) -> int | None:
    async with Neo4jStore.open(database=database, namespace=namespace) as store:
        stored = await store.get_fact(ONE)
    assert stored is not None
    return stored.access_count


class Unwilling(Database):
    """A database that refuses or delays writes of usage."""

    def __init__(self, database: Database) -> None:
        super().__init__(database._driver, address=database.address)
        self.error: RemembranceError | None = None
        self.delay = 0.0
        self.committed = asyncio.Event()
        self.tries = 0

    async def write(self, work: Callable[[Transaction], Awaitable[Any]], **options: Any) -> Any:
        self.tries += 1
        if self.error is not None:
            raise self.error
        result = await super().write(work, **options)
        self.committed.set()
        await asyncio.sleep(self.delay)
        return result


async def test_closing_writes_what_was_counted(neo4j_database: Database, namespace: str) -> None:
    async with Neo4jStore.open(database=neo4j_database, namespace=namespace) as store:
        await store.put_fact(fact(1))
        await store.touch_facts([ONE, ONE])
        assert await uses(neo4j_database, namespace) == 0
    assert await uses(neo4j_database, namespace) == 2


async def test_counts_are_written_in_the_background(
    neo4j_database: Database, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "_PAUSE", 0.2)
    async with Neo4jStore.open(database=neo4j_database, namespace=namespace) as store:
        await store.put_fact(fact(1))
        await store.touch_facts([ONE])
        for _ in range(50):
            await asyncio.sleep(0.1)
            if await uses(neo4j_database, namespace) == 1:
                break
        assert await uses(neo4j_database, namespace) == 1
    assert await uses(neo4j_database, namespace) == 1


async def test_closing_while_counts_are_being_written_counts_them_once(
    neo4j_database: Database, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "_PAUSE", 0.05)
    slow = Unwilling(neo4j_database)
    async with Neo4jStore.open(database=slow, namespace=namespace) as store:
        await store.put_fact(fact(1))
        slow.committed.clear()
        slow.delay = 0.3  # the answer to the commit is still on its way when the store is closed
        await store.touch_facts([ONE])
        await slow.committed.wait()
    assert await uses(neo4j_database, namespace) == 1


async def test_closing_does_not_wait_for_the_pause(neo4j_database: Database, namespace: str) -> None:
    async with Neo4jStore.open(database=neo4j_database, namespace=namespace) as store:
        await store.put_fact(fact(1))
        await store.touch_facts([ONE])
        begun = time.monotonic()
    assert time.monotonic() - begun < 2


async def test_who_may_not_write_counts_nothing_and_it_is_said_once(
    neo4j_database: Database, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    readonly = Unwilling(neo4j_database)
    async with Neo4jStore.open(database=readonly, namespace=namespace) as store:
        await store.put_fact(fact(1))
        assert store.counts_usage
        readonly.error = RemembranceError("Neo4j refused a statement (Neo.ClientError.Security.Forbidden): no")
        readonly.tries = 0
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                await store.touch_facts([ONE])
                await store.flush_usage()
        assert not store.counts_usage
        assert readonly.tries == 1
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "usage is not counted from here on" in caplog.text


async def test_counts_wait_for_a_database_that_is_away(
    neo4j_database: Database, namespace: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(usage, "_PAUSE", 0.05)
    away = Unwilling(neo4j_database)
    async with Neo4jStore.open(database=away, namespace=namespace) as store:
        await store.put_fact(fact(1))
        away.error = ServerUnavailableError("away")
        with caplog.at_level(logging.WARNING):
            await store.touch_facts([ONE])
            await asyncio.sleep(0.2)
        assert "waits for the database" in caplog.text
        assert store.counts_usage
        with pytest.raises(ServerUnavailableError):
            await store.flush_usage()
        away.error = None
    assert await uses(neo4j_database, namespace) == 1


async def test_an_error_in_the_block_is_not_hidden_by_counts_that_cannot_be_written(
    neo4j_database: Database, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    away = Unwilling(neo4j_database)

    async def fails() -> None:
        async with Neo4jStore.open(database=away, namespace=namespace) as store:
            await store.put_fact(fact(1))
            await store.touch_facts([ONE])
            away.error = ServerUnavailableError("away")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), caplog.at_level(logging.WARNING):
        await fails()
    assert "uses of 1 facts were not written: away" in caplog.text


async def test_clearing_forgets_what_was_counted(neo4j_database: Database, namespace: str) -> None:
    async with Neo4jStore.open(database=neo4j_database, namespace=namespace) as store:
        await store.put_fact(fact(1))
        await store.touch_facts([ONE])
        await store.clear()
        await store.put_fact(fact(1))
    assert await uses(neo4j_database, namespace) == 0
