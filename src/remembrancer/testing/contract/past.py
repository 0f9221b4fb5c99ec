"""History and evidence: what became of a record, and what it rests on."""

from __future__ import annotations

import pytest

from remembrancer.lifecycle import Change, apply_plan
from remembrancer.lifecycle.images import require_trail
from remembrancer.records import (
    RecordBatch,
    RecordKind,
    kind_of,
)
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.contract.planning import (
    closing,
    filled,
    pass_id,
    read,
)
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import (
    day,
    entity,
    fact,
    sample_id,
)


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
