"""Kind 7: a memory knows its embedding model. Moving to another one is tested in tests/reembedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.pains.conftest import EMBEDDER, OpenMemory, said

from remembrancer import InvalidInputError, Memory
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import EmbeddingDimensionMismatchError, EmbeddingSpaceMismatchError
from remembrancer.testing.samples import fact

pytestmark = pytest.mark.neo4j


async def test_the_dimension_is_that_of_the_model(open_memory: OpenMemory) -> None:
    for dimensions in (16, 64, 384):
        memory = await open_memory(embedder=HashingEmbedder(dimensions=dimensions))
        assert memory.store.space is not None
        assert memory.store.space.dimensions == dimensions
        await memory.ingest([said("Ada Berg works at Acme Corp.")])
        assert (await memory.recall("Ada Berg")).hits


async def test_another_model_is_refused_naming_both_before_anything_is_written(open_memory: OpenMemory) -> None:
    memory = await open_memory()
    await memory.ingest([said("Ada Berg works at Acme Corp.")])
    for other in (HashingEmbedder(dimensions=16), Named()):
        with pytest.raises(EmbeddingSpaceMismatchError) as raised:
            await open_memory(memory.namespace, embedder=other)
        assert EMBEDDER.model in str(raised.value)
        assert other.model in str(raised.value)
    assert len(await memory.store.list_episodes()) == 1


class Named:
    model = "another-model"
    dimensions = EMBEDDER.dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] * self.dimensions for _ in texts]


@pytest.mark.parametrize("bad", [[0.0] * 64, [1.0] * 63, [1.0] * 65, [float("nan")] * 64, [float("inf")] * 64])
async def test_a_vector_is_never_cut_or_padded(memory: Memory, bad: list[float]) -> None:
    with pytest.raises((ValueError, EmbeddingDimensionMismatchError), match="embedding"):
        await memory.store.put_fact(fact(1, embedding=bad))
    assert await memory.store.find_facts() == []


class Broken(HashingEmbedder):
    async def embed(self, texts: Sequence[str]) -> Any:
        return [[float("nan")] * self.dimensions for _ in texts]


async def test_a_bad_vector_of_the_model_names_the_record_and_writes_nothing(open_memory: OpenMemory) -> None:
    memory = await open_memory(embedder=Broken(dimensions=16))
    with pytest.raises(InvalidInputError, match=r"fact [0-9a-f-]{36}\): .*NaN"):
        await memory.ingest([said("Ada Berg works at Acme Corp.")])
    assert await memory.store.list_episodes() == []


async def test_words_are_found_without_any_model(open_memory: OpenMemory) -> None:
    memory = await open_memory(embedder=None)
    await memory.ingest([said("Ada Berg works at Acme Corp.")])
    answer = await memory.recall("Where does Ada Berg work?")
    assert answer.hits
    assert answer.searched == "text"
