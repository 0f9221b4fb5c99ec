"""Records as rows to write, and rows that came back as records; one pair of functions a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from remembrancer.graph.values import (
    as_json,
    as_vector,
    from_json,
    from_vector,
    provenance_properties,
    take_provenance,
    text_key,
    with_positions,
)
from remembrancer.records import Entity, Episode, Fact, Message, Relationship, Theme, name_key
from remembrancer.records.key import without_repeats
from remembrancer.records.recall_copies import context_around, mentions_time, name_words, names_in, tokens_of
from remembrancer.records.recall_words import worded
from remembrancer.records.statement import canonical_predicate

Row = dict[str, Any]


def entity_row(entity: Entity) -> Row:
    """What `entity.put` writes."""
    properties = {
        "name": entity.name,
        "entity_type": entity.entity_type,
        "attributes": as_json(entity.attributes),
        "created_at": entity.created_at,
        "updated_at": entity.updated_at,
        "invalidated_at": entity.invalidated_at,
        "superseded_by": entity.superseded_by,
        "name_key": name_key(entity.name, entity.entity_type),
        "live": entity.is_live,
        **provenance_properties(entity.provenance),
    }
    return {"id": entity.id, "properties": properties, "embedding": as_vector(entity.embedding)}


def claim_row(entity: Entity) -> Row:
    """What `entity.claim` writes when the entity has to be made; recorded as live, since only live ones are found."""
    row = entity_row(entity)
    return {**row, "name_key": row["properties"]["name_key"]}


def relationship_row(relationship: Relationship) -> Row:
    """What `relationship.put` writes."""
    properties = {
        "relation_type": relationship.relation_type,
        "weight": relationship.weight,
        "attributes": as_json(relationship.attributes),
        "valid_from": relationship.valid_from,
        "valid_until": relationship.valid_until,
        "invalidated_by": relationship.invalidated_by,
        "recorded_at": relationship.recorded_at,
        "closed_at": relationship.closed_at,
        "fact_id": relationship.fact_id,
        **provenance_properties(relationship.provenance),
    }
    return {
        "id": relationship.id,
        "source_id": relationship.source_id,
        "target_id": relationship.target_id,
        "properties": properties,
    }


def message_properties(message: Message) -> Row:
    """What `message.put` writes of a message wherever it stands."""
    return {
        "role": message.role,
        "content": message.content,
        "timestamp": message.timestamp,
        "conversation": message.conversation,
        "speaker": message.speaker,
        "metadata": as_json(message.metadata),
        "day": message.timestamp.date().isoformat(),
        "names": list(names_in(message.content)),
        "mentions_time": mentions_time(message.content),
        "speaker_words": name_words(message.speaker) if message.speaker else None,
        "words": worded(message.content),
        "grams": tokens_of(message.content) or None,
        **provenance_properties(message.provenance),
    }


def message_rows(episode: Episode) -> list[Row]:
    """What `message.put` writes for the messages of an episode, with the copies that recall needs."""
    rows: dict[str, Row] = {}
    for position, message in enumerate(episode.messages):
        properties = {
            **message_properties(message),
            "context": context_around(episode.messages, position),
            "episode_id": episode.id,
            "position": position,
        }
        rows.setdefault(
            message.id, {"id": message.id, "properties": properties, "embedding": as_vector(message.embedding)}
        )
    return list(rows.values())


def speaker_words(episodes: Sequence[Episode]) -> list[str]:
    """Every word of the names of those who speak in the episodes."""
    names = {message.speaker for episode in episodes for message in episode.messages if message.speaker}
    return sorted({word for name in names for word in name_words(name)})


def conversation_key(conversation: str | None) -> str:
    """What an episode is found by; that of messages without a conversation differs from every other."""
    return "" if conversation is None else f"={conversation}"


def episode_row(episode: Episode) -> Row:
    """What `episode.put` writes."""
    properties = {
        "topic": episode.topic,
        "started_at": episode.started_at,
        "ended_at": episode.ended_at,
        "conversation": conversation_key(episode.messages[0].conversation) if episode.messages else None,
        "unread_message_ids": list(episode.unread_message_ids) or None,
        "unread_count": len(episode.unread_message_ids) or None,
        **provenance_properties(episode.provenance),
    }
    return {
        "id": episode.id,
        "properties": properties,
        "embedding": as_vector(episode.embedding),
        "messages": with_positions([message.id for message in episode.messages]),
        "facts": with_positions(episode.fact_ids),
    }


def fact_row(fact: Fact) -> Row:
    """What `fact.put` writes."""
    statement = fact.statement
    properties = {
        "content": fact.content,
        "statement": None if statement is None else as_json(statement.model_dump(mode="json")),
        "statement_key": None if statement is None else statement.key,
        "predicate": None if statement is None else canonical_predicate(statement.predicate),
        "words": worded(fact.content),
        "grams": tokens_of(fact.content) or None,
        "theme_id": fact.theme_id,
        "valid_from": fact.valid_from,
        "valid_until": fact.valid_until,
        "invalidated_by": fact.invalidated_by,
        "recorded_at": fact.recorded_at,
        "closed_at": fact.closed_at,
        "access_count": fact.access_count,
        "last_accessed_at": fact.last_accessed_at,
        **provenance_properties(fact.provenance),
    }
    return {
        "id": fact.id,
        "properties": properties,
        "embedding": as_vector(fact.embedding),
        "entities": with_positions(fact.entity_ids),
        "episodes": with_positions(fact.source_episode_ids),
        "messages": with_positions(fact.source_message_ids),
        "tags": with_positions(fact.tags),
        "subject": None if statement is None else statement.subject_id,
        "object": None if statement is None else statement.object_id,
    }


def theme_row(theme: Theme) -> Row:
    """What `theme.put` writes."""
    properties = {
        "label": theme.label,
        "label_key": text_key(theme.label),
        "description": theme.description,
        **provenance_properties(theme.provenance),
    }
    return {
        "id": theme.id,
        "properties": properties,
        "embedding": as_vector(theme.embedding),
        "facts": with_positions(theme.fact_ids),
        "size": len(theme.fact_ids),
    }


def addition_row(theme_id: str, fact_ids: Sequence[str]) -> Row:
    """What `theme.add_facts` writes."""
    return {"id": theme_id, "facts": list(without_repeats(fact_ids))}


def entity_from(row: Row) -> Entity:
    """The entity of a row."""
    return Entity.model_validate(
        {
            **row,
            "attributes": from_json(row["attributes"]),
            "embedding": from_vector(row.get("embedding")),
            "provenance": take_provenance(row),
        }
    )


def relationship_from(row: Row) -> Relationship:
    """The relationship of a row."""
    return Relationship.model_validate(
        {**row, "attributes": from_json(row["attributes"]), "provenance": take_provenance(row)}
    )


def message_from(row: Row) -> Message:
    """The message of a row."""
    return Message.model_validate(
        {
            **row,
            "metadata": from_json(row["metadata"]),
            "embedding": from_vector(row.get("embedding")),
            "provenance": take_provenance(row),
        }
    )


def episode_from(row: Row) -> Episode:
    """The episode of a row, its messages with it."""
    return Episode.model_validate(
        {
            **row,
            "embedding": from_vector(row.get("embedding")),
            "messages": [message_from(message) for message in row["messages"]],
            "unread_message_ids": row.get("unread_message_ids") or [],
            "provenance": take_provenance(row),
        }
    )


def fact_from(row: Row) -> Fact:
    """The fact of a row."""
    return Fact.model_validate(
        {
            **row,
            "statement": from_json(row["statement"]) or None,
            "embedding": from_vector(row.get("embedding")),
            "provenance": take_provenance(row),
        }
    )


def theme_from(row: Row) -> Theme:
    """The theme of a row."""
    return Theme.model_validate(
        {**row, "embedding": from_vector(row.get("embedding")), "provenance": take_provenance(row)}
    )
