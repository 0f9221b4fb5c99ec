"""Extractors that a benchmark puts in place of the default one: none at all, and the facts that came with the data."""

from __future__ import annotations

from remembrancer.bench.data import Material, ReferenceFact
from remembrancer.ports import Extraction
from remembrancer.records import Episode, Fact, Provenance
from remembrancer.records.key import derived_id


class NoExtractor:
    """Reads nothing: the memory holds messages alone."""

    async def extract(self, episode: Episode) -> Extraction:
        """The episode as it is."""
        return Extraction(episode)


class ReferenceExtractor:
    """Gives the facts of the data in place of a language model's.

    A fact is told with the last of the turns that it cites, so that every message it cites is stored by then.
    """

    def __init__(self, material: Material) -> None:
        """Sort the facts of one conversation by the message that they are told with."""
        self._message_of = {source.id: source.message.id for source in material.sources}
        order = {source.id: place for place, source in enumerate(material.sources)}
        self._told_with: dict[str, list[ReferenceFact]] = {}
        for fact in material.facts:
            last = max(fact.source_ids, key=order.__getitem__)
            self._told_with.setdefault(self._message_of[last], []).append(fact)

    async def extract(self, episode: Episode) -> Extraction:
        """The facts that are told with one of the episode's messages."""
        facts = tuple(
            self._fact(fact, episode) for message in episode.messages for fact in self._told_with.get(message.id, ())
        )
        return Extraction(episode.model_copy(update={"fact_ids": tuple(fact.id for fact in facts)}), facts)

    def _fact(self, fact: ReferenceFact, episode: Episode) -> Fact:
        cited = [self._message_of[source_id] for source_id in fact.source_ids]
        return Fact(
            id=derived_id(episode.id, fact.text, *cited),
            content=fact.text,
            source_episode_ids=[episode.id],
            source_message_ids=cited,
            provenance=Provenance(source="derived", created_at=episode.started_at),
            valid_from=episode.started_at,
        )
