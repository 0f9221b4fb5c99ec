"""The contract of plans: what every store must do with them, with the trail that they leave, and with taking them back.

Define the fixture `open_store` as for `store_contract` and import everything from here into a test module.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from remembrancer.lifecycle import Change, Plan, apply_plan, plan_restore, plan_undo
from remembrancer.lifecycle.images import require_trail
from remembrancer.ports import MemoryStore
from remembrancer.records import (
    AnyRecord,
    InvalidInputError,
    NotFoundError,
    PlanOutdatedError,
    Receipt,
    RecordBatch,
    RecordKind,
    Relationship,
    kind_of,
)
from remembrancer.records.base import build
from remembrancer.records.statement import Statement
from remembrancer.testing.clock import FixedClock
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


class TestHistory:
    async def test_a_pass_is_told_with_what_it_did(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        plan = await closing(store)
        await apply_plan(store, plan)
        trail = require_trail(store)
        (only,) = await trail.list_passes()
        assert only == await trail.get_pass(plan.pass_id)
        assert (only.kind, only.at, only.changes, only.is_hard) == ("consolidation", day(5), 2, False)
        entries = await trail.pass_entries(plan.pass_id)
        assert [(one.record_id, one.action, one.fields) for one in entries] == [
            (sample_id("fact", 1), "changed", ("access_count",)),
            (sample_id("fact", 2), "closed", ("invalidated_by",)),
        ]
        assert entries == [entry for _, entry in plan.entries()]
        assert await trail.pass_entries(plan.pass_id, limit=1, offset=1) == entries[1:]

    async def test_chains_are_told_in_both_directions(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        for number, (older, newer) in enumerate([(1, 2), (2, 3), (3, 5)], start=1):
            record = await read(store, "fact", older)
            closed = record.model_copy(update={"invalidated_by": sample_id("fact", newer)})
            change = Change(before=record, after=closed, reason=f"r{number}", superseded_by=sample_id("fact", newer))
            await apply_plan(store, await closing(store, number=number, made_at=day(number), changes=[change]))
        trail = require_trail(store)
        middle = await trail.history(sample_id("fact", 2))
        assert [(one.older_id[-1], one.newer_id[-1], one.reason) for one in middle.replaced_by] == [
            ("2", "3", "r2"),
            ("3", "5", "r3"),
        ]
        assert [(one.older_id[-1], one.newer_id[-1], one.at) for one in middle.replaces] == [("1", "2", day(1))]
        assert (middle.stored_as, middle.closed_by) == (("fact",), sample_id("fact", 3))
        assert [(one.action, one.pass_id) for one in middle.steps] == [("closed", pass_id(2))]
        ahead = await trail.history(sample_id("fact", 5))  # named, never stored
        assert (len(ahead.replaces), ahead.stored_as) == (3, ())

    async def test_what_was_closed_by_hand_is_told_too(self, open_store: OpenStore) -> None:
        store = await filled(open_store, clock=FixedClock(day(4)))
        await store.put_fact(fact(2, invalidated_by=sample_id("fact", 3)))
        (by_hand,) = (await require_trail(store).history(sample_id("fact", 2))).replaced_by
        assert (by_hand.newer_id, by_hand.at, by_hand.pass_id) == (sample_id("fact", 3), day(4), None)
        decayed = await require_trail(store).history(sample_id("fact", 4))
        assert (decayed.closed_by, decayed.closed_at, decayed.replaced_by) == ("told so", day(1), ())

    async def test_nothing_is_known_of_an_unknown_id(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        assert (await require_trail(store).history(sample_id("fact", 77))).is_empty
        assert await require_trail(store).why(sample_id("fact", 77)) is None


class TestEvidence:
    async def test_a_fact_rests_on_the_messages_that_it_cites(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        why = await require_trail(store).why(sample_id("fact", 3))
        assert why is not None
        assert (why.record_kind, [one.id for one in why.messages]) == ("fact", [sample_id("message", 3)])
        assert [(one.id, one.messages) for one in why.episodes] == [(sample_id("episode", 2), ())]
        assert why.provenance == fact(3).provenance

    async def test_one_that_cites_none_rests_on_its_episodes(self, open_store: OpenStore) -> None:
        store = await filled(open_store)
        await apply_plan(store, await closing(store))
        why = await require_trail(store).why(sample_id("fact", 1))
        assert why is not None
        assert [one.content for one in why.messages] == ["message 1", "message 2"]
        assert [(one.older_id, one.reason) for one in why.replaces] == [(sample_id("fact", 2), "duplicate")]
        assert getattr(why.record, "embedding", 0) is None

    @pytest.mark.parametrize(
        ("kind", "number", "facts", "messages"),
        [
            ("entity", 3, [1, 6], [1, 2]),
            ("entity", 2, [2], [1, 2, 3]),
            ("theme", 2, [3], [3]),
            ("relationship", 1, [1, 6], [1, 2]),
            ("relationship", 3, [2], [1, 2, 3]),
            ("episode", 1, [], [1, 2]),
            ("message", 3, [], [3]),
        ],
    )
    async def test_every_kind_has_its_evidence(
        self, open_store: OpenStore, kind: RecordKind, number: int, facts: list[int], messages: list[int]
    ) -> None:
        store = await filled(open_store)
        why = await require_trail(store).why(sample_id(kind, number))
        assert why is not None
        assert (why.record.id, kind_of(why.record)) == (sample_id(kind, number), kind)
        assert [one.id for one in why.facts] == [sample_id("fact", n) for n in facts]
        assert why.fact_count == len(facts)
        assert [one.id for one in why.messages] == [sample_id("message", n) for n in messages]

    async def test_the_limit_bounds_the_list_and_not_the_count(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.write(
            RecordBatch(entities=[entity(1)], facts=[fact(n, entities=[1], valid_from=day(n)) for n in range(5)])
        )
        why = await require_trail(store).why(sample_id("entity", 1), limit=2)
        assert why is not None
        assert ([one.id[-1] for one in why.facts], why.fact_count) == (["4", "3"], 5)


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
    @hypothesis.settings(max_examples=25, suppress_health_check=list(hypothesis.HealthCheck))
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
