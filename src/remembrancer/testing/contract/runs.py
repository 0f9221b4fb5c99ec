"""A ledger keeps each run once, in the order of its first recording, and answers from the scores themselves."""

from __future__ import annotations

import random
from typing import Any

import pytest

from remembrancer.ports import Baseline, FactStats, KeepsLedger, OutcomeLedger
from remembrancer.records import InvalidInputError, RecordBatch, RunOutcome
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import START, fact, sample_id, theme


async def _opened(open_store: OpenStore, **options: Any) -> OutcomeLedger:
    store = await open_store(**options)
    assert isinstance(store, KeepsLedger)
    return store.ledger


def _run(number: int, score: float, *fact_ids: str, **fields: Any) -> RunOutcome:
    return RunOutcome(run_id=f"run {number}", score=score, fact_ids=fact_ids, **fields)


class TestRecording:
    async def test_a_run_is_read_back_as_it_was_recorded(self, open_store: OpenStore) -> None:
        ledger = await _opened(open_store, clock=lambda: START)
        outcome = _run(1, 0.5, "b", "a", "b", holdout={"a": 0.25, "c": 0.5})
        recorded = await ledger.record_outcome(outcome)
        assert (recorded.run_id, recorded.replaced, recorded.unstored) == ("run 1", False, ("a", "b", "c"))
        stored = await ledger.get_outcome("run 1")
        assert stored == outcome.model_copy(update={"recorded_at": START})
        assert stored.withheld == ("c",)
        assert await ledger.get_outcome("run 2") is None

    async def test_a_run_recorded_again_is_replaced_in_its_place(self, open_store: OpenStore) -> None:
        ledger = await _opened(open_store)
        await ledger.record_outcomes([_run(1, 0.1, "a"), _run(2, 0.2, "b"), _run(3, 0.3, "a")])
        assert (await ledger.record_outcome(_run(1, 0.9, "b"))).replaced
        assert (await ledger.get_run_scores([])).scores == (0.9, 0.2, 0.3)
        assert (await ledger.get_run_scores(["a", "b"])).injected == {"a": (2,), "b": (0, 1)}

    async def test_many_runs_at_once_are_as_one_after_the_other(self, open_store: OpenStore) -> None:
        at_once, in_turn = await _opened(open_store), await _opened(open_store)
        rng = random.Random(7)  # noqa: S311 - examples, guards nothing
        outcomes = [_run(rng.randrange(300), rng.random(), *rng.sample("abcdef", 2)) for _ in range(450)]
        recorded = await at_once.record_outcomes(outcomes)
        assert recorded[:40] == [await in_turn.record_outcome(outcome) for outcome in outcomes[:40]]
        await in_turn.record_outcomes(outcomes[40:])
        ids = list("abcdefg")
        assert await at_once.get_run_scores(ids) == await in_turn.get_run_scores(ids)
        assert len((await at_once.get_run_scores([])).scores) == len({outcome.run_id for outcome in outcomes})

    async def test_it_is_still_there_when_the_store_is_opened_again(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert isinstance(store, KeepsLedger)
        await store.ledger.record_outcome(_run(1, 0.5, "a"))
        again = await _opened(open_store, namespace=store.namespace)
        assert await again.get_fact_stats("a") == FactStats("a", 1, 0.5)

    async def test_namespaces_do_not_see_each_others_runs(self, open_store: OpenStore) -> None:
        ledger, other = await _opened(open_store), await _opened(open_store)
        await ledger.record_outcome(_run(1, 0.5, "a"))
        await other.record_outcome(_run(1, 0.7, "a"))
        assert await ledger.get_baseline() == Baseline(1, 0.5)
        assert await other.list_fact_stats() == [FactStats("a", 1, 0.7)]
        await other.clear()
        assert await ledger.get_fact_stats("a") == FactStats("a", 1, 0.5)

    @pytest.mark.parametrize("wrong", [{"run_id": "x", "score": 0.5}, None, "run", 3])
    async def test_what_is_no_outcome_is_refused_and_nothing_recorded(self, open_store: OpenStore, wrong: Any) -> None:
        ledger = await _opened(open_store)
        with pytest.raises(InvalidInputError, match=r"^outcomes\.1: expected a RunOutcome"):
            await ledger.record_outcomes([_run(1, 0.5), wrong])
        assert await ledger.get_baseline() == Baseline(0, 0.0)

    async def test_a_map_that_was_changed_after_it_was_checked_is_refused(self, open_store: OpenStore) -> None:
        ledger = await _opened(open_store)
        outcome = _run(1, 0.5, holdout={"a": 0.5})
        outcome.holdout["a"] = 2.0
        with pytest.raises(InvalidInputError, match=r"^outcomes\.0\.holdout\.a: "):
            await ledger.record_outcome(outcome)
        assert await ledger.get_outcome("run 1") is None


class TestStatistics:
    async def test_an_empty_ledger_has_none(self, open_store: OpenStore) -> None:
        ledger = await _opened(open_store)
        assert await ledger.get_fact_stats("a") is None
        assert await ledger.get_fact_stats_batch(["a"]) == {}
        assert await ledger.list_fact_stats() == []
        assert await ledger.get_baselines(["a", "b", "a"]) == {"a": Baseline(0, 0.0), "b": Baseline(0, 0.0)}

    async def test_a_fact_repeated_within_a_run_counts_once(self, open_store: OpenStore) -> None:
        ledger = await _opened(open_store)
        await ledger.record_outcomes([_run(1, 0.2, "a", "a"), _run(2, 0.4, "a")])
        stats = await ledger.get_fact_stats("a")
        assert stats is not None
        assert stats.trials == 2
        assert stats.mean_score == pytest.approx(0.3)
        assert stats.variance == pytest.approx(0.02)

    async def test_equal_scores_vary_by_nothing_at_all(self, open_store: OpenStore) -> None:
        """A baseline that is reckoned from sums would vary by a rounding error here."""
        ledger = await _opened(open_store)
        runs = [_run(number, 0.5) for number in range(9)] + [_run(9, 0.1, "a"), _run(10, 0.9, "a")]
        await ledger.record_outcomes(runs)
        assert await ledger.get_baseline(exclude="a") == Baseline(9, 0.5, 0.0)

    async def test_leave_one_out_for_all_at_once_is_that_for_each(self, open_store: OpenStore) -> None:
        ledger = await _opened(open_store)
        rng = random.Random(3)  # noqa: S311 - examples, guards nothing
        ids = [f"fact {number}" for number in range(12)]
        await ledger.record_outcomes([_run(n, rng.random(), *rng.sample(ids[:-1], 3)) for n in range(60)])
        at_once = await ledger.get_baselines(ids)
        assert at_once == {one: await ledger.get_baseline(exclude=one) for one in ids}
        assert at_once[ids[-1]] == await ledger.get_baseline()
        assert [stats.fact_id for stats in await ledger.list_fact_stats()] == sorted(ids[:-1])

    async def test_withheld_candidates_are_told_apart_from_those_that_were_served(self, open_store: OpenStore) -> None:
        ledger = await _opened(open_store)
        await ledger.record_outcomes(
            [
                _run(1, 0.2, "a", holdout={"a": 0.5, "b": 0.25}),
                _run(2, 0.4, "a", "b"),
                _run(3, 0.6, "b", holdout={"a": 0.5, "b": 0.25}),
            ]
        )
        scores = await ledger.get_run_scores(["a", "b"])
        assert scores.drawn == {"a": {0: 0.5, 2: 0.5}, "b": {0: 0.25, 2: 0.25}}
        assert scores.held_out("a") == (FactStats("a", 1, 0.2), Baseline(1, 0.6))
        assert scores.held_out("b") == (FactStats("b", 1, 0.6), Baseline(1, 0.2))

    @pytest.mark.parametrize(
        ("name", "arguments", "field"),
        [
            ("get_fact_stats", (1,), "fact_id"),
            ("get_fact_stats_batch", ("a",), "fact_ids"),
            ("get_baselines", (["a", None],), "fact_ids.1"),
            ("get_run_scores", (3,), "fact_ids"),
            ("get_outcome", ("",), "run_id"),
        ],
    )
    async def test_bad_input_is_refused(
        self, open_store: OpenStore, name: str, arguments: tuple[Any, ...], field: str
    ) -> None:
        ledger = await _opened(open_store)
        with pytest.raises(InvalidInputError) as refused:
            await getattr(ledger, name)(*arguments)
        assert refused.value.field == field


class TestFactsOfRuns:
    async def test_a_fact_that_is_not_stored_is_accepted_and_never_shown(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert isinstance(store, KeepsLedger)
        one = sample_id("fact", 1)
        assert (await store.ledger.record_outcome(_run(1, 0.5, one, "no uuid", ""))).unstored == ("", one, "no uuid")
        assert await store.get_facts([one]) == {}
        assert await store.find_facts(include_invalidated=True) == []
        assert (await store.put_fact(fact(1))).created == {"fact": (one,)}
        assert (await store.ledger.record_outcome(_run(2, 0.5, one))).unstored == ()

    async def test_what_a_run_says_of_a_fact_outlives_it(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert isinstance(store, KeepsLedger)
        await store.put_fact(fact(1))
        await store.ledger.record_outcome(_run(1, 0.5, sample_id("fact", 1)))
        assert await store.delete_fact(sample_id("fact", 1))
        assert not await store.delete_fact(sample_id("fact", 1))
        assert await store.find_facts() == []
        assert await store.ledger.get_fact_stats(sample_id("fact", 1)) == FactStats(sample_id("fact", 1), 1, 0.5)

    async def test_placeholders_go_with_the_last_run_that_names_them(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert isinstance(store, KeepsLedger)
        one, two, three = (sample_id("fact", number) for number in (1, 2, 3))
        await store.ledger.record_outcomes([_run(1, 0.5, one, two), _run(2, 0.5, three, holdout={two: 0.5})])
        assert (await store.put_theme(theme(1, facts=[1]))).placeholders == {}
        await store.ledger.record_outcome(_run(1, 0.5))
        await store.ledger.record_outcome(_run(2, 0.5, two))
        receipt = await store.put_theme(theme(2, facts=[2, 3]))
        assert receipt.placeholders == {"fact": (three,)}
        await store.ledger.clear()
        assert (await store.put_theme(theme(1))).placeholders_removed == {"fact": (one,)}
        assert (await store.put_theme(theme(2))).placeholders_removed == {"fact": (two, three)}

    async def test_clearing_the_ledger_leaves_the_records(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert isinstance(store, KeepsLedger)
        await store.write(RecordBatch(facts=[fact(1), fact(2)]))
        await store.ledger.record_outcomes([_run(n, 0.5, sample_id("fact", 1), "gone") for n in range(5)])
        await store.ledger.clear()
        assert await store.ledger.list_fact_stats() == []
        assert await store.ledger.get_baseline() == Baseline(0, 0.0)
        assert len(await store.find_facts()) == 2
        await store.ledger.record_outcome(_run(1, 0.7, "new"))
        assert await store.ledger.list_fact_stats() == [FactStats("new", 1, 0.7)]

    async def test_clearing_the_store_forgets_runs_as_well(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert isinstance(store, KeepsLedger)
        await store.ledger.record_outcome(_run(1, 0.5, "a"))
        await store.clear()
        assert await store.ledger.get_baseline() == Baseline(0, 0.0)
        assert not (await store.ledger.record_outcome(_run(1, 0.6, "a"))).replaced
