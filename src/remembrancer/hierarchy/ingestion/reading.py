"""Reading facts, entities and relationships from grown episodes, each only from what is new in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from remembrancer.hierarchy.ingestion.echoes import fact_id_of
from remembrancer.hierarchy.ingestion.episodes import GrownEpisode
from remembrancer.hierarchy.ingestion.report import DroppedParts, FailedExtraction
from remembrancer.hierarchy.reason import reason_of
from remembrancer.ports import Dropped, Extraction, Extractor
from remembrancer.records import Entity, Episode, Fact, Message, Relationship

logger = logging.getLogger(__name__)


@dataclass
class Reading:
    """What was read from some episodes.

    Attributes:
        facts: New facts by the id of their episode; each once.
        entities: Everything mentioned.
        relationships: Between these entities.
        failed: Episodes from which nothing could be read.
        fell_back: Episodes that a simpler extractor read than the one asked for, or that the segmenter did not cut.
        dropped: What was answered and not taken.
        unread: Messages to be read again, by the id of their episode.
        repeated: Ids of facts that the episode listed already and that were read again, by the id of the episode.
    """

    facts: dict[str, tuple[Fact, ...]] = field(default_factory=dict)
    entities: list[Entity] = field(default_factory=list)
    relationships: list[Relationship] = field(default_factory=list)
    failed: list[FailedExtraction] = field(default_factory=list)
    fell_back: list[FailedExtraction] = field(default_factory=list)
    dropped: list[DroppedParts] = field(default_factory=list)
    unread: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repeated: dict[str, frozenset[str]] = field(default_factory=dict)

    def take(self, one: GrownEpisode, result: Extraction | FailedExtraction) -> None:
        """Add what was read, or could not be read, from one episode."""
        episode_id = one.episode.id
        if one.fell_back is not None:
            self.fell_back.append(FailedExtraction(episode_id=episode_id, reason=one.fell_back))
        if isinstance(result, FailedExtraction):
            self.failed.append(result)
        else:
            known = set(one.stored.fact_ids) if one.stored is not None else set()
            said = _by_id(one, result.facts)
            self.facts[episode_id] = tuple(fact for fact_id, fact in said.items() if fact_id not in known)
            self.repeated[episode_id] = frozenset(known.intersection(said))
            self.entities += result.entities
            self.relationships += result.relationships
            self.dropped += [
                DroppedParts(episode_id=episode_id, part=lost.part, reason=lost.reason, count=lost.count)
                for lost in result.dropped
            ]
            if result.fell_back is None:
                return
            self.fell_back.append(FailedExtraction(episode_id=episode_id, reason=result.fell_back))
        self.unread[episode_id] = tuple(message.id for message in one.added)


class Reader:
    """Reads the episodes of one portion, several at a time; what it has read once it does not ask for again.

    A portion is planned again when another writer was first, and most of the new plan is as it was.
    """

    def __init__(self, extractor: Extractor, *, at_once: int, news: Mapping[str, Message] | None = None) -> None:
        """Begin with nothing read.

        Args:
            extractor: What reads.
            at_once: How many episodes are read at the same time, 1 or more.
            news: What is to be read in the place of some messages, by their ids; nothing where it is empty.
        """
        self._extractor = extractor
        self._gate = asyncio.Semaphore(at_once)
        self._news = news or {}
        self._known: dict[tuple[str, tuple[str, ...]], Extraction | FailedExtraction] = {}

    async def read(self, grown: Sequence[GrownEpisode]) -> Reading:
        """Run the extractor over what is new in each episode.

        A fact's id is made from its episode and its words, so that the same sentence read twice from one episode is
        one fact. One episode from which nothing can be read stops none of the others, whatever the extractor raises.
        """
        asked = [asyncio.ensure_future(self._extraction(one)) for one in grown]
        try:
            results = await asyncio.gather(*asked)
        finally:
            for one_asked in asked:
                one_asked.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        reading = Reading()
        for one, result in zip(grown, results, strict=True):
            reading.take(one, result)
        return reading

    async def _extraction(self, one: GrownEpisode) -> Extraction | FailedExtraction:
        key = (one.episode.id, tuple(message.id for message in one.added))
        if key not in self._known:
            heard = [(message, self._news.get(message.id, message)) for message in one.added]
            # A message without a word of its own is left out; one that came in empty is none of ours to judge.
            messages = tuple(news for message, news in heard if news.content.strip() or not message.content.strip())
            part = one.episode.model_copy(update={"messages": messages, "fact_ids": ()})
            async with self._gate:
                self._known[key] = await self._extracted(part) if messages else Extraction(part)
        return self._known[key]

    async def _extracted(self, part: Episode) -> Extraction | FailedExtraction:
        try:
            result = await self._extractor.extract(part)
            problem = _problem(result)
        except Exception as error:  # an extractor is whatever the user passed: the messages are stored all the same
            logger.debug("reading episode %s failed", part.id, exc_info=True)
            return FailedExtraction(episode_id=part.id, reason=reason_of(error))
        return result if problem is None else FailedExtraction(episode_id=part.id, reason=problem)


def _problem(result: object) -> str | None:
    """What is wrong with the form of what an extractor gave."""
    if not isinstance(result, Extraction):
        return f"the extractor gave {type(result).__name__} instead of an Extraction"
    parts: dict[str, type] = {"facts": Fact, "entities": Entity, "relationships": Relationship, "dropped": Dropped}
    for name, kind in parts.items():
        for value in getattr(result, name):
            if not isinstance(value, kind):
                return f"the extractor gave {type(value).__name__} among its {name}"
    return None


def _by_id(one: GrownEpisode, facts: Sequence[Fact]) -> dict[str, Fact]:
    """The facts by their ids; one that was said twice cites all who said it."""
    named: dict[str, Fact] = {}
    for fact in facts:
        fact_id = fact_id_of(fact.content, episode_id=one.episode.id)
        first = named.setdefault(fact_id, fact.model_copy(update={"id": fact_id}))
        cited = tuple(dict.fromkeys([*first.source_message_ids, *fact.source_message_ids]))
        if cited != first.source_message_ids:
            named[fact_id] = first.model_copy(update={"source_message_ids": cited})
    return named
