"""Kind 9: many at once. Eight processes that open an empty database are in tests/graph/test_migrations.py, cancelled
calls in tests/concurrency."""

from __future__ import annotations

import asyncio
import gc
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.pains.conftest import OpenMemory, said

from remembrancer import Memory, RemembranceError, SyncMemory
from remembrancer.graph import Database
from remembrancer.graph.doctor import examine
from remembrancer.records import RecordBatch
from remembrancer.testing.samples import entity, fact, relationship, sample_id

pytestmark = pytest.mark.neo4j

Server = tuple[str, tuple[str, str]]


async def test_writers_in_opposite_order_all_land_and_no_use_is_lost(open_memory: OpenMemory) -> None:
    first = await open_memory()
    memories = [first, *[await open_memory(first.namespace) for _ in range(3)]]
    await first.store.write(RecordBatch(facts=[fact(1), fact(2)]))
    ends = (sample_id("fact", 1), sample_id("fact", 2))

    async def writer(number: int) -> None:
        order = (1, 2) if number % 2 else (2, 1)
        store = memories[number % 4].store
        for turn in range(3):
            edge = relationship(10 * number + turn, *order, relation_type=f"r {number} {turn}")
            await store.write(RecordBatch(entities=[entity(n) for n in order], assertions=[edge]))
            await store.touch_facts(ends if number % 2 else ends[::-1])
            await store.flush_usage()

    await asyncio.gather(*(writer(number) for number in range(16)))
    assert len(await first.store.get_relationships_for_entity(sample_id("entity", 1))) == 48
    stored = await first.store.get_facts(ends)
    assert [one.access_count for one in stored.values()] == [48, 48]


# The driver leaves closing its sockets to Python when it is closed during use.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
async def test_closing_during_use_is_an_error_and_no_hang(neo4j_server: Server) -> None:
    uri, auth = neo4j_server
    name = f"pain-{uuid.uuid4()}"
    async with asyncio.timeout(60):
        async with Memory.connect(uri, auth=auth, namespace=name, warm=False) as memory:
            asking = [asyncio.create_task(memory.ingest([said(f"Boat {n} is blue.", n)])) for n in range(8)]
            await asyncio.sleep(0.05)
        outcomes = await asyncio.gather(*asking, return_exceptions=True)
        with pytest.raises(RemembranceError):
            await memory.recall("boat")
    assert all(not isinstance(one, BaseException) or isinstance(one, RemembranceError) for one in outcomes)
    async with Memory.connect(uri, auth=auth, namespace=name, warm=False) as again:
        done = sum(not isinstance(one, BaseException) for one in outcomes)
        messages = [one for episode in await again.store.list_episodes() for one in episode.messages]
        assert len(messages) >= done
        await again.clear()
    del asking, memory
    gc.collect()


@pytest.mark.parametrize("first", ["ingest", "forget"])
async def test_forgetting_while_an_ingest_runs_ends_in_a_graph_that_agrees(
    open_memory: OpenMemory, neo4j_database: Database, first: str
) -> None:
    memory = await open_memory()
    await memory.ingest([said("Ada Berg works at Acme Corp.", id=sample_id("message", 1))])
    ingest = memory.ingest([said(f"Ada Berg saw boat {n}.", n + 1) for n in range(5)])
    forget = memory.forget(sample_id("message", 1))
    await asyncio.gather(*((ingest, forget) if first == "ingest" else (forget, ingest)))
    assert await memory.store.get_message(sample_id("message", 1)) is None
    assert (await examine(neo4j_database, memory.namespace, deep=True)).is_well


async def test_the_blocking_memory_works_inside_a_running_loop_and_from_many_threads(neo4j_server: Server) -> None:
    uri, auth = neo4j_server

    def used_by_threads() -> int:
        with SyncMemory.connect(uri, auth=auth, namespace=f"pain-{uuid.uuid4()}") as memory:

            def take_in(number: int) -> int:
                assert threading.current_thread() is not threading.main_thread()
                one = said(f"Note {number} is kept.", number, conversation=str(number))
                report = memory.ingest([one])
                assert memory.recall(f"Note {number}").hits
                return len(report.created["message"])

            with ThreadPoolExecutor(6) as pool:
                written = sum(pool.map(take_in, range(18)))
            memory.clear()
        return written

    assert used_by_threads() == 18  # called right here, where a loop runs
