"""The gate, over both stores: what it writes, what it leaves alone, and what a holdout tells that plain runs do not."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import pytest

from remembrancer.inmemory import InMemoryStore
from remembrancer.ports import KeepsLedger, MemoryStore, OutcomeLedger, RunScores
from remembrancer.records import InvalidInputError, RecordBatch, RetentionPolicy, RunOutcome
from remembrancer.retention import evaluate_retention, lessons, retrieve_gated_lessons
from remembrancer.testing import OpenStore
from remembrancer.testing.samples import day, fact, sample_id

GOOD, BAD, NEW = (sample_id("fact", number) for number in (3, 2, 1))


async def filled(open_store: OpenStore) -> tuple[MemoryStore, OutcomeLedger]:
    """A good, a bad and a new lesson on trial."""
    store = await open_store()
    assert isinstance(store, KeepsLedger)
    facts = [fact(number, tags=["lesson", "candidate"], valid_from=day(number)) for number in (1, 2, 3)]
    await store.write(RecordBatch(facts=facts))
    scores: list[tuple[float, list[str]]] = [(0.95, [GOOD]), (0.1, [BAD]), (0.5, []), (0.52, []), (0.48, [])]
    await store.ledger.record_outcomes(
        [
            RunOutcome(run_id=f"run {turn}.{place}", score=score, fact_ids=ids)
            for turn in range(6)
            for place, (score, ids) in enumerate(scores)
        ]
    )
    return store, store.ledger


async def test_verdicts_are_applied_recorded_and_told_alike(open_store: OpenStore) -> None:
    store, ledger = await filled(open_store)
    report = await evaluate_retention(store, ledger)
    assert [verdict.fact_id for verdict in report.promoted] == [GOOD]
    assert [(verdict.fact_id, verdict.reason) for verdict in report.evicted] == [(BAD, "eval-gate:harmful")]
    assert [(verdict.fact_id, verdict.trials, verdict.evidence) for verdict in report.held] == [(NEW, 0, None)]
    assert report.left_alone == ()
    entries = await ledger.decisions()
    assert {entry.pass_id for entry in entries} == {report.pass_id}
    assert [(entry.fact_id, entry.verdict) for entry in entries] == [
        (GOOD, "promoted"),
        (BAD, "evicted"),
        (NEW, "held"),
    ]
    evidence = report.promoted[0].evidence
    assert evidence is not None
    told = {name: value for name, value in dataclasses.asdict(evidence).items() if value is not None}
    assert entries[0].evidence == told
    assert [one.id for one in await store.find_facts(tags=["verified"])] == [GOOD]
    assert (await evaluate_retention(store, ledger)).promoted == ()


async def test_a_dry_run_tells_and_writes_nothing(open_store: OpenStore) -> None:
    store, ledger = await filled(open_store)
    before = await store.find_facts(include_invalidated=True)
    dry = await evaluate_retention(store, ledger, dry_run=True)
    assert (len(dry.promoted), len(dry.evicted), len(dry.held), dry.pass_id) == (1, 1, 1, None)
    assert await store.find_facts(include_invalidated=True) == before
    assert await ledger.decisions() == []


async def test_with_nobody_on_trial_nothing_is_written(open_store: OpenStore) -> None:
    store = await open_store()
    assert isinstance(store, KeepsLedger)
    await store.write(RecordBatch(facts=[fact(1, tags=["candidate", "quarantined"]), fact(2, tags=["verified"])]))
    report = await evaluate_retention(store, store.ledger)
    assert (report.held, report.pass_id) == ((), None)
    assert await store.ledger.decisions() == []


async def test_candidates_beyond_the_first_page_are_ruled_on_in_order(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "_PAGE", 3)
    store = await open_store()
    assert isinstance(store, KeepsLedger)
    await store.write(RecordBatch(facts=[fact(n, tags=["candidate"], valid_from=day(n)) for n in range(1, 9)]))
    report = await evaluate_retention(store, store.ledger)
    assert [verdict.fact_id for verdict in report.held] == [sample_id("fact", n) for n in range(8, 0, -1)]


class Meanwhile:
    """A ledger that lets something happen after the gate has looked."""

    def __init__(self, ledger: OutcomeLedger, act: Any) -> None:
        self._ledger = ledger
        self._act = act

    async def get_run_scores(self, fact_ids: Sequence[str]) -> RunScores:
        found = await self._ledger.get_run_scores(fact_ids)
        await self._act()
        return found


async def test_what_happened_after_the_gate_looked_is_not_undone(open_store: OpenStore) -> None:
    store, ledger = await filled(open_store)

    async def act() -> None:
        await store.put_fact(fact(3, content="reworded", tags=["candidate", "mine"]))
        await store.put_fact(fact(2, tags=["lesson"]))
        await store.delete_fact(NEW)

    report = await evaluate_retention(store, Meanwhile(ledger, act))  # type: ignore[arg-type]  # all that a gate asks
    assert [verdict.fact_id for verdict in report.promoted] == [GOOD]
    assert (report.evicted, report.held, report.left_alone) == ((), (), (BAD, NEW))
    promoted, spared = await store.get_fact(GOOD), await store.get_fact(BAD)
    assert promoted is not None
    assert spared is not None
    assert (promoted.content, promoted.tags) == ("reworded", ("mine", "verified"))
    assert (spared.invalidated_by, spared.tags) == (None, ("lesson",))
    assert [entry.fact_id for entry in await ledger.decisions()] == [GOOD]


async def test_a_gate_that_comes_second_decides_nobody_again(open_store: OpenStore) -> None:
    store, ledger = await filled(open_store)

    async def act() -> None:
        await evaluate_retention(store, ledger)

    second = await evaluate_retention(store, Meanwhile(ledger, act))  # type: ignore[arg-type]
    assert (second.promoted, second.evicted, second.left_alone) == ((), (), (GOOD, BAD))
    assert [verdict.fact_id for verdict in second.held] == [NEW]
    entries = await ledger.decisions()
    assert [entry.verdict for entry in entries if entry.fact_id == GOOD] == ["promoted"]
    assert [entry.verdict for entry in entries if entry.fact_id == BAD] == ["evicted"]


async def test_another_ledger_than_the_stores_own_may_be_asked(open_store: OpenStore) -> None:
    store, _ = await filled(open_store)
    assert isinstance(store, KeepsLedger)
    elsewhere = InMemoryStore().ledger
    report = await evaluate_retention(store, elsewhere)
    assert len(report.held) == 3
    assert await elsewhere.decisions() == []
    assert len(await store.ledger.decisions()) == 3


@pytest.mark.parametrize("wrong", [{"min_trials": 3}, "inference", 3])
async def test_what_is_no_policy_is_refused(open_store: OpenStore, wrong: Any) -> None:
    store, ledger = await filled(open_store)
    with pytest.raises(InvalidInputError, match=r"^policy: expected a RetentionPolicy"):
        await evaluate_retention(store, ledger, wrong)
    assert await ledger.decisions() == []


async def test_a_harmless_lesson_that_always_travels_with_a_harmful_one_is_blamed_unless_chance_parts_them() -> None:
    harmful, harmless = sample_id("fact", 1), sample_id("fact", 2)

    async def play(holdout: float) -> InMemoryStore:
        store, rng = InMemoryStore(), random.Random(5)
        await store.write(RecordBatch(facts=[fact(number, tags=["candidate"]) for number in (1, 2)]))
        for run in range(120):
            both_rest = run % 2 == 1  # half of the runs come without lessons, so there is something to compare with
            served = await retrieve_gated_lessons(
                store, tags=[], candidate_slots=0 if both_rest else 2, holdout=holdout, rng=rng.random
            )
            score = 0.7 - 0.3 * (harmful in served.fact_ids) + rng.gauss(0, 0.05)
            await store.ledger.record_outcome(
                RunOutcome(
                    run_id=str(run),
                    score=min(1.0, max(0.0, score)),
                    fact_ids=served.fact_ids,
                    holdout=dict(served.holdout),
                )
            )
        return store

    plainly = await play(holdout=0.0)
    blamed = await evaluate_retention(plainly, plainly.ledger)
    assert {verdict.fact_id for verdict in blamed.evicted} == {harmful, harmless}
    parted = await play(holdout=0.5)
    report = await evaluate_retention(parted, parted.ledger, RetentionPolicy(baseline="holdout"))
    assert [verdict.fact_id for verdict in report.evicted] == [harmful]
    assert [verdict.fact_id for verdict in report.held] == [harmless]
    assert report.held[0].evidence is not None
    assert abs(report.held[0].evidence.lift) < 0.05 < 0.3


async def test_a_holdout_baseline_needs_runs_from_which_chance_could_withhold(open_store: OpenStore) -> None:
    store, ledger = await filled(open_store)
    report = await evaluate_retention(store, ledger, RetentionPolicy(baseline="holdout"))
    assert (report.promoted, report.evicted) == ((), ())
    assert [verdict.trials for verdict in report.held] == [0, 0, 0]
