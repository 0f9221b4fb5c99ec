"""The retention gate, by worked examples, over both stores."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from remembrancer.ports import KeepsLedger
from remembrancer.records import RecordBatch, RetentionPolicy, RunOutcome
from remembrancer.retention import RetentionReport, Verdict, evaluate_retention
from remembrancer.testing import OpenStore
from remembrancer.testing.samples import day

AREA = "cycgraph/retention_gate"

_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


async def test_the_golden_gate(case: Any, golden: Any, open_store: OpenStore) -> None:
    fields = {name: _number(value) for name, value in golden.snake_case(case.input["policy"]).items()}
    if case.error:
        with pytest.raises(ValidationError):
            RetentionPolicy.model_validate(fields)
        return
    policy = RetentionPolicy.model_validate(fields)
    facts = [golden.record("facts", one) for one in case.input.get("facts") or _candidates(case.input)]
    store = await open_store()
    assert isinstance(store, KeepsLedger)
    await store.write(RecordBatch(facts=facts))
    await store.ledger.record_outcomes([RunOutcome.model_validate(outcome) for outcome in case.input["outcomes"]])
    reports = [await evaluate_retention(store, store.ledger, policy) for _ in range(case.input.get("passes", 1))]
    assert all(report.left_alone == () for report in reports)
    if case.fn == "evaluate_retention_many":
        assert _summary(reports[0]) == case.expected
        return
    after = await store.get_facts([fact.id for fact in facts])
    assert [_plain(report) for report in reports] == [_close_to(report) for report in case.expected["reports"]]
    marks = {fact.id: {"tags": list(fact.tags), "invalidated_by": fact.invalidated_by} for fact in after.values()}
    assert {
        fact_id: {name: value for name, value in fields.items() if value is not None}
        for fact_id, fields in marks.items()
    } == case.expected["facts_after"]


def _candidates(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Facts 1 to the number told, all on trial, each a day older than the one before."""
    return [
        {
            "id": f"f0000000-0000-4000-8000-{number:012x}",
            "content": f"fact {number}",
            "tags": ["candidate"],
            "valid_from": day(-number),
        }
        for number in range(1, given.get("candidates", 0) + 1)
    ]


def _summary(report: RetentionReport) -> dict[str, Any]:
    return {
        "promoted": [verdict.fact_id for verdict in report.promoted],
        "evicted": [verdict.fact_id for verdict in report.evicted],
        "held_count": len(report.held),
        "last_held": _held(report.held[-1]),
    }


def _plain(report: RetentionReport) -> dict[str, list[dict[str, Any]]]:
    return {
        "promoted": [{"factId": verdict.fact_id, **_evidence(verdict)} for verdict in report.promoted],
        "evicted": [
            {"factId": verdict.fact_id, "reason": verdict.reason, **_evidence(verdict)} for verdict in report.evicted
        ],
        "held": [_held(verdict) for verdict in report.held],
    }


def _held(verdict: Verdict) -> dict[str, Any]:
    return {"factId": verdict.fact_id, "trials": verdict.trials, **_evidence(verdict)}


def _evidence(verdict: Verdict) -> dict[str, Any]:
    if verdict.evidence is None:
        return {}
    fields = dataclasses.asdict(verdict.evidence).items()
    return {"evidence": {_camel_case(name): value for name, value in fields if value is not None}}


def _camel_case(name: str) -> str:
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)


def _number(value: Any) -> Any:
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value


def _close_to(expected: Any) -> Any:
    """The answer with its fractions to be met within 1e-9, and probabilities within 1e-7."""
    if isinstance(expected, Mapping):
        return {
            name: pytest.approx(value, rel=1e-7, abs=1e-9) if name in ("pPromote", "pEvict") else _close_to(value)
            for name, value in expected.items()
        }
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        return [_close_to(value) for value in expected]
    expected = _number(expected)
    return pytest.approx(expected, rel=1e-9, abs=1e-12) if isinstance(expected, float) else expected
