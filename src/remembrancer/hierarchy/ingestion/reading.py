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


async def read_episodes(grown: Sequence[GrownEpisode], *, extractor: Extractor, at_once: int) -> Reading:
    """Run the extractor over what is new in each episode, several at a time.

    A fact's id is made from its episode and its words, so that the same sentence read twice from one episode is one
    fact. One episode that cannot be read stops none of the others.
    """
    gate = asyncio.Semaphore(at_once)

    async def read(one: GrownEpisode) -> Extraction | FailedExtraction:
        part = one.episode.model_copy(update={"messages": one.added, "fact_ids": ()})
        async with gate:
            try:
                return await extractor.extract(part)
            except RemembranceError as error:
                return FailedExtraction(episode_id=one.episode.id, reason=str(error))

    results = await asyncio.gather(*(read(one) for one in grown))
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


def _new_facts(one: GrownEpisode, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    known = set(one.stored.fact_ids) if one.stored is not None else set()
    new: dict[str, Fact] = {}
    for fact in facts:
        words = " ".join(fact.content.split()).casefold()
        fact_id = derived_id("fact", one.episode.id, words)
        if fact_id not in known:
            new.setdefault(fact_id, fact.model_copy(update={"id": fact_id}))
    return tuple(new.values())
