"""How often a policy decides, and how often it is wrong: the gate's operating characteristics over a grid.

Two engines give the same rows. `stepwise` plays every run through the library's own store, ledger, retrieval and gate.
`vectorised` works out many lives at once; it is the one for large grids.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from remembrancer.ports.arguments import whole_number
from remembrancer.records import InvalidInputError, RetentionPolicy
from remembrancer.retention.decision import HARMFUL, NO_LIFT
from remembrancer.retention.scenario import (
    LARGEST_SEED,
    FirstDecision,
    LessonServing,
    Scenario,
    checked_number,
    checked_request,
)
from remembrancer.retention.simulator import first_decision

Engine: TypeAlias = Literal["stepwise", "vectorised"]

MAX_REPLICATES = 999
"""The most lives a cell of the grid may have in one call: their seeds are the cell's number times 1,000 apart."""

_CHUNK = {"stepwise": 20, "vectorised": 256}
"""Lives handed to an engine at once; progress is told after each of these."""


@dataclass(frozen=True)
class OperatingCharacteristics:
    """One cell of a grid: what became of lessons with the same true effect; rates are 0 to 1.

    Attributes:
        effect: True effect of the lesson.
        runs: Runs that each life had.
        noise_sd: Standard deviation of the noise in scores.
        replicates: How many lives.
        promote_rate: Share that was promoted.
        evict_rate: Share that was evicted.
        harmful_evict_rate: Of which as harmful.
        no_lift_rate: Of which for want of a lift.
        held_rate: Share without a decision.
        false_promote_rate: Promoted although the effect is 0 or less.
        false_evict_rate: Evicted as harmful although the effect is 0 or more.
        mean_decision_run: After which run it was decided, in the mean; `None` when nothing was.
    """

    effect: float
    runs: int
    noise_sd: float
    replicates: int
    promote_rate: float
    evict_rate: float
    harmful_evict_rate: float
    no_lift_rate: float
    held_rate: float
    false_promote_rate: float
    false_evict_rate: float
    mean_decision_run: float | None

    @property
    def detection_rate(self) -> float:
        """Share whose effect was found: promoted when it helps, evicted as harmful when it harms.

        Of lessons without effect, the share that was decided falsely, either way.
        """
        if self.effect == 0:
            return self.false_promote_rate + self.false_evict_rate
        return self.promote_rate if self.effect > 0 else self.harmful_evict_rate

    @classmethod
    def of(cls, scenario: Scenario, decisions: Sequence[FirstDecision]) -> OperatingCharacteristics:
        """What the first decisions in at least one life come to."""
        lives = len(decisions)
        runs = [found.decided_at_run for found in decisions if found.decided_at_run is not None]

        def share(counts: Callable[[FirstDecision], bool]) -> float:
            return sum(map(counts, decisions)) / lives

        promoted = share(lambda found: found.outcome == "promoted")
        harmful = share(lambda found: found.reason == HARMFUL)
        return cls(
            effect=scenario.effect,
            runs=scenario.runs,
            noise_sd=scenario.noise_sd,
            replicates=lives,
            promote_rate=promoted,
            evict_rate=share(lambda found: found.outcome == "evicted"),
            harmful_evict_rate=harmful,
            no_lift_rate=share(lambda found: found.reason == NO_LIFT),
            held_rate=share(lambda found: found.outcome == "held"),
            false_promote_rate=promoted if scenario.effect <= 0 else 0.0,
            false_evict_rate=harmful if scenario.effect >= 0 else 0.0,
            mean_decision_run=sum(runs) / len(runs) if runs else None,
        )


async def gate_operating_characteristics(
    effects: Iterable[float],
    run_counts: Iterable[int],
    *,
    noise_sds: Iterable[float] = (0.1,),
    replicates: int = 20,
    seed: int = 1,
    base_score: float = 0.6,
    retrieval: LessonServing | None = None,
    policy: RetentionPolicy | None = None,
    gate_every: int = 1,
    engine: Engine = "stepwise",
    workers: int | None = 1,
    progress: Callable[[int], None] | None = None,
) -> list[OperatingCharacteristics]:
    """Simulate many lives of one lesson for every noise, effect and number of runs, in this order.

    Args:
        effects: True effects of the lesson.
        run_counts: Numbers of runs.
        noise_sds: Standard deviations of the noise in scores.
        replicates: Lives a cell, 1 to 999. For more, pool calls of several seeds with `pooled`.
        seed: Integer; cell c, counted from 1, has the lives of seeds `seed * 10**6 + c * 10**3` and up.
        base_score: The mean score of a run without the lesson.
        retrieval: How the lesson is served. By default it is in every run, so that there is none to compare with: rest
            it (`rest_after_trials`) or withhold it now and then (`holdout`).
        policy: How the gate decides.
        gate_every: The gate runs after every so many runs.
        engine: `stepwise` or `vectorised`; the rows are the same.
        workers: Processes to share the work among; `None`: one a core. With more than one, a script has to keep its
            entry behind `if __name__ == "__main__"`.
        progress: Told the number of lives that are done, out of all cells' replicates.

    Raises:
        InvalidInputError: An argument is wrong; names it.
    """
    scenarios = _grid(effects, run_counts, noise_sds, base_score, retrieval, policy, gate_every)
    lives = whole_number(replicates, field="replicates", least=1, most=MAX_REPLICATES)
    first_seed = whole_number(seed, field="seed", least=-LARGEST_SEED, most=LARGEST_SEED) * 10**6
    if engine not in get_args(Engine):
        raise InvalidInputError("engine", f"expected one of {', '.join(get_args(Engine))}, got {engine!r}")
    processes = (os.cpu_count() or 1) if workers is None else whole_number(workers, field="workers", least=1)
    pieces = [
        _Piece(cell, scenario, engine, range(start, min(start + _CHUNK[engine], first_seed + cell * 10**3 + lives)))
        for cell, scenario in enumerate(scenarios, start=1)
        for start in range(first_seed + cell * 10**3, first_seed + cell * 10**3 + lives, _CHUNK[engine])
    ]
    # Pieces end in any order, but no rate depends on the order of lives.
    by_cell: dict[int, list[FirstDecision]] = {cell: [] for cell in range(1, len(scenarios) + 1)}
    async for piece, decisions in _played(pieces, min(processes, len(pieces))):
        by_cell[piece.cell] += decisions
        if progress is not None:
            progress(sum(map(len, by_cell.values())))
    return [OperatingCharacteristics.of(scenario, by_cell[cell]) for cell, scenario in enumerate(scenarios, start=1)]


def pooled(parts: Sequence[Sequence[OperatingCharacteristics]]) -> list[OperatingCharacteristics]:
    """The rows of several calls with the same grid and different seeds as those of one, of all lives together.

    Raises:
        InvalidInputError: The grids differ.
    """
    if not parts:
        return []
    grids = {tuple((row.effect, row.runs, row.noise_sd) for row in part) for part in parts}
    if len(grids) > 1:
        raise InvalidInputError("parts", "rows of different grids have no rates in common")
    return [_pooled(rows) for rows in zip(*parts, strict=True)]


_RATES = (
    "promote_rate",
    "evict_rate",
    "harmful_evict_rate",
    "no_lift_rate",
    "held_rate",
    "false_promote_rate",
    "false_evict_rate",
)


def _pooled(rows: Sequence[OperatingCharacteristics]) -> OperatingCharacteristics:
    lives = sum(row.replicates for row in rows)
    decided = [round(row.replicates * (1 - row.held_rate)) for row in rows]
    runs = sum((row.mean_decision_run or 0.0) * count for row, count in zip(rows, decided, strict=True))
    rates = {name: sum(getattr(row, name) * row.replicates for row in rows) / lives for name in _RATES}
    return OperatingCharacteristics(
        effect=rows[0].effect,
        runs=rows[0].runs,
        noise_sd=rows[0].noise_sd,
        replicates=lives,
        mean_decision_run=runs / sum(decided) if any(decided) else None,
        **rates,
    )


@dataclass(frozen=True)
class _Piece:
    """Some lives of a cell."""

    cell: int
    scenario: Scenario
    engine: Engine
    seeds: range

    def play(self) -> list[FirstDecision]:
        if self.engine == "stepwise":
            return asyncio.run(self.play_stepwise())
        from remembrancer.retention.fast_engine import first_decisions  # which loads numpy

        return first_decisions(self.scenario, self.seeds)

    async def play_stepwise(self) -> list[FirstDecision]:
        return [await first_decision(self.scenario, seed) for seed in self.seeds]


async def _played(pieces: Sequence[_Piece], processes: int) -> AsyncIterator[tuple[_Piece, list[FirstDecision]]]:
    if processes <= 1:
        for piece in pieces:
            if piece.engine == "stepwise":
                yield piece, await piece.play_stepwise()
            else:
                yield piece, await asyncio.to_thread(piece.play)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A fork would copy the locks of whatever threads there are, held or not.
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    try:
        running = {asyncio.wrap_future(pool.submit(piece.play)): piece for piece in pieces}
        while running:
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _grid(
    effects: Iterable[float],
    run_counts: Iterable[int],
    noise_sds: Iterable[float],
    base_score: float,
    retrieval: LessonServing | None,
    policy: RetentionPolicy | None,
    gate_every: int,
) -> list[Scenario]:
    sizes = [checked_number(one, field=f"effects.{place}") for place, one in enumerate(_listed(effects, "effects"))]
    counts = [
        whole_number(one, field=f"run_counts.{place}") for place, one in enumerate(_listed(run_counts, "run_counts"))
    ]
    noises = [
        checked_number(one, field=f"noise_sds.{place}", least=0)
        for place, one in enumerate(_listed(noise_sds, "noise_sds"))
    ]
    base = checked_number(base_score, field="base_score")
    serving = checked_request(retrieval, LessonServing, field="retrieval")
    chosen = checked_request(policy, RetentionPolicy, field="policy")
    every = whole_number(gate_every, field="gate_every", least=1)
    return [
        Scenario(effect, runs, noise, base, serving, chosen, every)
        for noise in noises
        for effect in sizes
        for runs in counts
    ]


def _listed(values: object, field: str) -> list[object]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(field, f"expected a list of numbers, got {type(values).__name__}")
    return list(values)
