"""The memory: the one object that most programs need. It wires stages, store and retrieval together and decides nothing
itself."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.hierarchy import RuleBasedExtractor, SimpleEpisodeSegmenter, SimpleThemeClusterer
from remembrancer.hierarchy.ingestion import Incoming, Ingestion, IngestReport, Progress
from remembrancer.inmemory import InMemoryStore
from remembrancer.ports import Clusterer, Embedder, Extractor, MemoryIndex, MemoryStore, Segmenter
from remembrancer.records import (
    Clock,
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    InvalidInputError,
    MemoryQuery,
    MemoryResult,
    Message,
    Relationship,
    Subgraph,
    Theme,
    system_clock,
)
from remembrancer.records.key import require_id, require_key
from remembrancer.retrieval import DEFAULT_MAX_SUBGRAPH_ENTITIES, extract_subgraph, retrieve_memory
from remembrancer.retrieval.recall import Recall, RecallWeights, recall

if TYPE_CHECKING:
    import neo4j

AnyRecord = Message | Episode | Fact | Theme | Entity | Relationship

DEFAULT_NAMESPACE = "default"
"""The namespace of local and in-memory memories, and of the command line, when none is named."""

THEME_SIMILARITY = 0.5
"""From which cosine on a fact joins a theme when no clusterer is given: sentences of one topic lie about there."""


class Memory:
    """A temporal memory of one namespace; opened by `Memory.connect`, `Memory.local` or `Memory.in_memory`.

    Attributes:
        store: The records, for everything that this class does not wrap.
        index: Similarity search over them.
        embedder: Makes vectors; `None`: everything works by words alone.
    """

    def __init__(
        self,
        store: MemoryStore,
        index: MemoryIndex,
        *,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Wire a memory over an open store.

        Args:
            store: Where records live.
            index: Live on the store.
            embedder: Makes vectors.
            segmenter: Cuts messages into episodes; by default at silences of five minutes.
            extractor: Reads facts from episodes; by default by rules.
            clusterer: Gathers facts under themes; by default under the nearest.
            clock: Tells what now is.
        """
        self.store = store
        self.index = index
        self.embedder = embedder
        self._clock = clock
        self._ingestion = Ingestion(
            store=store,
            index=index,
            segmenter=segmenter or SimpleEpisodeSegmenter(clock=clock),
            extractor=extractor or RuleBasedExtractor(clock=clock),
            clusterer=clusterer or SimpleThemeClusterer(similarity_threshold=THEME_SIMILARITY, clock=clock),
            embedder=embedder,
        )

    @property
    def namespace(self) -> str:
        """Whose memory."""
        return self.store.namespace

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
        migrate: bool = True,
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
            migrate: Bring the schema up to date first; a user with read-only rights says `False`.
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
            yield cls(
                store,
                store.index,
                embedder=embedder,
                segmenter=segmenter,
                extractor=extractor,
                clusterer=clusterer,
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
            clock: Tells what now is.

        Raises:
            ServerUnavailableError: The server could not be fetched or started; says why.
        """
        from remembrancer.server import LocalServer, default_path

        folder = Path(path) if path is not None else default_path()
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
            clock=clock,
        )

    async def ingest(
        self, messages: Incoming, *, idempotency_key: str | None = None, progress: Progress | None = None
    ) -> IngestReport:
        """Take messages in: segment, extract, embed, cluster, store.

        Messages that are stored already change nothing; later ones continue the episode that they are near to. Each
        portion of messages is one transaction, so a killed ingest goes on where it was when it is run again.

        Args:
            messages: Messages or maps of their fields: a list, which is checked whole before anything is written, or
                a stream, synchronous or not.
            idempotency_key: The same key with the same messages writes nothing a second time.
            progress: Told after each portion how many messages have been read.

        Raises:
            InvalidInputError: A message is wrong; names it, for example `messages.3.timestamp`.
            ServerUnavailableError: The database or the embedder could not be reached; what was committed stays.
        """
        return await self._ingestion.ingest(messages, idempotency_key=idempotency_key, progress=progress)

    async def recall(
        self,
        text: str,
        *,
        limit: int = 20,
        valid_at: dt.datetime | None = None,
        believed_at: dt.datetime | None = None,
        include_invalidated: bool = False,
        whole_messages: bool = False,
        weights: RecallWeights | None = None,
    ) -> Recall:
        """Find what speaks to a question, best evidence first, in one trip to the database.

        Args:
            text: What to look for, in the user's words. Never read as query syntax.
            limit: The most hits, 1 to 1,000.
            valid_at: Facts that held, and messages that had been said, at this instant; by default now.
            believed_at: Only what had been recorded by this instant.
            include_invalidated: Closed facts too.
            whole_messages: Show messages whole, not their most telling sentences.
            weights: How evidence is scored; by default what `remembrancer.retrieval.recall` holds as fit.

        Raises:
            InvalidInputError: An argument is wrong; names it.
            ServerUnavailableError: The database or the embedder could not be reached; worth trying again.
        """
        return await recall(
            self.store,
            text,
            embedder=self.embedder,
            limit=limit,
            valid_at=valid_at,
            believed_at=believed_at,
            include_invalidated=include_invalidated,
            whole_messages=whole_messages,
            weights=weights,
            clock=self._clock,
        )

    async def retrieve(self, query: MemoryQuery, *, filter_first: bool = True) -> MemoryResult:
        """Answer a structured query; see `remembrancer.retrieval.retrieve_memory`."""
        return await retrieve_memory(
            self.store, self.index, query, filter_first=filter_first, embedder=self.embedder, clock=self._clock
        )

    async def subgraph(
        self,
        seeds: Sequence[str],
        *,
        max_hops: int = 2,
        valid_at: dt.datetime | None = None,
        relation_types: Sequence[str] = (),
        include_invalidated: bool = False,
        max_entities: int = DEFAULT_MAX_SUBGRAPH_ENTITIES,
    ) -> Subgraph:
        """Walk from some entities along their relationships; see `remembrancer.retrieval.extract_subgraph`."""
        return await extract_subgraph(
            self.store,
            seeds,
            max_hops=max_hops,
            valid_at=valid_at,
            relation_types=relation_types,
            include_invalidated=include_invalidated,
            max_entities=max_entities,
        )

    async def get(self, record_id: str) -> AnyRecord | None:
        """The record with this id, of whatever kind; `None` when there is none.

        Raises:
            InvalidInputError: Not an id.
        """
        wanted = require_id(record_id, field="record_id")
        store = self.store
        found: AnyRecord | None = await store.get_fact(wanted)
        found = found or await store.get_entity(wanted) or await store.get_episode(wanted)
        found = found or await store.get_message(wanted) or await store.get_theme(wanted)
        return found or await store.get_relationship(wanted)

    async def clear(self) -> None:
        """Remove everything in this namespace, for good."""
        await self.store.clear()


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
