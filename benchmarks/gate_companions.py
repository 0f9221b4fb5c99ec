"""Who is blamed for the harm that a companion does: two lessons come together, and only one of them is harmful.

Plays 200 lives of 80 runs for each way to serve and to compare: `python benchmarks/gate_companions.py`.
"""

from __future__ import annotations

import asyncio

from remembrancer.records import RetentionPolicy
from remembrancer.retention import LessonServing, SimulatedLesson, simulate_gate

PAIR = [SimulatedLesson(id="harmless", true_effect=0.0), SimulatedLesson(id="harmful", true_effect=-0.3)]
APART = LessonServing(holdout=0.5)
WAYS: dict[str, tuple[LessonServing, RetentionPolicy]] = {
    "rest after 8 trials, all runs, inference": (LessonServing(rest_after_trials=8), RetentionPolicy()),
    "rest after 30 trials, all runs, anytime": (
        LessonServing(rest_after_trials=30),
        RetentionPolicy(decision_rule="anytime"),
    ),
    "holdout 0.5, holdout, inference": (APART, RetentionPolicy(baseline="holdout")),
    "holdout 0.5, holdout, inference, at least 10 trials": (
        APART,
        RetentionPolicy(baseline="holdout", min_trials=10),
    ),
    "holdout 0.5, holdout, anytime": (APART, RetentionPolicy(baseline="holdout", decision_rule="anytime")),
}
LIVES, RUNS = 200, 80


async def main() -> None:
    print(f"{'served, compared with, rule':52} {'harmless evicted':>17} {'harmful evicted':>16}")
    for name, (serving, policy) in WAYS.items():
        evicted = dict.fromkeys((lesson.id for lesson in PAIR), 0)
        for seed in range(1, LIVES + 1):
            life = await simulate_gate(PAIR, runs=RUNS, seed=seed, retrieval=serving, policy=policy)
            for one in life.lessons:
                evicted[one.lesson.id] += one.outcome == "evicted"
        shares = [f"{100 * count / LIVES:.1f} %" for count in evicted.values()]
        print(f"{name:52} {shares[0]:>17} {shares[1]:>16}")


if __name__ == "__main__":
    asyncio.run(main())
