"""`show`: one record, with the neighbours that explain it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NamedTuple

import typer

from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, open_memory
from remembrancer.cli.output import Output, moment
from remembrancer.memory import AnyRecord, Memory
from remembrancer.records import (
    Entity,
    Episode,
    Fact,
    Message,
    NotFoundError,
    Provenance,
    Relationship,
    Theme,
)

_MOST = 50
"""How many neighbours of a kind are read and shown."""

Field = tuple[str, str]


class Section(NamedTuple):
    """Neighbours of one kind: how they are called, the records, how each is shown, and how many more there are.

    `more` is `None` where there are some that nobody has counted.
    """

    name: str
    records: Sequence[AnyRecord]
    lines: Sequence[str]
    more: int | None = 0


async def show(
    server: Server,
    output: Output,
    record_id: Annotated[
        str, typer.Argument(metavar="ID", help="Of a message, episode, fact, theme, entity or relationship.")
    ],
    namespace: NamespaceOption = NAMESPACE,
) -> None:
    """Show a record and what it hangs together with. Ends with 4 when there is none.

    Vectors are left out.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
        record = await memory.get(record_id)
        if record is None:
            raise NotFoundError("record", [record_id], namespace=namespace)
        sections = await _neighbours(memory, record)
    kind = type(record).__name__.lower()
    output.document(
        {
            "kind": kind,
            "record": plain(record),
            "neighbours": {one.name: [plain(neighbour) for neighbour in one.records] for one in sections},
            "left_out": {one.name: one.more for one in sections if one.more != 0},
        }
    )
    output.heading(f"{kind} {record.id}")
    for name, value in _fields(record):
        output.text(f"  {name:<13}{value}")
    for section in sections:
        if section.records:
            output.heading(section.name)
            output.text(*(f"  {line}" for line in section.lines))
            if section.more != 0:
                output.text(f"  and {'more' if section.more is None else f'{section.more} more'}")


def plain(record: AnyRecord) -> dict[str, Any]:
    """A record as values fit for JSON, without its vectors."""
    values = record.model_dump(mode="json", exclude={"embedding"})
    for message in values.get("messages", ()):
        del message["embedding"]
    return values


async def _neighbours(memory: Memory, record: AnyRecord) -> list[Section]:
    match record:
        case Fact():
            return await _around_fact(memory, record)
        case Entity():
            return await _around_entity(memory, record)
        case Episode():
            return [_messages(record.messages), await _facts(memory, record.fact_ids)]
        case Theme():
            return [await _facts(memory, record.fact_ids)]
        case Relationship():
            ends = await memory.store.get_entities([record.source_id, record.target_id])
            return [_entities("between", ends.values())]
        case Message():
            return await _around_message(memory, record)


async def _around_fact(memory: Memory, fact: Fact) -> list[Section]:
    store = memory.store
    messages = await store.get_messages(fact.source_message_ids[:_MOST])
    episodes = await store.get_episodes(fact.source_episode_ids[:_MOST])
    entities = await store.get_entities(fact.entity_ids[:_MOST])
    themes = await store.get_themes([fact.theme_id] if fact.theme_id else [])
    return [
        _messages(list(messages.values()), more=_beyond(fact.source_message_ids)),
        Section(
            "episodes",
            [*episodes.values()],
            [_episode(one) for one in episodes.values()],
            _beyond(fact.source_episode_ids),
        ),
        _entities("entities", entities.values(), more=_beyond(fact.entity_ids)),
        Section("theme", [*themes.values()], [f"{one.label}  {one.id}" for one in themes.values()]),
    ]


async def _around_entity(memory: Memory, entity: Entity) -> list[Section]:
    store = memory.store
    found = await store.get_relationships_for_entity(entity.id, include_invalidated=True)
    shown = sorted(found, key=lambda one: (one.valid_from, one.id))[:_MOST]
    ends = await store.get_entities([end for one in shown for end in (one.source_id, one.target_id)])
    names = {end: other.name for end, other in ends.items()}
    facts = await store.find_facts(entity_id=entity.id, include_invalidated=True, limit=_MOST + 1)
    return [
        Section("relationships", shown, [_relationship(one, names) for one in shown], len(found) - len(shown)),
        Section("facts", facts[:_MOST], [*map(_fact, facts[:_MOST])], None if len(facts) > _MOST else 0),
    ]


async def _around_message(memory: Memory, message: Message) -> list[Section]:
    near = await memory.store.find_episode_near(
        message.conversation, starting_before=message.timestamp, ending_after=message.timestamp
    )
    if near is None or all(one.id != message.id for one in near.messages):
        return []
    facts = await memory.store.get_facts(near.fact_ids)
    citing = [fact for fact in facts.values() if message.id in fact.source_message_ids]
    return [
        Section("episode", [near], [_episode(near)]),
        Section("facts", citing[:_MOST], [*map(_fact, citing[:_MOST])], max(0, len(citing) - _MOST)),
    ]


async def _facts(memory: Memory, ids: Sequence[str]) -> Section:
    found = await memory.store.get_facts(ids[:_MOST])
    return Section("facts", [*found.values()], [*map(_fact, found.values())], _beyond(ids))


def _messages(messages: Sequence[Message], *, more: int = 0) -> Section:
    return Section("messages", messages, [f"{moment(one.timestamp)}  {one.spoken}" for one in messages], more)


def _entities(name: str, entities: Iterable[Entity], *, more: int = 0) -> Section:
    found = list(entities)
    return Section(name, found, [f"{one.name} ({one.entity_type})  {one.id}" for one in found], more)


def _beyond(ids: Sequence[str]) -> int:
    return max(0, len(ids) - _MOST)


def _episode(episode: Episode) -> str:
    return f"{moment(episode.started_at)}  {episode.topic or 'no topic'}  {episode.id}"


def _fact(fact: Fact) -> str:
    return f"{window(fact)}  {fact.content}  {fact.id}"


def _relationship(one: Relationship, names: dict[str, str]) -> str:
    source, target = names.get(one.source_id, one.source_id), names.get(one.target_id, one.target_id)
    return f"{window(one)}  {source} {one.relation_type} {target}  {one.id}"


def window(record: Fact | Relationship) -> str:
    """The window of a record, and whether it was closed."""
    closed = "" if record.is_live else " (closed)"
    return f"{moment(record.valid_from)} to {moment(record.valid_until, open_end='now')}{closed}"


def _fields(record: AnyRecord) -> list[Field]:
    match record:
        case Fact():
            own = [
                ("content", record.content),
                ("held", window(record)),
                *_closing(record),
                ("tags", ", ".join(record.tags)),
            ]
            own.append(("used", f"{record.access_count or 0} times {moment(record.last_accessed_at)}".strip()))
        case Relationship():
            own = [("type", record.relation_type), ("weight", f"{record.weight:g}"), ("held", window(record))]
            own += [*_closing(record), ("attributes", _map(record.attributes))]
        case Entity():
            own = [("name", record.name), ("type", record.entity_type), ("attributes", _map(record.attributes))]
            own += [("updated", moment(record.updated_at)), ("closed", moment(record.invalidated_at))]
            own.append(("superseded by", record.superseded_by or ""))
        case Episode():
            own = [("topic", record.topic), ("from", moment(record.started_at)), ("to", moment(record.ended_at))]
        case Theme():
            own = [("label", record.label), ("description", record.description), ("facts", str(len(record.fact_ids)))]
        case Message():
            own = [("said by", record.said_by), ("role", record.role), ("at", moment(record.timestamp))]
            own += [("conversation", record.conversation or ""), ("content", record.content)]
            own.append(("metadata", _map(record.metadata)))
    return [(name, value) for name, value in [*own, ("from source", _source(record.provenance))] if value]


def _closing(record: Fact | Relationship) -> list[Field]:
    return [
        ("recorded", moment(record.recorded_at)),
        ("closed", moment(record.closed_at)),
        ("closed by", record.invalidated_by or ""),
    ]


def _map(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in values.items())


def _source(provenance: Provenance | None) -> str:
    if provenance is None:
        return ""
    made_by = provenance.agent_id or provenance.tool_name
    return " ".join([provenance.source, *([f"by {made_by}"] if made_by else []), moment(provenance.created_at)])
