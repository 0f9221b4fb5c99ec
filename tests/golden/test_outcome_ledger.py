"""Statistics of the outcome ledger, by worked examples, over both stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from remembrancer.ports import Baseline, FactStats, KeepsLedger, OutcomeLedger
from remembrancer.records import RunOutcome
from remembrancer.testing import OpenStore

AREA = "cycgraph/outcome_ledger"


async def test_the_golden_ledger(case: Any, open_store: OpenStore) -> None:
    store = await open_store()
    assert isinstance(store, KeepsLedger)
    if case.error:
        with pytest.raises(ValidationError):
            await record(store.ledger, case.input["outcomes"])
        assert await store.ledger.get_baseline() == Baseline(0, 0.0)
        return
    await record(store.ledger, case.input["outcomes"])
    assert await answers(store.ledger, case.input["queries"]) == close_to(case.expected)


async def record(ledger: OutcomeLedger, outcomes: list[dict[str, Any]]) -> None:
    for outcome in outcomes:
        await ledger.record_outcome(RunOutcome.model_validate(outcome))


async def answers(ledger: OutcomeLedger, queries: list[str]) -> dict[str, Any]:
    batch = await ledger.get_fact_stats_batch(queries)
    at_once = await ledger.get_baselines(queries)
    assert at_once == {one: await ledger.get_baseline(exclude=one) for one in queries}
    return {
        "fact_stats": {one: of_fact(await ledger.get_fact_stats(one)) for one in queries},
        "batch": {one: of_fact(stats) for one, stats in batch.items()},
        "list": [of_fact(stats) for stats in await ledger.list_fact_stats()],
        "baseline": of_runs(await ledger.get_baseline()),
        "baseline_without": {one: of_runs(baseline) for one, baseline in at_once.items()},
    }


def of_fact(stats: FactStats | None) -> dict[str, Any] | None:
    if stats is None:
        return None
    return {"factId": stats.fact_id, "trials": stats.trials, **moments(stats)}


def of_runs(baseline: Baseline) -> dict[str, Any]:
    return {"runs": baseline.runs, **moments(baseline)}


def moments(scores: FactStats | Baseline) -> dict[str, float]:
    spread = {} if scores.variance is None else {"variance": scores.variance}
    return {"meanScore": scores.mean_score, **spread}


def close_to(expected: Any) -> Any:
    """The answer with its fractions to be met within 1e-9."""
    if isinstance(expected, Mapping):
        return {name: close_to(value) for name, value in expected.items()}
    if isinstance(expected, list):
        return [close_to(value) for value in expected]
    return pytest.approx(expected, rel=1e-9, abs=1e-12) if isinstance(expected, float) else expected
