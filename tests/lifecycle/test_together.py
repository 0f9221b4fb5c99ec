"""Two consolidators, a resolver, somebody who states things and somebody who writes, all at once on one memory.

What they leave must be what they would have left one after the other, in some order: that is looked for among all
orders, on twins in memory that begin with what was stored before. A consolidation is one of the facts that there were
when it looked: what others write until it closes some belongs to the next one, or it would never get done in a busy
memory. So its look and its write are two steps of such an order.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import EntityResolver, MemoryConsolidator, Plan, apply_plan, assert_statements
from remembrancer.records import Fact, PlanOutdatedError, RecordBatch
from remembrancer.records.stated import stated_relationship
from remembrancer.testing import IndexedStore, OpenStore
from remembrancer.testing.consolidation_contract import LEAST
from remembrancer.testing.samples import SPACE, day, direction, entity, fact, relationship, sample_id, theme

Action = Callable[[IndexedStore], Awaitable[object]]

ENTITIES = (1, 2, 3, 4)
STAMPS = {"recorded_at", "closed_at"}
WRITTEN = range(90, 96)
PUT_AGAIN = {sample_id("fact", number) for number in WRITTEN}
"""Facts that the writer may put in more than one round: to put a closed fact again opens it, as it should."""


@dataclass(frozen=True, eq=False)
class Consolidating:
    most: int | None

    def of(self, store: IndexedStore) -> MemoryConsolidator:
        return MemoryConsolidator(store, store.index, max_facts=self.most, dedup_threshold=LEAST, clock=lambda: day(60))

    async def __call__(self, store: IndexedStore) -> object:
        return await self.of(store).consolidate()


def resolving() -> Action:
    return lambda store: EntityResolver(store, single_valued=["port"], clock=lambda: day(60)).resolve()


def writing(number: int, angle: float, names: int) -> Action:
    new = fact(number, embedding=direction(angle), entities=[names], valid_from=day(number))
    return lambda store: store.put_fact(new)


def stating(subject: int, value: int, start: int) -> Action:
    told = {
        "subject_id": sample_id("entity", subject),
        "predicate": "port",
        "value": value,
        "valid_from": day(start),
        "content": f"port {value}",
        "embedding": direction(30),
    }
    return lambda store: assert_statements(store, [told], single_valued=["port"], clock=lambda: day(60))


@st.composite
def actions(draw: st.DrawFn) -> list[Action]:
    found: list[Action] = [
        Consolidating(draw(st.sampled_from((None, 3)))),
        Consolidating(draw(st.sampled_from((None, 4)))),
    ]
    other = draw(st.sampled_from(("resolve", "write", "state")))
    if other == "resolve":
        found.append(resolving())
    elif other == "write":
        found.append(
            writing(draw(st.sampled_from(WRITTEN)), draw(st.sampled_from((0, 5, 60))), draw(st.sampled_from(ENTITIES)))
        )
    found.append(stating(draw(st.sampled_from((1, 2))), draw(st.integers(1, 3)), draw(st.integers(1, 6))))
    return found


def beginning(angles: Sequence[int]) -> RecordBatch:
    listed = [number for number, _ in enumerate(angles, start=1) if number % 2]
    facts = [
        fact(
            number,
            embedding=direction(angle),
            entities=[ENTITIES[number % 4]],
            access_count=number % 3,
            valid_from=day(number),
            theme_id=sample_id("theme", 1) if number in listed else None,
        )
        for number, angle in enumerate(angles, start=1)
    ]
    return RecordBatch(
        entities=[entity(number, name="Ada" if number < 3 else f"Entity {number}") for number in ENTITIES],
        relationships=[relationship(1, 1, 3), relationship(2, 2, 3), relationship(3, 2, 4)],
        facts=facts,
        themes=[theme(1, facts=listed, embedding=direction(0))],
    )


async def contents(store: IndexedStore) -> RecordBatch:
    edges = [
        await store.get_relationships_for_entity(sample_id("entity", n), include_invalidated=True) for n in ENTITIES
    ]
    return RecordBatch(
        entities=await store.find_entities(include_invalidated=True, limit=100),
        facts=await store.find_facts(include_invalidated=True, limit=1_000),
        relationships=sorted({one.id: one for some in edges for one in some}.values(), key=lambda one: one.id),
        themes=await store.list_themes(),
    )


def told(batch: RecordBatch) -> Any:
    """The records without stamps, vectors rounded."""
    shown = batch.model_dump(include={"entities", "facts", "relationships", "themes"})
    for records in shown.values():
        for record in records:
            for stamp in STAMPS:
                record.pop(stamp, None)
            if record.get("embedding"):
                record["embedding"] = [round(number, 4) for number in record["embedding"]]
    return shown


async def tried(act: Action, store: IndexedStore) -> bool:
    try:
        await act(store)
    except PlanOutdatedError:
        return False  # it gave up and wrote nothing
    return True


async def one_after_the_other(before: RecordBatch, steps: Sequence[tuple[str, Action]]) -> Any:
    """What these steps leave; nothing if a consolidation would have had to look again."""
    twin = InMemoryStore(space=SPACE)
    await twin.write(before)
    plans: dict[int, Plan] = {}
    for step, act in steps:
        if step == "look" and isinstance(act, Consolidating):
            plans[id(act)] = (await act.of(twin).plan()).plan
        elif step == "close":
            try:
                await apply_plan(twin, plans[id(act)])
            except PlanOutdatedError:
                return None
        else:
            await act(twin)
    return told(await contents(twin))


def orders_of(acts: Sequence[Action]) -> Iterator[tuple[tuple[str, Action], ...]]:
    """All orders of the acts, then all orders of their steps; a look comes before its own close."""
    yield from itertools.permutations([("all", act) for act in acts])
    steps = [
        (step, act) for act in acts for step in (("look", "close") if isinstance(act, Consolidating) else ("all",))
    ]
    for order in itertools.permutations(steps):
        if all(order.index(("look", act)) < place for place, (step, act) in enumerate(order) if step == "close"):
            yield order


async def could_have_been(after: Any, before: RecordBatch, acts: Sequence[Action]) -> bool:
    for order in orders_of(acts):
        if await one_after_the_other(before, order) == after:
            return True
    return False


def assert_whole(batch: RecordBatch) -> None:
    """Nothing dangles: no theme lists what is closed, every edge is as its fact says, survivors are there."""
    facts = {one.id: one for one in batch.facts}
    edges = {one.id: one for one in batch.relationships}
    for one in batch.themes:
        assert all(facts[fact_id].is_live for fact_id in one.fact_ids)
        assert all(facts[fact_id].theme_id == one.id for fact_id in one.fact_ids)
    for one in batch.facts:
        assert one.invalidated_by in (None, "consolidation:decay") or one.invalidated_by in facts
        edge = stated_relationship(one)
        assert edge is None or edges[edge.id].is_live == one.is_live
    assert_one_value(batch.facts)


def assert_one_value(facts: Sequence[Fact]) -> None:
    for subject, instant in itertools.product(ENTITIES, range(9)):
        held = [
            one
            for one in facts
            if one.is_live
            and one.statement is not None
            and one.statement.subject_id == sample_id("entity", subject)
            and one.valid_from <= day(instant)
            and (one.valid_until is None or one.valid_until > day(instant))
        ]
        assert len(held) <= 1


@pytest.mark.long
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    angles=st.lists(st.sampled_from((0, 4, 9, 60, 64, 120)), min_size=2, max_size=6),
    rounds=st.lists(actions(), min_size=1, max_size=2),
)
async def test_all_at_once_is_as_one_after_the_other(
    open_store: OpenStore, angles: list[int], rounds: list[list[Action]]
) -> None:
    store = await open_store(space=SPACE)
    await store.write(beginning(angles))
    for acts in rounds:
        before = await contents(store)
        done = await asyncio.gather(*(tried(act, store) for act in acts))
        after = await contents(store)
        assert_whole(after)
        written = [act for act, is_written in zip(acts, done, strict=True) if is_written]
        assert await could_have_been(told(after), before, written)
        closed = {one.id for one in before.facts if not one.is_live} - PUT_AGAIN
        assert closed.isdisjoint(one.id for one in after.facts if one.is_live and one.statement is None)
