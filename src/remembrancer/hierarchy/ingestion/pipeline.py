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
from dataclasses import dataclass, field

from remembrancer.hierarchy.ingestion.admitting import Standing, admit
from remembrancer.hierarchy.ingestion.echoes import Echoes, HeardAgain
from remembrancer.hierarchy.ingestion.episodes import GrownEpisode, fit_into_episodes
from remembrancer.hierarchy.ingestion.incoming import Incoming, portions
from remembrancer.hierarchy.ingestion.reading import Reader, Reading
from remembrancer.hierarchy.ingestion.renewal import Renewal
from remembrancer.hierarchy.ingestion.report import IngestReport, ReportDraft
from remembrancer.hierarchy.ingestion.theming import gather_under_themes
from remembrancer.hierarchy.ingestion.vectors import Vectors
from remembrancer.ports import (
    Clusterer,
    CountsUsage,
    Embedder,
    Extractor,
    LanguageModel,
    MemoryIndex,
    MemoryStore,
    ModelUsage,
    Segmenter,
)
from remembrancer.ports.admission import Gatekeeper
from remembrancer.records import (
    ConcurrencyError,
    Fact,
    InvalidInputError,
    Message,
    NotFoundError,
    PlanOutdatedError,
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

TRIES = 60
"""How often a portion is planned at most, while other writers are first."""

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
        renewal: Renews the names of themes that have changed materially; `None`: they stay as clustered.
        model: The language model that the extractor or the namer asks; its usage is told in reports.
        echoes: What recalls have served, so that it is not read as news.
    """

    store: MemoryStore
    index: MemoryIndex
    segmenter: Segmenter
    extractor: Extractor
    clusterer: Clusterer
    embedder: Embedder | None = None
    extractions_at_once: int = 4
    renewal: Renewal | None = None
    model: LanguageModel | None = None
    echoes: Echoes = field(default_factory=Echoes)

    async def ingest(
        self,
        messages: Incoming,
        *,
        idempotency_key: str | None = None,
        progress: Progress | None = None,
        gatekeeper: Gatekeeper | None = None,
    ) -> IngestReport:
        """Take messages in.

        Args:
            messages: Messages or maps of their fields; a list is checked whole before anything is written.
            idempotency_key: The same key with the same messages writes nothing a second time.
            progress: Told after each portion how many messages have been read.
            gatekeeper: Turns away facts that are not to be written; the messages are stored all the same.

        Raises:
            InvalidInputError: A message is wrong, or the key was used for other messages; names it. Of a stream,
                what came before is stored; with a key, in whole portions.
            EmbeddingDimensionMismatchError: The embedder made vectors of another length than the store keeps.
            ServerUnavailableError: The database or the embedder could not be reached; what was committed stays.
            ConcurrencyError: Other writers were first again and again.
        """
        prefix = None if idempotency_key is None else _key_prefix(idempotency_key)
        draft = ReportDraft()
        before = self.usage()
        number = 0
        async for portion in portions(messages, size=PORTION, keep_cut_short=prefix is None):
            key = None if prefix is None else f"{prefix}/{number}"
            await self._take_in(portion, draft, idempotency_key=key, gatekeeper=gatekeeper)
            draft.messages_read += len(portion)
            number += 1
            if progress is not None:
                progress(draft.messages_read)
        draft.add_usage(before, self.usage())
        return draft.finished()

    def usage(self) -> ModelUsage:
        """What the memory's model was used for so far; nothing where it does not count."""
        return self.model.usage if isinstance(self.model, CountsUsage) else ModelUsage()

    async def _take_in(
        self,
        portion: Sequence[Message],
        draft: ReportDraft,
        *,
        idempotency_key: str | None,
        gatekeeper: Gatekeeper | None,
    ) -> None:
        vectors = Vectors(self.embedder)
        heard: dict[str, HeardAgain] = {}
        for one in await self.echoes.hear(portion, store=self.store):
            heard.setdefault(one.message.id, one)
        news = {message_id: one.news for message_id, one in heard.items() if one.echoes}
        reader = Reader(self.extractor, at_once=self.extractions_at_once, news=news)
        for attempt in range(TRIES):
            stored = await self.store.stored_message_ids([message.id for message in portion])
            fresh, duplicates = _fresh(portion, stored)
            fresh = [heard[message.id].message for message in fresh]
            conflicting = await self._conflicting(portion, stored)
            if not fresh and idempotency_key is None:
                draft.duplicates += duplicates
                draft.conflicting += conflicting
                _warn_of_conflicts(conflicting)
                return
            try:
                grown = await fit_into_episodes(fresh, store=self.store, segmenter=self.segmenter)
                reading = await reader.read(grown)
                admitted = await admit(reading, vectors, gatekeeper, store=self.store)
                batch = await self.batch(grown, reading, vectors, standing=admitted.standing)
                receipt = await self.store.write(batch, idempotency_key=idempotency_key)
            except OVERTAKEN as error:
                if attempt == TRIES - 1 or not was_overtaken(error):
                    raise
                logger.debug("planning a portion again: %s", error)
                await pause(attempt)
                continue
            if receipt.replayed:
                _require_same(fresh, receipt, key=idempotency_key)
            draft.duplicates += duplicates
            draft.conflicting += conflicting
            _warn_of_conflicts(conflicting)
            draft.echoes += sum(heard[message.id].echoes for message in fresh)
            draft.refused += admitted.refused
            draft.add_reading(reading)
            draft.add(receipt)
            return

    async def _conflicting(self, portion: Sequence[Message], stored: set[str]) -> list[str]:
        """Ids that were given to another text before; an id made from the message itself cannot be."""
        named = [message for message in portion if message.id != message.derived_id]
        known = await self.store.get_messages([message.id for message in named if message.id in stored])
        texts = {message_id: message.content for message_id, message in known.items()}
        return [m.id for m in named if texts.setdefault(m.id, m.content) != m.content]

    async def batch(
        self,
        grown: Sequence[GrownEpisode],
        reading: Reading,
        vectors: Vectors,
        *,
        closed: Sequence[Fact] = (),
        standing: Sequence[Standing] = (),
    ) -> RecordBatch:
        """Everything that one transaction is to write: episodes, what was read from them, and facts that change."""
        facts = await vectors.on_facts([fact for facts in reading.facts.values() for fact in facts])
        theming = await gather_under_themes(
            facts, store=self.store, index=self.index, clusterer=self.clusterer, renewal=self.renewal
        )
        listed = _by_episode(reading, [one.after for one in standing])
        episodes = [
            _with_facts(one, listed.get(one.episode.id, ()), reading.unread.get(one.episode.id, ())) for one in grown
        ]
        changed = [*closed, *(one.after for one in standing)]
        return RecordBatch(
            episodes=await vectors.on_episodes(episodes),
            claims=await vectors.on_entities(reading.entities),
            facts=[*theming.facts, *_in_their_themes(changed, theming.facts)],
            themes=theming.themes,
            theme_additions=theming.additions,
            assertions=reading.relationships,
            removals={"theme": theming.absorbed} if theming.absorbed else {},
            expected_messages={
                one.episode.id: len({message.id for message in one.stored.messages}) if one.stored is not None else 0
                for one in grown
            },
            expected_facts=theming.expected,
            expected_records=[one.before for one in standing],
        )


def _key_prefix(idempotency_key: str) -> str:
    key = require_key(idempotency_key, field="idempotency_key").encode()
    return idempotency_key if len(key) + _NUMBER_BYTES <= MAX_KEY_BYTES else hashlib.sha256(key).hexdigest()


OVERTAKEN = (ConcurrencyError, PlanOutdatedError, NotFoundError)
"""What a write raises when another writer was first; see `was_overtaken` for the last of them."""


def was_overtaken(error: RemembranceError) -> bool:
    """Whether another writer changed what a portion was planned on; a theme may have been absorbed meanwhile."""
    return not isinstance(error, NotFoundError) or error.kind == "theme"


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


def _by_episode(reading: Reading, standing: Sequence[Fact]) -> dict[str, list[str]]:
    """Ids of the facts by the ids of their episodes: where they were read, and where they are said as well."""
    listed = {episode_id: [fact.id for fact in facts] for episode_id, facts in reading.facts.items()}
    for fact in [*(fact for facts in reading.facts.values() for fact in facts), *standing]:
        for episode_id in fact.source_episode_ids:
            listed.setdefault(episode_id, []).append(fact.id)
    return listed


def _in_their_themes(facts: Sequence[Fact], moved: Sequence[Fact]) -> list[Fact]:
    """The facts with the themes that clustering has just moved them to, where it has."""
    theme_ids = {fact.id: fact.theme_id for fact in moved}
    return [fact.model_copy(update={"theme_id": theme_ids.get(fact.id, fact.theme_id)}) for fact in facts]


def _with_facts(one: GrownEpisode, fact_ids: Sequence[str], unread: Sequence[str]) -> GrownEpisode:
    listed = dict.fromkeys([*one.episode.fact_ids, *fact_ids])
    still = dict.fromkeys([*one.episode.unread_message_ids, *unread])
    changes = {"fact_ids": tuple(listed), "unread_message_ids": tuple(still)}
    return GrownEpisode(one.episode.model_copy(update=changes), one.added, one.stored)


def _warn_of_conflicts(ids: Sequence[str]) -> None:
    for message_id in ids:
        logger.warning("message %s was stored before with another text, which stays", message_id)


async def pause(attempt: int) -> None:
    """Wait a little, the longer the more often another writer was first."""
    await asyncio.sleep(random.uniform(0, min(0.01 * 2**attempt, _LONGEST_PAUSE)))  # noqa: S311
