"""The memory: the one object that most programs need. It wires stages, store and retrieval together and decides nothing
itself."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from remembrancer.hierarchy.ingestion import Incoming, IngestReport, Progress
from remembrancer.inmemory import InMemoryStore
from remembrancer.memory.agent import AgentHooks
from remembrancer.memory.consolidation import Consolidation
from remembrancer.memory.foreign import Foreign
from remembrancer.memory.lessons import GatedLessons
from remembrancer.memory.reading import Reading
from remembrancer.memory.reembedding import Reembedding
from remembrancer.memory.rereading import Rereading
from remembrancer.memory.statements import Stating
from remembrancer.memory.transfer import Transferring
from remembrancer.memory.truth import Truth
from remembrancer.memory.upkeep import Upkeep
from remembrancer.ports import Clusterer, Embedder, Extractor, LanguageModel, Segmenter
from remembrancer.records import (
    Clock,
    EmbeddingSpace,
    InvalidInputError,
    system_clock,
)
from remembrancer.records.file import require_path
from remembrancer.records.key import require_key
from remembrancer.retrieval.warming import warming

if TYPE_CHECKING:
    import neo4j

DEFAULT_NAMESPACE = "default"
"""The namespace of local and in-memory memories, and of the command line, when none is named."""


class Memory(
    AgentHooks,
    Reading,
    Rereading,
    Stating,
    Consolidation,
    GatedLessons,
    Truth,
    Upkeep,
    Transferring,
    Reembedding,
    Foreign,
):
    """A temporal memory of one namespace; opened by `Memory.connect`, `Memory.local` or `Memory.in_memory`."""

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        uri: str | None = None,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        driver: neo4j.AsyncDriver | None = None,
        namespace: str | None = None,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        llm: LanguageModel | None = None,
        migrate: bool = True,
        warm: bool = True,
        clock: Clock = system_clock,
    ) -> AsyncIterator[Memory]:
        """Connect to a Neo4j and open one namespace of it.

        Args:
            uri: For example `neo4j://localhost:7687`; by default `NEO4J_URI`.
            auth: User and password; by default `NEO4J_USERNAME` and `NEO4J_PASSWORD`.
            database: Name of the database; by default `NEO4J_DATABASE`, else the user's home database.
            driver: A ready asynchronous driver instead of address and password; it is not closed here.
            namespace: Whose memory; by default `REMEMBRANCER_NAMESPACE`. Without one there is an error.
            embedder: Makes vectors; without one everything works by words alone, and recalls say so.
            segmenter: As for `Memory`.
            extractor: As for `Memory`.
            clusterer: As for `Memory`.
            llm: As for `Memory`.
            migrate: Bring the schema up to date first; a user with read-only rights says `False`.
            warm: Let the database plan the fixed queries of retrieval in the background, so that the first question
                does not wait for that.
            clock: Tells what now is.

        Raises:
            InvalidInputError: No address, no namespace, or a refused password.
            ServerUnavailableError: Nothing answers.
            MigrationError: The schema is newer than this library, or older and `migrate` is false; or the server is
                too old.
            EmbeddingSpaceMismatchError: The namespace was filled with another embedding model.
        """
        from remembrancer.graph import Database, Neo4jStore

        whose = namespace if namespace is not None else os.environ.get("REMEMBRANCER_NAMESPACE")
        if whose is None:
            raise InvalidInputError("namespace", "say whose memory: namespace=... or REMEMBRANCER_NAMESPACE")
        require_key(whose, field="namespace")
        name = database if database is not None else os.environ.get("NEO4J_DATABASE")
        async with AsyncExitStack() as stack:
            if driver is not None:
                opened = Database(driver, name=name)
                await opened.check()
            else:
                address, login = _address(uri, auth)
                opened = await stack.enter_async_context(Database.open(address, auth=login, name=name))
            store = await stack.enter_async_context(
                Neo4jStore.open(database=opened, namespace=whose, space=_space(embedder), migrate=migrate, clock=clock)
            )
            if warm:
                await stack.enter_async_context(warming(store, clock=clock))
            yield cls(
                store,
                store.index,
                embedder=embedder,
                segmenter=segmenter,
                extractor=extractor,
                clusterer=clusterer,
                llm=llm,
                clock=clock,
            )

    @classmethod
    @asynccontextmanager
    async def local(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        llm: LanguageModel | None = None,
        warm: bool = True,
        clock: Clock = system_clock,
    ) -> AsyncIterator[Memory]:
        """Open one namespace of a private Neo4j on this machine; starts it, or joins it when it runs already.

        Needs the extra `local`. The last one to leave stops the server.

        Args:
            path: Folder of the database; by default one among the user's application data.
            namespace: Whose memory.
            embedder: As for `connect`.
            segmenter: As for `Memory`.
            extractor: As for `Memory`.
            clusterer: As for `Memory`.
            llm: As for `Memory`.
            warm: As for `connect`.
            clock: Tells what now is.

        Raises:
            ServerUnavailableError: The server could not be fetched or started; says why.
        """
        from remembrancer.server import LocalServer, default_path

        folder = require_path(path, field="path") if path is not None else default_path()
        async with (
            LocalServer.open(folder) as server,
            cls.connect(
                server.bolt_uri,
                auth=(server.username, server.password),
                database="neo4j",
                namespace=namespace,
                embedder=embedder,
                segmenter=segmenter,
                extractor=extractor,
                clusterer=clusterer,
                llm=llm,
                warm=warm,
                clock=clock,
            ) as memory,
        ):
            yield memory

    @classmethod
    @asynccontextmanager
    async def in_memory(
        cls,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        llm: LanguageModel | None = None,
        clock: Clock = system_clock,
    ) -> AsyncIterator[Memory]:
        """Open a memory that lives in this process and ends with it; needs nothing, and is good for tests."""
        store = InMemoryStore(namespace, space=_space(embedder), clock=clock)
        yield cls(
            store,
            store.index,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            llm=llm,
            clock=clock,
        )

    async def ingest(
        self,
        messages: Incoming,
        *,
        idempotency_key: str | None = None,
        admission: bool = False,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take messages in: segment, extract, embed, cluster, store.

        Messages that are stored already change nothing; later ones continue the episode that they are near to. Each
        portion of messages is one transaction, so a killed ingest goes on where it was when it is run again.

        Args:
            messages: Messages or maps of their fields: a list, which is checked whole before anything is written, or
                a stream, synchronous or not.
            idempotency_key: The same key with the same messages writes nothing a second time.
            admission: Leave out facts that say what a stored one says, or that come back after they were evicted; the
                report names them, and the messages are stored all the same, and those of a duplicate become sources of
                the fact that it doubles. What differs in a number or a negation, or was closed in favour of another
                fact, is news.
            progress: Told after each portion how many messages have been read.

        Raises:
            InvalidInputError: A message is wrong; names it, for example `messages.3.timestamp`.
            ServerUnavailableError: The database or the embedder could not be reached; what was committed stays.
        """
        gatekeeper = self._gatekeeper(admission)
        return await self._ingestion.ingest(
            messages, idempotency_key=idempotency_key, progress=progress, gatekeeper=gatekeeper
        )

    async def clear(self) -> None:
        """Remove everything in this namespace, for good; the working tiers of this memory too."""
        await self.store.clear()
        self._clear_shelves()


def _address(uri: str | None, auth: tuple[str, str] | None) -> tuple[str, tuple[str, str] | None]:
    address = uri if uri is not None else os.environ.get("NEO4J_URI")
    if address is None:
        raise InvalidInputError("uri", "say where Neo4j listens: uri=... or NEO4J_URI; or use Memory.local()")
    if auth is None and "NEO4J_PASSWORD" in os.environ:
        auth = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ["NEO4J_PASSWORD"])
    return address, auth


def _space(embedder: Embedder | None) -> EmbeddingSpace | None:
    if embedder is None:
        return None
    if not isinstance(embedder, Embedder):
        raise InvalidInputError("embedder", f"expected an embedder, got {type(embedder).__name__}")
    return EmbeddingSpace(model=embedder.model, dimensions=embedder.dimensions)
