"""Memories on the run's Neo4j, each in a namespace of its own, as a user opens them."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from remembrancer import Memory
from remembrancer.graph import Database, Neo4jStore
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import EmbeddingSpace

EMBEDDER = HashingEmbedder(dimensions=64)
ADA, ACME = (f"e0000000-0000-4000-8000-{number:012x}" for number in (1, 2))

OpenMemory = Callable[..., Awaitable[Memory]]


def said(content: str, minute: int = 0, **fields: Any) -> dict[str, Any]:
    """A message of a user."""
    return {"role": "user", "content": content, "timestamp": f"2025-01-01T00:{minute:02}:00Z", **fields}


@pytest.fixture
async def open_memory(neo4j_database: Database) -> AsyncIterator[OpenMemory]:
    """Opens memories and closes them all at the end of the test."""
    opened: list[Any] = []

    async def open_one(namespace: str | None = None, *, embedder: Any = EMBEDDER, **options: Any) -> Memory:
        space = None if embedder is None else EmbeddingSpace(model=embedder.model, dimensions=embedder.dimensions)
        clock = {"clock": options["clock"]} if "clock" in options else {}
        name = namespace or f"pain-{uuid.uuid4()}"
        holding = Neo4jStore.open(database=neo4j_database, namespace=name, space=space, **clock)
        store = await holding.__aenter__()
        opened.append(holding)
        return Memory(store, store.index, embedder=embedder, **options)

    yield open_one
    for holding in reversed(opened):
        await holding.__aexit__(None, None, None)


@pytest.fixture
async def memory(open_memory: OpenMemory) -> Memory:
    """An empty memory."""
    return await open_memory()
