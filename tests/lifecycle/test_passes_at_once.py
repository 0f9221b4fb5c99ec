"""Passes that meet on one memory: each record is changed once, nothing is lost, nothing comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

import pytest

from remembrancer.lifecycle import ConflictDetector, EntityResolver, MemoryConsolidator, Plan, apply_plan
from remembrancer.records import PlanOutdatedError, RecordBatch
from remembrancer.testing import IndexedStore, OpenStore
from remembrancer.testing.samples import SPACE, day, direction, entity, fact, relationship, sample_id

Mode = Literal["soft", "hard"]


async def test_two_resolvers_and_a_writer_leave_one_entity_and_lose_no_change(open_store: OpenStore) -> None:
    store = await open_store()
    await store.write(
        RecordBatch(
            entities=[entity(n, name="Acme", created_at=day(n)) for n in range(1, 5)],
            relationships=[relationship(n, n, 9) for n in range(1, 5)],
            facts=[fact(n, entities=[n]) for n in range(1, 5)],
        )
    )

    async def write() -> None:
        for n in range(1, 5):
            stored = await store.get_fact(sample_id("fact", n))
            assert stored is not None
            await store.put_fact(fact(n + 10, entities=[1], content=f"later {n}"))

    reports = await asyncio.gather(EntityResolver(store).resolve(), EntityResolver(store).resolve(), write())
    done = [report for report in reports if report is not None and report.pass_id is not None]
    assert [report.entities_absorbed for report in done] == [3]
    assert [one.id for one in await store.find_entities()] == [sample_id("entity", 1)]
    facts = await store.find_facts(limit=100)
    assert len(facts) == 8
    assert {one.entity_ids for one in facts} == {(sample_id("entity", 1),)}
    assert len(await store.get_relationships_for_entity(sample_id("entity", 1))) == 1


async def test_two_detectors_close_each_loser_once(open_store: OpenStore) -> None:
    store = await open_store()
    facts = [
        fact(n, entities=[n // 2], content=f"City of Bob is C{n // 2}", valid_from=day(n * 5)) for n in range(2, 12)
    ]
    await store.write(RecordBatch(facts=facts))

    async def resolve() -> int:
        detector = ConflictDetector(store, store.index, policy="supersede-on-newer")
        return (await detector.auto_resolve_all(await detector.detect())).resolved

    await asyncio.gather(resolve(), resolve())
    marks = {one.id: one.invalidated_by for one in await store.find_facts(include_invalidated=True)}
    expected = {facts[n].id: facts[n + 1].id for n in range(0, 10, 2)} | {facts[n].id: None for n in range(1, 10, 2)}
    assert marks == expected


def resolver(store: IndexedStore, mode: Mode) -> EntityResolver:
    return EntityResolver(store, delete_mode=mode)


def consolidator(store: IndexedStore, mode: Mode) -> MemoryConsolidator:
    return MemoryConsolidator(store, store.index, delete_mode=mode)


async def resolution(store: IndexedStore, mode: Mode) -> Plan:
    return (await resolver(store, mode).plan()).plan


async def consolidation(store: IndexedStore, mode: Mode) -> Plan:
    return (await consolidator(store, mode).plan()).plan


async def of_one_name(open_store: OpenStore) -> IndexedStore:
    """A memory with two entities that are one, and two facts that are one; one fact names the entity that goes."""
    store = await open_store(space=SPACE)
    await store.write(
        RecordBatch(
            entities=[entity(n, name="Ada", created_at=day(n)) for n in (1, 2)],
            facts=[
                fact(1, entities=[], embedding=direction(0), access_count=2),
                fact(2, entities=[2], embedding=direction(0)),
            ],
        )
    )
    return store


@pytest.mark.parametrize("mode", ["soft", "hard"])
@pytest.mark.parametrize(
    ("first", "second"), [(consolidation, resolution), (resolution, consolidation)], ids=["merged", "resolved"]
)
async def test_no_fact_names_an_entity_that_goes_while_its_duplicate_hands_it_on(
    open_store: OpenStore,
    mode: Mode,
    first: Callable[[IndexedStore, Mode], Awaitable[Plan]],
    second: Callable[[IndexedStore, Mode], Awaitable[Plan]],
) -> None:
    """Both have looked before one of them writes: the other must look again."""
    store = await of_one_name(open_store)
    earlier, later = await first(store, mode), await second(store, mode)
    await apply_plan(store, earlier)
    with pytest.raises(PlanOutdatedError) as caught:
        await apply_plan(store, later)
    assert sample_id("fact", 2) in caught.value.changed
    await apply_plan(store, await second(store, mode))
    left = await store.find_facts()
    assert [(one.id, one.entity_ids) for one in left] == [(sample_id("fact", 1), (sample_id("entity", 1),))]


@pytest.mark.parametrize("mode", ["soft", "hard"])
async def test_a_resolution_is_refused_whose_look_missed_a_fact_that_a_merge_made_name_what_goes(
    open_store: OpenStore, mode: Mode
) -> None:
    """Its look met the merge half way: the fact that handed the name on was closed by then, the other not changed."""
    store = await of_one_name(open_store)
    await apply_plan(store, await consolidation(store, mode))
    plan = await resolution(store, mode)
    missed = sample_id("fact", 1)
    kept = tuple(change for change in plan.changes if change.record_id != missed)
    assert len(kept) == len(plan.changes) - 1
    with pytest.raises(PlanOutdatedError) as caught:
        await apply_plan(store, plan.model_copy(update={"changes": kept}))
    assert caught.value.changed == (missed,)
