"""What the gate rules on each candidate, given its statistics: values in, verdicts out.

Three rules. `margin` compares point estimates. `inference` asks Welch's test whether the lift exceeds the margin, with
variances floored, and pays for testing many candidates (Benjamini-Hochberg, promotions and evictions apart) and for
looking again and again (`sequential_control`). `anytime` asks the e-processes of the module `anytime`, to which looking
again costs nothing; Benjamini-Hochberg over their p-values is the e-BH procedure (Wang and Ramdas, J. R. Stat. Soc. B
84, 2022), which also holds where candidates depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from remembrancer.ports.ledger import Baseline, FactStats
from remembrancer.records import RetentionPolicy
from remembrancer.retention.statistics import benjamini_hochberg, welch_lift

HARMFUL = "eval-gate:harmful"
"""Marks a fact that was evicted for making scores worse."""

NO_LIFT = "eval-gate:no_lift"
"""Marks a fact that was evicted because its trials, or the runs without it, were used up without a verdict."""

Decision: TypeAlias = Literal["promoted", "evicted", "held"]


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on.

    Attributes:
        lift: Mean score with the fact less that without it.
        se: Standard error of the lift, variances floored at the policy's noise floor.
        df: Its degrees of freedom (Welch); infinity when `se` is 0. Like `se` for reading only under `anytime`.
        p_promote: Probability that the lift exceeds the promotion margin; under `anytime` 1 less the anytime-valid
            p-value.
        p_evict: Likewise, that the loss exceeds the eviction margin.
        trials: Runs with the fact.
        baseline_runs: Runs without it.
        alpha_bracket: Under `doubling` the power of two that the baseline runs have reached; under `looks` the one that
            trials and baseline runs together have; else absent.
        log_e_promote: Under `anytime` the logarithm of the e-value against "the lift is at most the margin".
        log_e_evict: Likewise, against "the loss is at most the margin".
    """

    lift: float
    se: float
    df: float
    p_promote: float
    p_evict: float
    trials: int
    baseline_runs: int
    alpha_bracket: int | None = None
    log_e_promote: float | None = None
    log_e_evict: float | None = None


@dataclass(frozen=True)
class CandidateScores:
    """A fact on trial, with the scores of the runs that it was in and of those that it was not in.

    Attributes:
        stats: `None` when it was in no run.
        baseline: Of the runs without it.
    """

    fact_id: str
    stats: FactStats | None
    baseline: Baseline


@dataclass(frozen=True)
class Verdict:
    """What the gate rules on one fact.

    Attributes:
        decision: What happens to the fact.
        reason: Why it is evicted; absent otherwise.
        trials: Runs with the fact.
        evidence: Absent under the margin rule, and with too few runs to reckon with.
    """

    fact_id: str
    decision: Decision
    reason: str | None
    trials: int
    evidence: Evidence | None


def decide(candidates: Sequence[CandidateScores], policy: RetentionPolicy) -> list[Verdict]:
    """Rule on all candidates of one pass, in their order.

    Candidates have to be ruled on together: how strong the evidence on one must be depends on how many there are.
    """
    evidence = {
        place: _evidence(candidate.stats, candidate.baseline, policy)
        for place, candidate in enumerate(candidates)
        if candidate.stats is not None and _has_evidence(candidate.stats, candidate.baseline, policy)
    }
    promoted = _found(evidence, "promote", policy)
    evicted = _found(evidence, "evict", policy)
    return [
        _verdict(candidate, policy, evidence.get(place), promote=place in promoted, evict=place in evicted)
        for place, candidate in enumerate(candidates)
    ]


def _has_evidence(stats: FactStats, baseline: Baseline, policy: RetentionPolicy) -> bool:
    if policy.decision_rule == "margin" or stats.trials < policy.min_trials:
        return False
    return stats.trials >= 2 and baseline.runs >= 2


def _evidence(stats: FactStats, baseline: Baseline, policy: RetentionPolicy) -> Evidence:
    floor = policy.noise_floor_sd * policy.noise_floor_sd
    with_fact = (stats.mean_score, max(stats.variance or 0.0, floor), stats.trials)
    without = (baseline.mean_score, max(baseline.variance or 0.0, floor), baseline.runs)
    gain = welch_lift(*with_fact, *without, policy.promote_margin)
    if policy.decision_rule == "anytime":
        return _anytime_evidence(stats, baseline, policy, lift=gain.lift, se=gain.se, df=gain.df)
    loss = welch_lift(*with_fact, *without, -policy.evict_margin)
    return Evidence(
        lift=gain.lift,
        se=gain.se,
        df=gain.df,
        p_promote=gain.p_exceeds,
        p_evict=1 - loss.p_exceeds,
        trials=stats.trials,
        baseline_runs=baseline.runs,
        alpha_bracket=_bracket(stats.trials, baseline.runs, policy),
    )


def _anytime_evidence(
    stats: FactStats, baseline: Baseline, policy: RetentionPolicy, *, lift: float, se: float, df: float
) -> Evidence:
    # Only this rule needs numpy.
    from remembrancer.retention.anytime import log_evidence_of_lift, log_evidence_of_loss

    scores = (stats.trials, stats.mean_score, stats.variance or 0.0)
    others = (baseline.runs, baseline.mean_score, baseline.variance or 0.0)
    gain = float(log_evidence_of_lift(*scores, *others, margin=policy.promote_margin))
    loss = float(log_evidence_of_loss(*scores, *others, margin=policy.evict_margin))
    return Evidence(
        lift=lift,
        se=se,
        df=df,
        p_promote=1 - _p_value(gain),
        p_evict=1 - _p_value(loss),
        trials=stats.trials,
        baseline_runs=baseline.runs,
        log_e_promote=gain,
        log_e_evict=loss,
    )


def _p_value(log_e: float) -> float:
    return math.exp(-max(0.0, log_e))


def _bracket(trials: int, baseline_runs: int, policy: RetentionPolicy) -> int | None:
    if policy.sequential_control == "doubling":
        return baseline_runs.bit_length() - 1
    if policy.sequential_control == "looks":
        return (trials + baseline_runs).bit_length() - 1
    return None


def price_of_looking(bracket: int | None, policy: RetentionPolicy) -> int:
    """By what p-values are multiplied, so that all looks together spend the error rate once.

    `doubling` gives the bracket k of 2**k to 2**(k+1) - 1 baseline runs the share 2**-k of it, which every look inside
    the bracket spends again. `looks` counts trials and baseline runs together, so each of the 2**k numbers of a bracket
    is one look at new evidence: it shares the bracket's part out among them. There the first bracket is that of 4 runs,
    below which there is no evidence, so bracket k has 2**(1-k): the shares of all looks add up to exactly one.
    """
    if bracket is None:
        return 1
    return 1 << (bracket if policy.sequential_control == "doubling" else 2 * bracket - 1)


def _found(evidence: dict[int, Evidence], direction: Literal["promote", "evict"], policy: RetentionPolicy) -> set[int]:
    q = 1 - (policy.promote_confidence if direction == "promote" else policy.evict_confidence)
    p_values = [_error_of(found, direction, policy) for found in evidence.values()]
    counts = benjamini_hochberg(p_values, q) if policy.multiple_comparison == "bh" else [p <= q for p in p_values]
    return {place for place, is_found in zip(evidence, counts, strict=True) if is_found}


def _error_of(evidence: Evidence, direction: Literal["promote", "evict"], policy: RetentionPolicy) -> float:
    log_e = evidence.log_e_promote if direction == "promote" else evidence.log_e_evict
    if log_e is not None:
        return _p_value(log_e)
    p = 1 - (evidence.p_promote if direction == "promote" else evidence.p_evict)
    return min(1.0, p * price_of_looking(evidence.alpha_bracket, policy))


def _verdict(
    candidate: CandidateScores, policy: RetentionPolicy, evidence: Evidence | None, *, promote: bool, evict: bool
) -> Verdict:
    trials = candidate.stats.trials if candidate.stats is not None else 0
    decision: Decision = "held"
    reason = None
    if candidate.stats is not None and trials >= policy.min_trials:
        if policy.decision_rule == "margin":
            promote, evict = _by_margin(candidate.stats, candidate.baseline, policy)
        if promote != evict:
            decision, reason = ("promoted", None) if promote else ("evicted", HARMFUL)
        elif not promote and _is_used_up(trials, evidence, policy):
            decision, reason = "evicted", NO_LIFT
    return Verdict(candidate.fact_id, decision, reason, trials, evidence)


def _by_margin(stats: FactStats, baseline: Baseline, policy: RetentionPolicy) -> tuple[bool, bool]:
    if baseline.runs == 0:
        return False, False
    lift = stats.mean_score - baseline.mean_score
    promote = lift >= policy.promote_margin
    return promote, not promote and -lift >= policy.evict_margin


def _is_used_up(trials: int, evidence: Evidence | None, policy: RetentionPolicy) -> bool:
    if policy.max_trials is not None and trials >= policy.max_trials:
        return True
    # Runs without the fact count where they are evidence.
    most = policy.max_baseline_runs
    return evidence is not None and most is not None and evidence.baseline_runs >= most
