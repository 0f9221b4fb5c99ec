"""The blocking twin of `Memory`: the same names and signatures, for programs that do not wait.

Each `SyncMemory` runs one event loop in a daemon thread of its own. So it may be used from many threads at once, and
in a notebook or a coroutine, where an event loop runs already; a call from a coroutine blocks that coroutine's loop
until the answer is there. What a caller hands in (an embedder, a stream of messages, `progress`) is used on the
background loop and must not call the memory back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from remembrancer.hierarchy.ingestion import Incoming, IngestReport, Progress
from remembrancer.memory import DEFAULT_NAMESPACE, Memory
from remembrancer.ports import Clusterer, Embedder, Extractor, LanguageModel, Segmenter
from remembrancer.records import Clock, system_clock
from remembrancer.sync.agent import SyncAgentHooks
from remembrancer.sync.consolidation import SyncConsolidation
from remembrancer.sync.foreign import SyncForeign
from remembrancer.sync.lessons import SyncGatedLessons
from remembrancer.sync.reading import SyncReading
from remembrancer.sync.reembedding import SyncReembedding
from remembrancer.sync.rereading import SyncRereading
from remembrancer.sync.statements import SyncStating
from remembrancer.sync.tiers import SyncTiers
from remembrancer.sync.transfer import SyncTransferring
from remembrancer.sync.truth import SyncTruth
from remembrancer.sync.upkeep import SyncUpkeep

if TYPE_CHECKING:
    import neo4j


class SyncMemory(
    SyncAgentHooks,
    SyncReading,
    SyncRereading,
    SyncStating,
    SyncConsolidation,
    SyncGatedLessons,
    SyncTruth,
    SyncUpkeep,
    SyncTiers,
    SyncTransferring,
    SyncReembedding,
    SyncForeign,
):
    """A memory whose methods block; opened by `connect`, `local` or `in_memory` in a `with` statement."""

    @classmethod
    @contextmanager
    def connect(
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
    ) -> Iterator[SyncMemory]:
        """Connect to a Neo4j and open one namespace of it, as `Memory.connect`.

        A ready `driver` must be one that no other event loop uses.
        """
        opening = Memory.connect(
            uri,
            auth=auth,
            database=database,
            driver=driver,
            namespace=namespace,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            llm=llm,
            migrate=migrate,
            warm=warm,
            clock=clock,
        )
        with cls._holding(opening) as memory:
            yield memory

    @classmethod
    @contextmanager
    def local(
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
    ) -> Iterator[SyncMemory]:
        """Open one namespace of a private Neo4j on this machine, as `Memory.local`."""
        opening = Memory.local(
            path,
            namespace=namespace,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            llm=llm,
            warm=warm,
            clock=clock,
        )
        with cls._holding(opening) as memory:
            yield memory

    @classmethod
    @contextmanager
    def in_memory(
        cls,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        embedder: Embedder | None = None,
        segmenter: Segmenter | None = None,
        extractor: Extractor | None = None,
        clusterer: Clusterer | None = None,
        llm: LanguageModel | None = None,
        clock: Clock = system_clock,
    ) -> Iterator[SyncMemory]:
        """Open a memory that lives in this process and ends with it, as `Memory.in_memory`."""
        opening = Memory.in_memory(
            namespace=namespace,
            embedder=embedder,
            segmenter=segmenter,
            extractor=extractor,
            clusterer=clusterer,
            llm=llm,
            clock=clock,
        )
        with cls._holding(opening) as memory:
            yield memory

    def ingest(
        self,
        messages: Incoming,
        *,
        idempotency_key: str | None = None,
        admission: bool = False,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take messages in, as `Memory.ingest`; `progress` is called in the background thread."""
        return self.run(
            self._memory.ingest, messages, idempotency_key=idempotency_key, admission=admission, progress=progress
        )

    def clear(self) -> None:
        """Remove everything in this namespace, for good."""
        return self.run(self._memory.clear)
