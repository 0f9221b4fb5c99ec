"""The pluggable stages by which messages climb the hierarchy: segmenter, extractor, clusterer.

A stage that changes a record returns the changed copy; records are frozen.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from remembrancer.records import Entity, Episode, Fact, Message, Relationship, Theme


@dataclass(frozen=True)
class Dropped:
    """Parts of an answer that an extractor did not take, all for one reason.

    Attributes:
        part: `fact`, `entity`, `relationship` or `field`.
        reason: Why, in words, without the text itself.
        count: How many.
    """

    part: str
    reason: str
    count: int = 1


@dataclass(frozen=True)
class Extraction:
    """What an extractor read from one episode.

    Attributes:
        episode: The episode, its `fact_ids` replaced by the ids of `facts`.
        facts: In the order in which they were read.
        entities: In the order of their first mention.
        relationships: Between these entities.
        dropped: What was answered and not taken.
        fell_back: Why this is the work of a simpler extractor than the one that was asked; `None`: it is not.
    """

    episode: Episode
    facts: tuple[Fact, ...] = ()
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    fell_back: str | None = None


@dataclass(frozen=True)
class Clustering:
    """What a clusterer made of facts and themes.

    Attributes:
        themes: All themes that remain; given ones that are not listed were absorbed by others.
        facts: The facts that were passed in, with their `theme_id`.
    """

    themes: tuple[Theme, ...]
    facts: tuple[Fact, ...]


@runtime_checkable
class Segmenter(Protocol):
    """Cuts messages into episodes."""

    @property
    def reach(self) -> dt.timedelta:
        """How far apart in time a message and an episode may be for the one to continue the other."""
        ...

    async def segment(self, messages: Sequence[Message]) -> list[Episode]:
        """Episodes in order of time; every message is in exactly one."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """Reads facts, entities and relationships from an episode."""

    async def extract(self, episode: Episode) -> Extraction:
        """What the episode says."""
        ...


@runtime_checkable
class Clusterer(Protocol):
    """Gathers facts under themes."""

    async def cluster(self, facts: Sequence[Fact], themes: Sequence[Theme]) -> Clustering:
        """Put each fact under one of the themes or a new one."""
        ...
