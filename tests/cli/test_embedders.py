"""Which embedder a command picks: the namespace's own, else the best that is installed, never one that does not fit."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from remembrancer.cli.embedders import EmbedderName, embedder_to_read, embedder_to_write, first_installed
from remembrancer.graph import Database, Neo4jStore
from remembrancer.memory import Memory
from remembrancer.ports import Embedder
from remembrancer.providers.embedding import HashingEmbedder, MiniLMEmbedder, MissingPackageError, WordLlamaEmbedder
from remembrancer.records import EmbeddingSpace

AUTO = EmbedderName.AUTO


def not_installed(*kinds: type[Embedder]) -> Callable[[pytest.MonkeyPatch], None]:
    async def embed(*_: object) -> list[list[float]]:
        raise MissingPackageError("the model", remedy="pip install it")

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        for kind in kinds:
            monkeypatch.setattr(kind, "embed", embed)

    return patch


async def filled_with(database: Database, space: EmbeddingSpace | None) -> str:
    name = f"test-{uuid.uuid4()}"
    async with Neo4jStore.open(database=database, namespace=name, space=space) as store:
        await Memory(store, store.index).ingest([{"role": "user", "content": "One.", "timestamp": "2026-03-02"}])
    return name


async def test_the_best_model_that_is_installed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(await first_installed(), MiniLMEmbedder)
    not_installed(MiniLMEmbedder)(monkeypatch)
    assert isinstance(await first_installed(), WordLlamaEmbedder)
    not_installed(WordLlamaEmbedder)(monkeypatch)
    assert await first_installed() is None


@pytest.mark.neo4j
async def test_a_new_namespace_gets_a_model_to_write_and_none_to_read(neo4j_database: Database) -> None:
    name = f"test-{uuid.uuid4()}"
    written = await embedder_to_write(AUTO, neo4j_database, name)
    assert isinstance(written.embedder, MiniLMEmbedder)
    assert "from here on the model" in written.reason
    assert (await embedder_to_read(AUTO, neo4j_database, name)).embedder is None


@pytest.mark.neo4j
async def test_without_a_model_words_alone_must_do(neo4j_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    not_installed(MiniLMEmbedder, WordLlamaEmbedder)(monkeypatch)
    choice = await embedder_to_write(AUTO, neo4j_database, f"test-{uuid.uuid4()}")
    assert choice.embedder is None
    assert "no embedding model is installed" in choice.reason


@pytest.mark.neo4j
async def test_a_namespace_keeps_its_model_and_its_dimensions(neo4j_database: Database) -> None:
    own = HashingEmbedder(dimensions=64)
    name = await filled_with(neo4j_database, EmbeddingSpace(model=own.model, dimensions=own.dimensions))
    for choose in (embedder_to_write, embedder_to_read):
        embedder = (await choose(AUTO, neo4j_database, name)).embedder
        assert isinstance(embedder, HashingEmbedder)
        assert embedder.dimensions == 64


@pytest.mark.neo4j
async def test_what_was_stored_without_vectors_stays_so(neo4j_database: Database) -> None:
    name = await filled_with(neo4j_database, None)
    assert (await embedder_to_write(AUTO, neo4j_database, name)).embedder is None


@pytest.mark.neo4j
async def test_an_unknown_model_is_read_by_words_and_written_with_another_which_is_then_refused(
    neo4j_database: Database,
) -> None:
    space = EmbeddingSpace(model="somebody's own", dimensions=4)
    name = await filled_with(neo4j_database, space)
    read = await embedder_to_read(AUTO, neo4j_database, name)
    assert (read.embedder, "by words alone" in read.reason) == (None, True)
    written = await embedder_to_write(AUTO, neo4j_database, name)
    assert written.embedder is not None
    assert (written.embedder.model, written.embedder.dimensions) != (space.model, space.dimensions)


@pytest.mark.neo4j
async def test_a_model_that_is_known_but_not_installed_is_an_error_to_write_and_words_to_read(
    neo4j_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = WordLlamaEmbedder()
    name = await filled_with(neo4j_database, EmbeddingSpace(model=own.model, dimensions=own.dimensions))
    not_installed(WordLlamaEmbedder)(monkeypatch)
    with pytest.raises(MissingPackageError):
        await embedder_to_write(AUTO, neo4j_database, name)
    read = await embedder_to_read(AUTO, neo4j_database, name)
    assert (read.embedder, "pip install it" in read.reason) == (None, True)
    with pytest.raises(MissingPackageError):
        await embedder_to_read(EmbedderName.WORDLLAMA, neo4j_database, name)
