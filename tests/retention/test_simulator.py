"""The simulator: the library's own parts, one seed one life, and what it shows of a holdout."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.records import InvalidInputError, RetentionPolicy
from remembrancer.retention import LessonServing, SimulatedLesson, Simulation, simulate_gate
from remembrancer.retention.decision import HARMFUL

GOOD = SimulatedLesson(id="good", true_effect=0.3)
BAD = SimulatedLesson(id="bad", true_effect=-0.3, arrives_at_run=20)
IDLE = SimulatedLesson(id="idle", true_effect=0.0)
RESTED = LessonServing(candidate_slots=4, rest_after_trials=8)


def outcomes(simulation: Simulation) -> dict[str, str]:
    return {one.lesson.id: one.reason or one.outcome for one in simulation.lessons}


async def test_a_lesson_that_helps_is_promoted_and_one_that_harms_evicted() -> None:
    simulation = await simulate_gate([GOOD, BAD], runs=60, seed=3, retrieval=RESTED)
    assert outcomes(simulation) == {"good": "promoted", "bad": HARMFUL}
    assert len(simulation.run_scores) == len(simulation.gate_reports) == 60


async def test_one_seed_is_one_life() -> None:
    first, second, other = [
        await simulate_gate([GOOD, BAD], runs=30, seed=seed, retrieval=RESTED) for seed in (4, 4, 5)
    ]
    assert first == second
    assert first.run_scores != other.run_scores


async def test_lessons_may_be_given_as_maps_of_their_fields() -> None:
    as_map = {"id": "good", "true_effect": 0.3, "arrives_at_run": 1}
    assert await simulate_gate([as_map], runs=9, seed=1) == await simulate_gate([GOOD], runs=9, seed=1)


async def test_a_lesson_that_is_never_served_is_never_decided() -> None:
    simulation = await simulate_gate([GOOD], runs=20, seed=1, retrieval=LessonServing(candidate_slots=0))
    assert outcomes(simulation) == {"good": "held"}


async def test_a_candidate_tag_of_ones_own_reaches_retriever_and_gate() -> None:
    plain = await simulate_gate([GOOD, BAD], runs=40, seed=3, retrieval=RESTED)
    renamed = await simulate_gate(
        [GOOD, BAD], runs=40, seed=3, retrieval=RESTED, policy=RetentionPolicy(candidate_tag="trial")
    )
    assert renamed.lessons == plain.lessons
    assert renamed.run_scores == plain.run_scores


async def test_runs_without_lessons_are_no_baseline_when_they_are_not_recorded() -> None:
    simulation = await simulate_gate([GOOD], runs=40, seed=3, retrieval=RESTED, record_empty_runs=False)
    assert outcomes(simulation) == {"good": "held"}


async def test_the_gate_runs_as_often_as_it_is_told_to() -> None:
    simulation = await simulate_gate([GOOD], runs=20, seed=3, gate_every=6)
    assert [one.after_run for one in simulation.gate_reports] == [6, 12, 18]


COMPANIONS = [IDLE, SimulatedLesson(id="harmful", true_effect=-0.3)]


async def blamed(serving: LessonServing, **policy: Any) -> dict[str, int]:
    """In how many of 10 lives each of two lessons that came together is evicted as harmful."""
    lives = [
        outcomes(
            await simulate_gate(COMPANIONS, runs=80, seed=seed, retrieval=serving, policy=RetentionPolicy(**policy))
        )
        for seed in range(1, 11)
    ]
    return {lesson.id: sum(life[lesson.id] == HARMFUL for life in lives) for lesson in COMPANIONS}


async def test_a_harmless_companion_is_blamed_by_the_plain_rule_and_not_by_the_holdout_rule() -> None:
    # They rest together as well, so every run has both or neither, and nothing in the ledger tells them apart.
    assert await blamed(LessonServing(rest_after_trials=8)) == {"idle": 10, "harmful": 10}
    apart = LessonServing(holdout=0.5)
    plain_test = await blamed(apart, baseline="holdout")
    assert plain_test["harmful"] == 10
    assert plain_test["idle"] <= 1  # a confidence of 0.9 allows as many
    assert await blamed(apart, baseline="holdout", decision_rule="anytime") == {"idle": 0, "harmful": 10}


CALL: dict[str, Any] = {"lessons": [GOOD], "runs": 5, "seed": 1}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"runs": -1}, "runs"),
        ({"runs": 2.5}, "runs"),
        ({"seed": 0.5}, "seed"),
        ({"seed": 2**60}, "seed"),
        ({"base_score": float("nan")}, "base_score"),
        ({"noise_sd": -0.1}, "noise_sd"),
        ({"noise_sd": "wide"}, "noise_sd"),
        ({"gate_every": 0}, "gate_every"),
        ({"record_empty_runs": 1}, "record_empty_runs"),
        ({"retrieval": {"max_facts": 3}}, "retrieval"),
        ({"policy": "strict"}, "policy"),
        ({"lessons": "good"}, "lessons"),
        ({"lessons": [{"id": "early", "true_effect": 0.1, "arrives_at_run": 0}]}, "lessons.0.arrives_at_run"),
        ({"lessons": [GOOD, {"id": "", "true_effect": 0.1}]}, "lessons.1.id"),
        ({"lessons": [{"id": "odd", "true_effect": float("inf")}]}, "lessons.0.true_effect"),
        ({"lessons": [{"id": "odd", "true_effect": 0.1, "effect": 1}]}, "lessons.0.effect"),
        ({"lessons": [GOOD, GOOD]}, "lessons.1.id"),
    ],
)
async def test_bad_input_is_refused_by_name(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await simulate_gate(**{**CALL, **change})
    assert raised.value.field == field
