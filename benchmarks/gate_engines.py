"""How much faster the vectorised engine of the gate's simulator is than the one that plays step by step.

Both work out the same grid, 5 effects x 3 run counts x 20 replicates, in this process, alternating; the rows must be
equal. Seconds are those that the processor spent: `python benchmarks/gate_engines.py`.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import Any

from remembrancer.records import RetentionPolicy
from remembrancer.retention import (
    Engine,
    LessonServing,
    OperatingCharacteristics,
    gate_operating_characteristics,
)

GRID: dict[str, Any] = {"effects": [-0.3, -0.1, 0.0, 0.1, 0.3], "run_counts": [25, 50, 100], "replicates": 20}
POLICIES: dict[str, tuple[LessonServing, RetentionPolicy]] = {
    "default rule, rest after 5 trials": (LessonServing(rest_after_trials=5), RetentionPolicy()),
    "default rule, holdout 0.5": (LessonServing(holdout=0.5), RetentionPolicy(baseline="holdout")),
    "margin rule, rest after 5 trials": (
        LessonServing(rest_after_trials=5),
        RetentionPolicy(decision_rule="margin"),
    ),
    "anytime rule, holdout 0.5": (
        LessonServing(holdout=0.5),
        RetentionPolicy(baseline="holdout", decision_rule="anytime"),
    ),
}
ROUNDS = 3


async def timed(
    engine: Engine, retrieval: LessonServing, policy: RetentionPolicy
) -> tuple[float, Sequence[OperatingCharacteristics]]:
    started = time.process_time()
    rows = await gate_operating_characteristics(**GRID, retrieval=retrieval, policy=policy, engine=engine)
    return time.process_time() - started, rows


async def main() -> None:
    await timed("vectorised", *POLICIES["anytime rule, holdout 0.5"])  # loads what it needs
    print(f"{'policy':36} {'stepwise':>10} {'vectorised':>11} {'ratio':>7}")
    for name, (retrieval, policy) in POLICIES.items():
        slow, fast = [], []
        for _ in range(ROUNDS):
            seconds, rows = await timed("stepwise", retrieval, policy)
            slow.append(seconds)
            seconds, same = await timed("vectorised", retrieval, policy)
            fast.append(seconds)
            assert same == rows, name
        step, vector = statistics.median(slow), statistics.median(fast)
        print(f"{name:36} {step:8.2f} s {vector * 1000:8.0f} ms {step / vector:6.0f}x")


if __name__ == "__main__":
    asyncio.run(main())
