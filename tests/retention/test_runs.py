"""Scores of runs: every ledger works its statistics out of them, so here they are held against the plain formulas."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.ports import Baseline, FactStats, RunScores
from remembrancer.ports import runs as module

SCORES = st.lists(st.floats(0, 1) | st.sampled_from([0.1, 0.5, 1.0]), max_size=60)


def plain(scores: Sequence[float]) -> tuple[int, float, float | None]:
    """Number, mean and variance, by one addition after the other."""
    total = squares = 0.0
    for score in scores:
        total += score
    mean = total / len(scores) if scores else 0.0
    for score in scores:
        squares += (score - mean) * (score - mean)  # `** 2` may round otherwise
    return len(scores), mean, squares / (len(scores) - 1) if len(scores) > 1 else None


def of(baseline: Baseline) -> tuple[int, float, float | None]:
    return baseline.runs, baseline.mean_score, baseline.variance


@given(SCORES, st.lists(st.sets(st.integers(0, 59)), max_size=5))
def test_leave_one_out_baselines_are_to_the_last_bit_those_of_the_plain_formula(
    scores: list[float], places: list[set[int]]
) -> None:
    where = {str(n): tuple(sorted(one for one in some if one < len(scores))) for n, some in enumerate(places)}
    runs = RunScores(tuple(scores), where)
    found = runs.baselines([*where, "nowhere"])
    assert list(found) == [*where, "nowhere"]
    for fact_id, own in where.items():
        assert of(found[fact_id]) == plain([score for place, score in enumerate(scores) if place not in own])
        stats = runs.stats(fact_id)
        assert (stats is None) == (own == ())
        if stats is not None:
            assert (stats.trials, stats.mean_score, stats.variance) == plain([scores[place] for place in own])
    assert of(found["nowhere"]) == of(runs.baseline()) == plain(scores)


def test_many_facts_are_worked_on_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    scores = tuple(rng.random() for _ in range(50))
    where = {str(n): tuple(sorted(rng.sample(range(50), 5))) for n in range(40)}
    whole = RunScores(scores, where).baselines(where)
    monkeypatch.setattr(module, "_CELLS", 120)
    assert RunScores(scores, where).baselines(where) == whole


@given(SCORES, st.sets(st.integers(0, 59)), st.floats(0.05, 0.95))
def test_with_one_probability_the_holdout_compares_plain_means(
    scores: list[float], injected: set[int], chance: float
) -> None:
    own = tuple(sorted(place for place in injected if place < len(scores)))
    runs = RunScores(tuple(scores), {"a": own}, {"a": dict.fromkeys(range(len(scores)), chance)})
    stats, baseline = runs.held_out("a")
    assert of(baseline) == plain([score for place, score in enumerate(scores) if place not in own])
    assert stats == runs.stats("a")


def test_runs_from_which_chance_could_not_withhold_a_fact_are_no_part_of_the_holdout() -> None:
    runs = RunScores((0.1, 0.2, 0.9, 0.8), {"a": (0, 2)}, {"a": {2: 0.5, 3: 0.5}})
    assert runs.held_out("a") == (FactStats("a", 1, 0.9), Baseline(1, 0.8))
    assert runs.held_out("b") == (None, Baseline(0, 0.0))


def test_rare_sides_of_a_draw_weigh_more() -> None:
    # Served with probability 3/4, then 1/4: the second run stands for three times as many.
    runs = RunScores((0.2, 0.6, 0.5), {"a": (0, 1)}, {"a": {0: 0.25, 1: 0.75}})
    stats, _ = runs.held_out("a")
    assert stats is not None
    assert stats.mean_score == pytest.approx((0.2 / 0.75 + 0.6 / 0.25) / (1 / 0.75 + 1 / 0.25))


def test_with_unequal_probabilities_the_weighted_difference_is_the_effect_and_its_error_is_as_told() -> None:
    """Easy runs are served often, hard ones seldom: plain means would find an effect where there is none."""
    rng = random.Random(11)
    lifts, plain_lifts, errors = [], [], []
    for _ in range(300):
        scores: list[float] = []
        own: list[int] = []
        drawn: dict[int, float] = {}
        for place in range(200):
            easy = rng.random() < 0.5
            drawn[place] = 0.3 if easy else 0.7
            if rng.random() >= drawn[place]:
                own.append(place)
            scores.append(min(1.0, max(0.0, (0.7 if easy else 0.4) + rng.gauss(0, 0.05))))
        stats, baseline = RunScores(tuple(scores), {"a": tuple(own)}, {"a": drawn}).held_out("a")
        assert stats is not None
        assert stats.variance is not None
        assert baseline.variance is not None
        lifts.append(stats.mean_score - baseline.mean_score)
        errors.append(math.sqrt(stats.variance / stats.trials + baseline.variance / baseline.runs))
        without = [score for place, score in enumerate(scores) if place not in set(own)]
        plain_lifts.append(plain([scores[place] for place in own])[1] - plain(without)[1])
    spread = math.sqrt(plain(lifts)[2] or 0)
    assert abs(plain(lifts)[1]) < 3 * spread / math.sqrt(300)
    assert plain(plain_lifts)[1] > 0.1
    assert plain(errors)[1] == pytest.approx(spread, rel=0.15)
