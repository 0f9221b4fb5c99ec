"""One lesson on trial in many simulated lives at once: the engine for large grids.

It runs no store, no retriever and no gate, and yet gives their very decisions. While a single lesson is on trial,
whether a run gets it follows from the policy and from the draws of chance alone, so the scores of all runs, and the
statistics at every look, are tables over replicates and runs. Where a table leaves a verdict open by less than its own
rounding, the statistics are worked out again one number after the other, as a ledger does, and `decide` rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from remembrancer.ports.ledger import Baseline, FactStats
from remembrancer.records import RetentionPolicy
from remembrancer.records.fact import QUARANTINE_TAG
from remembrancer.retention.anytime import log_evidence_of_lift, most_log_evidence_of_lift
from remembrancer.retention.decision import HARMFUL, NO_LIFT, CandidateScores, decide, price_of_looking
from remembrancer.retention.scenario import FirstDecision, Scenario, holdout_seed, simulated_score
from remembrancer.retention.statistics import gaussian, mulberry32
from remembrancer.retention.tails import (
    Floats,
    gaussians,
    least_normal,
    student_upper_tail,
    uniforms,
)

Flags: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.int8]

_HELD, _PROMOTE, _HARMFUL, _NO_LIFT, _OPEN = range(5)
_VERDICTS = {
    _PROMOTE: FirstDecision("promoted"),
    _HARMFUL: FirstDecision("evicted", HARMFUL),
    _NO_LIFT: FirstDecision("evicted", NO_LIFT),
}
_ROUNDING = 1e-9
_TINY_VARIANCE = 1e-14
_REPLICATES = 256  # worked on at once
_LOOKS = 32


def first_decisions(scenario: Scenario, seeds: Sequence[int]) -> list[FirstDecision]:
    """The first decision on the lesson in each of the lives that the seeds give, in their order."""
    found: list[FirstDecision] = []
    for start in range(0, len(seeds), _REPLICATES):
        found += _Lives(scenario, seeds[start : start + _REPLICATES]).first_decisions()
    return found


@dataclass(frozen=True)
class _Group:
    """Running statistics of some of the runs of each life, at every look: a row a life, a column a look."""

    n: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, scores: Floats, among: Flags, centre: float, looks: npt.NDArray[np.int64]) -> _Group:
        n = np.cumsum(among, axis=1)[:, looks].astype(float)
        divisor = np.maximum(n, 1)
        mean = np.cumsum(np.where(among, scores, 0.0), axis=1)[:, looks] / divisor
        # Around a number near the mean, so that the squares do not swallow their difference.
        apart = np.where(among, scores - centre, 0.0)
        sums = np.cumsum(apart, axis=1)[:, looks]
        squares = np.cumsum(apart * apart, axis=1)[:, looks] - sums * sums / divisor
        return cls(n, mean, np.maximum(squares, 0.0) / np.maximum(n - 1, 1))

    def at(self, rows: npt.NDArray[np.int64], columns: slice) -> _Group:
        return _Group(self.n[rows, columns], self.mean[rows, columns], self.variance[rows, columns])


class _Lives:
    """A batch of lives of one lesson."""

    def __init__(self, scenario: Scenario, seeds: Sequence[int]) -> None:
        self._scenario = scenario
        self._seeds = seeds
        self._looks = np.arange(scenario.gate_every - 1, scenario.runs, scenario.gate_every)
        self._exact_scores: dict[int, list[float]] = {}
        self._served, self._tried, self._compared = self._groups()

    def first_decisions(self) -> list[FirstDecision]:
        """The first decision in each life."""
        found = [FirstDecision()] * len(self._seeds)
        if not len(self._looks) or not self._tried.any():
            return found
        with_lesson, without = self._statistics()
        open_lives = np.arange(len(self._seeds))
        for start in range(0, len(self._looks), _LOOKS):
            columns = slice(start, start + _LOOKS)
            codes = _codes(with_lesson.at(open_lives, columns), without.at(open_lives, columns), self._scenario.policy)
            for life, row in zip(open_lives.tolist(), codes, strict=True):
                found[life] = self._first(life, row, start)
            open_lives = open_lives[[found[life].outcome == "held" for life in open_lives]]
            if not len(open_lives):
                break
        return found

    def _groups(self) -> tuple[Flags, Flags, Flags]:
        """Which runs got the lesson; which of them count as trials; and which ones these are compared with."""
        scenario, retrieval = self._scenario, self._scenario.retrieval
        shape = (len(self._seeds), scenario.runs)
        has_slot = min(retrieval.candidate_slots, retrieval.max_facts) > 0
        has_turn = np.full(shape, has_slot and scenario.policy.candidate_tag != QUARANTINE_TAG)
        offered = np.ones(shape, dtype=bool)
        if retrieval.holdout:
            offered = uniforms([holdout_seed(seed) for seed in self._seeds], scenario.runs) >= retrieval.holdout
        if retrieval.rest_after_trials is not None:
            before = np.cumsum(offered, axis=1) - offered
            has_turn &= before < retrieval.rest_after_trials
        served = has_turn & offered
        if scenario.policy.baseline == "all":
            return served, served, ~served
        tried = served if retrieval.holdout else np.zeros_like(served)
        return served, tried, has_turn & ~offered

    def _statistics(self) -> tuple[_Group, _Group]:
        scenario = self._scenario
        plain, raised = scenario.base_score, scenario.base_score + scenario.effect
        noise = gaussians(self._seeds, scenario.runs) * scenario.noise_sd
        scores = np.clip(np.where(self._served, raised, plain) + noise, 0.0, 1.0)
        return (
            _Group.of(scores, self._tried, min(1.0, max(0.0, raised)), self._looks),
            _Group.of(scores, self._compared, min(1.0, max(0.0, plain)), self._looks),
        )

    def _first(self, life: int, codes: Codes, start: int) -> FirstDecision:
        for column in np.flatnonzero(codes != _HELD).tolist():
            run = int(self._looks[start + column]) + 1
            decision = self._exact(life, run) if codes[column] == _OPEN else _VERDICTS[int(codes[column])]
            if decision.outcome != "held":
                return FirstDecision(decision.outcome, decision.reason, run)
        return FirstDecision()

    def _exact(self, life: int, run: int) -> FirstDecision:
        """What the gate rules after a run, worked out as it does."""
        scores = self._scores_of(life)[:run]
        tried = [score for score, is_in in zip(scores, self._tried[life], strict=False) if is_in]
        compared = [score for score, is_in in zip(scores, self._compared[life], strict=False) if is_in]
        stats = FactStats.of("", tried) if tried else None
        (verdict,) = decide([CandidateScores("", stats, Baseline.of(compared))], self._scenario.policy)
        return FirstDecision(verdict.decision, verdict.reason)

    def _scores_of(self, life: int) -> list[float]:
        if life not in self._exact_scores:
            scenario, draw = self._scenario, mulberry32(self._seeds[life])
            self._exact_scores[life] = [
                simulated_score(
                    scenario.base_score, [scenario.effect] if is_in else [], gaussian(draw) * scenario.noise_sd
                )
                for is_in in self._served[life]
            ]
        return self._exact_scores[life]


def _codes(a: _Group, b: _Group, policy: RetentionPolicy) -> Codes:
    """The verdict at each look: what `decide` rules on one candidate, or that the rounding here leaves it open."""
    enough = (a.n >= policy.min_trials) & (a.n >= 1)
    if policy.decision_rule == "margin":
        return _codes_by_margin(a, b, enough, policy)
    has_evidence = enough & (a.n >= 2) & (b.n >= 2)
    test = _anytime_tests if policy.decision_rule == "anytime" else _welch_tests
    promote, evict, is_open = test(a, b, has_evidence, policy)
    used_up = _is_used_up(a, enough, policy)
    if policy.max_baseline_runs is not None:
        used_up |= has_evidence & (b.n >= policy.max_baseline_runs)
    codes = np.where(used_up & ~promote & ~evict, _NO_LIFT, _HELD)
    codes = np.where(promote & ~evict, _PROMOTE, codes)
    codes = np.where(evict & ~promote, _HARMFUL, codes)
    return np.where(is_open, _OPEN, codes).astype(np.int8)


def _codes_by_margin(a: _Group, b: _Group, enough: Flags, policy: RetentionPolicy) -> Codes:
    comparable = enough & (b.n > 0)
    lift = a.mean - b.mean
    promote = comparable & (lift >= policy.promote_margin)
    evict = comparable & (-lift >= policy.evict_margin)
    is_open = comparable & (
        (np.abs(lift - policy.promote_margin) < _ROUNDING) | (np.abs(-lift - policy.evict_margin) < _ROUNDING)
    )
    codes = np.where(_is_used_up(a, enough, policy), _NO_LIFT, _HELD)
    codes = np.where(evict, _HARMFUL, codes)
    codes = np.where(promote, _PROMOTE, codes)
    return np.where(is_open, _OPEN, codes).astype(np.int8)


def _is_used_up(a: _Group, enough: Flags, policy: RetentionPolicy) -> Flags:
    if policy.max_trials is None:
        return np.zeros_like(enough)
    return enough & (a.n >= policy.max_trials)


def _welch_tests(a: _Group, b: _Group, has_evidence: Flags, policy: RetentionPolicy) -> tuple[Flags, Flags, Flags]:
    floor = policy.noise_floor_sd * policy.noise_floor_sd
    part_a = np.maximum(a.variance, floor) / np.maximum(a.n, 1)
    part_b = np.maximum(b.variance, floor) / np.maximum(b.n, 1)
    variance = part_a + part_b
    is_open = has_evidence & (variance < _TINY_VARIANCE)
    clear = has_evidence & ~is_open
    safe = np.where(clear, variance, 1.0)
    share_a, share_b = np.where(clear, part_a, 0.5) / safe, np.where(clear, part_b, 0.5) / safe
    df = 1 / (share_a * share_a / np.maximum(a.n - 1, 1) + share_b * share_b / np.maximum(b.n - 1, 1))
    se, lift = np.sqrt(safe), a.mean - b.mean
    price = _prices(a, b, policy)
    promote, doubtful = _exceeds((lift - policy.promote_margin) / se, df, price, clear, q=1 - policy.promote_confidence)
    evict, doubted = _exceeds((-policy.evict_margin - lift) / se, df, price, clear, q=1 - policy.evict_confidence)
    return promote, evict, is_open | doubtful | doubted


def _prices(a: _Group, b: _Group, policy: RetentionPolicy) -> Floats:
    if policy.sequential_control == "none":
        return np.ones_like(a.n)
    counted = b.n if policy.sequential_control == "doubling" else a.n + b.n
    brackets = np.frexp(np.maximum(counted, 2.0))[1] - 1
    by_bracket = [float(price_of_looking(bracket, policy)) for bracket in range(1, int(brackets.max()) + 1)]
    prices: Floats = np.array([1.0, *by_bracket])[brackets]
    return prices


def _exceeds(t: Floats, df: Floats, price: Floats, clear: Flags, *, q: float) -> tuple[Flags, Flags]:
    """Where the tail beyond `t` is at most q / price, and where that cannot be told here."""
    least = np.zeros_like(t)
    for one in np.unique(price):
        least[price == one] = least_normal(q / one)
    likely = clear & (t >= least - 1e-6)
    doubtful = likely & (t <= 1e-6)
    likely &= ~doubtful
    found = np.zeros_like(likely)
    spent = student_upper_tail(t[likely], df[likely]) * price[likely]
    found[likely] = spent <= q
    # A probability near 1 is known to its sixteenth digit only, and what is left of 1 is then multiplied.
    doubtful[likely] = np.abs(spent - q) <= 1e-7 * q + 1e-14 * price[likely]
    return found, doubtful


def _anytime_tests(a: _Group, b: _Group, has_evidence: Flags, policy: RetentionPolicy) -> tuple[Flags, Flags, Flags]:
    promote, doubtful = _bets(a, b, has_evidence, margin=policy.promote_margin, q=1 - policy.promote_confidence)
    evict, doubted = _bets(b, a, has_evidence, margin=policy.evict_margin, q=1 - policy.evict_confidence)
    return promote, evict, doubtful | doubted


def _bets(a: _Group, b: _Group, has_evidence: Flags, *, margin: float, q: float) -> tuple[Flags, Flags]:
    """Where the evidence that a exceeds b reaches 1 / q, and where that cannot be told here."""
    found, doubtful = np.zeros(has_evidence.size, dtype=bool), np.zeros(has_evidence.size, dtype=bool)
    least = -math.log(q)
    # At a point estimate within the margin there is a null under which neither bet has won anything.
    likely = np.flatnonzero(has_evidence & (a.mean - b.mean > margin - _ROUNDING))
    for bound in (most_log_evidence_of_lift, log_evidence_of_lift):
        scores = [part.ravel()[likely] for part in (a.n, a.mean, a.variance, b.n, b.mean, b.variance)]
        evidence = bound(*scores, margin=margin)
        likely, evidence = likely[evidence >= least - 1e-6], evidence[evidence >= least - 1e-6]
    found[likely] = evidence >= least
    doubtful[likely] = np.abs(evidence - least) <= 1e-6
    return found.reshape(has_evidence.shape), doubtful.reshape(has_evidence.shape)
