"""How often each rule is wrong, and right, when a run can only pass or fail, and the gate looks after every run.

The simulator's noise is normal; here a run passes with a probability, and gets the lesson by the toss of a coin:
`python benchmarks/gate_pass_or_fail.py`.
"""

from __future__ import annotations

import random

from remembrancer.ports.ledger import Baseline, FactStats
from remembrancer.records import RetentionPolicy
from remembrancer.retention import CandidateScores, decide

RULES = {
    "doubling": RetentionPolicy(),
    "looks": RetentionPolicy(sequential_control="looks"),
    "anytime": RetentionPolicy(decision_rule="anytime"),
}
PASS_RATES = [(0.6, 0.6), (0.6, 0.65), (0.9, 0.9), (0.6, 0.9)]
LIVES, RUNS = 500, 100


def outcome(without: float, with_lesson: float, policy: RetentionPolicy, rng: random.Random) -> str:
    served: list[float] = []
    others: list[float] = []
    for _ in range(RUNS):
        group, rate = (served, with_lesson) if rng.random() < 0.5 else (others, without)
        group.append(float(rng.random() < rate))
        if served:
            candidate = CandidateScores("lesson", FactStats.of("lesson", served), Baseline.of(others))
            (verdict,) = decide([candidate], policy)
            if verdict.decision != "held":
                return verdict.decision
    return "held"


def main() -> None:
    print(f"{'pass rate without':>18} {'with':>6} {'rule':>9} {'promoted':>9} {'evicted':>8}")
    for without, with_lesson in PASS_RATES:
        for name, policy in RULES.items():
            rng = random.Random(5)
            found = [outcome(without, with_lesson, policy, rng) for _ in range(LIVES)]
            shares = [f"{100 * found.count(kind) / LIVES:.1f} %" for kind in ("promoted", "evicted")]
            print(f"{without:18} {with_lesson:6} {name:>9} {shares[0]:>9} {shares[1]:>8}", flush=True)


if __name__ == "__main__":
    main()
