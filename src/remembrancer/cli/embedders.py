"""Which embedder a command uses: the one that was asked for, or the one that fits the namespace.

A namespace keeps the model that it was first filled with. `auto` never picks `hashing`: it would tie a new namespace to
vectors that find little which words do not find.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import typer

from remembrancer.cli.spelling import hinted, named
from remembrancer.graph import Database
from remembrancer.graph.doctor import embedding_space, holds_records
from remembrancer.ports import Embedder
from remembrancer.providers.embedding import HashingEmbedder, MiniLMEmbedder, MissingPackageError, WordLlamaEmbedder
from remembrancer.records import EmbeddingSpace, ModelAccessError

if TYPE_CHECKING:
    from remembrancer.providers.openai import OpenAIEmbedder

REMOTE = "openai:"
"""What a model behind OpenAI's interface is asked for with, its name after it."""

REMEDY = 'pip install "remembrancer[minilm]"'


class EmbedderName(StrEnum):
    """What `--embedder` takes, besides `openai:MODEL`."""

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


async def embedder_to_write(name: str, database: Database, namespace: str) -> Choice:
    """The embedder for storing messages.

    A namespace that has records but no model stays without one. One that was filled with a model that is unknown here
    gets another, so that opening it raises the error which names both.

    Raises:
        MissingPackageError: The namespace's own model is not installed, or the one asked for.
    """
    if name != EmbedderName.AUTO:
        return await embedder_asked_for(name)
    space = await embedding_space(database, namespace)
    if space is not None:
        known = _of_space(space)
        if known is not None:
            await _try(known)
            return Choice(known, f"vectors by {space.model}, as in all of namespace {namespace!r}")
        other = await first_installed() or HashingEmbedder()
        unknown = f"namespace {namespace!r} was filled with {space.model!r}, which is not known here"
        return Choice(other, f"{unknown}; if it is a remote model: --embedder {REMOTE}{space.model}")
    if await holds_records(database, namespace):
        return Choice(None, f"without vectors, as all of namespace {namespace!r} was stored")
    installed = await first_installed()
    if installed is None:
        return Choice(None, f"without vectors, since no embedding model is installed: {REMEDY}")
    return Choice(installed, f"vectors by {installed.model}, from here on the model of namespace {namespace!r}")


async def embedder_to_read(name: str, database: Database, namespace: str) -> Choice:
    """The embedder for questions; where the namespace's own model cannot be had, words alone must do.

    Raises:
        MissingPackageError: The model asked for is not installed.
    """
    if name != EmbedderName.AUTO:
        return await embedder_asked_for(name)
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


async def embedder_asked_for(name: str) -> Choice:
    """The embedder of this name, loaded; not `auto`.

    Raises:
        MissingPackageError: It is not installed.
    """
    if name == EmbedderName.NONE:
        return Choice(None, "without vectors, as asked for")
    if name.startswith(REMOTE):
        remote = await _remote(name.removeprefix(REMOTE))
        return Choice(remote, f"vectors by {remote.model}, of {remote.dimensions} dimensions, as asked for")
    embedder = _MAKERS[EmbedderName(name)]()
    await _try(embedder)
    return Choice(embedder, f"vectors by {embedder.model}, as asked for")


async def _remote(model: str) -> OpenAIEmbedder:
    """A model at the address that the environment names; it is asked for its dimensions.

    Raises:
        ServerUnavailableError: Nothing answers there.
        ModelAccessError: The key or the model is not accepted.
        InvalidInputError: The address is none.
    """
    from remembrancer.providers.openai import OpenAIEmbedder

    key = os.environ.get("OPENAI_API_KEY") or None
    address = os.environ.get("OPENAI_BASE_URL")
    with named(model="--embedder", base_url="OPENAI_BASE_URL", api_key="OPENAI_API_KEY"):
        try:
            if not address:
                return await OpenAIEmbedder.measured(model=model, api_key=key)
            return await OpenAIEmbedder.measured(model=model, base_url=address, api_key=key)
        except ModelAccessError as error:
            raise hinted(error, "OPENAI_BASE_URL") from error


def checked_name(value: str | None) -> str | None:
    """What `--embedder` was given, if it names one.

    Raises:
        typer.BadParameter: It does not.
    """
    is_remote = value is not None and value.startswith(REMOTE) and value.removeprefix(REMOTE).strip()
    if value is None or is_remote or value in list(EmbedderName):
        return value
    names = ", ".join(repr(str(name)) for name in EmbedderName)
    raise typer.BadParameter(f"{value!r} is not one of {names}, 'openai:MODEL'.")


@asynccontextmanager
async def letting_go_of(embedder: Embedder | None) -> AsyncIterator[None]:
    """Closes the connections of a remote model at the end; a local one has none."""
    try:
        yield
    finally:
        close = getattr(embedder, "aclose", None)
        if close is not None:
            await close()


def _of_space(space: EmbeddingSpace) -> Embedder | None:
    if space.model == HashingEmbedder().model:
        return HashingEmbedder(dimensions=space.dimensions)
    made = (_MAKERS[name]() for name in _PREFERRED)
    return next((one for one in made if (one.model, one.dimensions) == (space.model, space.dimensions)), None)


async def _try(embedder: Embedder) -> None:
    """Load the model, which is what tells whether it is installed."""
    await embedder.embed(["."])
