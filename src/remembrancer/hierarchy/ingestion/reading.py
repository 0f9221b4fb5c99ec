"""Reading facts, entities and relationships from grown episodes, each only from what is new in it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.hierarchy.ingestion.episodes import GrownEpisode
from remembrancer.hierarchy.ingestion.report import FailedExtraction
from remembrancer.ports import Extraction, Extractor
from remembrancer.records import Entity, Fact, Relationship, RemembranceError
from remembrancer.records.key import derived_id


@dataclass(frozen=True)
class Reading:
    """What was read from some episodes.

    Attributes:
        facts: New facts by the id of their episode; each once.
        entities: Everything mentioned.
        relationships: Between these entities.
        failed: Episodes from which nothing could be read.
    """

    facts: dict[str, tuple[Fact, ...]]
    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...]
    failed: tuple[FailedExtraction, ...]


class Reader:
    """Reads the episodes of one portion, several at a time; what it has read once it does not ask for again.

    A portion is planned again when another writer was first, and most of the new plan is as it was.
    """

    def __init__(self, extractor: Extractor, *, at_once: int) -> None:
        self._extractor = extractor
        self._gate = asyncio.Semaphore(at_once)
        self._known: dict[tuple[str, tuple[str, ...]], Extraction | FailedExtraction] = {}

    async def read(self, grown: Sequence[GrownEpisode]) -> Reading:
        """Run the extractor over what is new in each episode.

        A fact's id is made from its episode and its words, so that the same sentence read twice from one episode is
        one fact. One episode from which nothing can be read (`RemembranceError`) stops none of the others; any other
        error stops them all.
        """
        asked = [asyncio.ensure_future(self._extraction(one)) for one in grown]
        try:
            results = await asyncio.gather(*asked)
        finally:
            for one_asked in asked:
                one_asked.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        facts: dict[str, tuple[Fact, ...]] = {}
        entities: list[Entity] = []
        relationships: list[Relationship] = []
        failed: list[FailedExtraction] = []
        for one, result in zip(grown, results, strict=True):
            if isinstance(result, FailedExtraction):
                failed.append(result)
                continue
            facts[one.episode.id] = _new_facts(one, result.facts)
            entities += result.entities
            relationships += result.relationships
        return Reading(facts, tuple(entities), tuple(relationships), tuple(failed))

    async def _extraction(self, one: GrownEpisode) -> Extraction | FailedExtraction:
        key = (one.episode.id, tuple(message.id for message in one.added))
        if key not in self._known:
            part = one.episode.model_copy(update={"messages": one.added, "fact_ids": ()})
            async with self._gate:
                try:
                    self._known[key] = await self._extractor.extract(part)
                except RemembranceError as error:
                    self._known[key] = FailedExtraction(episode_id=one.episode.id, reason=str(error))
        return self._known[key]


def _new_facts(one: GrownEpisode, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    known = set(one.stored.fact_ids) if one.stored is not None else set()
    new: dict[str, Fact] = {}
    for fact in facts:
        words = " ".join(fact.content.split()).casefold()
        fact_id = derived_id("fact", one.episode.id, words)
        if fact_id not in known:
            new.setdefault(fact_id, fact.model_copy(update={"id": fact_id}))
    return tuple(new.values())
