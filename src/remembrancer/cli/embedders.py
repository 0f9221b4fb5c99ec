"""Which embedder a command uses: the one that was asked for, or the one that fits the namespace.

A namespace keeps the model that it was first filled with. `auto` never picks `hashing`: it would tie a new namespace to
vectors that find little which words do not find.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from remembrancer.graph import Database
from remembrancer.graph.doctor import embedding_space, holds_records
from remembrancer.ports import Embedder
from remembrancer.providers.embedding import HashingEmbedder, MiniLMEmbedder, MissingPackageError, WordLlamaEmbedder
from remembrancer.records import EmbeddingSpace

REMEDY = 'pip install "remembrancer[minilm]"'


class EmbedderName(StrEnum):
    """What `--embedder` takes."""

    AUTO = "auto"
    NONE = "none"
    HASHING = "hashing"
    WORDLLAMA = "wordllama"
    MINILM = "minilm"


class Choice(NamedTuple):
    """An embedder, and a sentence that says which it is and why."""

    embedder: Embedder | None
    reason: str


_MAKERS: dict[EmbedderName, Callable[[], Embedder]] = {
    EmbedderName.MINILM: MiniLMEmbedder,
    EmbedderName.WORDLLAMA: WordLlamaEmbedder,
    EmbedderName.HASHING: HashingEmbedder,
}
_PREFERRED = (EmbedderName.MINILM, EmbedderName.WORDLLAMA)


async def embedder_to_write(name: EmbedderName, database: Database, namespace: str) -> Choice:
    """The embedder for storing messages.

    A namespace that has records but no model stays without one. One that was filled with a model that is unknown here
    gets another, so that opening it raises the error which names both.

    Raises:
        MissingPackageError: The namespace's own model is not installed, or the one asked for.
    """
    if name is not EmbedderName.AUTO:
        return await _asked_for(name)
    space = await embedding_space(database, namespace)
    if space is not None:
        known = _of_space(space)
        if known is not None:
            await _try(known)
            return Choice(known, f"vectors by {space.model}, as in all of namespace {namespace!r}")
        other = await first_installed() or HashingEmbedder()
        return Choice(other, f"namespace {namespace!r} was filled with {space.model!r}, which is not known here")
    if await holds_records(database, namespace):
        return Choice(None, f"without vectors, as all of namespace {namespace!r} was stored")
    installed = await first_installed()
    if installed is None:
        return Choice(None, f"without vectors, since no embedding model is installed: {REMEDY}")
    return Choice(installed, f"vectors by {installed.model}, from here on the model of namespace {namespace!r}")


async def embedder_to_read(name: EmbedderName, database: Database, namespace: str) -> Choice:
    """The embedder for questions; where the namespace's own model cannot be had, words alone must do.

    Raises:
        MissingPackageError: The model asked for is not installed.
    """
    if name is not EmbedderName.AUTO:
        return await _asked_for(name)
    space = await embedding_space(database, namespace)
    if space is None:
        return Choice(None, f"by words alone: namespace {namespace!r} has no vectors")
    known = _of_space(space)
    if known is None:
        return Choice(None, f"by words alone: the model of namespace {namespace!r}, {space.model!r}, is not known here")
    try:
        await _try(known)
    except MissingPackageError as error:
        return Choice(None, f"by words alone: {error}")
    return Choice(known, f"by words, and by vectors of {space.model}")


async def first_installed() -> Embedder | None:
    """The best model that is installed; `None` when there is none."""
    for name in _PREFERRED:
        embedder = _MAKERS[name]()
        try:
            await _try(embedder)
        except MissingPackageError:
            continue
        return embedder
    return None


async def _asked_for(name: EmbedderName) -> Choice:
    if name is EmbedderName.NONE:
        return Choice(None, "without vectors, as asked for")
    embedder = _MAKERS[name]()
    await _try(embedder)
    return Choice(embedder, f"vectors by {embedder.model}, as asked for")


def _of_space(space: EmbeddingSpace) -> Embedder | None:
    if space.model == HashingEmbedder().model:
        return HashingEmbedder(dimensions=space.dimensions)
    made = (_MAKERS[name]() for name in _PREFERRED)
    return next((one for one in made if (one.model, one.dimensions) == (space.model, space.dimensions)), None)


async def _try(embedder: Embedder) -> None:
    """Load the model, which is what tells whether it is installed."""
    await embedder.embed(["."])
