"""Lessons with a known effect, played through the library's own store, ledger, lesson retrieval and gate.

All chance comes from streams of `mulberry32`, so a simulation is the same for a seed everywhere.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from remembrancer.inmemory import InMemoryStore
from remembrancer.ports.arguments import flag, whole_number
from remembrancer.records import (
    LESSON_TAG,
    Fact,
    InvalidInputError,
    Provenance,
    RecordBatch,
    RetentionPolicy,
    RunOutcome,
)
from remembrancer.records.base import translated
from remembrancer.retention.decision import Verdict
from remembrancer.retention.gate import RetentionReport, evaluate_retention
from remembrancer.retention.lessons import retrieve_gated_lessons
from remembrancer.retention.scenario import (
    LARGEST_SEED,
    FirstDecision,
    LessonServing,
    Scenario,
    SimulatedLesson,
    checked_number,
    checked_request,
    holdout_seed,
    simulated_score,
)
from remembrancer.retention.statistics import gaussian, mulberry32

SIMULATION_TAG = "gate-sim"
"""Every simulated lesson has it, and the lessons of a run are looked for by it."""

_START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class SimulatedOutcome:
    """What became of a lesson.

    Attributes:
        lesson: The lesson, with its true effect.
        outcome: Its first verdict other than held; `held` when there was none.
        reason: Why it was evicted.
        decided_at_run: After which run; `None` while held.
    """

    lesson: SimulatedLesson
    outcome: str
    reason: str | None
    decided_at_run: int | None


@dataclass(frozen=True)
class SimulatedPass:
    """What the gate reported after a run: facts go by the ids of their lessons, in the order in which these arrived."""

    after_run: int
    report: RetentionReport


@dataclass(frozen=True)
class Simulation:
    """A simulated life of some lessons.

    Attributes:
        lessons: What became of each, in the order given.
        run_scores: One a run.
        gate_reports: One a pass of the gate.
    """

    lessons: tuple[SimulatedOutcome, ...]
    run_scores: tuple[float, ...]
    gate_reports: tuple[SimulatedPass, ...]


async def simulate_gate(
    lessons: Iterable[SimulatedLesson | Mapping[str, Any]],
    *,
    runs: int,
    seed: int,
    base_score: float = 0.6,
    noise_sd: float = 0.1,
    retrieval: LessonServing | None = None,
    policy: RetentionPolicy | None = None,
    gate_every: int = 1,
    record_empty_runs: bool = True,
) -> Simulation:
    """Play runs with lessons of known effect, and see what the gate makes of them.

    Before a run the lessons that arrive then are stored, and the run is given lessons by `retrieve_gated_lessons`. Its
    score is the base score and the true effects of what it was given plus normal noise, cut to 0 to 1.

    Args:
        lessons: Lessons, or maps of their fields; each id once.
        runs: How many runs to play, 0 or more.
        seed: Any integer of at most 2**53 in size; the same seed gives the same simulation.
        base_score: The mean score of a run without lessons.
        noise_sd: Standard deviation of the noise, at least 0: how far scores of equal runs lie apart.
        retrieval: How lessons are served.
        policy: How the gate decides.
        gate_every: The gate runs after every so many runs, 1 or more.
        record_empty_runs: Whether runs without lessons are recorded, and so are there to compare with.

    Raises:
        InvalidInputError: An argument is wrong; names it, for example `lessons.0.arrives_at_run`.
    """
    world = _World(
        _checked_lessons(lessons),
        seed=whole_number(seed, field="seed", least=-LARGEST_SEED, most=LARGEST_SEED),
        base_score=checked_number(base_score, field="base_score"),
        noise_sd=checked_number(noise_sd, field="noise_sd", least=0),
        retrieval=checked_request(retrieval, LessonServing, field="retrieval"),
        policy=checked_request(policy, RetentionPolicy, field="policy"),
    )
    every = whole_number(gate_every, field="gate_every", least=1)
    keeps_empty = flag(record_empty_runs, field="record_empty_runs")
    for run in range(1, whole_number(runs, field="runs") + 1):
        await world.play(run, record_empty=keeps_empty)
        if run % every == 0:
            await world.judge(run)
    return world.simulation()


async def first_decision(scenario: Scenario, seed: int) -> FirstDecision:
    """The first decision on a lesson that is there from the first run on; the simulation ends with it."""
    world = _World(
        [SimulatedLesson(id="lesson", true_effect=scenario.effect)],
        seed=seed,
        base_score=scenario.base_score,
        noise_sd=scenario.noise_sd,
        retrieval=scenario.retrieval,
        policy=scenario.policy,
    )
    for run in range(1, scenario.runs + 1):
        await world.play(run, record_empty=True)
        if run % scenario.gate_every == 0:
            await world.judge(run)
            if world.decided:
                return world.decided["lesson"]
    return FirstDecision()


class _World:
    """The store and the ledger of one simulation, and the streams of chance."""

    def __init__(
        self,
        lessons: Sequence[SimulatedLesson],
        *,
        seed: int,
        base_score: float,
        noise_sd: float,
        retrieval: LessonServing,
        policy: RetentionPolicy,
    ) -> None:
        self._lessons = lessons
        self._base_score = base_score
        self._noise_sd = noise_sd
        self._retrieval = retrieval
        self._policy = policy
        self._draw = mulberry32(seed)
        self._withhold = mulberry32(holdout_seed(seed))
        self._store = InMemoryStore("simulation", clock=lambda: _START)
        self._fact_ids = _ordered_ids(lessons)
        self._lesson_of = {self._fact_ids[lesson.id]: lesson for lesson in lessons}
        self._by_arrival = [lesson.id for lesson in sorted(lessons, key=lambda lesson: lesson.arrives_at_run)]
        self._passes = 0
        self._scores: list[float] = []
        self._reports: list[SimulatedPass] = []
        self.decided: dict[str, FirstDecision] = {}

    async def play(self, run: int, *, record_empty: bool) -> None:
        """Store what arrives, serve lessons, score the run and record it."""
        arriving = [self._fact(lesson) for lesson in self._lessons if lesson.arrives_at_run == run]
        if arriving:
            await self._store.write(RecordBatch(facts=arriving))
        served = await retrieve_gated_lessons(
            self._store,
            tags=[SIMULATION_TAG],
            ledger=self._store.ledger,
            candidate_tag=self._policy.candidate_tag,
            rng=self._withhold,
            **self._retrieval.model_dump(),
        )
        effects = [self._lesson_of[fact_id].true_effect for fact_id in served.fact_ids]
        score = simulated_score(self._base_score, effects, gaussian(self._draw) * self._noise_sd)
        self._scores.append(score)
        if served.fact_ids or record_empty:
            outcome = RunOutcome(
                run_id=f"sim-run-{run}", score=score, fact_ids=served.fact_ids, holdout=dict(served.holdout)
            )
            await self._store.ledger.record_outcome(outcome)

    async def judge(self, run: int) -> None:
        """Run the gate; the first decision on a lesson counts."""
        report = await evaluate_retention(self._store, self._store.ledger, self._policy, new_id=self._new_id)
        told = self._told(report)
        self._reports.append(SimulatedPass(run, told))
        for verdict in (*told.promoted, *told.evicted):
            self.decided.setdefault(verdict.fact_id, FirstDecision(verdict.decision, verdict.reason, run))

    def simulation(self) -> Simulation:
        """All that happened."""
        found = [(lesson, self.decided.get(lesson.id, FirstDecision())) for lesson in self._lessons]
        return Simulation(
            tuple(SimulatedOutcome(lesson, one.outcome, one.reason, one.decided_at_run) for lesson, one in found),
            tuple(self._scores),
            tuple(self._reports),
        )

    def _fact(self, lesson: SimulatedLesson) -> Fact:
        return Fact(
            id=self._fact_ids[lesson.id],
            content=f"lesson {lesson.id}",
            provenance=Provenance(source="system", created_at=_START),
            valid_from=_START + dt.timedelta(seconds=lesson.arrives_at_run),
            tags=[LESSON_TAG, SIMULATION_TAG, self._policy.candidate_tag],
        )

    def _new_id(self) -> str:
        self._passes += 1
        return _numbered_id(self._passes)

    def _told(self, report: RetentionReport) -> RetentionReport:
        """The report with the ids of lessons in place of those of their facts, in the order in which they arrived."""

        def named(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
            found = {self._lesson_of[verdict.fact_id].id: verdict for verdict in verdicts}
            return tuple(
                dataclasses.replace(found[lesson_id], fact_id=lesson_id)
                for lesson_id in self._by_arrival
                if lesson_id in found
            )

        return dataclasses.replace(
            report, promoted=named(report.promoted), evicted=named(report.evicted), held=named(report.held)
        )


def _ordered_ids(lessons: Sequence[SimulatedLesson]) -> dict[str, str]:
    """A fact id for each lesson; in the order of the lessons' ids, since ids settle who goes first."""
    return {
        lesson_id: _numbered_id(place) for place, lesson_id in enumerate(sorted(one.id for one in lessons), start=1)
    }


def _numbered_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def _checked_lessons(lessons: object) -> list[SimulatedLesson]:
    if isinstance(lessons, str | bytes | Mapping) or not isinstance(lessons, Iterable):
        raise InvalidInputError("lessons", f"expected a list of lessons, got {type(lessons).__name__}")
    checked: list[SimulatedLesson] = []
    ids: set[str] = set()
    for place, given in enumerate(lessons):
        try:
            lesson = SimulatedLesson.model_validate(given)
        except ValidationError as error:
            raise translated(error, within=f"lessons.{place}") from error
        if lesson.id in ids:
            raise InvalidInputError(f"lessons.{place}.id", f"{lesson.id!r} is the id of an earlier lesson")
        ids.add(lesson.id)
        checked.append(lesson)
    return checked
