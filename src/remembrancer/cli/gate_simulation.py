"""`gate simulate` and `gate oc`: what a policy does to lessons whose true effect is known. Neither needs a server."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from remembrancer.cli.command import as_command
from remembrancer.cli.exit_code import EXPLAINED
from remembrancer.cli.gating import gate_commands
from remembrancer.cli.output import Output
from remembrancer.cli.policy import PolicyOptions
from remembrancer.cli.standard_streams import named_file
from remembrancer.cli.stopping import broken_off_by_a_signal
from remembrancer.records import InvalidInputError, RetentionPolicy
from remembrancer.records.base import build
from remembrancer.retention import (
    MAX_REPLICATES,
    LessonServing,
    OperatingCharacteristics,
    SimulatedLesson,
    Simulation,
    gate_operating_characteristics,
    pooled,
    simulate_gate,
)
from remembrancer.retention.chart import checked_chart_path, draw_detection_rates

__all__ = ["gate_commands"]  # with the two of this module

_SERVING = "How lessons are served"
_SCORING = "How runs are scored"
_EFFECTS = [-0.3, -0.1, 0.0, 0.1, 0.3]
_RUNS = [25, 50, 100, 200]
_NOISES = [0.1]


class EngineName(StrEnum):
    """What `--engine` takes."""

    VECTORISED = "vectorised"
    STEPWISE = "stepwise"


@dataclass(frozen=True)
class ServingOptions:
    """How lessons are served in a simulation."""

    max_facts: Annotated[
        int, typer.Option("--max-facts", help="The most lessons a run gets.", rich_help_panel=_SERVING)
    ] = 10
    candidate_slots: Annotated[
        int,
        typer.Option("--candidate-slots", help="The most of them that are on trial.", rich_help_panel=_SERVING),
    ] = 2
    rest_after_trials: Annotated[
        int | None,
        typer.Option(
            "--rest-after-trials",
            help="A candidate with so many trials rests, so that there are runs without it.",
            rich_help_panel=_SERVING,
        ),
    ] = None
    holdout: Annotated[
        float,
        typer.Option(
            "--holdout", help="Withhold a candidate from a run with this probability.", rich_help_panel=_SERVING
        ),
    ] = 0.0

    def serving(self) -> LessonServing:
        """The options as the simulator takes them.

        Raises:
            InvalidInputError: One is out of range; names it.
        """
        with _named_as_options():
            return build(LessonServing, **dataclasses.asdict(self))


BaseScoreOption = Annotated[
    float, typer.Option("--base-score", help="Mean score of a run without lessons.", rich_help_panel=_SCORING)
]
GateEveryOption = Annotated[int, typer.Option("--gate-every", help="The gate runs after every so many runs.")]
SeedOption = Annotated[int, typer.Option("--seed", help="The same seed gives the same simulation.")]


@dataclass(frozen=True)
class GridOptions:
    """What is simulated, and how."""

    effect: Annotated[
        list[float] | None,
        typer.Option("--effect", help="A true effect; may be given again. By default -0.3, -0.1, 0, 0.1 and 0.3."),
    ] = None
    runs: Annotated[
        list[int] | None,
        typer.Option("--runs", help="A number of runs; may be given again. By default 25, 50, 100 and 200."),
    ] = None
    noise_sd: Annotated[
        list[float] | None,
        typer.Option(
            "--noise-sd",
            help="How far scores of equal runs lie apart; may be given again. By default 0.1.",
            rich_help_panel=_SCORING,
        ),
    ] = None
    replicates: Annotated[
        int,
        typer.Option("--replicates", help="Lives of each lesson. Beyond 999 they come from further seeds, pooled."),
    ] = 200
    seed: SeedOption = 1
    base_score: BaseScoreOption = 0.6
    gate_every: GateEveryOption = 1
    engine: Annotated[
        EngineName,
        typer.Option("--engine", metavar="NAME", help="vectorised, or stepwise: the same rows, far slower."),
    ] = EngineName.VECTORISED
    workers: Annotated[int, typer.Option("--workers", help="Processes to share the work among; 0: one a core.")] = 1

    async def rows(
        self, output: Output, *, retrieval: LessonServing, policy: RetentionPolicy
    ) -> list[OperatingCharacteristics]:
        """Simulate all of it.

        Raises:
            InvalidInputError: An option is out of range; names it.
        """
        if self.replicates < 1:
            raise InvalidInputError("--replicates", f"must be at least 1, got {self.replicates:,}")
        effects, run_counts, noise_sds = self.effect or _EFFECTS, self.runs or _RUNS, self.noise_sd or _NOISES
        cells = len(effects) * len(run_counts) * len(noise_sds)
        parts: list[list[OperatingCharacteristics]] = []
        with _named_as_options(), output.counting("Simulating", total=cells * self.replicates) as progress:
            for number, start in enumerate(range(0, self.replicates, MAX_REPLICATES)):
                part = await gate_operating_characteristics(
                    effects,
                    run_counts,
                    noise_sds=noise_sds,
                    replicates=min(MAX_REPLICATES, self.replicates - start),
                    seed=self.seed + number,
                    base_score=self.base_score,
                    retrieval=retrieval,
                    policy=policy,
                    gate_every=self.gate_every,
                    engine=self.engine.value,
                    workers=self.workers or None,
                    progress=lambda done, before=cells * start: progress(before + done),  # type: ignore[misc]
                )
                parts.append(part)
        return pooled(parts)


async def simulate(
    output: Output,
    serving: ServingOptions,
    options: PolicyOptions,
    lesson: Annotated[
        list[str],
        typer.Option(
            "--lesson",
            metavar="ID=EFFECT[@RUN]",
            help="A lesson, what it truly adds to the score, and the run before which it comes; may be given again.",
        ),
    ],
    runs: Annotated[int, typer.Option("--runs", help="How many runs to play.")] = 60,
    seed: SeedOption = 1,
    noise_sd: Annotated[
        float,
        typer.Option("--noise-sd", help="How far scores of equal runs lie apart.", rich_help_panel=_SCORING),
    ] = 0.1,
    base_score: BaseScoreOption = 0.6,
    gate_every: GateEveryOption = 1,
    record_empty_runs: Annotated[
        bool, typer.Option(help="Record runs that got no lesson, to have some to compare with.")
    ] = True,
) -> None:
    """Play runs with lessons of known effect through a memory in memory, and see what the gate makes of them."""
    served, policy = serving.serving(), options.policy()
    with _named_as_options():
        simulation = await simulate_gate(
            [_lesson(text) for text in lesson],
            runs=runs,
            seed=seed,
            base_score=base_score,
            noise_sd=noise_sd,
            retrieval=served,
            policy=policy,
            gate_every=gate_every,
            record_empty_runs=record_empty_runs,
        )
    output.document(_simulation_document(simulation, policy, served))
    columns = ("lesson", "true effect", "arrives at run", "verdict", "reason", "decided after run")
    rows = [
        [
            one.lesson.id,
            _effect(one.lesson.true_effect),
            str(one.lesson.arrives_at_run),
            one.outcome,
            one.reason or "",
            "" if one.decided_at_run is None else str(one.decided_at_run),
        ]
        for one in simulation.lessons
    ]
    output.table(*columns, rows=rows, numbers=[columns[1], columns[2], columns[5]])


async def oc(
    output: Output,
    grid: GridOptions,
    serving: ServingOptions,
    options: PolicyOptions,
    chart: Annotated[
        Path | None,
        typer.Option(
            "--chart",
            metavar="FILE",
            parser=named_file,
            help="Draw how many effects are found; a file .svg or .png.",
        ),
    ] = None,
) -> None:
    """Tell how often a policy decides, how soon, and how often falsely, over many simulated lives of one lesson."""
    if chart is not None:
        with _named_as_options():
            checked_chart_path(chart)
    policy, retrieval = options.policy(), serving.serving()
    rows = await grid.rows(output, retrieval=retrieval, policy=policy)
    output.document(
        {
            "policy": policy.model_dump(),
            "retrieval": retrieval.model_dump(),
            "base_score": grid.base_score,
            "gate_every": grid.gate_every,
            "seed": grid.seed,
            "rows": [dataclasses.asdict(row) for row in rows],
        }
    )
    _tell(output, rows)
    if chart is not None:
        with _named_as_options():
            draw_detection_rates(rows, chart, title=_title(policy, retrieval))
        output.note(f"drawn: {chart}")


def _tell(output: Output, rows: list[OperatingCharacteristics]) -> None:
    columns = (
        "noise sd",
        "effect",
        "runs",
        "lives",
        "promoted",
        "harmful",
        "no lift",
        "held",
        "false",
        "decided after",
    )
    told = [
        [
            f"{row.noise_sd:g}",
            _effect(row.effect),
            str(row.runs),
            str(row.replicates),
            *(
                _percent(rate)
                for rate in (
                    row.promote_rate,
                    row.harmful_evict_rate,
                    row.no_lift_rate,
                    row.held_rate,
                    row.false_promote_rate + row.false_evict_rate,
                )
            ),
            "" if row.mean_decision_run is None else f"{row.mean_decision_run:.1f}",
        ]
        for row in rows
    ]
    output.table(*columns, rows=told, numbers=columns)
    output.text("", "Shares in %. harmful and no lift are evictions; decided after: runs, in the mean.")


def _effect(effect: float) -> str:
    return f"{effect:+g}" if effect else "0"


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f}"


def _title(policy: RetentionPolicy, serving: LessonServing) -> str:
    is_inference = policy.decision_rule == "inference"
    rule = f"inference, {policy.sequential_control}" if is_inference else policy.decision_rule
    compared = f"holdout {serving.holdout:g}" if serving.holdout else f"rest after {serving.rest_after_trials} trials"
    return f"{rule}; {compared}"


def _simulation_document(simulation: Simulation, policy: RetentionPolicy, serving: LessonServing) -> dict[str, Any]:
    return {
        "policy": policy.model_dump(),
        "retrieval": serving.model_dump(),
        "lessons": [
            {
                **one.lesson.model_dump(),
                "outcome": one.outcome,
                "reason": one.reason,
                "decided_at_run": one.decided_at_run,
            }
            for one in simulation.lessons
        ],
        "run_scores": list(simulation.run_scores),
        "gate_reports": [
            {
                "after_run": one.after_run,
                "promoted": [verdict.fact_id for verdict in one.report.promoted],
                "evicted": [{"id": verdict.fact_id, "reason": verdict.reason} for verdict in one.report.evicted],
                "held": [{"id": verdict.fact_id, "trials": verdict.trials} for verdict in one.report.held],
            }
            for one in simulation.gate_reports
        ],
    }


def _lesson(text: str) -> SimulatedLesson:
    lesson_id, _, told = text.rpartition("=")
    effect, _, run = told.partition("@")
    try:
        return build(SimulatedLesson, id=lesson_id, true_effect=float(effect), arrives_at_run=int(run or 1))
    except InvalidInputError as error:
        raise InvalidInputError("--lesson", f"{text!r}: {error}") from error
    except ValueError as error:
        raise InvalidInputError("--lesson", f"expected ID=EFFECT or ID=EFFECT@RUN, got {text!r}") from error


_OPTION_OF = {
    "effects": "--effect",
    "run_counts": "--runs",
    "noise_sds": "--noise-sd",
    "lessons": "--lesson",
    "path": "--chart",
}


@contextmanager
def _named_as_options() -> Iterator[None]:
    """A block whose errors name the option that is wrong, not the argument that it became; a signal breaks it off."""
    try:
        with broken_off_by_a_signal():  # what is computed in memory waits for nothing
            yield
    except InvalidInputError as error:
        name = error.field.partition(".")[0]
        option = name if name.startswith("-") else _OPTION_OF.get(name, f"--{name.replace('_', '-')}")
        raise InvalidInputError(option, error.problem) from error


for _coroutine in (simulate, oc):
    gate_commands.command(_coroutine.__name__, epilog=EXPLAINED)(as_command(_coroutine))
