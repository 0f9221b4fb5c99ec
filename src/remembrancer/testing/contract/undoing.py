"""Undo and restore: every record is again what it was."""

from __future__ import annotations

import random

import hypothesis
import pytest
from hypothesis import strategies as st

from remembrancer.lifecycle import Change, apply_plan, plan_restore, plan_undo
from remembrancer.lifecycle.images import require_trail
from remembrancer.records import (
    InvalidInputError,
    NotFoundError,
    PlanOutdatedError,
)
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.contract.planning import (
    closing,
    filled,
    pass_id,
    random_plan,
    read,
    state_of,
)
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import (
    day,
    episode,
    sample_id,
)


class TestUndo:
    async def test_an_undone_pass_leaves_the_state_before_it(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        before = await state_of(store)
        plan = await closing(store)
        await apply_plan(store, plan)
        undo = await plan_undo(store, plan.pass_id, new_id=lambda: pass_id(50))
        await apply_plan(store, undo)
        assert await state_of(store) == before
        trail = require_trail(store)
        undone = await trail.get_pass(plan.pass_id)
        assert undone is not None
        assert undone.undone_by == pass_id(50)
        (replaced,) = (await trail.history(sample_id("fact", 2))).replaced_by
        assert replaced.undone_by == pass_id(50)
        with pytest.raises(InvalidInputError, match="undone already"):
            await plan_undo(store, plan.pass_id)

    async def test_uses_since_the_pass_outlive_the_undo(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        plan = await closing(store)
        await apply_plan(store, plan)
        await store.touch_facts([sample_id("fact", 1)], at=day(9))
        await store.flush_usage()
        await apply_plan(store, await plan_undo(store, plan.pass_id))
        kept = await read(store, "fact", 1)
        assert (kept.access_count, kept.last_accessed_at) == (4, day(9))

    async def test_an_undo_can_be_undone(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        plan = await closing(store)
        await apply_plan(store, plan)
        after = await state_of(store)
        undo = await plan_undo(store, plan.pass_id)
        await apply_plan(store, undo)
        await apply_plan(store, await plan_undo(store, undo.pass_id))
        again = await state_of(store)
        assert again.keys() == after.keys()
        assert again[sample_id("fact", 2)].model_copy(update={"closed_at": None}) == after[
            sample_id("fact", 2)
        ].model_copy(update={"closed_at": None})

    async def test_what_changed_since_refuses_the_undo(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        plan = await closing(store)
        await apply_plan(store, plan)
        kept = await read(store, "fact", 1)
        await store.put_fact(kept.model_copy(update={"tags": ("new",)}))
        with pytest.raises(PlanOutdatedError) as caught:
            await plan_undo(store, plan.pass_id)
        assert caught.value.changed == (kept.id,)

    async def test_a_hard_pass_cannot_be_undone(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        gone = Change(before=await read(store, "fact", 3), after=None, reason="gone")
        await apply_plan(store, await closing(store, changes=[gone], is_hard=True))
        with pytest.raises(InvalidInputError, match="for good"):
            await plan_undo(store, pass_id(1))
        (entry,) = await require_trail(store).pass_entries(pass_id(1))
        assert (entry.before, entry.embedding, entry.refers_to) == (None, None, ())

    async def test_an_unknown_pass_is_not_found(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        with pytest.raises(NotFoundError):
            await plan_undo(store, pass_id(66))

    async def test_a_pruned_episode_comes_back_with_its_messages(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        before = await state_of(store)
        prune = Change(before=await read(store, "episode", 1), after=None, reason="pruned")
        await apply_plan(store, await closing(store, changes=[prune]))
        assert await read(store, "message", 1) == before[sample_id("message", 1)]
        await apply_plan(store, await plan_undo(store, pass_id(1)))
        assert await state_of(store) == before

    async def test_a_message_that_went_elsewhere_refuses_the_undo(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        prune = Change(before=await read(store, "episode", 1), after=None, reason="pruned")
        await apply_plan(store, await closing(store, changes=[prune]))
        await store.put_episode(episode(7, messages=[await read(store, "message", 1)]))
        with pytest.raises(PlanOutdatedError):
            await apply_plan(store, await plan_undo(store, pass_id(1)))
        assert await read(store, "episode", 1) is None

    @hypothesis.given(seed=st.integers(0, 2**32))
    @hypothesis.settings(max_examples=12, suppress_health_check=list(hypothesis.HealthCheck))
    async def test_any_soft_plan_is_undone_exactly(self, open_store: OpenStore, seed: int) -> None:
        store = await filled(open_store)
        before = await state_of(store)
        plan = random_plan(random.Random(seed), before)  # noqa: S311 - invents records, guards nothing
        await apply_plan(store, plan)
        if plan.changes:
            await apply_plan(store, await plan_undo(store, plan.pass_id))
        assert await state_of(store) == before


class TestRestore:
    async def test_a_closed_fact_is_live_again_and_back_in_its_theme(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        lost, group = await read(store, "fact", 2), await read(store, "theme", 1)
        closed = lost.model_copy(update={"invalidated_by": "consolidation:decay", "valid_until": day(9)})
        changes = [
            Change(before=lost, after=closed, reason="decayed"),
            Change(before=group, after=group.model_copy(update={"fact_ids": group.fact_ids[:1]}), reason="left"),
        ]
        await apply_plan(store, await closing(store, changes=changes))
        await apply_plan(store, await plan_restore(store, lost.id, new_id=lambda: pass_id(2)))
        assert await read(store, "fact", 2) == lost
        assert (await read(store, "theme", 1)).fact_ids == group.fact_ids
        steps = (await require_trail(store).history(lost.id)).steps
        assert [(one.action, one.pass_kind) for one in steps] == [("closed", "consolidation"), ("reopened", "restore")]

    async def test_what_was_closed_by_hand_loses_its_mark_alone(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        await apply_plan(store, await plan_restore(store, sample_id("fact", 4)))
        restored = await read(store, "fact", 4)
        assert (restored.invalidated_by, restored.closed_at, restored.valid_until) == (None, None, day(2))
        (undo,) = await require_trail(store).list_passes()
        await apply_plan(store, await plan_undo(store, undo.id))
        closed = await read(store, "fact", 4)
        assert (closed.invalidated_by, closed.closed_at) == ("told so", day(1))

    async def test_a_removed_record_comes_back_whole(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        group = await read(store, "theme", 1)
        await apply_plan(store, await closing(store, changes=[Change(before=group, after=None, reason="empty")]))
        await apply_plan(store, await plan_restore(store, group.id))
        assert await read(store, "theme", 1) == group

    async def test_a_merged_entity_is_reopened(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        lost = await read(store, "entity", 2)
        closed = lost.model_copy(update={"invalidated_at": day(5), "superseded_by": sample_id("entity", 1)})
        change = Change(before=lost, after=closed, reason="same name", superseded_by=sample_id("entity", 1))
        await apply_plan(store, await closing(store, kind="resolution", changes=[change]))
        await apply_plan(store, await plan_restore(store, lost.id, clock=FixedClock(day(6))))
        assert await read(store, "entity", 2) == lost.model_copy(update={"updated_at": day(6)})

    async def test_only_what_is_closed_or_gone_is_restored(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        with pytest.raises(InvalidInputError, match="not closed"):
            await plan_restore(store, sample_id("fact", 1))
        with pytest.raises(NotFoundError):
            await plan_restore(store, sample_id("fact", 70))
