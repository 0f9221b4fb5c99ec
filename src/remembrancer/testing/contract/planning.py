"""A small memory with records of every kind, and plans for it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from remembrancer.lifecycle import Change, Plan
from remembrancer.ports import MemoryStore
from remembrancer.records import (
    AnyRecord,
    RecordBatch,
    RecordKind,
    Relationship,
    kind_of,
)
from remembrancer.records.base import build
from remembrancer.records.statement import Statement
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import (
    SPACE,
    day,
    direction,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)

WORLD: dict[str, Sequence[Any]] = {
    "entities": [
        entity(1, name="Ada", attributes={"a": 1.5}),
        entity(2, name="Ada L."),
        entity(3, embedding=direction(5)),
    ],
    "relationships": [relationship(1, 1, 3), relationship(2, 2, 3, weight=0.25), relationship(3, 2, 2)],
    "episodes": [
        episode(1, messages=[message(1, embedding=direction(1)), message(2)], facts=[1, 2], embedding=direction(30)),
        episode(2, messages=[message(3)], facts=[3]),
    ],
    "facts": [
        fact(
            1, entities=[1, 3], episodes=[1], embedding=direction(0.1), access_count=3, theme_id=sample_id("theme", 1)
        ),
        fact(
            2,
            entities=[2, 2],
            episodes=[1, 2],
            embedding=direction(0.2),
            tags=["b", "a"],
            theme_id=sample_id("theme", 1),
        ),
        fact(3, episodes=[2], source_message_ids=[sample_id("message", 3)], valid_from=day(3), access_count=None),
        fact(4, invalidated_by="told so", closed_at=day(1), valid_until=day(2)),
        fact(
            6, statement=Statement(subject_id=sample_id("entity", 1), predicate="own", object_id=sample_id("entity", 3))
        ),
    ],
    "themes": [theme(1, facts=[1, 2], embedding=direction(0.15)), theme(2, facts=[3, 9])],
}
"""Records of every kind that name each other; fact 4 is closed, fact 6 makes an edge, fact 9 is not stored."""

_RELATIONAL = Statement(subject_id=sample_id("entity", 1), predicate="rent", object_id=sample_id("entity", 2))

MERGED = sample_id("fact", 1)
"""What a pass of `closing` keeps of facts 1 and 2."""


def pass_id(number: int) -> str:
    """Id of a pass to test with."""
    return f"90000000-0000-4000-8000-{number:012x}"


async def filled(open_store: OpenStore, **options: Any) -> MemoryStore:
    """A store that holds `WORLD`."""
    store = await open_store(space=SPACE, **options)
    await store.write(build(RecordBatch, **WORLD))
    return store


async def read(store: MemoryStore, kind: RecordKind, number: int) -> Any:
    """A sample record as it is stored."""
    return await getattr(store, f"get_{kind}")(sample_id(kind, number))


async def state_of(store: MemoryStore) -> dict[str, AnyRecord]:
    """Every record that a memory holds, by id."""
    records: list[AnyRecord] = [
        *await store.find_facts(include_invalidated=True),
        *await store.find_entities(include_invalidated=True),
        *await store.list_episodes(),
        *await store.list_themes(),
        *[edge for n in range(40) for edge in await edges_at(store, n)],
        *(await store.get_messages([sample_id("message", n) for n in range(40)])).values(),
    ]
    return {record.id: record for record in records}


async def edges_at(store: MemoryStore, number: int) -> list[Relationship]:
    """Every relationship that begins at a sample entity, also those that statements make."""
    start = sample_id("entity", number)
    return await store.get_relationships_for_entity(start, direction="out", include_invalidated=True)


async def closing(store: MemoryStore, *, number: int = 1, **fields: Any) -> Plan:
    """A plan that closes fact 2 in favour of fact 1, which takes over its uses."""
    kept, lost = await read(store, "fact", 1), await read(store, "fact", 2)
    changes = [
        Change(before=kept, after=kept.model_copy(update={"access_count": 7}), reason="took over a duplicate"),
        Change(
            before=lost,
            after=lost.model_copy(update={"invalidated_by": kept.id}),
            reason="duplicate",
            superseded_by=kept.id,
        ),
    ]
    return Plan(
        **{"pass_id": pass_id(number), "kind": "consolidation", "made_at": day(5), "changes": changes, **fields}
    )


def random_plan(rng: random.Random, state: dict[str, AnyRecord]) -> Plan:
    """A soft plan that edits, closes, reopens, removes and makes some of the records, of every kind."""
    changes = [change for record in state.values() if rng.random() < 0.6 and (change := _random_change(rng, record))]
    edges_removed = {one.record_id for one in changes if one.kind == "relationship"}
    for record in state.values():
        # An entity is removed only together with every edge at it.
        if isinstance(record, Relationship) and record.id not in edges_removed:
            ends = (record.source_id, record.target_id)
            changes = [one for one in changes if one.after is not None or one.record_id not in ends]
    if rng.random() < 0.5:
        changes.append(Change(before=None, after=fact(30, entities=[1, 30], embedding=direction(9)), reason="made"))
    rng.shuffle(changes)
    return Plan(pass_id=pass_id(rng.randrange(1, 2**40)), kind="consolidation", made_at=day(7), changes=tuple(changes))


def _random_change(rng: random.Random, record: AnyRecord) -> Change | None:
    kind = kind_of(record)
    if kind == "message" or getattr(record, "fact_id", None) is not None:
        return None  # the edge of a statement follows its fact
    if rng.random() < 0.25:
        return Change(before=record, after=None, reason="removed")
    updates: dict[RecordKind, list[dict[str, object]]] = {
        "fact": [
            {"invalidated_by": rng.choice([None, sample_id("fact", 1), "decay"])},
            {"content": "rewritten", "embedding": rng.choice([None, direction(77)])},
            {"entity_ids": [sample_id("entity", rng.randrange(5)) for _ in range(2)], "tags": ["z", "b"]},
            {"access_count": rng.randrange(9), "last_accessed_at": day(3)},
            {"valid_until": day(8), "theme_id": None},
            {"statement": rng.choice([None, _RELATIONAL])},
        ],
        "entity": [
            {"invalidated_at": day(5), "superseded_by": sample_id("entity", 1)},
            {"attributes": {"x": [1, None]}},
        ],
        "relationship": [
            {"source_id": sample_id("entity", 1)},
            {"weight": 0.5},
            {"invalidated_by": sample_id("relationship", 9)},
        ],
        "theme": [
            {"fact_ids": [sample_id("fact", 3)], "embedding": direction(12)},
            {"label": "other", "embedding": None},
        ],
        "episode": [{"topic": "other", "fact_ids": []}, {"messages": getattr(record, "messages", ())[:1]}],
    }
    after = record
    for update in rng.sample(updates[kind], k=min(len(updates[kind]), rng.randint(1, 3))):
        after = type(record).model_validate({**dict(after), **update})
    superseded = sample_id(kind, 1) if kind in ("fact", "entity") and rng.random() < 0.3 else None
    return Change(before=record, after=after, reason="edited", superseded_by=superseded)
