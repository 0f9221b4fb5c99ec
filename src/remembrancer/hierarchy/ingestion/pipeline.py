"""Ingest: messages become episodes, episodes facts, entities and relationships, facts gather under themes.

Messages are taken in portions, and each portion is one transaction: it is stored whole or not at all, so a killed
ingest goes on where it was when it is run again. Messages that are stored already are left out, so running it twice
changes nothing. What is in memory at once is one portion, whatever is stored.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from remembrancer.hierarchy.ingestion.episodes import GrownEpisode, fit_into_episodes
from remembrancer.hierarchy.ingestion.incoming import Incoming, portions
from remembrancer.hierarchy.ingestion.reading import Reader, Reading
from remembrancer.hierarchy.ingestion.report import IngestReport, ReportDraft
from remembrancer.hierarchy.ingestion.theming import gather_under_themes
from remembrancer.hierarchy.ingestion.vectors import Vectors
from remembrancer.ports import Clusterer, Embedder, Extractor, MemoryIndex, MemoryStore, Segmenter
from remembrancer.records import (
    ConcurrencyError,
    Fact,
    InvalidInputError,
    Message,
    NotFoundError,
    Receipt,
    RecordBatch,
    RemembranceError,
)
from remembrancer.records.key import MAX_KEY_BYTES, require_key

logger = logging.getLogger(__name__)

Progress = Callable[[int], None]
"""Told after each portion how many messages have been read so far."""

PORTION = 200
"""How many messages are stored in one transaction."""

_TRIES = 60
_LONGEST_PAUSE = 0.5  # seconds before a portion is planned again
_NUMBER_BYTES = 20  # what a portion's number may add to an idempotency key


@dataclass(frozen=True)
class Ingestion:
    """Everything that an ingest needs, wired together.

    Attributes:
        store: Where records go.
        index: Live on the store.
        segmenter: Cuts messages into episodes.
        extractor: Reads facts from episodes.
        clusterer: Gathers facts under themes.
        embedder: Makes vectors; `None`: records are stored without.
        extractions_at_once: How many episodes are read at the same time, 1 or more.
    """

    store: MemoryStore
    index: MemoryIndex
    segmenter: Segmenter
    extractor: Extractor
    clusterer: Clusterer
    embedder: Embedder | None = None
    extractions_at_once: int = 4

    async def ingest(
        self, messages: Incoming, *, idempotency_key: str | None = None, progress: Progress | None = None
    ) -> IngestReport:
        """Take messages in.

        Args:
            messages: Messages or maps of their fields; a list is checked whole before anything is written.
            idempotency_key: The same key with the same messages writes nothing a second time.
            progress: Told after each portion how many messages have been read.

        Raises:
            InvalidInputError: A message is wrong, or the key was used for other messages; names it. Of a stream,
                what came before is stored; with a key, in whole portions.
            EmbeddingDimensionMismatchError: The embedder made vectors of another length than the store keeps.
            ServerUnavailableError: The database or the embedder could not be reached; what was committed stays.
            ConcurrencyError: Other writers were first again and again.
        """
        prefix = None if idempotency_key is None else _key_prefix(idempotency_key)
        draft = ReportDraft()
        number = 0
        async for portion in portions(messages, size=PORTION, keep_cut_short=prefix is None):
            await self._take_in(portion, draft, idempotency_key=None if prefix is None else f"{prefix}/{number}")
            draft.messages_read += len(portion)
            number += 1
            if progress is not None:
                progress(draft.messages_read)
        return draft.finished()

    async def _take_in(self, portion: Sequence[Message], draft: ReportDraft, *, idempotency_key: str | None) -> None:
        vectors = Vectors(self.embedder)
        reader = Reader(self.extractor, at_once=self.extractions_at_once)
        for attempt in range(_TRIES):
            stored = await self.store.stored_message_ids([message.id for message in portion])
            fresh, duplicates = _fresh(portion, stored)
            conflicting = await self._conflicting(portion, stored)
            if not fresh and idempotency_key is None:
                draft.duplicates += duplicates
                draft.conflicting += conflicting
                _warn_of_conflicts(conflicting)
                return
            try:
                grown = await fit_into_episodes(fresh, store=self.store, segmenter=self.segmenter)
                reading = await reader.read(grown)
                batch = await self._batch(grown, reading, vectors)
                receipt = await self.store.write(batch, idempotency_key=idempotency_key)
            except (ConcurrencyError, NotFoundError) as error:
                if attempt == _TRIES - 1 or not _was_overtaken(error):
                    raise
                logger.debug("planning a portion again: %s", error)
                await asyncio.sleep(random.uniform(0, min(0.01 * 2**attempt, _LONGEST_PAUSE)))  # noqa: S311
                continue
            if receipt.replayed:
                _require_same(fresh, receipt, key=idempotency_key)
            draft.duplicates += duplicates
            draft.conflicting += conflicting
            _warn_of_conflicts(conflicting)
            draft.failed += reading.failed
            draft.add(receipt)
            _warn_of(reading)
            return

    async def _conflicting(self, portion: Sequence[Message], stored: set[str]) -> list[str]:
        """Ids that were given to another text before; an id made from the message itself cannot be."""
        named = [message for message in portion if message.id != message.derived_id]
        known = await self.store.get_messages([message.id for message in named if message.id in stored])
        texts = {message_id: message.content for message_id, message in known.items()}
        return [m.id for m in named if texts.setdefault(m.id, m.content) != m.content]

    async def _batch(self, grown: Sequence[GrownEpisode], reading: Reading, vectors: Vectors) -> RecordBatch:
        facts = await vectors.on_facts([fact for facts in reading.facts.values() for fact in facts])
        theming = await gather_under_themes(facts, store=self.store, index=self.index, clusterer=self.clusterer)
        episodes = [_with_facts(one, reading.facts.get(one.episode.id, ())) for one in grown]
        return RecordBatch(
            episodes=await vectors.on_episodes(episodes),
            claims=await vectors.on_entities(reading.entities),
            facts=theming.facts,
            themes=theming.themes,
            theme_additions=theming.additions,
            assertions=reading.relationships,
            removals={"theme": theming.absorbed} if theming.absorbed else {},
            expected_messages={
                one.episode.id: len({message.id for message in one.stored.messages}) if one.stored is not None else 0
                for one in grown
            },
            expected_facts=theming.expected,
        )


def _key_prefix(idempotency_key: str) -> str:
    key = require_key(idempotency_key, field="idempotency_key").encode()
    return idempotency_key if len(key) + _NUMBER_BYTES <= MAX_KEY_BYTES else hashlib.sha256(key).hexdigest()


def _was_overtaken(error: RemembranceError) -> bool:
    """Whether another writer changed what a portion was planned on; a theme may have been absorbed meanwhile."""
    return isinstance(error, ConcurrencyError) or (isinstance(error, NotFoundError) and error.kind == "theme")


def _require_same(fresh: Sequence[Message], receipt: Receipt, *, key: str | None) -> None:
    """See that a replayed write was one of these messages: others would be lost without a word."""
    written = set(receipt.created.get("message", ())) | set(receipt.changed.get("message", ()))
    others = sum(message.id not in written for message in fresh)
    if others:
        problem = f"{key!r} was used for other messages: {others} of these are not stored; use another key"
        raise InvalidInputError("idempotency_key", problem)


def _fresh(portion: Sequence[Message], stored: set[str]) -> tuple[list[Message], list[str]]:
    fresh: dict[str, Message] = {}
    duplicates = []
    for message in portion:
        if message.id in stored or message.id in fresh:
            duplicates.append(message.id)
        else:
            fresh[message.id] = message
    return list(fresh.values()), duplicates


def _with_facts(one: GrownEpisode, facts: Sequence[Fact]) -> GrownEpisode:
    listed = dict.fromkeys([*one.episode.fact_ids, *(fact.id for fact in facts)])
    return GrownEpisode(one.episode.model_copy(update={"fact_ids": tuple(listed)}), one.added, one.stored)


def _warn_of_conflicts(ids: Sequence[str]) -> None:
    for message_id in ids:
        logger.warning("message %s was stored before with another text, which stays", message_id)


def _warn_of(reading: Reading) -> None:
    for failed in reading.failed:
        logger.warning("nothing could be read from episode %s: %s", failed.episode_id, failed.reason)
