"""What every part of a memory stands on: its store, its index and the stages that fill them."""

from __future__ import annotations

from remembrancer.hierarchy import RuleBasedExtractor, SimpleEpisodeSegmenter, SimpleThemeClusterer
from remembrancer.hierarchy.ingestion import Ingestion
from remembrancer.ports import (
    Clusterer,
    Embedder,
    Extractor,
    KeepsLedger,
    MemoryIndex,
    MemoryStore,
    OutcomeLedger,
    Segmenter,
)
from remembrancer.ports.tracing import Traced
from remembrancer.records import Clock, system_clock

THEME_SIMILARITY = 0.5
"""From which cosine on a fact joins a theme when no clusterer is given: sentences of one topic lie about there."""


class MemoryBase(Traced):
    """The wiring. Each module beside this one adds the methods of one concern; `Memory` has them all.

    Attributes:
        store: The records, for everything that `Memory` does not wrap.
        index: Similarity search over them.
        embedder: Makes vectors; `None`: everything works by words alone.
        ledger: Scored runs; `None`: the store keeps none, and lessons are not judged.
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
        ledger: OutcomeLedger | None = None,
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
            ledger: Keeps scored runs; by default the store's own.
            clock: Tells what now is.
        """
        self.store = store
        self.index = index
        self.embedder = embedder
        own = store.ledger if isinstance(store, KeepsLedger) else None
        self.ledger = ledger if ledger is not None else own
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
