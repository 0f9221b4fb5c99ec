"""Asking a database once what it will be asked again, so that nobody waits while it plans.

Neo4j plans a text the first time that it meets it, which takes up to a second for a walk of five hops; later calls
find the plan. Texts are fixed and values are parameters, so one call of each is enough.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from remembrancer.ports import ExtractsSubgraphs, MemoryStore, RetrievesMemory
from remembrancer.records import Clock, EmbeddingSpace, MemoryQuery, RemembranceError, system_clock
from remembrancer.retrieval.recall import recall
from remembrancer.retrieval.subgraph import extract_subgraph

_logger = logging.getLogger(__name__)

_NOBODY = "00000000-0000-4000-8000-000000000000"
_NOTHING = "a tag that nothing has"


async def warm_up(store: MemoryStore, *, clock: Clock = system_clock) -> None:
    """Ask a store that answers inside its database one question of each kind; counts no uses, returns nothing.

    Args:
        store: One that does everything in Python needs no warming, and is not asked.
        clock: Tells what now is.

    Raises:
        ServerUnavailableError: The database could not be reached.
    """
    if not (isinstance(store, RetrievesMemory) and isinstance(store, ExtractsSubgraphs)):
        return
    now = clock()
    embedder = None if store.space is None else _Fixed(store.space)
    await recall(store, "what warms up", embedder=embedder, clock=clock)
    queries = [MemoryQuery(entity_ids=[_NOBODY]), MemoryQuery(tags=[_NOTHING])]
    if embedder is not None:
        nearest = MemoryQuery(embedding=embedder.vector, limit=1, min_similarity=1)
        queries += [nearest, nearest.model_copy(update={"valid_at": now})]
    for query in queries:
        await store.retrieve(query, filter_first=True)
    await extract_subgraph(store, [_NOBODY])


@asynccontextmanager
async def warming(store: MemoryStore, *, clock: Clock = system_clock) -> AsyncIterator[None]:
    """Warm up beside the body of the block; what is not done at its end is left undone, and no failure is raised."""

    async def beside() -> None:
        try:
            await warm_up(store, clock=clock)
        except RemembranceError as error:
            _logger.info("warming up was given up: %s", error)

    task = asyncio.create_task(beside())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


class _Fixed:
    """One vector for every text: plans do not depend on values."""

    def __init__(self, space: EmbeddingSpace) -> None:
        self.model = space.model
        self.dimensions = space.dimensions
        self.vector = (1.0, *(0.0,) * (space.dimensions - 1))

    async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return [self.vector for _ in texts]
