"""Outcomes with withheld candidates, and passes of the gate as records."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from remembrancer.records import GateDecision, GatePass, RetentionPolicy, RunOutcome

A = "f0000000-0000-4000-8000-00000000000a"
B = "f0000000-0000-4000-8000-00000000000b"


def test_withheld_is_who_was_drawn_and_not_served() -> None:
    outcome = RunOutcome(run_id="r", score=1, fact_ids=["b", "c"], holdout={"a": 0.5, "b": 0.25})
    assert outcome.withheld == ("a",)
    assert RunOutcome(run_id="r", score=1).withheld == ()


@pytest.mark.parametrize("chance", [0, 1, -0.1, 1.1, math.nan, math.inf, "0.5", None])
def test_a_draw_has_a_probability_between_the_certain_ones(chance: Any) -> None:
    with pytest.raises(ValidationError):
        RunOutcome(run_id="r", score=1, holdout={"a": chance})


@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": "evicted"},
        {"verdict": "evicted", "reason": ""},
        {"verdict": "held", "reason": "x"},
        {"verdict": "promoted", "reason": "x"},
        {"verdict": "kept"},
        {"trials": -1},
        {"fact_id": "lesson"},
        {"evidence": {"Lift": 1.0}},
        {"evidence": {"lift": [1.0]}},
        {"evidence": {"lift": None}},
    ],
)
def test_a_decision_is_one_that_can_be_recorded(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GateDecision(**{"fact_id": A, "verdict": "held", "trials": 3, **wrong})


def test_a_pass_rules_once_on_each_fact() -> None:
    held = GateDecision(fact_id=A, verdict="held", trials=0)
    with pytest.raises(ValidationError, match="rules once on each fact"):
        GatePass(id=A, policy=RetentionPolicy(), decisions=[held, held])


@pytest.mark.parametrize(
    ("tags", "after"),
    [
        (["candidate"], ("verified",)),
        (["candidate", "lesson", "candidate", "lesson"], ("lesson", "verified")),
        (["verified", "lesson", "candidate"], ("verified", "lesson")),
    ],
)
def test_promotion_takes_the_candidate_tag_and_appends_the_verified_one(
    tags: list[str], after: tuple[str, ...]
) -> None:
    assert GatePass(id=A, policy=RetentionPolicy(), decisions=[]).promoted(tags) == after


def test_on_trial_is_who_has_the_tag_and_is_not_quarantined() -> None:
    one = GatePass(id=A, policy=RetentionPolicy(candidate_tag="trial"), decisions=[])
    assert one.is_on_trial(["x", "trial"])
    assert not one.is_on_trial(["candidate"])
    assert not one.is_on_trial(["trial", "quarantined"])


def test_a_pass_survives_json() -> None:
    decision = GateDecision(
        fact_id=B, verdict="evicted", reason="x", trials=2, evidence={"lift": 0.5, "alpha_bracket": 3}
    )
    one = GatePass(id=A, policy=RetentionPolicy(max_trials=9), decisions=[decision], decided_at="2026-01-01")
    assert GatePass.model_validate_json(one.model_dump_json()) == one
