"""The simulator of the retention gate, by worked examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from remembrancer.records import InvalidInputError, RetentionPolicy
from remembrancer.retention import LessonServing, Simulation, gate_operating_characteristics, simulate_gate
from remembrancer.retention.decision import Evidence

AREA = "cycgraph/gate_simulator"

EVIDENCE = {
    "lift": "lift",
    "se": "se",
    "df": "df",
    "p_promote": "pPromote",
    "p_evict": "pEvict",
    "trials": "trials",
    "baseline_runs": "baselineRuns",
    "alpha_bracket": "alphaBracket",
}
RATES = ("promote", "evict", "harmfulEvict", "noLift", "held", "falsePromote", "falseEvict")


def snake_case(options: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name): value for name, value in options.items()}


def read(given: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration under the names that it has in Python."""
    options = snake_case(given)
    if "retrieval" in options:
        options["retrieval"] = LessonServing(**snake_case(options["retrieval"]))
    if "policy" in options:
        options["policy"] = RetentionPolicy(**snake_case(options["policy"]))
    if "lessons" in options:
        options["lessons"] = [snake_case(lesson) for lesson in options["lessons"]]
    return options


def evidence(found: Evidence | None) -> dict[str, Any]:
    if found is None:
        return {}
    told = {name: getattr(found, field) for field, name in EVIDENCE.items()}
    return {"evidence": {name: value for name, value in told.items() if value is not None}}


def reports(simulation: Simulation) -> list[dict[str, Any]]:
    return [
        {
            "afterRun": one.after_run,
            "report": {
                "promoted": [{"factId": it.fact_id, **evidence(it.evidence)} for it in one.report.promoted],
                "evicted": [
                    {"factId": it.fact_id, "reason": it.reason, **evidence(it.evidence)} for it in one.report.evicted
                ],
                "held": [
                    {"factId": it.fact_id, "trials": it.trials, **evidence(it.evidence)} for it in one.report.held
                ],
            },
        }
        for one in simulation.gate_reports
    ]


def summary(simulation: Simulation) -> list[list[Any]]:
    return [
        [
            one.after_run,
            [it.fact_id for it in one.report.promoted],
            [[it.fact_id, it.reason] for it in one.report.evicted],
            len(one.report.held),
        ]
        for one in simulation.gate_reports
    ]


def lessons(simulation: Simulation) -> list[dict[str, Any]]:
    return [
        {
            "id": one.lesson.id,
            "trueEffect": one.lesson.true_effect,
            "outcome": one.outcome,
            **({"reason": one.reason} if one.reason is not None else {}),
            **({"decidedAtRun": one.decided_at_run} if one.decided_at_run is not None else {}),
        }
        for one in simulation.lessons
    ]


def numbers(value: Any) -> Any:
    """The value with the numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {name: numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [numbers(one) for one in value]
    return float(value.replace("Infinity", "inf")) if value in ("Infinity", "-Infinity", "NaN") else value


def equal(found: Any, expected: Any, *, tolerance: float) -> bool:
    if isinstance(expected, Mapping):
        return found.keys() == expected.keys() and all(
            equal(found[name], value, tolerance=tolerance) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            equal(one, other, tolerance=tolerance) for one, other in zip(found, expected, strict=True)
        )
    if isinstance(expected, float) or isinstance(found, float):
        return bool(found == pytest.approx(expected, rel=tolerance, abs=tolerance))
    return bool(found == expected)


async def check_simulation(case: Any) -> None:
    simulation = await simulate_gate(**read(case.input))
    expected = numbers(case.expected)
    assert lessons(simulation) == expected["lessons"]
    assert equal(list(simulation.run_scores), expected["runScores"], tolerance=1e-9)
    if "gateReports" in expected:
        assert equal(reports(simulation), expected["gateReports"], tolerance=1e-9)
    else:
        assert summary(simulation) == expected["gate_summary"]


async def check_characteristics(case: Any) -> None:
    for engine in ("stepwise", "vectorised"):
        rows = await gate_operating_characteristics(**read(case.input), engine=engine)
        told = [
            {
                "effect": row.effect,
                "runs": row.runs,
                "noiseSd": row.noise_sd,
                "replicates": row.replicates,
                **{f"{rate}Rate": getattr(row, next(iter(snake_case({rate: 0}))) + "_rate") for rate in RATES},
                "meanDecisionRun": row.mean_decision_run,
            }
            for row in rows
        ]
        assert equal(told, case.expected, tolerance=1e-12)


async def test_the_answer_is_the_worked_one(case: Any) -> None:
    check = check_simulation if case.fn == "simulate_gate" else check_characteristics
    if case.error:
        with pytest.raises(InvalidInputError):
            await check(case)
        return
    await check(case)
