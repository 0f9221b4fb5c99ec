"""Many writers of many namespaces on one client, at once: each namespace ends with its own records, and no others."""

from __future__ import annotations

import asyncio

import pytest
from tests.isolation.conftest import OpenMemory

from remembrancer import Memory
from remembrancer.testing.samples import fact

pytestmark = pytest.mark.neo4j

NAMESPACES = 8
WRITERS = 50


async def test_each_namespace_ends_with_what_its_own_writers_wrote(open_memory: OpenMemory) -> None:
    memories = [await open_memory() for _ in range(NAMESPACES)]

    def written(memory: Memory, writer: int) -> str:
        return f"written by {writer} to {memory.namespace}"

    async def write(memory: Memory, writer: int) -> None:
        await memory.store.put_fact(fact(writer, content=written(memory, writer), tags=["written"]))

    # Writers take turns among the namespaces, so that neighbours on a connection are of different ones.
    await asyncio.gather(*(write(memory, writer) for writer in range(WRITERS) for memory in memories))
    for memory in memories:
        found = await memory.store.find_facts(tags=["written"], include_invalidated=True, limit=1_000)
        assert sorted(one.content for one in found) == sorted(written(memory, one) for one in range(WRITERS))
        assert len({one.id for one in found}) == WRITERS
