"""The contract of conflict detection over every store; see `remembrancer.testing` for how to run it over your own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import Conflict, ConflictDetector, apply_plan, plan_undo
from remembrancer.lifecycle.conflict_candidates import Candidates, PlainCandidates, candidates_of
from remembrancer.ports.pushdown import FactOutline
from remembrancer.records import QUARANTINE_TAG, Fact, PlanOutdatedError, RecordBatch
from remembrancer.records.statement import Statement
from remembrancer.testing.opening import IndexedStore, OpenStore
from remembrancer.testing.samples import SPACE, day, direction, fact, sample_id

__all__ = ["TestConflictCandidates", "TestConflictDetection"]

_ANGLES = (0.0, 4.0, 9.0, 15.0, 60.0, 64.0, 120.0)
"""No two are at a cosine near enough to the least one for rounding to decide."""

_WORDS = ("alice", "works", "acme", "globex", "not", "never", "berlin", "red", "10:30")


_STATEMENTS = tuple(
    Statement(subject_id=sample_id("entity", 1), predicate=predicate, value=1) for predicate in ("port", "host")
)


@st.composite
def _facts(draw: st.DrawFn) -> list[Fact]:
    """Facts of few words at few entities, some closed, quarantined or without a vector."""
    facts = []
    for number in range(draw(st.integers(2, 12))):
        angle = draw(st.sampled_from((*_ANGLES, None)))
        fields: dict[str, Any] = {
            "content": " ".join(draw(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5))),
            "embedding": None if angle is None else direction(angle),
            "valid_from": day(start := draw(st.integers(-3, 3))),
            "valid_until": draw(st.sampled_from((None, None, day(start + 0.5), day(start + 2)))),
            "statement": draw(st.sampled_from((None, None, *_STATEMENTS))),
            "tags": draw(st.sampled_from(((), (), (QUARANTINE_TAG,)))),
            "invalidated_by": draw(st.sampled_from((None, None, None, "x"))),
        }
        facts.append(fact(number, entities=draw(st.lists(st.integers(0, 3), max_size=3)), **fields))
    return facts


async def _seen(candidates: Candidates) -> tuple[list[list[FactOutline]], list[Any]]:
    groups = [list(group) async for group in candidates.groups()]
    near = [(one, list(others)) async for one, others in candidates.near(min_similarity=0.95) if others]
    return groups, near


async def _marks(store: IndexedStore) -> dict[str, str | None]:
    return {one.id: one.invalidated_by for one in await store.find_facts(include_invalidated=True, limit=1_000)}


def _ids(conflicts: Sequence[Conflict]) -> list[tuple[int, int, str]]:
    return [(int(one.a.id[-12:], 16), int(one.b.id[-12:], 16), one.kind) for one in conflicts]


class TestConflictCandidates:
    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(facts=_facts())
    async def test_both_ways_of_looking_see_the_same(self, open_store: OpenStore, facts: list[Fact]) -> None:
        store = await open_store(space=SPACE)
        await store.write(RecordBatch(facts=facts))
        plain = await PlainCandidates.read(store, store.index, page=5)
        assert await _seen(await candidates_of(store, store.index, page=5)) == await _seen(plain)

    async def test_a_crowd_is_seen_alike_and_bounded(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        crowd = [
            fact(n, entities=[n % 2, *([2] if n <= 60 else [])], embedding=direction(n / 25), valid_from=day(-n))
            for n in range(1, 151)
        ]
        await store.write(RecordBatch(facts=crowd))
        plain = await PlainCandidates.read(store, store.index, page=1_000)
        groups, near = await _seen(await candidates_of(store, store.index, page=1_000))
        assert (groups, near) == await _seen(plain)
        assert [len(group) for group in groups] == [75, 60, 75]
        assert len(near) == 150
        assert all(20 <= len(others) < 50 for _, others in near)


class TestConflictDetection:
    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(facts=_facts(), policy=st.sampled_from(("supersede-on-newer", "negation-invalidates-positive")))
    async def test_it_finds_and_closes_what_it_does_in_memory_and_is_undone_exactly(
        self, open_store: OpenStore, facts: list[Fact], policy: Any
    ) -> None:
        store, twin = await open_store(space=SPACE), InMemoryStore(space=SPACE)
        answers = []
        for one in (store, twin):
            await one.write(RecordBatch(facts=facts))
            before = await _marks(one)
            detector = ConflictDetector(one, one.index, embedding_threshold=0.95)
            conflicts = await detector.detect()
            report = await detector.auto_resolve_all(conflicts, policy)
            answers.append((conflicts, report.details, await _marks(one)))
            if report.pass_id is not None:
                await apply_plan(one, await plan_undo(one, report.pass_id))
            assert await _marks(one) == before
        assert answers[0] == answers[1]

    async def test_each_kind_is_found_once(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        texts = {
            1: "Alice works at Acme",
            2: "Alice doesn’t works at Acme.",
            3: "Bob lives in Berlin",
            4: "Bob lives in Paris",
            5: "Paris capital",
            6: "Lyon seat",
        }
        facts = [
            fact(n, content=text, entities=[(n + 1) // 2], valid_from=day(-n * (n in (3, 4)) * 5))
            for n, text in texts.items()
        ]
        vectors = {5: direction(0), 6: direction(10)}
        await store.write(
            RecordBatch(facts=[one.model_copy(update={"embedding": vectors.get(n)}) for n, one in enumerate(facts, 1)])
        )
        conflicts = await ConflictDetector(store, store.index).detect()
        assert _ids(conflicts) == [(1, 2, "negation"), (3, 4, "supersession"), (5, 6, "semantic_contradiction")]

    async def test_what_holds_at_no_common_instant_or_states_something_else_is_no_conflict(
        self, open_store: OpenStore
    ) -> None:
        store = await open_store(space=SPACE)
        port, host = _STATEMENTS
        common: dict[str, Any] = {"entities": [1], "embedding": direction(0)}
        await store.write(
            RecordBatch(
                facts=[
                    fact(1, content="Bob lives in Berlin", valid_until=day(5), **common),
                    fact(2, content="Bob never lives in Berlin", valid_from=day(5), valid_until=day(9), **common),
                    fact(3, content="Acme port 80", valid_from=day(9), statement=port, **common),
                    fact(4, content="Acme host 80", valid_from=day(20), statement=host, **common),
                ]
            )
        )
        assert await ConflictDetector(store, store.index).detect() == []
        await store.put_fact(fact(1, content="Bob lives in Berlin", valid_until=day(5.5), **common))
        assert _ids(await ConflictDetector(store, store.index).detect()) == [(2, 1, "negation")]

    async def test_only_the_mark_is_written_and_other_changes_since_are_kept(self, open_store: OpenStore) -> None:
        store = await open_store()
        facts = [fact(n, entities=[1], content="Bob lives in Berlin", valid_from=day(n * 5)) for n in (1, 2)]
        await store.write(RecordBatch(facts=facts))
        detector = ConflictDetector(store, store.index, policy="supersede-on-newer")
        conflicts = await detector.detect()
        await store.put_fact(facts[0].model_copy(update={"tags": ("later",)}))
        report = await detector.auto_resolve_all(conflicts)
        closed = await store.get_fact(facts[0].id)
        assert closed is not None
        assert (report.resolved, closed.invalidated_by, closed.tags) == (1, facts[1].id, ("later",))

    async def test_a_side_that_is_gone_changed_or_closed_by_others_is_no_conflict_any_more(
        self, open_store: OpenStore
    ) -> None:
        store = await open_store()
        facts = [
            fact(n, entities=[n // 2], content=f"City of Bob is C{n // 2}", valid_from=day(n * 5)) for n in range(2, 8)
        ]
        await store.write(RecordBatch(facts=facts))
        detector = ConflictDetector(store, store.index, policy="supersede-on-newer")
        conflicts = await detector.detect()
        assert len(conflicts) == 3
        await store.delete_fact(facts[0].id)
        await store.put_fact(facts[2].model_copy(update={"content": "nothing of the kind"}))
        await store.put_fact(facts[5].model_copy(update={"invalidated_by": "eval-gate:harmful"}))
        report = await detector.auto_resolve_all(conflicts)
        assert (report.resolved, report.skipped, report.pass_id) == (0, 3, None)
        assert sorted(detail.action.split(" ", 2)[2] for detail in report.details) == [
            "is no longer stored",
            "was changed meanwhile",
            "was closed meanwhile",
        ]

    async def test_a_plan_from_before_a_change_is_refused(self, open_store: OpenStore) -> None:
        store = await open_store()
        facts = [fact(n, entities=[1], content="Bob lives in Berlin", valid_from=day(n * 5)) for n in (1, 2)]
        await store.write(RecordBatch(facts=facts))
        detector = ConflictDetector(store, store.index)
        planned = await detector.plan(await detector.detect(), "supersede-on-newer")
        await store.put_fact(facts[1].model_copy(update={"invalidated_by": "x"}))
        with pytest.raises(PlanOutdatedError):
            await apply_plan(store, planned.plan)
        assert await _marks(store) == {facts[1].id: "x", facts[0].id: None}

    async def test_superseded_facts_are_closed_at_once_when_asked(self, open_store: OpenStore) -> None:
        store = await open_store()
        facts = [fact(n, entities=[1], content="Bob lives in Berlin", valid_from=day(n * 5)) for n in (1, 2, 3)]
        await store.write(RecordBatch(facts=facts))
        conflicts = await ConflictDetector(store, store.index, auto_resolve_supersession=True).detect()
        assert _ids(conflicts) == [(3, 2, "supersession"), (3, 1, "supersession"), (2, 1, "supersession")]
        assert await _marks(store) == {
            sample_id("fact", 3): None,
            sample_id("fact", 2): sample_id("fact", 3),
            sample_id("fact", 1): sample_id("fact", 2),
        }
