"""What the gate rules, given the scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.ports.ledger import Baseline, FactStats
from remembrancer.records import RetentionPolicy
from remembrancer.retention import CandidateScores, decide
from remembrancer.retention.decision import HARMFUL, NO_LIFT, price_of_looking

POLICIES = st.builds(
    RetentionPolicy,
    min_trials=st.integers(1, 4),
    promote_margin=st.sampled_from([0.0, 0.05, 0.2]),
    evict_margin=st.sampled_from([0.0, 0.05, 0.2]),
    max_trials=st.none() | st.integers(4, 12),
    max_baseline_runs=st.none() | st.integers(2, 12),
    decision_rule=st.sampled_from(["inference", "margin", "anytime"]),
    promote_confidence=st.sampled_from([0.5, 0.9, 0.99]),
    evict_confidence=st.sampled_from([0.5, 0.9, 0.99]),
    noise_floor_sd=st.sampled_from([0.0, 0.1]),
    multiple_comparison=st.sampled_from(["bh", "none"]),
    sequential_control=st.sampled_from(["doubling", "looks", "none"]),
)
SCORES = st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.55, 0.8, 1.0]), max_size=14)


def candidate(fact_id: str, served: Sequence[float], others: Sequence[float]) -> CandidateScores:
    return CandidateScores(fact_id, FactStats.of(fact_id, served) if served else None, Baseline.of(others))


CANDIDATES = st.lists(st.tuples(SCORES, SCORES), max_size=6).map(
    lambda groups: [candidate(f"fact-{place}", *group) for place, group in enumerate(groups)]
)

CLEAR_LIFT = candidate("good", [0.9, 0.92, 0.88, 0.9] * 8, [0.4, 0.42, 0.38, 0.4] * 8)
CLEAR_LOSS = candidate("bad", [0.4, 0.42, 0.38, 0.4] * 8, [0.9, 0.92, 0.88, 0.9] * 8)
NO_DIFFERENCE = candidate("idle", [0.5, 0.6, 0.4, 0.5], [0.5, 0.6, 0.4, 0.5])


def verdict(scores: CandidateScores, **policy: Any) -> Any:
    (ruled,) = decide([scores], RetentionPolicy(**policy))
    return ruled


@given(CANDIDATES, POLICIES)
def test_there_is_one_verdict_a_candidate_in_their_order(
    candidates: list[CandidateScores], policy: RetentionPolicy
) -> None:
    ruled = decide(candidates, policy)
    assert [one.fact_id for one in ruled] == [one.fact_id for one in candidates]
    for one in ruled:
        assert (one.reason is not None) == (one.decision == "evicted")
        assert one.decision == "held" or one.trials >= policy.min_trials


@given(st.tuples(SCORES, SCORES), POLICIES)
def test_with_equal_margins_a_lesson_that_helps_is_judged_as_its_mirror_image_is(
    groups: tuple[list[float], list[float]], policy: RetentionPolicy
) -> None:
    even = policy.model_copy(
        update={
            "evict_margin": policy.promote_margin,
            "evict_confidence": policy.promote_confidence,
            # The margin rule promotes first, where a margin of 0 leaves both open.
            "decision_rule": "inference" if policy.decision_rule == "margin" else policy.decision_rule,
        }
    )
    served, others = groups
    turned = [[1 - score for score in group] for group in groups]
    (plain,) = decide([candidate("fact", served, others)], even)
    (mirrored,) = decide([candidate("fact", *turned)], even)
    if plain.evidence is not None:
        p = min(abs(plain.evidence.p_promote - even.promote_confidence), abs(plain.evidence.lift))
        if p < 1e-9:
            return  # at the border rounding decides
        assert mirrored.evidence is not None
        assert mirrored.evidence.p_evict == pytest.approx(plain.evidence.p_promote, abs=1e-9)
    if plain.decision == "promoted":
        assert (mirrored.decision, mirrored.reason) == ("evicted", HARMFUL)


@given(st.tuples(SCORES, SCORES), POLICIES)
def test_more_confidence_never_finds_more(groups: tuple[list[float], list[float]], policy: RetentionPolicy) -> None:
    strict = policy.model_copy(update={"promote_confidence": 0.999, "evict_confidence": 0.999})
    (loose_verdict,) = decide([candidate("fact", *groups)], policy)
    (strict_verdict,) = decide([candidate("fact", *groups)], strict)
    if strict_verdict.decision == "promoted":
        assert loose_verdict.decision in ("promoted", "held")  # held: both directions were found at confidence 0.5
        assert loose_verdict.decision == "promoted" or policy.promote_confidence == 0.5


@pytest.mark.parametrize("rule", ["inference", "margin", "anytime"])
def test_every_rule_promotes_a_clear_lift_and_evicts_a_clear_loss(rule: str) -> None:
    assert verdict(CLEAR_LIFT, decision_rule=rule).decision == "promoted"
    assert verdict(CLEAR_LOSS, decision_rule=rule).reason == HARMFUL
    assert verdict(NO_DIFFERENCE, decision_rule=rule).decision == "held"


@pytest.mark.parametrize("rule", ["inference", "margin", "anytime"])
def test_used_up_trials_end_a_candidacy_without_lift(rule: str) -> None:
    assert verdict(NO_DIFFERENCE, decision_rule=rule, max_trials=4).reason == NO_LIFT
    assert verdict(candidate("alone", [0.5] * 4, []), decision_rule=rule, max_trials=4).reason == NO_LIFT


def test_used_up_baseline_runs_end_it_under_every_rule_but_the_margin_rule() -> None:
    assert verdict(NO_DIFFERENCE, max_baseline_runs=4).reason == NO_LIFT
    assert verdict(NO_DIFFERENCE, max_baseline_runs=4, decision_rule="anytime").reason == NO_LIFT
    assert verdict(NO_DIFFERENCE, max_baseline_runs=4, decision_rule="margin").decision == "held"
    assert verdict(candidate("young", [0.5] * 2, [0.5] * 9), max_baseline_runs=4).decision == "held"


def test_a_fact_that_was_in_no_run_is_held_with_no_trials() -> None:
    held = verdict(candidate("new", [], [0.5] * 9), max_trials=3)
    assert (held.decision, held.trials, held.evidence) == ("held", 0, None)


def test_the_margin_rule_reports_no_evidence_and_the_anytime_rule_its_e_values() -> None:
    assert verdict(CLEAR_LIFT, decision_rule="margin").evidence is None
    found = verdict(CLEAR_LIFT, decision_rule="anytime").evidence
    plain = verdict(CLEAR_LIFT).evidence
    assert found.log_e_promote > 2.4
    assert found.log_e_evict < 0
    assert (found.lift, found.se, found.df) == (plain.lift, plain.se, plain.df)
    assert (found.alpha_bracket, plain.alpha_bracket) == (None, 5)
    assert (plain.log_e_promote, plain.log_e_evict) == (None, None)


def test_candidates_share_the_error_rate() -> None:
    weak = candidate("weak", [0.6, 0.75, 0.7, 0.65], [0.5, 0.6, 0.55, 0.45, 0.5])
    alone = {"sequential_control": "none", "promote_margin": 0.02}
    assert verdict(weak, **alone).decision == "promoted"
    idle = [dataclasses.replace(NO_DIFFERENCE, fact_id=f"idle-{place}") for place in range(20)]
    assert decide([weak, *idle], RetentionPolicy(**alone))[0].decision == "held"
    assert decide([weak, *idle], RetentionPolicy(**alone, multiple_comparison="none"))[0].decision == "promoted"


def test_all_looks_together_spend_the_error_rate_once() -> None:
    doubling, looks = RetentionPolicy(), RetentionPolicy(sequential_control="looks")
    assert sum(1 / price_of_looking(bracket, doubling) for bracket in range(1, 60)) == pytest.approx(1)
    assert sum(1 / price_of_looking(runs.bit_length() - 1, looks) for runs in range(4, 2**15)) == pytest.approx(
        1, abs=1e-3
    )
    assert price_of_looking(None, RetentionPolicy(sequential_control="none")) == 1


def test_a_look_is_dearer_by_the_number_of_looks_in_its_bracket() -> None:
    found = verdict(CLEAR_LIFT, sequential_control="looks").evidence
    assert found.alpha_bracket == 6
    assert price_of_looking(found.alpha_bracket, RetentionPolicy(sequential_control="looks")) == 2**11
