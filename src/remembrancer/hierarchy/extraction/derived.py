"""What every extractor has in common: records derived from one episode, one id for each name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from remembrancer.ports.stages import Extraction
from remembrancer.records import Entity, Episode, Fact, NewId, Provenance, Relationship


class Derivation:
    """Gathers the facts, entities and relationships of one episode.

    All begin to hold when the episode began, and nothing ends; a name stands for one entity, whose type is the first
    one told.
    """

    def __init__(self, episode: Episode, *, now: dt.datetime, new_id: NewId) -> None:
        """Begin with an episode from which nothing was read yet.

        Args:
            episode: Where everything comes from.
            now: When the records are made.
            new_id: Ids of the records.
        """
        self._episode = episode
        self._now = now
        self._new_id = new_id
        self._provenance = Provenance(source="derived", created_at=now)
        self._facts: list[Fact] = []
        self._entities: dict[str, Entity] = {}
        self._relationships: list[Relationship] = []

    def entity_id(self, name: str, entity_type: str) -> str:
        """The id that stands for a name; the entity is made when the name is new."""
        if name not in self._entities:
            self._entities[name] = Entity(
                id=self._new_id(),
                name=name,
                entity_type=entity_type,
                provenance=self._provenance,
                created_at=self._now,
                updated_at=self._now,
            )
        return self._entities[name].id

    def add_fact(self, content: str, *, entity_ids: Iterable[str] = (), message_ids: Iterable[str] = ()) -> None:
        """Add a fact that mentions these entities and was read from these messages."""
        self._facts.append(
            Fact(
                id=self._new_id(),
                content=content,
                source_episode_ids=[self._episode.id],
                source_message_ids=list(message_ids),
                entity_ids=list(entity_ids),
                provenance=self._provenance,
                valid_from=self._episode.started_at,
            )
        )

    def add_relationship(self, source_id: str, relation_type: str, target_id: str) -> None:
        """Add an edge between two entities."""
        self._relationships.append(
            Relationship(
                id=self._new_id(),
                source_id=source_id,
                target_id=target_id,
                relation_type=relation_type,
                valid_from=self._episode.started_at,
                provenance=self._provenance,
            )
        )

    def extraction(self) -> Extraction:
        """All that was gathered, with the episode that now lists its facts."""
        return Extraction(
            episode=self._episode.model_copy(update={"fact_ids": tuple(fact.id for fact in self._facts)}),
            facts=tuple(self._facts),
            entities=tuple(self._entities.values()),
            relationships=tuple(self._relationships),
        )
