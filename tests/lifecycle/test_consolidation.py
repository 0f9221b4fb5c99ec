"""Consolidation as a whole: what is conserved, what a second run does, what an undo brings back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import MemoryConsolidator, apply_plan, decay_score, plan_undo, should_consolidate
from remembrancer.records import Fact, InvalidInputError, PlanOutdatedError, RecordBatch
from remembrancer.records.statement import Statement
from remembrancer.testing import IndexedStore, OpenStore
from remembrancer.testing.consolidation_contract import LEAST, facts_of_a_memory, filled, shape
from remembrancer.testing.samples import SPACE, day, direction, episode, fact, message, sample_id, theme

STAMPS = {"recorded_at", "closed_at"}


def consolidator(store: IndexedStore, **options: Any) -> MemoryConsolidator:
    return MemoryConsolidator(store, store.index, **{"dedup_threshold": LEAST, "clock": lambda: day(30), **options})


async def facts_in(store: IndexedStore) -> dict[str, Fact]:
    return {one.id: one for one in await store.find_facts(include_invalidated=True, limit=1_000)}


async def everything(store: IndexedStore) -> list[Any]:
    facts = await facts_in(store)
    return [
        [one.model_dump(exclude=STAMPS) for one in facts.values()],
        await store.list_themes(),
        await store.list_episodes(limit=1_000),
        await store.get_relationships_for_entity(sample_id("entity", 1), include_invalidated=True),
    ]


MEMORIES = facts_of_a_memory()
LIMITS = st.sampled_from((None, 1, 3))


class TestProperties:
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(facts=MEMORIES, most=LIMITS)
    async def test_no_use_is_lost_and_every_duplicate_has_a_survivor(self, facts: list[Fact], most: int | None) -> None:
        store = InMemoryStore(space=SPACE)
        await store.write(filled(facts))
        before = await facts_in(store)
        await consolidator(store, max_facts=most).consolidate()
        after = await facts_in(store)
        closed = {one for one in after if before[one].is_live and not after[one].is_live}
        merged = {one for one in closed if after[one].invalidated_by in after}
        counted = sum(one.access_count or 0 for one in before.values())
        assert sum(after[one].access_count or 0 for one in after if one not in merged) == counted
        assert {after[one].invalidated_by for one in merged}.isdisjoint(merged)
        assert all(after[one] == before[one] for one in before if not before[one].is_live)

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(facts=MEMORIES, most=LIMITS)
    async def test_a_second_consolidation_finds_nothing_to_do(self, facts: list[Fact], most: int | None) -> None:
        store = InMemoryStore(space=SPACE)
        await store.write(filled(facts))
        await consolidator(store, max_facts=most, max_episodes=0).consolidate()
        second = await consolidator(store, max_facts=most, max_episodes=0).plan()
        assert second.plan.changes == ()
        assert second.report.total_reclaimed == 0

    @settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
    @given(facts=MEMORIES, most=LIMITS)
    async def test_undoing_brings_everything_back(
        self, open_store: OpenStore, facts: list[Fact], most: int | None
    ) -> None:
        store = await open_store(space=SPACE)
        await store.write(filled(facts))
        await store.write(RecordBatch(episodes=[episode(n, messages=[message(n)], facts=[0]) for n in (1, 2)]))
        before = await everything(store)
        report = await consolidator(store, max_facts=most, max_episodes=1).consolidate()
        assert report.pass_id is not None
        await apply_plan(store, await plan_undo(store, report.pass_id, clock=lambda: day(31)))
        assert await everything(store) == before


class TestThemes:
    async def test_a_pruned_fact_and_its_theme_forget_each_other(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        kept, gone = sample_id("theme", 1), sample_id("theme", 2)
        await store.write(
            RecordBatch(
                facts=[
                    fact(1, embedding=direction(0), theme_id=kept, valid_from=day(2)),
                    fact(2, embedding=direction(1), theme_id=kept, valid_from=day(1)),
                    fact(3, embedding=direction(2), theme_id=gone, valid_from=day(0)),
                ],
                themes=[theme(1, facts=[1, 2], embedding=direction(0)), theme(2, facts=[3], embedding=direction(2))],
            )
        )
        report = await consolidator(store).consolidate()
        assert (report.facts_deduped, report.themes_cleaned_up, report.themes_removed) == (2, 1, 1)
        facts = await facts_in(store)
        assert [one.theme_id for one in facts.values()] == [kept, None, None]
        (left,) = await store.list_themes()
        assert left.fact_ids == (sample_id("fact", 1),)
        assert left.embedding == pytest.approx(direction(0))

    async def test_too_many_to_compare_with_each_other_are_searched_for_with_the_same_plan(
        self, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = await open_store(space=SPACE)
        await store.write(RecordBatch(facts=[fact(n, embedding=direction(n // 3 + n % 3 / 100)) for n in range(1, 40)]))
        compared = shape(await consolidator(store).plan())
        monkeypatch.setattr("remembrancer.graph.survey._COMPARED_AT_MOST", 10)
        assert shape(await consolidator(store).plan()) == compared
        assert len(compared) > 20

    async def test_vectors_that_cancel_each_other_leave_a_theme_without_one(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        facts = [fact(n, embedding=(x, 0, 0, 0)) for n, x in ((1, 1), (2, -1), (3, -1))]
        await store.write(RecordBatch(facts=facts, themes=[theme(1, facts=[1, 2, 3], embedding=direction(0))]))
        await consolidator(store).consolidate()
        (left,) = await store.list_themes()
        assert (left.fact_ids, left.embedding) == ((sample_id("fact", 1), sample_id("fact", 2)), None)


class TestStatements:
    async def test_facts_of_near_words_that_state_different_things_stay_apart(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)

        def port(value: int) -> Statement:
            return Statement(subject_id=sample_id("entity", 1), predicate="port", value=value)

        facts = [
            fact(1, embedding=direction(0), statement=port(8080)),
            fact(2, embedding=direction(0), statement=port(8081)),
            fact(3, embedding=direction(0)),
            fact(4, embedding=direction(0), statement=port(8080), valid_from=day(1)),
            fact(5, embedding=direction(0), statement=port(8081), valid_from=day(9)),
        ]
        facts[1] = facts[1].model_copy(update={"valid_until": day(5)})
        await store.write(RecordBatch(facts=facts))
        report = await consolidator(store).consolidate()
        assert report.facts_deduped == 1
        assert (await facts_in(store))[sample_id("fact", 1)].invalidated_by == sample_id("fact", 4)


class TestTogether:
    async def test_a_plan_is_refused_when_a_record_changed(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(RecordBatch(facts=[fact(n, embedding=direction(n)) for n in (1, 2)]))
        planned = await consolidator(store).plan()
        changed = (await facts_in(store))[sample_id("fact", 1)].model_copy(update={"tags": ("seen",)})
        await store.put_fact(changed)
        with pytest.raises(PlanOutdatedError):
            await apply_plan(store, planned.plan)
        assert all(one.is_live for one in (await facts_in(store)).values())

    async def test_a_dry_run_writes_nothing(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(RecordBatch(facts=[fact(n, embedding=direction(n)) for n in (1, 2)]))
        before = await everything(store)
        report = await consolidator(store).consolidate(dry_run=True)
        assert (report.facts_deduped, report.pass_id) == (1, None)
        assert await everything(store) == before

    async def test_uses_counted_in_between_are_kept(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(RecordBatch(facts=[fact(n, embedding=direction(n), access_count=n) for n in (1, 2)]))
        planned = await consolidator(store).plan()
        await store.touch_facts([sample_id("fact", 2)], at=day(3))
        await store.flush_usage()
        await apply_plan(store, planned.plan)
        assert (await facts_in(store))[sample_id("fact", 2)].access_count == 4


class TestDecay:
    def test_a_score_halves_with_every_half_life(self) -> None:
        one = fact(1, valid_from=day(0), access_count=8)
        assert decay_score(one, now=day(60), half_life_days=30) == 2
        assert decay_score(one, now=day(-30), half_life_days=30) == 16
        used = one.model_copy(update={"last_accessed_at": day(30)})
        assert decay_score(used, now=day(60), half_life_days=30) == 4

    def test_extreme_ages_have_a_score(self) -> None:
        one = fact(1, valid_from=day(0), access_count=None)
        assert decay_score(one, now=day(10_000), half_life_days=1) == 0
        assert decay_score(one, now=day(-2_000), half_life_days=1) == float("inf")


BAD_OPTIONS: dict[str, Any] = {
    "max_facts": -1,
    "max_episodes": 1.5,
    "decay_half_life_days": 0,
    "dedup_threshold": 1.5,
    "delete_mode": "gentle",
    "debug": 1,
    "batch_size": 0,
    "verified_tag": "",
}


@pytest.mark.parametrize("name", list(BAD_OPTIONS))
def test_a_bad_option_is_refused_by_name(name: str) -> None:
    store = InMemoryStore(space=SPACE)
    with pytest.raises(InvalidInputError) as caught:
        MemoryConsolidator(store, store.index, **{name: BAD_OPTIONS[name]})
    assert caught.value.field == name


async def test_thresholds_are_checked() -> None:
    with pytest.raises(InvalidInputError) as caught:
        await should_consolidate(InMemoryStore(), max_facts=-1)
    assert caught.value.field == "max_facts"


@pytest.mark.parametrize("mode", ["soft", "hard"])
@pytest.mark.parametrize("most", [None, 1])
async def test_an_episode_lists_the_fact_that_took_over_from_those_read_from_it(
    open_store: OpenStore, mode: Any, most: int | None
) -> None:
    store = await open_store(space=SPACE)
    facts = [fact(n, embedding=direction(0), episodes=[n], access_count=9 - n, valid_from=day(n)) for n in (1, 2, 3)]
    apart = [fact(4, embedding=direction(90), access_count=99, valid_from=day(40), episodes=[4])]
    episodes = [episode(n, facts=[n], started_at=day(n), ended_at=day(n)) for n in (1, 2, 3, 4)]
    await store.write(RecordBatch(facts=[*facts, *apart], episodes=episodes))
    await consolidator(store, max_facts=most, max_episodes=3, delete_mode=mode, clock=lambda: day(50)).consolidate()
    left = {one.id: one for one in await store.list_episodes(limit=10)}
    assert set(left) == {sample_id("episode", n) for n in (2, 3, 4)}
    stored = await store.find_facts(include_invalidated=True, limit=10)
    for one in stored:
        assert all(one.id in left[each].fact_ids for each in one.source_episode_ids if each in left)
    for each in left.values():
        held = await store.get_facts(each.fact_ids)
        assert all(each.id in one.source_episode_ids for one in held.values())
