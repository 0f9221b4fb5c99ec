"""The store: where records live. Whole-record upserts, soft reads, one transaction a write.

A store is opened on one namespace and never reaches beyond it. What it hands out are copies. Every listing is total
and repeatable: facts by `valid_from` descending, then id; episodes by `started_at` descending, then id; all else by id.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from remembrancer.records import (
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    Message,
    Receipt,
    RecordBatch,
    RecordKind,
    Relationship,
    Theme,
)
from remembrancer.records.base import build

Direction = Literal["both", "out", "in"]


@runtime_checkable
class MemoryStore(Protocol):
    """Records of one namespace."""

    @property
    def namespace(self) -> str:
        """Whose memory."""
        ...

    @property
    def space(self) -> EmbeddingSpace | None:
        """The embedding space of the records; `None`: no record may have an embedding."""
        ...

    async def write(self, batch: RecordBatch, *, idempotency_key: str | None = None) -> Receipt:
        """Write a batch in one transaction.

        Args:
            batch: What to put, claim and remove.
            idempotency_key: A write with a key that was used before writes nothing and answers with the first
                receipt, `replayed` set; of two at once the second waits for the first. At most 1,000 bytes.

        Raises:
            InvalidInputError: A record holds what cannot be stored; names it.
            EmbeddingDimensionMismatchError: A vector has another length than the embedding space.
            ConcurrencyError: An episode holds another number of messages than the batch expects.
            ServerUnavailableError: The database could not be reached.
        """
        ...

    async def put_entity(self, entity: Entity) -> Receipt:
        """Put one entity whole; equal names are not merged."""
        return await self.write(build(RecordBatch, entities=[entity]))

    async def put_relationship(self, relationship: Relationship) -> Receipt:
        """Put one relationship whole; with other ends it leaves the former ones."""
        return await self.write(build(RecordBatch, relationships=[relationship]))

    async def put_episode(self, episode: Episode) -> Receipt:
        """Put one episode whole, its messages with it."""
        return await self.write(build(RecordBatch, episodes=[episode]))

    async def put_fact(self, fact: Fact) -> Receipt:
        """Put one fact whole, tags and references with it."""
        return await self.write(build(RecordBatch, facts=[fact]))

    async def put_theme(self, theme: Theme) -> Receipt:
        """Put one theme whole."""
        return await self.write(build(RecordBatch, themes=[theme]))

    async def get_entity(self, entity_id: str) -> Entity | None:
        """The entity, or `None`."""
        return (await self.get_entities([entity_id])).get(entity_id)

    async def get_relationship(self, relationship_id: str) -> Relationship | None:
        """The relationship, or `None`."""
        return (await self.get_relationships([relationship_id])).get(relationship_id)

    async def get_episode(self, episode_id: str) -> Episode | None:
        """The episode with its messages, or `None`."""
        return (await self.get_episodes([episode_id])).get(episode_id)

    async def get_fact(self, fact_id: str) -> Fact | None:
        """The fact, or `None`."""
        return (await self.get_facts([fact_id])).get(fact_id)

    async def get_theme(self, theme_id: str) -> Theme | None:
        """The theme, or `None`."""
        return (await self.get_themes([theme_id])).get(theme_id)

    async def get_message(self, message_id: str) -> Message | None:
        """The message, or `None`."""
        return (await self.get_messages([message_id])).get(message_id)

    async def get_entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        """The stored ones of these, in the order asked for; repeats collapse."""
        ...

    async def get_relationships(self, ids: Sequence[str]) -> dict[str, Relationship]:
        """The stored ones of these, in the order asked for; repeats collapse."""
        ...

    async def get_episodes(self, ids: Sequence[str]) -> dict[str, Episode]:
        """The stored ones of these, in the order asked for; repeats collapse."""
        ...

    async def get_facts(self, ids: Sequence[str]) -> dict[str, Fact]:
        """The stored ones of these, in the order asked for; repeats collapse."""
        ...

    async def get_themes(self, ids: Sequence[str]) -> dict[str, Theme]:
        """The stored ones of these, in the order asked for; repeats collapse."""
        ...

    async def get_messages(self, ids: Sequence[str]) -> dict[str, Message]:
        """The stored ones of these, in the order asked for; repeats collapse."""
        ...

    async def delete_entity(self, entity_id: str) -> bool:
        """Remove an entity and every relationship that touches it; whether it was stored."""
        return await self._delete("entity", entity_id)

    async def delete_relationship(self, relationship_id: str) -> bool:
        """Remove a relationship; whether it was stored."""
        return await self._delete("relationship", relationship_id)

    async def delete_episode(self, episode_id: str) -> bool:
        """Remove an episode; its messages stay. Whether it was stored."""
        return await self._delete("episode", episode_id)

    async def delete_fact(self, fact_id: str) -> bool:
        """Remove a fact; whether it was stored."""
        return await self._delete("fact", fact_id)

    async def delete_theme(self, theme_id: str) -> bool:
        """Remove a theme; its facts stay. Whether it was stored."""
        return await self._delete("theme", theme_id)

    async def delete_message(self, message_id: str) -> bool:
        """Remove a message; whether it was stored."""
        return await self._delete("message", message_id)

    async def _delete(self, kind: RecordKind, record_id: str) -> bool:
        receipt = await self.write(build(RecordBatch, removals={kind: [record_id]}))
        return record_id in receipt.removed.get(kind, ())

    async def find_entities(
        self,
        *,
        entity_type: str | None = None,
        include_invalidated: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Entity]:
        """Entities by id; filters come before offset and limit.

        Raises:
            InvalidInputError: A negative limit or offset, or a type that is not a key.
        """
        ...

    async def find_facts(
        self,
        *,
        theme_id: str | None = None,
        entity_id: str | None = None,
        tags: Sequence[str] = (),
        exclude_tags: Sequence[str] = (),
        include_invalidated: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Fact]:
        """Facts, newest `valid_from` first, then by id; all filters must pass and come before offset and limit.

        Args:
            theme_id: Facts with this `theme_id`.
            entity_id: Facts that list this entity.
            tags: Facts with at least one of these; empty: no filter.
            exclude_tags: Facts with none of these.
            include_invalidated: Closed facts too.
            limit: The most to return, 0 or more.
            offset: How many to skip, 0 or more.

        Raises:
            InvalidInputError: A negative limit or offset, or a filter that is not a key.
        """
        ...

    async def find_statements(self, subjects: Sequence[tuple[str, str]]) -> list[Fact]:
        """Facts that state something of these subjects, each with a predicate, in listing order.

        Closed and quarantined ones are among them. Predicates are compared in the form of `canonical_predicate`.

        Raises:
            InvalidInputError: Not pairs of an id and a predicate.
        """
        ...

    async def get_relationships_for_entity(
        self,
        entity_id: str,
        *,
        direction: Direction = "both",
        relation_type: str | None = None,
        include_invalidated: bool = False,
    ) -> list[Relationship]:
        """All edges at an entity, by id; a self-loop once."""
        ...

    async def list_episodes(self, *, limit: int = 100, offset: int = 0) -> list[Episode]:
        """Episodes, latest `started_at` first, then by id."""
        ...

    async def list_themes(self) -> list[Theme]:
        """All themes, by id."""
        ...

    async def find_episode_near(
        self, conversation: str | None, *, starting_before: dt.datetime, ending_after: dt.datetime
    ) -> Episode | None:
        """The latest episode of a conversation with `started_at <= starting_before` and `ended_at >= ending_after`.

        An episode belongs to the conversation of its first message.
        """
        ...

    async def find_unread_episodes(self, *, after: str | None = None, limit: int = 100) -> list[Episode]:
        """Episodes with `unread_message_ids`, by id; with `after` only those whose id comes later."""
        ...

    async def stored_message_ids(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids under which a message is stored; cheaper than `get_messages`."""
        ...

    async def find_themes_labelled(self, label: str) -> list[Theme]:
        """Themes with exactly this label, by id."""
        ...

    async def touch_facts(self, ids: Sequence[str], *, at: dt.datetime | None = None) -> None:
        """Count a use of each listed fact, repeats twice; `last_accessed_at` becomes `at`, by default now.

        Counting may be deferred; `flush_usage` writes what is outstanding. Unknown ids are ignored.
        """
        ...

    async def flush_usage(self) -> None:
        """Write the usage counted so far."""
        ...

    async def clear(self) -> None:
        """Remove everything in the namespace."""
        ...
