"""Two memories in one database that hold the same but for the ids of their records, and what one of them answers."""

from __future__ import annotations

import dataclasses
import json
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel
from tests.surface import BATCH, EMBEDDER, ITEM, OURS, RUN, called, in_family

from remembrancer import Memory
from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.namespaces import remove_namespace
from remembrancer.records import EmbeddingSpace, RemembranceError
from remembrancer.testing import FixedClock
from remembrancer.testing.samples import day, entity, sample_id

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EVERYTHING = """
CYPHER 25
MATCH (n) WHERE n.namespace = $namespace
RETURN elementId(n) AS id, labels(n) AS kind, properties(n) AS properties,
       COLLECT { MATCH (n)-[edge]-(other) RETURN [type(edge), elementId(other), properties(edge)] } AS edges
"""

OpenMemory = Callable[..., Awaitable[Memory]]


@asynccontextmanager
async def opening_memories(database: Database) -> AsyncIterator[OpenMemory]:
    """Opens memories of new namespaces, all on one client, and takes those away at the end."""
    opened: list[Memory] = []
    space = EmbeddingSpace(model=EMBEDDER.model, dimensions=EMBEDDER.dimensions)
    clock = FixedClock(day(10))

    async def open_memory() -> Memory:
        # All names have one length: what is cut at a width is cut at the same place.
        holding = Neo4jStore.open(database=database, namespace=f"test-{uuid.uuid4()}", space=space, clock=clock)
        store = await holding.__aenter__()
        memory = Memory(store, store.index, embedder=EMBEDDER, clock=clock)
        opened.append(memory)
        return memory

    try:
        yield open_memory
    finally:
        for memory in opened:
            await memory.clear()
            await memory.store.aclose()  # type: ignore[attr-defined]
            await remove_namespace(database, memory.namespace)


async def fill(memory: Memory, family: str) -> None:
    """Records of every kind, a scored run that was served, an item of a tier, and a pass."""
    store: Any = memory.store
    await store.write(in_family(BATCH, family), idempotency_key="filled")
    await store.serve_run("run", in_family([sample_id("fact", 1)], family))
    await store.ledger.record_outcome(RUN)
    await store.tiers.put([in_family(ITEM, family)])
    await store.put_entity(in_family(entity(7), family))
    await memory.forget(in_family(sample_id("entity", 7), family), hard=False)


async def everything(database: Database, namespace: str) -> list[str]:
    """All nodes and edges of a namespace, as text."""
    found = await database.read(_EVERYTHING, {"namespace": namespace})
    return sorted(_in_order(row) for row in found)


def _in_order(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(sorted((key, _in_order(one)) for key, one in value.items()))
    return str(sorted(map(_in_order, value))) if isinstance(value, list) else str(_raw(value))


def _raw(value: Any) -> Any:
    # The instants that stand for "never" are beyond what the driver knows, and come as they were sent.
    return value.raw_data.fields if hasattr(value, "raw_data") else value


async def answer_of(memory: Memory, part: str, name: str, family: str) -> str:
    """What a coroutine answers, or what its error says."""
    try:
        answer = plain(await called(memory, part, name, family=family))
        if name == "outline_themes":
            for theme, _ in answer:
                theme["fact_ids"].sort()  # a sample of them, in no order
    except RemembranceError as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    await memory.store.flush_usage()
    return without_names(json.dumps(answer, indent=1), memory.namespace)


def without_names(text: str, namespace: str) -> str:
    """A text with its namespace and the ids that chance made by their places, so that two memories' are equal."""
    places: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        one = found.group()
        return one if OURS in one else places.setdefault(one, f"<id {len(places)}>")

    return _UUID.sub(named, text.replace(namespace, "<namespace>"))


def plain(value: Any) -> Any:
    """An answer as JSON has it."""
    if isinstance(value, BaseModel):
        return plain(dict(value))
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return round(value, 6)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


@pytest.fixture(scope="module")
async def open_memory(neo4j_database: Database) -> AsyncIterator[OpenMemory]:
    async with opening_memories(neo4j_database) as open_one:
        yield open_one
