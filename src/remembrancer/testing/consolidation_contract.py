"""The contract of consolidation over every store: looking set-wise inside the store finds what looking outside does.

See `remembrancer.testing` for how to run it over a store of your own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import ConsolidationPlan, MemoryConsolidator
from remembrancer.lifecycle.survey import PlainSurvey, survey_of
from remembrancer.records import QUARANTINE_TAG, Fact, RecordBatch
from remembrancer.testing.opening import IndexedStore, OpenStore
from remembrancer.testing.samples import SPACE, day, direction, fact, sample_id, theme

__all__ = ["TestConsolidationPlans", "TestSurveys"]

ANGLES = (0.0, 4.0, 9.0, 15.0, 60.0, 64.0, 120.0)
"""No two are at a cosine near enough to the least one for rounding to decide."""

LEAST = math.cos(math.radians(10))


@st.composite
def facts_of_a_memory(draw: st.DrawFn) -> list[Fact]:
    """Facts of which many are near duplicates, some closed, quarantined or without a vector."""
    facts = []
    for number in range(draw(st.integers(1, 14))):
        angle = draw(st.sampled_from((*ANGLES, None)))
        fields: dict[str, Any] = {
            "embedding": None if angle is None else direction(angle),
            "valid_from": day(draw(st.integers(-40, 40))),
            "access_count": draw(st.sampled_from((None, 0, 1, 5))),
            "last_accessed_at": draw(st.sampled_from((None, day(-3), day(20)))),
            "tags": draw(st.sampled_from(((), ("candidate",), ("verified",), (QUARANTINE_TAG,)))),
            "invalidated_by": draw(st.sampled_from((None, None, None, "x"))),
            "theme_id": draw(st.sampled_from((None, sample_id("theme", 1)))),
        }
        facts.append(fact(number, episodes=range(draw(st.integers(0, 2))), entities=[number % 3], **fields))
    return facts


def filled(facts: Sequence[Fact]) -> RecordBatch:
    """The facts with the theme that lists those that name it."""
    listed = [number for number, one in enumerate(facts) if one.theme_id is not None]
    return RecordBatch(facts=facts, themes=[theme(1, facts=listed, embedding=direction(5))])


async def planned(store: IndexedStore, **options: Any) -> ConsolidationPlan:
    consolidator = MemoryConsolidator(
        store,
        store.index,
        dedup_threshold=LEAST,
        debug=True,
        clock=lambda: day(30),
        new_id=lambda: sample_id("message", 1),
        **options,
    )
    return await consolidator.plan()


def shape(plan: ConsolidationPlan) -> list[Any]:
    """What a plan does, without the stamps of the store."""
    told: list[Any] = [plan.report]
    for change in plan.plan.changes:
        after = change.after
        told.append((change.record_id, change.reason, change.superseded_by))
        if isinstance(after, Fact):
            told.append(after.model_dump(exclude={"recorded_at", "closed_at", "embedding"}))
        elif after is not None:
            told.append(after.model_dump(exclude={"embedding"}))
            told.append([round(number, 5) for number in getattr(after, "embedding", None) or ()])
    return told


class TestConsolidationPlans:
    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(facts=facts_of_a_memory(), most=st.sampled_from((None, 0, 2, 5)), mode=st.sampled_from(("soft", "hard")))
    async def test_a_plan_is_that_of_the_store_in_memory(
        self, open_store: OpenStore, facts: list[Fact], most: int | None, mode: str
    ) -> None:
        store, twin = await open_store(space=SPACE), InMemoryStore(space=SPACE)
        for one in (store, twin):
            await one.write(filled(facts))
        options = {"max_facts": most, "delete_mode": mode}
        assert shape(await planned(store, **options)) == shape(await planned(twin, **options))


class TestSurveys:
    async def _filled(self, open_store: OpenStore) -> IndexedStore:
        store = await open_store(space=SPACE)
        facts = [fact(n, embedding=direction(n / 25), valid_from=day(-n)) for n in range(1, 151)]
        hidden = [
            fact(1_001, embedding=direction(1), tags=[QUARANTINE_TAG]),
            fact(1_002, embedding=direction(1), invalidated_by="x"),
            fact(1_003),
        ]
        await store.write(RecordBatch(facts=[*facts, *hidden]))
        return store

    async def test_both_ways_of_looking_see_the_same(self, open_store: OpenStore) -> None:
        store = await self._filled(open_store)
        plain, best = PlainSurvey(store, store.index, page=40), survey_of(store, store.index, page=100)
        ids = await plain.fact_ids()
        assert list(await best.fact_ids()) == list(ids)
        assert len(ids) == 151
        near, nearest = (
            await plain.near(ids, min_similarity=0.99999),
            await best.near(ids, min_similarity=0.99999),
        )
        assert {one: list(hits) for one, hits in near.items() if hits} == dict(nearest)
        assert max(map(len, nearest.values())) > 10

    async def test_a_fact_has_a_bounded_number_of_neighbours(self, open_store: OpenStore) -> None:
        store = await self._filled(open_store)
        survey = survey_of(store, store.index, page=100)
        await survey.fact_ids()
        hits = await survey.near([sample_id("fact", 75)], min_similarity=0.9)
        assert len(hits[sample_id("fact", 75)]) == 99

    async def test_decay_scores_merged_facts_and_passes_over_others(self, open_store: OpenStore) -> None:
        store = await self._filled(open_store)
        survey = survey_of(store, store.index, page=100)
        ids = await survey.fact_ids()
        facts = await survey.facts(ids[-2:])
        merged = {ids[-1]: facts[ids[-1]].model_copy(update={"access_count": 10**6})}
        asked: dict[str, Any] = {"now": day(1), "half_life_days": 30.0}
        assert await survey.weakest(2, merged={}, without=(), **asked) == [ids[-1], ids[-2]]
        assert await survey.weakest(2, merged=merged, without=ids[-2:-1], **asked) == [ids[-3], ids[-4]]
        assert await survey.weakest(0, merged={}, without=(), **asked) == []

    async def test_a_look_is_at_the_facts_that_there_were(self, open_store: OpenStore) -> None:
        store = await self._filled(open_store)
        survey = survey_of(store, store.index, page=100)
        ids = await survey.fact_ids()
        await store.put_fact(fact(2_000, embedding=direction(1), valid_from=day(-900)))
        await store.put_fact(fact(1, embedding=direction(1), invalidated_by="x"))
        await store.put_fact(fact(2, embedding=direction(1), tags=[QUARANTINE_TAG]))
        asked: dict[str, Any] = {"now": day(1), "half_life_days": 30.0}
        assert set(await survey.weakest(len(ids), merged={}, without=(), **asked)) <= set(ids)
        assert sample_id("fact", 2_000) not in await survey.facts([sample_id("fact", 2_000)])
        assert set(await survey.gone()) == {sample_id("fact", 1), sample_id("fact", 2)}

    async def test_a_mean_leaves_out_facts_without_a_vector(self, open_store: OpenStore) -> None:
        store = await self._filled(open_store)
        survey = survey_of(store, store.index, page=100)
        of_two = await survey.centroid([sample_id("fact", 1_003), sample_id("fact", 1), sample_id("fact", 2)])
        assert of_two is not None
        assert [round(number, 6) for number in of_two[:2]] == [round(number, 6) for number in direction(0.06)[:2]]
        assert await survey.centroid([sample_id("fact", 1_003)]) is None
