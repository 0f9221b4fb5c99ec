"""Conversations to take in, stores to take them into, and what a namespace holds, to compare and to check."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from remembrancer.hierarchy import RuleBasedExtractor, SimpleEpisodeSegmenter, SimpleThemeClusterer
from remembrancer.hierarchy.ingestion import Ingestion
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import EmbeddingSpace, Entity, Episode, Fact, Message, Relationship, Theme

START = dt.datetime(2025, 3, 1, 9, tzinfo=dt.UTC)
EMBEDDER = HashingEmbedder(dimensions=32)
SPACE = EmbeddingSpace(model=EMBEDDER.model, dimensions=EMBEDDER.dimensions)


@dataclass(frozen=True)
class Contents:
    """Everything that a namespace holds."""

    messages: dict[str, Message]
    episodes: dict[str, Episode]
    facts: dict[str, Fact]
    themes: dict[str, Theme]
    entities: dict[str, Entity]
    relationships: dict[str, Relationship]

    def ids(self, *kinds: str) -> dict[str, set[str]]:
        return {kind: set(getattr(self, kind)) for kind in kinds}

    def check(self) -> None:
        """Lists that mirror each other agree, and nothing names what is not there."""
        listed = [message.id for episode in self.episodes.values() for message in episode.messages]
        assert len(listed) == len(set(listed)), "a message is in two episodes"
        for episode in self.episodes.values():
            times = [message.timestamp for message in episode.messages]
            assert times == sorted(times)
            assert (episode.started_at, episode.ended_at) == (times[0], times[-1])
            assert len({message.conversation for message in episode.messages}) == 1
        assert {fact_id for one in self.episodes.values() for fact_id in one.fact_ids} == set(self.facts)
        assert {fact_id for one in self.themes.values() for fact_id in one.fact_ids} == set(self.facts)
        for fact in self.facts.values():
            held: set[str] = set()
            for episode_id in fact.source_episode_ids:
                assert fact.id in self.episodes[episode_id].fact_ids
                held |= {message.id for message in self.episodes[episode_id].messages}
            assert set(fact.source_message_ids) <= held
            holding = [theme.id for theme in self.themes.values() if fact.id in theme.fact_ids]
            assert holding == [fact.theme_id]
            assert set(fact.entity_ids) <= set(self.entities)
        for edge in self.relationships.values():
            assert {edge.source_id, edge.target_id} <= set(self.entities)
        for theme in self.themes.values():
            assert theme.fact_ids
            assert len(set(theme.fact_ids)) == len(theme.fact_ids)


async def contents_of(store: Any) -> Contents:
    episodes = await store.list_episodes(limit=100_000)
    entities = await store.find_entities(limit=100_000, include_invalidated=True)
    edges = [
        edge
        for entity in entities
        for edge in await store.get_relationships_for_entity(entity.id, include_invalidated=True)
    ]
    facts = await store.find_facts(limit=100_000, include_invalidated=True)
    return Contents(
        messages={message.id: message for episode in episodes for message in episode.messages},
        episodes={episode.id: episode for episode in episodes},
        facts={fact.id: fact for fact in facts},
        themes={theme.id: theme for theme in await store.list_themes()},
        entities={entity.id: entity for entity in entities},
        relationships={edge.id: edge for edge in edges},
    )


def said(minute: float, content: str, *, conversation: str | None = "talk", **fields: Any) -> Message:
    """A message so many minutes after the start."""
    at = START + dt.timedelta(minutes=minute)
    return Message(**{"role": "user", "content": content, "timestamp": at, "conversation": conversation, **fields})


NAMES = ["Alice", "Bob", "Carol", "Dave", "Erin", "Frank"]
PLACES = ["Paris", "Berlin", "Madrid", "London"]


def conversation(
    number: int = 0, *, length: int = 12, gap_after: Sequence[int] = (5,), name: str | None = None
) -> list[Message]:
    """A conversation in which people say where they live and work; an hour passes after some of its messages."""
    messages, minute = [], 0.0
    for place in range(length):
        who, where = NAMES[(number + place) % len(NAMES)], PLACES[(number * 3 + place) % len(PLACES)]
        text = f"Since spring {number}-{place} {who} works at Acme Corp in {where}."
        messages.append(said(minute, text, conversation=name or f"talk {number}", speaker=who))
        minute += 60 if place in gap_after else 1
    return messages


def ingestion(store: Any, **parts: Any) -> Ingestion:
    """An ingest as `Memory` wires it, into one store."""
    whole = {
        "segmenter": SimpleEpisodeSegmenter(),
        "extractor": RuleBasedExtractor(),
        "clusterer": SimpleThemeClusterer(similarity_threshold=0.5),
        "embedder": EMBEDDER if store.space is not None else None,
    }
    return Ingestion(store=store, index=store.index, **{**whole, **parts})


@dataclass(frozen=True)
class Kit:
    """What the tests of ingest share."""

    space: EmbeddingSpace = SPACE
    embedder: HashingEmbedder = EMBEDDER
    start: dt.datetime = START
    said: Callable[..., Message] = said
    conversation: Callable[..., list[Message]] = conversation
    ingestion: Callable[..., Ingestion] = ingestion
    contents_of: Callable[..., Any] = contents_of
    unique: Callable[[], str] = lambda: f"ingest-{uuid.uuid4()}"


@pytest.fixture
def unique_namespace() -> str:
    return f"ingest-{uuid.uuid4()}"


@pytest.fixture(scope="session")
def kit() -> Kit:
    return Kit()
