"""Gated lesson retrieval, by worked examples, over both stores."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.ports import KeepsLedger
from remembrancer.records import Fact, InvalidInputError, RecordBatch, RunOutcome
from remembrancer.retention import retrieve_gated_lessons
from remembrancer.testing import FixedClock, OpenStore

AREA = "cycgraph/gated_lessons"

CLOCK = FixedClock("2026-03-01T12:00:00.000Z")


async def test_the_golden_lessons(case: Any, golden: Any, open_store: OpenStore) -> None:
    given = case.input
    store = await open_store(clock=CLOCK)
    assert isinstance(store, KeepsLedger)
    before = [golden.record("facts", fields) for fields in given["facts"]]
    await store.write(RecordBatch(facts=before))
    options = golden.snake_case(given["options"])
    if given["outcomes"] is not None:
        await store.ledger.record_outcomes([RunOutcome.model_validate(outcome) for outcome in given["outcomes"]])
        options["ledger"] = store.ledger
    if case.error:
        with pytest.raises(InvalidInputError):
            await retrieve_gated_lessons(store, **options)
        return
    lessons = await retrieve_gated_lessons(store, **options)
    await store.flush_usage()
    after = await store.get_facts([fact.id for fact in before])
    touched = [usage(after[fact.id]) for fact in before if usage(after[fact.id]) != usage(fact)]
    assert {"ids": list(lessons.fact_ids), "touched": touched} == case.expected


def usage(fact: Fact) -> list[Any]:
    at = fact.last_accessed_at
    used = at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
    return [fact.id, fact.access_count, used]
