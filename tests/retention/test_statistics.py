"""The statistics of the gate, judged by scipy."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from remembrancer.records import InvalidInputError
from remembrancer.retention import (
    benjamini_hochberg,
    gaussian,
    mulberry32,
    normal_quantile,
    required_trials,
    student_t_cdf,
    welch_lift,
)
from remembrancer.retention.statistics import log_gamma, regularized_incomplete_beta

SHAPES = st.floats(0.05, 5000)
CHANCES = st.floats(0, 1)
SCORES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@given(st.floats(-60, 60), st.floats(-1, 8).map(lambda power: 10**power))
def test_the_t_distribution_is_scipys(t: float, df: float) -> None:
    assert student_t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-8, abs=1e-10)


@given(SHAPES, SHAPES, CHANCES)
def test_the_incomplete_beta_function_is_scipys(a: float, b: float, x: float) -> None:
    assert regularized_incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), rel=1e-8, abs=1e-10)


@given(st.floats(1e-6, 1e8))
def test_the_logarithm_of_the_gamma_function_is_scipys(x: float) -> None:
    assert log_gamma(x) == pytest.approx(special.gammaln(x), rel=1e-12, abs=1e-12)


@given(st.floats(1e-12, 1 - 1e-12))
def test_a_normal_quantile_is_scipys_to_the_error_of_the_approximation(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1.5e-9, abs=2e-9)


@given(SCORES, SCORES, st.floats(-0.5, 0.5))
def test_welchs_test_is_scipys(a: list[float], b: list[float], margin: float) -> None:
    var_a, var_b = (statistics.variance(scores) for scores in (a, b))
    mean_a, mean_b = (math.fsum(scores) / len(scores) for scores in (a, b))
    found = welch_lift(mean_a, var_a, len(a), mean_b, var_b, len(b), margin)
    assert found.lift == mean_a - mean_b
    if var_a / len(a) + var_b / len(b) < 1e-20:
        return  # What scipy makes of its own rounding is no judge.
    judged = stats.ttest_ind_from_stats(
        mean_a - margin, math.sqrt(var_a), len(a), mean_b, math.sqrt(var_b), len(b), equal_var=False, alternative="less"
    )
    assert found.p_exceeds == pytest.approx(judged.pvalue, rel=1e-6, abs=1e-9)


@given(st.lists(CHANCES, max_size=40), st.floats(0.001, 0.5))
def test_what_counts_among_many_tests_is_scipys(p_values: list[float], q: float) -> None:
    found = benjamini_hochberg(p_values, q)
    if not p_values:
        assert found == []
        return
    for is_found, adjusted in zip(found, stats.false_discovery_control(p_values), strict=True):
        if abs(adjusted - q) > 1e-12:
            assert is_found == (adjusted <= q)


@given(st.lists(CHANCES, min_size=1, max_size=20), st.floats(0, 1), st.integers(0, 19))
def test_better_evidence_on_one_candidate_takes_nothing_from_the_others(
    p_values: list[float], factor: float, place: int
) -> None:
    better = list(p_values)
    better[place % len(better)] *= factor
    before, after = benjamini_hochberg(p_values, 0.1), benjamini_hochberg(better, 0.1)
    assert all(now for was, now in zip(before, after, strict=True) if was)


@given(st.integers(-(2**40), 2**40))
def test_a_stream_is_that_of_its_seed_modulo_two_to_the_32(seed: int) -> None:
    first, second = mulberry32(seed), mulberry32(seed + 2**32)
    drawn = [first() for _ in range(20)]
    assert drawn == [second() for _ in range(20)]
    assert all(0 <= number < 1 and (number * 2**32).is_integer() for number in drawn)


def test_the_normals_are_standard_normals() -> None:
    draw = mulberry32(20260101)
    assert stats.kstest([gaussian(draw) for _ in range(20_000)], "norm").pvalue > 0.001


@given(st.floats(0.01, 1), st.floats(0.01, 0.5), st.floats(0.5, 0.99), st.floats(0.5, 0.99))
def test_the_required_trials_have_the_power_that_was_asked_for(
    effect: float, sd: float, confidence: float, power: float
) -> None:
    def power_with(trials: int) -> float:
        return float(stats.norm.sf(stats.norm.ppf(confidence) - effect / (sd * math.sqrt(2 / trials))))

    needed = required_trials(effect, sd, confidence=confidence, power=power)
    assert power_with(max(needed, 1)) >= power - 1e-6
    if needed > 1:
        assert power_with(needed - 1) < power + 1e-6


def test_student_s_t_knows_its_limits() -> None:
    assert student_t_cdf(math.inf, -1) == 1
    assert student_t_cdf(-math.inf, 3) == 0
    assert math.isnan(student_t_cdf(math.nan, 3))
    assert math.isnan(student_t_cdf(1, math.nan))
    assert student_t_cdf(1.5, math.inf) == pytest.approx(stats.norm.cdf(1.5), abs=1e-15)
    assert student_t_cdf(1e200, 20000) == 1
    assert student_t_cdf(-1e200, 0.1) >= 0


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: student_t_cdf(1, 0), "df"),
        (lambda: welch_lift(0.5, 0.1, 1, 0.5, 0.1, 5), "n_a"),
        (lambda: welch_lift(0.5, 0.1, 5, 0.5, 0.1, 1), "n_b"),
        (lambda: welch_lift(0.5, -0.1, 5, 0.5, 0.1, 5), "var_a"),
        (lambda: welch_lift(0.5, 0.1, 5, 0.5, math.nan, 5), "var_b"),
        (lambda: normal_quantile(1), "p"),
        (lambda: normal_quantile(math.nan), "p"),
        (lambda: required_trials(0, 0.1), "effect"),
        (lambda: required_trials(0.1, math.nan), "sd"),
        (lambda: required_trials(0.1, 0.1, confidence=1), "confidence"),
        (lambda: required_trials(0.1, 0.1, power=0), "power"),
        (lambda: required_trials(1e-200, 0.1), "effect"),
        (lambda: mulberry32(math.inf), "seed"),
        (lambda: log_gamma(0), "x"),
        (lambda: regularized_incomplete_beta(1, 0, 0.5), "b"),
    ],
)
def test_what_is_out_of_range_is_named(call: object, field: str) -> None:
    assert callable(call)
    with pytest.raises(InvalidInputError) as raised:
        call()
    assert raised.value.field == field
