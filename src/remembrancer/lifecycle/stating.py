"""Stating: facts with a subject, a predicate and a value, told to a memory one after the other in any order.

A statement of a single-valued predicate ends the window of the value before it, in history as well as now; see
`remembrancer.lifecycle.succession`. What is said of an entity that was merged is said of the one that stands for it.
Reading, deciding and writing are one optimistic transaction: who states something of the same subject and predicate
meanwhile, or merges one of its entities, makes it read again.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import model_validator

from remembrancer.lifecycle.plan import Plan, batch_of
from remembrancer.lifecycle.succession import (
    Place,
    change_of,
    counted_statements,
    group_of,
    subject_of,
    succession,
    takes_part,
)
from remembrancer.ports import Embedder, MemoryStore
from remembrancer.ports.embedder import embedded
from remembrancer.records import (
    Clock,
    ConcurrencyError,
    Entity,
    Fact,
    InvalidInputError,
    NewId,
    PlanOutdatedError,
    Provenance,
    random_id,
    system_clock,
)
from remembrancer.records.base import Listed, Record, Request, build
from remembrancer.records.instant import Instant, require_instant
from remembrancer.records.key import Id, Key, NonEmptyKey, NonEmptyText, Text, derived_id, require_keys, without_repeats
from remembrancer.records.stated import with_entities
from remembrancer.records.statement import Statement, StatementKind, canonical_predicate, composed_content
from remembrancer.records.vector import Embedding, stored_vector

_ATTEMPTS = 20
_PAUSE = 0.02


class Assertion(Request):
    """Something to state.

    Attributes:
        subject_id: The entity that it is about.
        predicate: For example `works_at`.
        object_id: The entity that it points to.
        value: A literal instead: any JSON value.
        details: More in words.
        kind: `atomic` or `document`.
        valid_from: From when it holds, included; absent: now.
        valid_until: Until when it holds, excluded; absent: until something else is stated, or for good.
        content: The same in words; absent: made of the names of the entities, the predicate and the value.
        embedding: Of the content; absent: made by the memory's embedder.
        entity_ids: Further entities that it mentions; subject and object are mentioned in any case.
        source_episode_ids: Episodes it was read from.
        source_message_ids: Messages it was read from.
        tags: Labels.
        provenance: Who says so; absent: a human, now.
        id: Of the fact; absent: made from subject, predicate, object or value and `valid_from`, so that saying the
            same again changes nothing.
    """

    subject_id: Id
    predicate: NonEmptyKey
    object_id: Id | None = None
    value: Any = None
    details: Text | None = None
    kind: StatementKind = "atomic"
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    content: NonEmptyText | None = None
    embedding: Embedding | None = None
    entity_ids: Listed[Id] = ()
    source_episode_ids: Listed[Id] = ()
    source_message_ids: Listed[Id] = ()
    tags: Listed[Key] = ()
    provenance: Provenance | None = None
    id: Id | None = None

    @model_validator(mode="after")
    def _holds_together(self) -> Assertion:
        if self.object_id == self.subject_id:
            raise ValueError("subject and object are the same entity")
        if self.valid_from is not None and self.valid_until is not None and self.valid_until <= self.valid_from:
            raise ValueError("valid_until must lie after valid_from")
        self.statement()
        return self

    def statement(self) -> Statement:
        """The statement."""
        return Statement(
            subject_id=self.subject_id,
            predicate=self.predicate,
            object_id=self.object_id,
            value=self.value,
            details=self.details,
            kind=self.kind,
        )


class StatementReport(Record):
    """What became of assertions.

    Attributes:
        fact_ids: The fact of each assertion, in order.
        standing_for: The entity that stands for one named in the assertions which was merged, by the merged one's id.
        confirmed: The fact that had said the same before, by the assertion's fact, which is closed in its favour.
        superseded: Facts stored before whose window was ended.
        reopened: Facts stored before that hold again, since what was said of a time between parts them from the fact
            that they confirmed.
        pass_id: Names the pass in the history; `None`: nothing was written, all of it was known.
    """

    fact_ids: Listed[Id] = ()
    standing_for: dict[Id, Id] = {}
    confirmed: dict[Id, Id] = {}
    superseded: Listed[Id] = ()
    reopened: Listed[Id] = ()
    pass_id: Id | None = None


async def assert_statements(
    store: MemoryStore,
    assertions: Sequence[Assertion | Mapping[str, Any]],
    *,
    single_valued: Collection[str] = (),
    embedder: Embedder | None = None,
    idempotency_key: str | None = None,
    clock: Clock = system_clock,
    new_id: NewId = random_id,
) -> StatementReport:
    """State something of entities, in one transaction: all of it, or nothing.

    Args:
        store: The memory.
        assertions: What to state, or maps of its fields; at most one of each id.
        single_valued: Predicates that hold one value at a time, compared in the form of `canonical_predicate`: a new
            value ends the window of the one before at its own start. Of all others several values hold side by side.
        embedder: Makes the vectors of contents.
        idempotency_key: As for `MemoryStore.write`.
        clock: Tells what now is.
        new_id: Ids of passes.

    Raises:
        InvalidInputError: An assertion is wrong, or its id is that of another fact; names it.
        ConcurrencyError: Others kept stating things of the same subjects. Nothing was written.
        ServerUnavailableError: The database or the embedder could not be reached.
    """
    alone = frozenset(canonical_predicate(one) for one in require_keys(single_valued, field="single_valued"))
    now = require_instant(clock(), field="clock")
    given = [_read(one, place) for place, one in enumerate(_listed(assertions))]
    said = await _facts_of(store, given, embedder, now=now)
    if not said:
        return StatementReport()
    for attempt in range(1, _ATTEMPTS + 1):
        entities = await _entities_named(store, said)
        standing = _standing(entities)
        facts = [_about(fact, standing, place) for place, fact in enumerate(said)]
        stored = await store.find_statements(sorted({subject_of(fact) for fact in facts}))
        plan, report = _planned(facts, stored, alone, pass_id=new_id(), now=now)
        report = report.model_copy(update={"standing_for": standing})
        if plan.is_empty:
            return report
        plan = plan.model_copy(update={"seen": (*plan.seen, *entities.values())})
        try:
            await store.write(batch_of(plan), idempotency_key=idempotency_key)
        except (ConcurrencyError, PlanOutdatedError):
            await _check_free(store, facts, stored)
            if attempt == _ATTEMPTS:
                raise
            await asyncio.sleep(_PAUSE * attempt * random.uniform(0.5, 1.5))  # noqa: S311 - parts writers that met
            continue
        return report
    raise AssertionError("unreachable")


def _listed(assertions: object) -> Sequence[object]:
    if isinstance(assertions, str | bytes | Mapping) or not isinstance(assertions, Iterable):
        raise InvalidInputError("assertions", f"expected a list of assertions, got {type(assertions).__name__}")
    return list(assertions)


def _read(given: object, place: int) -> Assertion:
    if isinstance(given, Assertion):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"assertions.{place}", f"expected an Assertion, got {type(given).__name__}")
    try:
        return build(Assertion, **given)
    except InvalidInputError as error:
        raise InvalidInputError(f"assertions.{place}.{error.field}", error.problem) from error


async def _facts_of(
    store: MemoryStore, given: Sequence[Assertion], embedder: Embedder | None, *, now: dt.datetime
) -> list[Fact]:
    wanted = [one.content is None for one in given]
    named = [
        id_ for one, bare in zip(given, wanted, strict=True) if bare for id_ in (one.subject_id, one.object_id) if id_
    ]
    entities = await store.get_entities(without_repeats(named)) if named else {}

    def name_of(entity_id: str) -> str:
        return entities[entity_id].name if entity_id in entities else entity_id

    facts = [_fact(one, name_of, now=now) for one in given]
    ids = [fact.id for fact in facts]
    for place, fact_id in enumerate(ids):
        if fact_id in ids[:place]:
            raise InvalidInputError(f"assertions.{place}.id", f"fact {fact_id} is stated twice")
    return await _embedded(facts, embedder)


def _fact(given: Assertion, name_of: Callable[[str], str], *, now: dt.datetime) -> Fact:
    statement = given.statement()
    valid_from = given.valid_from or now
    if given.valid_until is not None and given.valid_until <= valid_from:
        raise InvalidInputError("valid_until", "must lie after valid_from, which is now when absent")
    key = (statement.key, statement.value_key, valid_from.isoformat())
    ends = [one for one in (given.subject_id, given.object_id) if one is not None]
    return build(
        Fact,
        id=given.id or derived_id("assertion", *key),
        content=given.content or composed_content(statement, name_of),
        statement=statement,
        entity_ids=without_repeats([*ends, *given.entity_ids]),
        source_episode_ids=given.source_episode_ids,
        source_message_ids=given.source_message_ids,
        embedding=given.embedding,
        provenance=given.provenance or Provenance(source="human", created_at=now),
        valid_from=valid_from,
        valid_until=given.valid_until,
        tags=given.tags,
    )


async def _embedded(facts: list[Fact], embedder: Embedder | None) -> list[Fact]:
    bare = list(dict.fromkeys(fact.content for fact in facts if fact.embedding is None))
    if embedder is None or not bare:
        return facts
    vectors = await embedded(embedder, bare)
    made = {
        text: stored_vector(vector, dimensions=embedder.dimensions, field="embedder")
        for text, vector in zip(bare, vectors, strict=True)
    }
    return [
        fact if fact.embedding is not None else fact.model_copy(update={"embedding": made[fact.content]})
        for fact in facts
    ]


async def _entities_named(store: MemoryStore, facts: Sequence[Fact]) -> dict[str, Entity]:
    """The stored ones of the entities that facts name, and those that stand for merged ones."""
    found: dict[str, Entity] = {}
    wanted = without_repeats(entity_id for fact in facts for entity_id in fact.entity_ids)
    while wanted:
        found.update(await store.get_entities(wanted))
        nearer = without_repeats(one.superseded_by for one in found.values() if one.superseded_by is not None)
        wanted = tuple(entity_id for entity_id in nearer if entity_id not in found and entity_id not in wanted)
    return found


def _standing(entities: Mapping[str, Entity]) -> dict[str, str]:
    standing: dict[str, str] = {}
    for entity_id in sorted(entities):
        last, met = entity_id, {entity_id}
        while (last in entities) and (nearer := entities[last].superseded_by) is not None and nearer not in met:
            last = nearer
            met.add(last)
        if last != entity_id:
            standing[entity_id] = last
    return standing


def _about(fact: Fact, standing: Mapping[str, str], place: int) -> Fact:
    """The fact about those that stand for its entities."""
    named = with_entities(fact, standing)
    statement = _statement(named)
    if statement.object_id == statement.subject_id:
        raise InvalidInputError(f"assertions.{place}.object_id", "was merged with the subject: both are one entity")
    return named.model_copy(update={"entity_ids": without_repeats(named.entity_ids)})


async def _check_free(store: MemoryStore, facts: Sequence[Fact], stored: Sequence[Fact]) -> None:
    known = {fact.id for fact in stored}
    taken = await store.get_facts([fact.id for fact in facts if fact.id not in known])
    for place, fact in enumerate(facts):
        other = taken.get(fact.id)
        if other is not None and (other.statement is None or other.statement.key != _statement(fact).key):
            raise InvalidInputError(f"assertions.{place}.id", f"{fact.id} is the id of another fact")


def _planned(
    facts: Sequence[Fact], stored: Sequence[Fact], alone: Collection[str], *, pass_id: str, now: dt.datetime
) -> tuple[Plan, StatementReport]:
    before = {fact.id: fact for fact in stored}
    fresh = [fact for place, fact in enumerate(facts) if not _is_known(fact, before, place)]
    groups = {group_of(fact, alone) for fact in fresh}
    taking = [fact for fact in stored if group_of(fact, alone) in groups and takes_part(fact, before)]
    placed = succession([*taking, *fresh], alone)
    placed += [Place(fact, None) for fact in fresh if fact.is_quarantined]
    changed = [place for place in placed if place.fact != before.get(place.fact.id)]
    seen = tuple(place.fact for place in placed if place.fact == before.get(place.fact.id))
    changes = tuple(change_of(place, before.get(place.fact.id)) for place in changed)
    plan = Plan(
        pass_id=pass_id,
        kind="update",
        made_at=now,
        changes=changes,
        seen=seen,
        statements=counted_statements(map(subject_of, facts), stored),
    )
    return plan, _report(facts, placed, changed, before, pass_id if changes else None)


def _is_known(fact: Fact, before: Mapping[str, Fact], place: int) -> bool:
    other = before.get(fact.id)
    if other is None:
        return False
    if (_statement(other).value_key, other.valid_from) != (_statement(fact).value_key, fact.valid_from):
        raise InvalidInputError(f"assertions.{place}.id", f"{fact.id} is the id of another fact")
    return True


def _report(
    facts: Sequence[Fact],
    placed: Sequence[Place],
    changed: Sequence[Place],
    before: Mapping[str, Fact],
    pass_id: str | None,
) -> StatementReport:
    asserted = {fact.id for fact in facts}
    old = [(place, before[place.fact.id]) for place in changed if place.fact.id in before]
    return StatementReport(
        fact_ids=tuple(fact.id for fact in facts),
        confirmed={
            place.fact.id: place.replaced_by
            for place in placed
            if place.fact.id in asserted and place.is_confirmation and place.replaced_by is not None
        },
        superseded=tuple(place.fact.id for place, _ in old if place.replaced_by and not place.is_confirmation),
        reopened=tuple(place.fact.id for place, was in old if place.fact.is_live and not was.is_live),
        pass_id=pass_id,
    )


def _statement(fact: Fact) -> Statement:
    assert fact.statement is not None  # noqa: S101 - everything here is about statements
    return fact.statement
