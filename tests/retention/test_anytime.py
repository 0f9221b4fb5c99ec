"""The e-processes: bounded by the bets that they stand for, and rarely wrong however often one looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from remembrancer.retention import anytime
from remembrancer.retention.anytime import (
    CELLS,
    LEAST_UNIT,
    log_evidence_of_lift,
    log_evidence_of_loss,
    most_log_evidence_of_lift,
)

GROUPS = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 1.0]), min_size=1, max_size=40)
MARGINS = st.sampled_from([0.0, 0.05, 0.3])


def moments(scores: Sequence[float]) -> tuple[int, float, float]:
    return len(scores), float(np.mean(scores)), float(np.var(scores, ddof=1)) if len(scores) > 1 else 0.0


def log_wealth(scores: Sequence[float], ceiling: float) -> float:
    """What betting on each score, one after the other, has made of 1; stakes in equal parts."""
    unit = max(ceiling, LEAST_UNIT)
    wealth = [math.fsum(math.log1p(stake * (score - ceiling) / unit) for score in scores) for stake in anytime._STAKES]
    highest = max(wealth)
    return highest + math.log(math.fsum(math.exp(one - highest) for one in wealth) / len(wealth))


@given(GROUPS, GROUPS, MARGINS, st.floats(0, 1))
@example([0.0], [0.0, 1.0], 0.3, 1 / 256)
@example([0.0], [0.0, 1.0], 0.3, 0.695)
def test_the_evidence_is_never_above_what_the_bets_have_won_under_any_null(
    a: list[float], b: list[float], margin: float, floor: float
) -> None:
    cell = min(int(floor * CELLS), CELLS - 1)
    won = 0.0
    # In the outermost cells one of the two has nothing to bet on.
    if (cell + 1) / CELLS + margin < 1:
        won += log_wealth(a, floor + margin)
    if cell > 0:
        won += log_wealth([1 - score for score in b], 1 - floor)
    # Each cell takes the ends that favour the null, so within a cell the bets have won at least as much.
    assert float(log_evidence_of_lift(*moments(a), *moments(b), margin=margin)) <= won + 1e-6


@pytest.mark.parametrize(("n_a", "n_b"), [(1, 1), (3, 20), (12, 9), (25, 25)])
@pytest.mark.parametrize("p_b", [0.0, 0.1, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_under_the_null_the_e_value_is_at_most_one_in_the_mean(n_a: int, n_b: int, p_b: float, margin: float) -> None:
    hits_a, hits_b = (grid.ravel() for grid in np.meshgrid(np.arange(n_a + 1), np.arange(n_b + 1)))

    def variance(hits: np.ndarray, n: int) -> np.ndarray:
        return hits * (n - hits) / n / max(n - 1, 1)

    log_e = log_evidence_of_lift(
        n_a, hits_a / n_a, variance(hits_a, n_a), n_b, hits_b / n_b, variance(hits_b, n_b), margin=margin
    )
    chances = stats.binom.pmf(hits_a, n_a, p_b + margin) * stats.binom.pmf(hits_b, n_b, p_b)
    assert float((chances * np.exp(log_e)).sum()) <= 1 + 1e-9


@given(GROUPS, GROUPS, MARGINS)
def test_a_point_estimate_within_the_margin_is_no_evidence(a: list[float], b: list[float], margin: float) -> None:
    if np.mean(a) - np.mean(b) <= margin:
        assert float(log_evidence_of_lift(*moments(a), *moments(b), margin=margin)) <= 1e-9


@given(GROUPS, GROUPS, MARGINS)
def test_the_quick_bound_is_not_below_the_evidence(a: list[float], b: list[float], margin: float) -> None:
    groups = (*moments(a), *moments(b))
    assert most_log_evidence_of_lift(*groups, margin=margin) >= log_evidence_of_lift(*groups, margin=margin)


@given(GROUPS, GROUPS, MARGINS)
def test_a_loss_is_a_lift_of_the_other_group(a: list[float], b: list[float], margin: float) -> None:
    loss = log_evidence_of_loss(*moments(a), *moments(b), margin=margin)
    assert loss == log_evidence_of_lift(*moments(b), *moments(a), margin=margin)


def test_many_candidates_at_once_are_judged_as_each_alone() -> None:
    a, b = np.array([[5, 0.9, 0.01], [20, 0.7, 0.2]]).T, np.array([[9, 0.6, 0.02], [30, 0.2, 0.1]]).T
    together = log_evidence_of_lift(*a, *b, margin=0.05)
    alone = [float(log_evidence_of_lift(*a[:, row], *b[:, row], margin=0.05)) for row in range(2)]
    assert together.tolist() == pytest.approx(alone, abs=1e-12)


def pass_or_fail(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> np.ndarray:
    return (rng.random(shape) < mean).astype(float)


def graded(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> np.ndarray:
    return rng.beta(8 * mean, 8 * (1 - mean), shape)


@pytest.mark.parametrize("scores", [pass_or_fail, graded], ids=["pass or fail", "graded"])
def test_at_the_margin_itself_looking_after_every_run_is_wrong_in_less_than_the_nominal_share(
    scores: Callable[[np.random.Generator, float, tuple[int, int]], np.ndarray],
) -> None:
    rng = np.random.default_rng(7)
    lives, runs, margin, alpha = 1000, 100, 0.05, 0.1
    with_fact, without = scores(rng, 0.55 + margin, (lives, runs)), scores(rng, 0.55, (lives, runs))
    is_served = rng.random((lives, runs)) < 0.5
    wrong = np.zeros(lives, dtype=bool)
    for look in range(4, runs):
        served = is_served[:, :look]
        a, b = (group_moments(group[:, :look], among) for group, among in ((with_fact, served), (without, ~served)))
        usable = (a[0] > 0) & (b[0] > 0) & ~wrong
        groups = np.array([part[usable] for part in (*a, *b)])
        open_still = np.flatnonzero(usable)
        for bound in (most_log_evidence_of_lift, log_evidence_of_lift):
            is_enough = bound(*groups, margin=margin) >= -math.log(alpha)
            groups, open_still = groups[:, is_enough], open_still[is_enough]
        wrong[open_still] = True
    assert wrong.mean() <= alpha


def group_moments(scores: np.ndarray, among: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = among.sum(axis=1)
    mean = np.where(among, scores, 0).sum(axis=1) / np.maximum(n, 1)
    squares = np.where(among, (scores - mean[:, None]) ** 2, 0).sum(axis=1)
    return n, mean, squares / np.maximum(n - 1, 1)
