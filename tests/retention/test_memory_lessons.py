"""Lessons through the facades: one turn from serving to the verdict, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from remembrancer import InvalidInputError, Memory, SyncMemory
from remembrancer.inmemory import InMemoryStore
from remembrancer.ports import Baseline, MemoryStore
from remembrancer.records import RecordBatch, RetentionPolicy
from remembrancer.testing.samples import fact, sample_id

FACTS = RecordBatch(facts=[fact(1, tags=["lesson", "candidate"]), fact(2, tags=["lesson", "candidate"])])


async def test_lessons_are_served_scored_and_judged() -> None:
    async with Memory.in_memory() as memory:
        await memory.store.write(FACTS)
        for turn in range(8):
            served = await memory.lessons(["lesson"], candidate_slots=turn % 2)
            recorded = await memory.record_outcome(
                f"run {turn}", 0.9 if len(served) else 0.4, fact_ids=served.fact_ids, holdout=served.holdout
            )
            assert (recorded.replaced, recorded.unstored) == (False, ())
        report = await memory.gate(dry_run=True)
        assert [verdict.fact_id for verdict in report.promoted] == [sample_id("fact", 1)]
        assert await memory.gate_decisions() == []
        report = await memory.gate(RetentionPolicy(min_trials=3))
        assert [verdict.trials for verdict in report.promoted] == [4]
        assert [entry.fact_id for entry in await memory.gate_decisions(verdict="promoted")] == [sample_id("fact", 1)]


def test_the_blocking_twin_does_the_same() -> None:
    with SyncMemory.in_memory() as memory:
        memory.run(memory.store.write, FACTS)
        served = memory.lessons(["lesson"], holdout=0.5, rng=lambda: 0.4)
        assert (len(served), len(served.withheld)) == (0, 2)
        assert not memory.record_outcome("run", 1, fact_ids=served.fact_ids, holdout=served.holdout).replaced
        assert len(memory.gate().held) == 2
        assert len(memory.gate_decisions(limit=1)) == 1
        assert memory.ledger is not None


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("run_id", ""),
        ("run_id", 3),
        ("run_id", "x" * 1001),
        ("score", -0.01),
        ("score", 1.01),
        ("score", math.nan),
        ("score", math.inf),
        ("score", "high"),
        ("score", None),
        ("fact_ids", [1]),
        ("fact_ids", "abc"),
        ("fact_ids", None),
        ("holdout", {"a": 0.0}),
        ("holdout", {"a": 1.0}),
        ("holdout", {"a": math.nan}),
    ],
)
async def test_a_wrong_outcome_is_refused_and_nothing_recorded(field: str, wrong: Any) -> None:
    async with Memory.in_memory() as memory:
        given = {"run_id": "run", "score": 0.5, "fact_ids": ["a"], "holdout": {}, field: wrong}
        run_id, score = given.pop("run_id"), given.pop("score")
        with pytest.raises(InvalidInputError) as refused:
            await memory.record_outcome(run_id, score, **given)
        assert refused.value.field.split(".")[0] == field
        assert memory.ledger is not None
        assert await memory.ledger.get_baseline() == Baseline(0, 0.0)


async def test_a_store_that_keeps_no_ledger_serves_lessons_and_says_so_when_they_are_to_be_judged() -> None:
    class Bare:
        """A store whose ledger nobody sees."""

        def __init__(self, store: MemoryStore) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            if name == "ledger":
                raise AttributeError(name)
            return getattr(self._store, name)

    store = InMemoryStore()
    await store.write(FACTS)
    memory = Memory(Bare(store), store.index)  # type: ignore[arg-type]
    assert len(await memory.lessons(["lesson"])) == 2
    for call in (memory.gate(), memory.gate_decisions(), memory.record_outcome("r", 1, fact_ids=[])):
        with pytest.raises(InvalidInputError, match=r"^ledger: "):
            await call
    with_ledger = Memory(Bare(store), store.index, ledger=store.ledger)  # type: ignore[arg-type]
    assert len((await with_ledger.gate()).held) == 2
