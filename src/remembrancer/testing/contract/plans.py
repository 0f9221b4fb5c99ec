"""Plans: all of one is written or nothing, and only while every record is as the plan saw it."""

from __future__ import annotations

import asyncio

import pytest

from remembrancer.lifecycle import Change, Plan, apply_plan
from remembrancer.lifecycle.images import require_trail
from remembrancer.records import (
    InvalidInputError,
    PlanOutdatedError,
    Receipt,
    RecordBatch,
    RecordKind,
    kind_of,
)
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.contract.planning import (
    MERGED,
    WORLD,
    closing,
    filled,
    pass_id,
    read,
    state_of,
)
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import (
    SPACE,
    day,
    direction,
    entity,
    fact,
    message,
    relationship,
    sample_id,
)


class TestPlans:
    async def test_everything_is_written_and_told(self, open_store: OpenStore) -> None:
        store = await filled(open_store, clock=FixedClock(day(6)))
        receipt = await apply_plan(store, await closing(store))
        assert receipt.changed == {"fact": (sample_id("fact", 1), sample_id("fact", 2))}
        assert receipt.superseded == {"fact": (sample_id("fact", 2),)}
        lost = await read(store, "fact", 2)
        assert (lost.invalidated_by, lost.closed_at, lost.tags) == (MERGED, day(6), ("b", "a"))
        assert (await read(store, "fact", 1)).access_count == 7

    async def test_a_plan_without_changes_writes_nothing(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        empty = await closing(store, changes=[])
        assert await apply_plan(store, empty) == Receipt()
        assert await require_trail(store).list_passes() == []

    async def test_the_summary_counts_what_will_become_of_records(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        assert (await closing(store)).summary() == {"fact": {"changed": 1, "closed": 1}}

    @pytest.mark.parametrize("kind", ["fact", "entity", "episode", "theme", "relationship"])
    @pytest.mark.parametrize("is_changed", [True, False])
    async def test_a_record_that_changed_meanwhile_refuses_all(
        self, open_store: OpenStore, kind: RecordKind, is_changed: bool
    ) -> None:
        store = await filled(open_store)
        other = await read(store, kind, 3 if kind == "fact" else 2)
        after = None if kind != "entity" else other.model_copy(update={"invalidated_at": day(1)})
        part = {"changes": [*(await closing(store)).changes, Change(before=other, after=after, reason="gone")]}
        plan = await closing(store, **(part if is_changed else {"seen": [other]}))
        edit = {"relationship": "weight", "fact": "content", "entity": "name", "episode": "topic", "theme": "label"}[
            kind
        ]
        edited = other.model_copy(update={edit: 0.75 if kind == "relationship" else "another"})
        await getattr(store, f"put_{kind}")(edited)
        before = await state_of(store)
        with pytest.raises(PlanOutdatedError) as caught:
            await apply_plan(store, plan)
        assert (caught.value.plan_id, caught.value.changed) == (plan.pass_id, (other.id,))
        assert await state_of(store) == before
        assert await require_trail(store).list_passes() == []

    async def test_a_record_that_was_removed_or_made_meanwhile_refuses_all(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        plan = await closing(store, seen=[await read(store, "message", 1)])
        await store.delete_message(sample_id("message", 1))
        with pytest.raises(PlanOutdatedError, match=sample_id("message", 1)):
            await apply_plan(store, plan)
        making = await closing(store, changes=[Change(before=None, after=fact(8), reason="new")])
        await store.put_fact(fact(8, content="made by somebody else"))
        with pytest.raises(PlanOutdatedError, match=sample_id("fact", 8)):
            await apply_plan(store, making)
        assert (await read(store, "fact", 8)).content == "made by somebody else"

    async def test_a_message_that_changed_outdates_a_plan_about_its_episode(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        held = await read(store, "episode", 1)
        plan = await closing(store, seen=[held])
        messages = [held.messages[0], held.messages[1].model_copy(update={"metadata": {"new": True}})]
        await store.put_episode(held.model_copy(update={"messages": messages}))
        with pytest.raises(PlanOutdatedError):
            await apply_plan(store, plan)

    async def test_uses_that_were_counted_meanwhile_are_kept(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        plan = await closing(store)
        used = sample_id("fact", 1)
        await store.touch_facts([used, used], at=day(8))
        await store.flush_usage()
        await apply_plan(store, plan)
        kept = await read(store, "fact", 1)
        assert (kept.access_count, kept.last_accessed_at) == (9, day(8))
        assert (await read(store, "fact", 2)).access_count == 0

    async def test_vectors_are_compared_as_they_are_kept(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        seen = [one for records in WORLD.values() for one in records if one.id != sample_id("fact", 1)]
        own = [one for one in seen if kind_of(one) != "fact"]  # as written: doubles, without the store's stamps
        await apply_plan(store, await closing(store, seen=own))
        nudged = entity(3, embedding=direction(5.01))
        with pytest.raises(PlanOutdatedError, match=nudged.id):
            await apply_plan(store, await closing(store, number=2, seen=[nudged]))

    async def test_an_entity_takes_no_unknown_relationship_along(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        gone = Change(before=await read(store, "entity", 2), after=None, reason="merged")
        edges = [Change(before=await read(store, "relationship", n), after=None, reason="merged") for n in (2, 3)]
        plan = await closing(store, changes=[gone, *edges])
        await store.put_relationship(relationship(7, 1, 2))
        with pytest.raises(PlanOutdatedError, match=sample_id("relationship", 7)):
            await apply_plan(store, plan)
        await store.delete_relationship(sample_id("relationship", 7))
        receipt = await apply_plan(store, plan)
        assert receipt.removed["relationship"] == (sample_id("relationship", 2), sample_id("relationship", 3))

    async def test_an_edge_that_moves_off_a_removed_entity_stays_itself(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        edge, loop = await read(store, "relationship", 2), await read(store, "relationship", 3)
        moved = edge.model_copy(update={"source_id": sample_id("entity", 1)})
        changes = [
            Change(
                before=await read(store, "entity", 2), after=None, reason="merged", superseded_by=sample_id("entity", 1)
            ),
            Change(before=edge, after=moved, reason="moved"),
            Change(before=loop, after=None, reason="loop"),
        ]
        receipt = await apply_plan(store, await closing(store, changes=changes, is_hard=True))
        assert receipt.changed == {"relationship": (edge.id,)}
        assert receipt.removed == {"entity": (sample_id("entity", 2),), "relationship": (loop.id,)}
        assert await read(store, "relationship", 2) == moved

    async def test_the_same_key_applies_a_plan_once(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        plan = await closing(store)
        first = await apply_plan(store, plan, idempotency_key="k")
        assert await apply_plan(store, plan, idempotency_key="k") == first.model_copy(update={"replayed": True})

    async def test_of_plans_for_one_record_one_is_applied(self, open_store: OpenStore) -> None:
        first = await filled(open_store)
        stores = [first, *[await open_store(space=SPACE, namespace=first.namespace) for _ in range(4)]]
        plans = [await closing(first, number=n) for n in range(5)]
        outcomes = await asyncio.gather(*(map(apply_plan, stores, plans)), return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["PlanOutdatedError"] * 4 + ["Receipt"]
        assert (await read(first, "fact", 1)).access_count == 7
        assert len(await require_trail(first).list_passes()) == 1

    async def test_one_pass_is_applied_once(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        await apply_plan(store, await closing(store))
        third = await read(store, "fact", 3)
        again = Change(before=third, after=third.model_copy(update={"content": "new"}), reason="again")
        with pytest.raises(InvalidInputError, match="applied before"):
            await apply_plan(store, await closing(store, changes=[again]))
        assert await read(store, "fact", 3) == third

    def test_a_plan_names_each_record_once_and_keeps_kinds_apart(self) -> None:
        twice = Change(before=fact(1), after=None, reason="a")
        with pytest.raises(ValueError, match="changed 2 times"):
            Plan(pass_id=pass_id(1), kind="update", made_at=day(0), changes=(twice, twice))
        with pytest.raises(ValueError, match="cannot become"):
            Change(before=fact(1), after=fact(2), reason="b")
        with pytest.raises(ValueError, match="with their episode"):
            Change(before=None, after=message(1), reason="c")

    async def test_putting_and_removing_records_leaves_the_trail_alone(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        await apply_plan(store, await closing(store))
        before = await require_trail(store).history(sample_id("fact", 2))
        await store.put_fact(fact(1))
        await store.put_fact(fact(2))
        again = await require_trail(store).history(sample_id("fact", 2))
        assert (again.steps, again.replaced_by) == (before.steps, before.replaced_by)
        await store.delete_fact(sample_id("fact", 1))
        receipt = await store.write(
            RecordBatch(removals={"fact": [sample_id("fact", 2)], "theme": [sample_id("theme", 1)]})
        )
        assert sample_id("fact", 2) in receipt.removed["fact"]
        gone = await require_trail(store).history(sample_id("fact", 2))
        assert (gone.stored_as, gone.steps, gone.replaced_by) == ((), before.steps, before.replaced_by)

    async def test_clearing_a_memory_forgets_its_passes(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        await apply_plan(store, await closing(store))
        await store.clear()
        assert await require_trail(store).list_passes() == []
        assert (await require_trail(store).history(sample_id("fact", 2))).is_empty
