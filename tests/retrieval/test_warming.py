"""Warming up: the fixed questions are planned before anybody asks them, and asking them leaves no trace."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from remembrancer import Memory
from remembrancer.graph import Database, Neo4jStore
from remembrancer.inmemory import InMemoryStore
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import RecordBatch, ServerUnavailableError
from remembrancer.retrieval import warm_up
from remembrancer.retrieval.warming import warming
from remembrancer.testing.samples import SPACE, direction, fact


@pytest.mark.neo4j
async def test_warming_up_counts_no_uses(neo4j_database: Database) -> None:
    async with Neo4jStore.open(database=neo4j_database, namespace=f"test-{uuid.uuid4()}", space=SPACE) as store:
        await store.write(RecordBatch(facts=[fact(1, embedding=direction(0))]))
        await warm_up(store)
        await store.flush_usage()
        stored = await store.get_fact(fact(1).id)
        assert stored is not None
        assert (stored.access_count, stored.last_accessed_at) == (0, None)


async def test_a_store_that_answers_in_python_is_not_asked() -> None:
    await warm_up(InMemoryStore("nobody"))


@pytest.mark.neo4j
async def test_a_memory_can_be_left_while_it_warms_up(neo4j_server: tuple[str, tuple[str, str]]) -> None:
    uri, auth = neo4j_server
    for _ in range(3):
        namespace = f"test-{uuid.uuid4()}"
        async with Memory.connect(uri, auth=auth, namespace=namespace, embedder=HashingEmbedder()) as memory:
            assert memory.namespace == namespace


class Unreachable(InMemoryStore):
    """A store whose database has gone."""

    async def retrieve(self, query: object, *, filter_first: bool) -> object:
        raise AssertionError("recall failed before")

    async def extract_subgraph(self, *args: object, **kwargs: object) -> object:
        raise AssertionError("recall failed before")

    async def gather_candidates(self, question: object) -> object:
        raise ServerUnavailableError("gone", address="nowhere")


async def test_a_failure_to_warm_up_is_nobodys_error(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        async with warming(Unreachable("nobody")):
            await asyncio.sleep(0.05)
    assert "warming up was given up: gone" in caplog.text
