"""What every part of a memory stands on: its store, its index and the stages that fill them."""

from __future__ import annotations

from remembrancer.hierarchy import (
    ConsolidatingThemeClusterer,
    LLMExtractor,
    RuleBasedExtractor,
    SimpleEpisodeSegmenter,
)
from remembrancer.hierarchy.clustering import ThemeNamer
from remembrancer.hierarchy.ingestion import Echoes, Ingestion, Renewal
from remembrancer.lifecycle.gatekeeping import FactGatekeeper
from remembrancer.ports import (
    Clusterer,
    Embedder,
    Extractor,
    KeepsLedger,
    LanguageModel,
    MemoryIndex,
    MemoryStore,
    OutcomeLedger,
    Segmenter,
)
from remembrancer.ports.arguments import flag
from remembrancer.ports.tracing import Traced
from remembrancer.records import Clock, InvalidInputError, system_clock

THEME_SIMILARITY = 0.3
"""From which cosine on a fact joins a theme when no clusterer is given: chosen by looking at themes of real talk."""

THEME_MERGE_SIMILARITY = 0.7
"""From which cosine on two themes become one when no clusterer is given: writers at once may have laid them."""


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
        llm: LanguageModel | None = None,
        ledger: OutcomeLedger | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Wire a memory over an open store.

        Args:
            store: Where records live.
            index: Live on the store.
            embedder: Makes vectors.
            segmenter: Cuts messages into episodes; by default at silences of five minutes.
            extractor: Reads facts from episodes; by default `LLMExtractor` where there is an `llm`, else by rules.
            clusterer: Gathers facts under themes; by default under the nearest, merging themes that have come close.
            llm: A language model: reads episodes, unless there is an `extractor`, and names themes.
            ledger: Keeps scored runs; by default the store's own.
            clock: Tells what now is.

        Raises:
            InvalidInputError: `llm` is no language model.
        """
        if llm is not None and not isinstance(llm, LanguageModel):
            raise InvalidInputError("llm", f"expected a language model, got {type(llm).__name__}")
        self.store = store
        own = store.ledger if isinstance(store, KeepsLedger) else None
        self.ledger = ledger if ledger is not None else own
        self._llm = llm
        self._clock = clock
        self._echoes = Echoes(clock=clock)
        self._segmenter = segmenter or SimpleEpisodeSegmenter(clock=clock)
        self._extractor = extractor or _extractor(llm, clock)
        self._clusterer = clusterer or ConsolidatingThemeClusterer(
            assignment_threshold=THEME_SIMILARITY, merge_threshold=THEME_MERGE_SIMILARITY, clock=clock
        )
        self._wire(index, embedder)

    def _wire(self, index: MemoryIndex, embedder: Embedder | None) -> None:
        self.index = index
        self.embedder = embedder
        self._ingestion = Ingestion(
            store=self.store,
            index=index,
            segmenter=self._segmenter,
            extractor=self._extractor,
            clusterer=self._clusterer,
            embedder=embedder,
            renewal=Renewal(ThemeNamer(self._llm)),
            model=self._llm,
            echoes=self._echoes,
        )

    def _embed_with(self, embedder: Embedder) -> None:
        """Go on with another model, in whose space the store is now; an index of the store's own follows it there."""
        index = getattr(self.store, "index", self.index)
        self._wire(index, embedder)

    def _gatekeeper(self, admission: bool) -> FactGatekeeper | None:
        """What judges new facts, where that is asked for."""
        if not flag(admission, field="admission"):
            return None
        return FactGatekeeper(self.store, self.index, embedder=self.embedder)

    @property
    def namespace(self) -> str:
        """Whose memory."""
        return self.store.namespace


def _extractor(llm: LanguageModel | None, clock: Clock) -> Extractor:
    return RuleBasedExtractor(clock=clock) if llm is None else LLMExtractor(llm, clock=clock)
