"""Operating characteristics: two engines with the same decisions, and policies as good as they claim to be."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remembrancer.records import InvalidInputError, RetentionPolicy
from remembrancer.retention import (
    LessonServing,
    OperatingCharacteristics,
    SimulatedLesson,
    gate_operating_characteristics,
    pooled,
    simulate_gate,
)
from remembrancer.retention.decision import HARMFUL
from remembrancer.retention.fast_engine import first_decisions
from remembrancer.retention.scenario import FirstDecision, Scenario
from remembrancer.retention.simulator import first_decision

POLICIES = st.builds(
    RetentionPolicy,
    min_trials=st.integers(1, 4),
    promote_margin=st.sampled_from([0.0, 0.05, 0.1]),
    evict_margin=st.sampled_from([0.0, 0.05, 0.1]),
    candidate_tag=st.sampled_from(["candidate", "trial", "quarantined", "lesson"]),
    max_trials=st.none() | st.integers(4, 12),
    max_baseline_runs=st.none() | st.integers(2, 25),
    decision_rule=st.sampled_from(["inference", "margin", "anytime"]),
    promote_confidence=st.sampled_from([0.5, 0.8, 0.9, 0.99]),
    evict_confidence=st.sampled_from([0.5, 0.9, 0.999]),
    noise_floor_sd=st.sampled_from([0.0, 0.05, 0.1]),
    multiple_comparison=st.sampled_from(["bh", "none"]),
    sequential_control=st.sampled_from(["doubling", "looks", "none"]),
    baseline=st.sampled_from(["all", "holdout"]),
)
SERVINGS = st.builds(
    LessonServing,
    max_facts=st.sampled_from([8, 1, 0]),
    candidate_slots=st.sampled_from([2, 1, 0]),
    rest_after_trials=st.sampled_from([None, 3, 5, 0]),
    holdout=st.sampled_from([0.0, 0.3, 0.7]),
)
SCENARIOS = st.builds(
    Scenario,
    effect=st.sampled_from([0.0, 0.05, 0.1, 0.3, 1.5, -0.05, -0.1, -0.3]),
    runs=st.integers(0, 40),
    noise_sd=st.sampled_from([0.1, 0.0, 0.02, 0.3, 1e-9]),
    base_score=st.sampled_from([0.6, 0.0, 0.95, 1.0]),
    retrieval=SERVINGS,
    policy=POLICIES,
    gate_every=st.sampled_from([1, 3, 7]),
)
BORDERLINE = Scenario(
    effect=0.05,
    runs=12,
    noise_sd=0.0,
    base_score=0.6,
    retrieval=LessonServing(rest_after_trials=3),
    policy=RetentionPolicy(decision_rule="margin"),
    gate_every=1,
)
"""Whether 0.65 - 0.6 reaches 0.05 is a matter of rounding alone."""


@settings(max_examples=100)
@given(SCENARIOS, st.integers(-(2**40), 2**40))
@example(BORDERLINE, 1)
@example(dataclasses.replace(BORDERLINE, effect=-0.05), 1)
@example(dataclasses.replace(BORDERLINE, policy=RetentionPolicy(noise_floor_sd=0.0)), 1)
def test_both_engines_decide_alike(scenario: Scenario, seed: int) -> None:
    seeds = [seed, seed + 1, seed + 2**31]

    async def play() -> list[FirstDecision]:
        return [await first_decision(scenario, one) for one in seeds]

    assert first_decisions(scenario, seeds) == asyncio.run(play())


async def test_a_cell_of_the_grid_is_that_many_simulations_of_one_lesson() -> None:
    serving, policy = LessonServing(rest_after_trials=5), RetentionPolicy(max_baseline_runs=20)
    (_, row) = await gate_operating_characteristics(
        [0.0, 0.15], [30], replicates=6, seed=4, retrieval=serving, policy=policy
    )
    lesson = SimulatedLesson(id="lesson", true_effect=0.15)
    lives = [
        (await simulate_gate([lesson], runs=30, seed=4_002_000 + place, retrieval=serving, policy=policy)).lessons[0]
        for place in range(6)
    ]
    assert row.promote_rate == sum(life.outcome == "promoted" for life in lives) / 6
    assert row.harmful_evict_rate == sum(life.reason == HARMFUL for life in lives) / 6
    assert row.mean_decision_run == pytest.approx(
        sum(life.decided_at_run for life in lives if life.decided_at_run)
        / sum(life.decided_at_run is not None for life in lives)
    )


async def test_processes_change_nothing_and_progress_counts_every_life() -> None:
    grid: dict[str, Any] = {
        "effects": [0.0, 0.2],
        "run_counts": [20],
        "noise_sds": [0.05, 0.2],
        "replicates": 30,
        "retrieval": LessonServing(rest_after_trials=5),
    }
    told: list[int] = []
    alone = await gate_operating_characteristics(**grid, engine="vectorised", progress=told.append)
    assert told == [30, 60, 90, 120]
    assert [(row.noise_sd, row.effect) for row in alone] == [(0.05, 0.0), (0.05, 0.2), (0.2, 0.0), (0.2, 0.2)]
    told.clear()
    assert await gate_operating_characteristics(**grid, workers=2, progress=told.append) == alone
    assert told[-1] == 120


async def test_rows_of_several_seeds_are_pooled_life_by_life() -> None:
    grid: dict[str, Any] = {"retrieval": LessonServing(rest_after_trials=5), "engine": "vectorised"}
    parts = [
        await gate_operating_characteristics([0.1], [25], replicates=count, seed=seed, **grid)
        for seed, count in ((1, 40), (2, 10))
    ]
    (row,) = pooled(parts)
    assert row.replicates == 50
    assert row.promote_rate * 50 == pytest.approx(parts[0][0].promote_rate * 40 + parts[1][0].promote_rate * 10)
    assert row.mean_decision_run is not None
    assert pooled([]) == []
    other = await gate_operating_characteristics([0.2], [25], replicates=1, **grid)
    with pytest.raises(InvalidInputError, match="grids"):
        pooled([parts[0], other])


async def lives_at(effect: float, noise_sd: float, **policy: Any) -> OperatingCharacteristics:
    """2,997 lives of 60 runs, each with the lesson or without it by the toss of a coin; the gate after every run."""
    parts = [
        await gate_operating_characteristics(
            [effect],
            [60],
            noise_sds=[noise_sd],
            replicates=999,
            seed=seed,
            retrieval=LessonServing(holdout=0.5),
            policy=RetentionPolicy(baseline="holdout", **policy),
            engine="vectorised",
        )
        for seed in (1, 2, 3)
    ]
    return pooled(parts)[0]


@pytest.mark.parametrize(
    "rule", [{"decision_rule": "anytime"}, {"sequential_control": "looks"}], ids=["anytime", "looks"]
)
@pytest.mark.parametrize("noise_sd", [0.1, 0.25])
async def test_gating_after_every_run_decides_falsely_no_more_often_than_it_may(
    rule: dict[str, Any], noise_sd: float
) -> None:
    idle = await lives_at(0.0, noise_sd, **rule)
    assert max(idle.false_promote_rate, idle.false_evict_rate) <= 0.1
    # The hardest case: an effect of exactly the margin is not to be promoted.
    assert (await lives_at(0.05, noise_sd, **rule)).promote_rate <= 0.1


async def test_looking_after_every_run_without_control_decides_falsely_too_often() -> None:
    assert (await lives_at(0.0, 0.25, sequential_control="none")).false_promote_rate > 0.1


CALL: dict[str, Any] = {"effects": [0.1], "run_counts": [5]}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"replicates": 0}, "replicates"),
        ({"replicates": 1000}, "replicates"),
        ({"effects": [0.1, float("nan")]}, "effects.1"),
        ({"effects": "all"}, "effects"),
        ({"run_counts": [-5]}, "run_counts.0"),
        ({"run_counts": 5}, "run_counts"),
        ({"noise_sds": [-0.1]}, "noise_sds.0"),
        ({"seed": 0.5}, "seed"),
        ({"base_score": True}, "base_score"),
        ({"gate_every": 0}, "gate_every"),
        ({"engine": "steam"}, "engine"),
        ({"workers": 0}, "workers"),
        ({"retrieval": 3}, "retrieval"),
        ({"policy": {}}, "policy"),
    ],
)
async def test_bad_input_is_refused_by_name(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await gate_operating_characteristics(**{**CALL, **change})
    assert raised.value.field == field


async def test_an_empty_grid_has_no_rows() -> None:
    assert await gate_operating_characteristics([], [10]) == []
