"""The contract from the outside: a store of a stranger's making, on SQLite, passes it whole."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.toy import ToyStore, opened

from remembrancer import Memory, MemoryQuery, RemembranceError
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import Clock, EmbeddingSpace, system_clock
from remembrancer.testing import IndexedStore, OpenStore
from remembrancer.testing.index_contract import *  # noqa: F403
from remembrancer.testing.samples import sample_id
from remembrancer.testing.store_contract import *  # noqa: F403


@pytest.fixture
async def open_store(tmp_path: Path) -> AsyncIterator[OpenStore]:
    connection = opened(str(tmp_path / "memories.db"))

    async def open_one(
        *, space: EmbeddingSpace | None = None, clock: Clock = system_clock, namespace: str | None = None
    ) -> IndexedStore:
        return ToyStore(connection, namespace or str(uuid.uuid4()), space=space, clock=clock)

    yield open_one
    connection.close()


async def test_a_memory_works_over_it(open_store: OpenStore) -> None:
    embedder = HashingEmbedder(dimensions=16)
    store = await open_store(space=EmbeddingSpace(model=embedder.model, dimensions=16))
    memory = Memory(store, store.index, embedder=embedder)
    said = {
        "id": sample_id("message", 1),
        "role": "user",
        "content": "Ada Berg works at Acme Corp now.",
        "timestamp": "2025-01-01T00:00Z",
    }
    report = await memory.ingest([said])
    assert report.created["fact"]
    found = await memory.retrieve(MemoryQuery(text="Where does Ada Berg work?", min_similarity=0.1))
    assert [one.content for one in found.facts] == ["Ada Berg works at Acme Corp now."]
    again = await memory.ingest([said])
    assert again.created == {}


@pytest.mark.parametrize(
    ("ask", "missing"),
    [
        (lambda memory: memory.recall("a"), "ToyStore can neither recall"),
        (lambda memory: memory.passes(), "ToyStore keeps no audit trail"),
        (lambda memory: memory.history(sample_id("fact", 1)), "ToyStore keeps no audit trail"),
        (lambda memory: memory.gate(), "the store keeps none"),
        (lambda memory: memory.served_to("run"), "ToyStore keeps no register of runs"),
        (lambda memory: memory.export_to("never-written"), "ToyStore can be neither exported"),
    ],
)
async def test_what_it_cannot_do_is_refused_in_words(open_store: OpenStore, ask: Any, missing: str) -> None:
    store = await open_store()
    with pytest.raises(RemembranceError, match=missing):
        await ask(Memory(store, store.index))
