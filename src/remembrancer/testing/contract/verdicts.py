"""Verdicts of the gate: applied to facts as they are, recorded for good, in one write."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from remembrancer.ports import KeepsLedger, MemoryStore, OutcomeLedger
from remembrancer.records import (
    ConcurrencyError,
    GateDecision,
    GatePass,
    GateVerdict,
    InvalidInputError,
    Receipt,
    RecordBatch,
    RetentionPolicy,
)
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import day, entity, fact, sample_id

_ONE, _TWO, _THREE = (sample_id("fact", number) for number in (1, 2, 3))
_HARMFUL = "eval-gate:harmful"


def _ruled(fact_id: str, verdict: GateVerdict, **fields: Any) -> GateDecision:
    reason = _HARMFUL if verdict == "evicted" else None
    return GateDecision(**{"fact_id": fact_id, "verdict": verdict, "reason": reason, "trials": 4, **fields})


async def _opened(open_store: OpenStore, **options: Any) -> tuple[MemoryStore, OutcomeLedger]:
    store = await open_store(**options)
    assert isinstance(store, KeepsLedger)
    return store, store.ledger


async def _rule(store: MemoryStore, number: int, *decisions: GateDecision, **fields: Any) -> Receipt:
    whole = {"id": sample_id("theme", number), "policy": RetentionPolicy(), "decisions": decisions, **fields}
    return await store.write(RecordBatch(gate_passes=[GatePass(**whole)]))


async def _on_trial(store: MemoryStore, *numbers: int) -> None:
    await store.write(RecordBatch(facts=[fact(number, tags=["lesson", "candidate"]) for number in numbers]))


class TestVerdicts:
    async def test_a_promoted_fact_changes_its_tags_and_nothing_else(self, open_store: OpenStore) -> None:
        store, _ = await _opened(open_store)
        tags = ["candidate", "verified", "lesson", "candidate", "lesson"]
        await store.write(RecordBatch(entities=[entity(1)], facts=[fact(1, entities=[1], tags=tags)]))
        before = await store.get_fact(_ONE)
        assert before is not None
        assert (await _rule(store, 1, _ruled(_ONE, "promoted"))).changed == {"fact": (_ONE,)}
        assert await store.get_fact(_ONE) == before.model_copy(update={"tags": ("verified", "lesson")})
        assert [one.id for one in await store.find_facts(tags=["verified"])] == [_ONE]
        assert await store.find_facts(tags=["candidate"]) == []

    async def test_an_evicted_fact_is_closed_and_keeps_its_tags(self, open_store: OpenStore) -> None:
        store, _ = await _opened(open_store, clock=lambda: day(9))
        await _on_trial(store, 1)
        before = await store.get_fact(_ONE)
        assert before is not None
        await _rule(store, 1, _ruled(_ONE, "evicted"))
        closed = {"invalidated_by": _HARMFUL, "closed_at": day(9)}
        assert await store.get_fact(_ONE) == before.model_copy(update=closed)
        assert await store.find_facts() == []
        assert [one.id for one in await store.find_facts(tags=["candidate"], include_invalidated=True)] == [_ONE]

    async def test_a_held_fact_stays_as_it_is(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1)
        before = await store.get_fact(_ONE)
        assert (await _rule(store, 1, _ruled(_ONE, "held"))).changed == {}
        assert await store.get_fact(_ONE) == before
        assert [one.verdict for one in await ledger.decisions()] == ["held"]

    async def test_the_tags_of_the_policy_decide(self, open_store: OpenStore) -> None:
        store, _ = await _opened(open_store)
        await store.put_fact(fact(1, tags=["trial", "candidate"]))
        policy = RetentionPolicy(candidate_tag="trial", verified_tag="trusted")
        await _rule(store, 1, _ruled(_ONE, "promoted"), policy=policy)
        promoted = await store.get_fact(_ONE)
        assert promoted is not None
        assert promoted.tags == ("candidate", "trusted")

    async def test_who_was_decided_meanwhile_is_left_alone(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1, 2)
        await _rule(store, 1, _ruled(_ONE, "promoted"), _ruled(_TWO, "evicted"))
        after = await store.get_facts([_ONE, _TWO])
        receipt = await _rule(store, 2, _ruled(_TWO, "promoted"), _ruled(_ONE, "evicted"), _ruled(_THREE, "held"))
        assert [(one.kind, one.id) for one in receipt.refused] == [("fact", _TWO), ("fact", _ONE), ("fact", _THREE)]
        assert all("no longer on trial" in one.reason for one in receipt.refused)
        assert receipt.changed == {}
        assert await store.get_facts([_ONE, _TWO]) == after
        assert len(await ledger.decisions()) == 2

    async def test_who_was_quarantined_or_untagged_meanwhile_is_left_alone(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await store.write(RecordBatch(facts=[fact(1, tags=["candidate", "quarantined"]), fact(2, tags=["lesson"])]))
        receipt = await _rule(store, 1, _ruled(_ONE, "promoted"), _ruled(_TWO, "evicted"))
        assert [one.id for one in receipt.refused] == [_ONE, _TWO]
        assert await ledger.decisions() == []

    async def test_what_was_changed_since_the_gate_looked_stays_changed(self, open_store: OpenStore) -> None:
        store, _ = await _opened(open_store)
        await _on_trial(store, 1)
        gate_pass = GatePass(id=sample_id("theme", 1), policy=RetentionPolicy(), decisions=[_ruled(_ONE, "promoted")])
        await store.put_fact(fact(1, content="reworded", tags=["candidate", "mine"], valid_until=day(5)))
        await store.write(RecordBatch(gate_passes=[gate_pass]))
        stored = await store.get_fact(_ONE)
        assert stored is not None
        assert (stored.content, stored.tags, stored.valid_until) == ("reworded", ("mine", "verified"), day(5))

    async def test_a_pass_cannot_be_written_twice(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1, 2)
        await _rule(store, 1, _ruled(_ONE, "promoted"))
        before = await ledger.decisions()
        with pytest.raises(ConcurrencyError):
            await _rule(store, 1, _ruled(_TWO, "evicted"))
        assert await ledger.decisions() == before
        assert await store.find_facts(tags=["candidate"]) != []

    async def test_an_idempotency_key_decides_once(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1)
        gate_pass = GatePass(id=sample_id("theme", 1), policy=RetentionPolicy(), decisions=[_ruled(_ONE, "held")])
        batch = RecordBatch(gate_passes=[gate_pass])
        await store.write(batch, idempotency_key="pass")
        assert (await store.write(batch, idempotency_key="pass")).replayed
        assert len(await ledger.decisions()) == 1


class TestDecisions:
    async def test_a_verdict_is_read_back_with_its_evidence(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1)
        evidence: dict[str, bool | int | float | str] = {
            "lift": 0.25,
            "df": float("inf"),
            "alpha_bracket": 3,
            "ok": True,
        }
        await _rule(store, 7, _ruled(_ONE, "evicted", evidence=evidence), decided_at=day(2))
        (entry,) = await ledger.decisions()
        assert (entry.pass_id, entry.decided_at, entry.fact_id) == (sample_id("theme", 7), day(2), _ONE)
        assert (entry.verdict, entry.reason, entry.trials) == ("evicted", _HARMFUL, 4)
        assert entry.evidence == evidence
        assert {name: type(value) for name, value in entry.evidence.items()} == {
            name: type(value) for name, value in evidence.items()
        }

    async def test_they_come_latest_first_and_within_a_pass_in_order(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1, 2, 3)
        await _rule(store, 3, _ruled(_TWO, "held"), _ruled(_ONE, "held"), decided_at=day(1))
        await _rule(store, 1, _ruled(_THREE, "held"), _ruled(_TWO, "held"), decided_at=day(1))
        await _rule(store, 2, _ruled(_ONE, "held"), decided_at=day(0))
        listed = [(entry.pass_id, entry.fact_id) for entry in await ledger.decisions()]
        first, second, early = (sample_id("theme", number) for number in (3, 1, 2))
        assert listed == [(second, _THREE), (second, _TWO), (first, _TWO), (first, _ONE), (early, _ONE)]
        assert [(one.pass_id, one.fact_id) for one in await ledger.decisions(limit=2)] == listed[:2]
        assert await ledger.decisions(limit=0) == []

    async def test_they_are_found_by_fact_verdict_reason_and_time(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1, 2, 3)
        await _rule(store, 1, _ruled(_ONE, "held"), _ruled(_TWO, "evicted"), decided_at=day(1))
        worn = _ruled(_THREE, "evicted", reason="eval-gate:no_lift")
        await _rule(store, 2, _ruled(_ONE, "promoted"), worn, decided_at=day(2))

        async def found(**wanted: Any) -> list[str]:
            return [f"{one.fact_id[-1]} {one.verdict}" for one in await ledger.decisions(**wanted)]

        assert await found(fact_id=_ONE) == ["1 promoted", "1 held"]
        assert await found(fact_id=_ONE, verdict="held") == ["1 held"]
        assert await found(verdict="evicted") == ["3 evicted", "2 evicted"]
        assert await found(verdict="evicted", since=day(2)) == ["3 evicted"]
        assert await found(reason=_HARMFUL) == ["2 evicted"]
        assert await found(reason=_HARMFUL, verdict="promoted") == []
        assert await found(reason="eval-gate:no_lift", until=day(2)) == []
        assert await found(until=day(2)) == ["1 held", "2 evicted"]
        assert await found(since=day(1), until=day(1)) == []
        assert await found(fact_id=_TWO, since=day(1) + dt.timedelta(microseconds=1)) == []
        assert await found(fact_id="never heard of") == []

    async def test_a_pass_is_read_back_whole_with_its_policy(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1, 2)
        policy = RetentionPolicy(min_trials=5, decision_rule="margin", baseline="holdout", max_trials=9)
        decisions = [_ruled(_TWO, "promoted", evidence={"lift": 0.5}), _ruled(_ONE, "evicted")]
        await _rule(store, 1, *decisions, _ruled(_THREE, "held"), policy=policy, decided_at=day(1))
        assert await ledger.get_gate_pass(sample_id("theme", 1)) == GatePass(
            id=sample_id("theme", 1), policy=policy, decisions=decisions, decided_at=day(1)
        )
        assert await ledger.get_gate_pass(sample_id("theme", 2)) is None
        with pytest.raises(InvalidInputError, match=r"^pass_id: "):
            await ledger.get_gate_pass("a pass")

    async def test_an_entry_outlives_its_fact_and_the_runs(self, open_store: OpenStore) -> None:
        store, ledger = await _opened(open_store)
        await _on_trial(store, 1)
        await _rule(store, 1, _ruled(_ONE, "promoted"))
        before = await ledger.decisions()
        await ledger.clear()
        assert await store.delete_fact(_ONE)
        assert await ledger.decisions() == before
        assert await ledger.decisions(fact_id=_ONE) == before
        await _on_trial(store, 1)
        assert await ledger.decisions(fact_id=_ONE) == before
        await store.clear()
        assert await ledger.decisions() == []

    @pytest.mark.parametrize(
        ("field", "wrong"),
        [
            ("fact_id", 3),
            ("verdict", "kept"),
            ("reason", 0),
            ("since", "soon"),
            ("until", dt.datetime(2025, 1, 1)),  # noqa: DTZ001
            ("limit", -1),
        ],
    )
    async def test_bad_input_is_refused(self, open_store: OpenStore, field: str, wrong: Any) -> None:
        _, ledger = await _opened(open_store)
        with pytest.raises(InvalidInputError) as refused:
            await ledger.decisions(**{field: wrong})
        assert refused.value.field == field
