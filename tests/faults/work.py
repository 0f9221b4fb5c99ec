"""The kinds of work that faults meet: what is there before, what the client does, and what must be there after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from remembrancer import Memory
from remembrancer.hierarchy.ingestion import pipeline
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import RecordBatch, RetentionPolicy
from remembrancer.testing import FixedClock
from remembrancer.testing.samples import START, day, entity, fact, sample_id

EMBEDDER = HashingEmbedder(dimensions=16)
PORTION, AT_ONCE = 10, 5
MESSAGES, BATCHES, NAMES, RUNS, PARTS, BULK = 80, 20, 40, 30, 4, 12_000
POLICY = RetentionPolicy(min_trials=3, decision_rule="margin")

Acknowledge = Callable[[str], None]
State = dict[str, Any]


def clock() -> FixedClock:
    """The same instant for everybody, so that a twin makes the same."""
    return FixedClock(day(30))


@dataclass(frozen=True)
class Work:
    """One kind of work.

    Attributes:
        prepare: What is there before; no fault meets it.
        do: All of it; run again, it goes on with the same idempotency keys. Tells what was acknowledged.
        lost: Which of the acknowledged writes are not there.
        halves: What is there by halves.
        most_runs: In how many runs one may end where one run would, when nobody knows whether the first was done.
    """

    prepare: Callable[[Memory], Awaitable[None]]
    do: Callable[[Memory, Acknowledge], Awaitable[None]]
    lost: Callable[[Memory, Sequence[str]], Awaitable[list[str]]]
    halves: Callable[[Memory], Awaitable[list[str]]]
    most_runs: int = 1


def conversation(length: int = MESSAGES) -> list[dict[str, Any]]:
    return [
        {
            "id": sample_id("message", number),
            "role": "user",
            "conversation": f"talk {number // 7}",
            "content": f"Priya Raman works at Northwind {number}.",
            "timestamp": f"2025-01-{1 + number // 7:02}T09:{number % 7:02}:00Z",
        }
        for number in range(length)
    ]


async def state_of(memory: Memory) -> State:
    """What two memories must have in common that were worked on alike, whatever ids chance gave."""
    store: Any = memory.store
    facts = await store.find_facts(include_invalidated=True, limit=100_000)
    entities = await store.find_entities(include_invalidated=True, limit=100_000)
    decisions = await memory.gate_decisions(limit=10_000)
    return {
        "counts": await store.count_all(),
        "facts": Counter(
            (one.content[:40], one.is_live, tuple(sorted(one.tags)), len(one.entity_ids)) for one in facts
        ),
        "entities": Counter((one.name, one.is_live) for one in entities),
        "passes": Counter(one.kind for one in await memory.passes(limit=1_000)),
        "decided": Counter((one.fact_id, one.verdict) for one in decisions if one.verdict != "held"),
        "trials": {one.fact_id: one.trials for one in await memory.ledger.list_fact_stats()},  # type: ignore[union-attr]
    }


async def nothing(_: Memory) -> None:
    return None


async def no_halves(_: Memory) -> list[str]:
    return []


async def _ingest(memory: Memory, acknowledge: Acknowledge) -> None:
    pipeline.PORTION = PORTION
    await memory.ingest(conversation(), idempotency_key="bulk", progress=lambda read: acknowledge(str(read)))


async def _lost_messages(memory: Memory, acknowledged: Sequence[str]) -> list[str]:
    read = max(map(int, acknowledged), default=0)
    ids = [one["id"] for one in conversation()[:read]]
    return sorted(set(ids) - set(await memory.store.stored_message_ids(ids)))  # type: ignore[attr-defined]


async def _half_portions(memory: Memory) -> list[str]:
    ids = [one["id"] for one in conversation()]
    stored = set(await memory.store.stored_message_ids(ids))  # type: ignore[attr-defined]
    parts = [ids[start : start + PORTION] for start in range(0, len(ids), PORTION)]
    there = [len(stored.intersection(part)) for part in parts]
    halves = [f"portion {place}: {count}" for place, count in enumerate(there) if count not in (0, PORTION)]
    facts = await memory.store.find_facts(include_invalidated=True, limit=10_000)
    return halves + ([] if len(facts) == len(stored) else [f"{len(facts)} facts of {len(stored)} messages"])


def _statements(batch: int) -> list[dict[str, Any]]:
    subject = sample_id("entity", batch)
    literal = [{"subject_id": subject, "predicate": f"port {n}", "value": batch} for n in range(AT_ONCE - 2)]
    pointing = {"subject_id": subject, "predicate": "leads", "object_id": sample_id("entity", batch + 1)}
    single = {
        "subject_id": sample_id("entity", 0),
        "predicate": "chief",
        "object_id": subject,
        "valid_from": day(batch),
    }
    return [*literal, pointing, single]


async def _state(memory: Memory, acknowledge: Acknowledge) -> None:
    for batch in range(1, BATCHES + 1):
        await memory.assert_statements(_statements(batch), single_valued=["chief"], idempotency_key=f"batch {batch}")
        acknowledge(str(batch))


async def _stated(memory: Memory) -> dict[int, int]:
    counts = {}
    for batch in range(1, BATCHES + 1):
        subject, single = sample_id("entity", batch), sample_id("entity", 0)
        own = [(subject, f"port {n}") for n in range(AT_ONCE - 2)] + [(subject, "leads"), (single, "chief")]
        found = await memory.store.find_statements(own)  # type: ignore[attr-defined]
        of = [one for one in found if one.statement.subject_id == subject or one.statement.object_id == subject]
        counts[batch] = len({one.statement.value_key + one.statement.predicate for one in of})
    return counts


async def _lost_statements(memory: Memory, acknowledged: Sequence[str]) -> list[str]:
    stated = await _stated(memory)
    return [f"batch {batch}" for batch in map(int, acknowledged) if stated[batch] != AT_ONCE]


async def _half_batches(memory: Memory) -> list[str]:
    stated = await _stated(memory)
    return [f"batch {batch}: {count}" for batch, count in stated.items() if count not in (0, AT_ONCE)]


async def _filled(memory: Memory) -> None:
    await memory.ingest(conversation(40))


async def _consolidate(memory: Memory, acknowledge: Acknowledge) -> None:
    if not [one for one in await memory.passes() if one.kind == "consolidation"]:
        await memory.consolidate(max_facts=20, max_episodes=2)
    acknowledge("consolidation")


async def _namesakes(memory: Memory) -> None:
    entities = [entity(n, name=f"Person {n // 2}") for n in range(NAMES)]
    facts = [fact(n, entities=[n]) for n in range(NAMES)]
    await memory.store.write(RecordBatch(entities=entities, facts=facts))


async def _resolve(memory: Memory, acknowledge: Acknowledge) -> None:
    await memory.resolve_entities()
    acknowledge("resolution")


async def _lost_passes(memory: Memory, acknowledged: Sequence[str]) -> list[str]:
    done = {one.kind for one in await memory.passes()}
    return [kind for kind in acknowledged if kind not in done]


async def _half_passes(memory: Memory) -> list[str]:
    store: Any = memory.store
    halves = []
    passes = await memory.passes()
    for one in passes:
        entries = await store.pass_entries(one.id, limit=10_000)
        if len(entries) != one.changes:
            halves.append(f"{one.kind}: {len(entries)} of {one.changes}")
    live = await store.find_entities(limit=10_000)
    if any(one.name.startswith("Person") for one in live) and len(live) not in (NAMES, NAMES // 2):
        halves.append(f"{len(live)} entities are live")
    return halves


async def _candidates(memory: Memory) -> None:
    await memory.store.write(RecordBatch(facts=[fact(n, tags=["candidate"]) for n in range(6)]))


async def _judge(memory: Memory, acknowledge: Acknowledge) -> None:
    for run in range(RUNS):
        given = [sample_id("fact", run % 6)]
        await memory.record_outcome(f"run {run}", 0.9 if run % 6 < 3 else 0.2, fact_ids=given)
        acknowledge(f"run {run}")
    await memory.gate(POLICY)
    acknowledge("gate")


async def _lost_runs(memory: Memory, acknowledged: Sequence[str]) -> list[str]:
    ledger: Any = memory.ledger
    lost = [one for one in acknowledged if one != "gate" and await ledger.get_outcome(one) is None]
    if "gate" in acknowledged and not await memory.gate_decisions():
        lost.append("gate")
    return lost


async def _half_gates(memory: Memory) -> list[str]:
    decided = Counter(one.pass_id for one in await memory.gate_decisions(limit=10_000))
    verdicts = {one.fact_id: one.verdict for one in await memory.gate_decisions(limit=10_000)}
    facts = await memory.store.find_facts(include_invalidated=True)
    wrong = []
    for one in facts:
        verdict = "evicted" if not one.is_live else "promoted" if "verified" in one.tags else None
        if verdicts.get(one.id, "held") != (verdict or "held"):
            wrong.append(f"fact {one.id} is {verdict} and was {verdicts.get(one.id)}")
    return wrong + [f"gate pass {one}: {count}" for one, count in decided.items() if count > 6]


async def _open(memory: Memory, acknowledge: Acknowledge) -> None:
    await memory.store.put_fact(fact(1))
    acknowledge("migrated")


async def _lost_fact(memory: Memory, acknowledged: Sequence[str]) -> list[str]:
    found = await memory.store.get_facts([sample_id("fact", 1)])
    return ["fact"] if acknowledged and not found else []


def _part(part: int) -> list[Any]:
    return [fact(part * BULK + n, content=f"{part} {n} " + "x" * 500) for n in range(BULK // PARTS)]


async def _write_parts(memory: Memory, acknowledge: Acknowledge) -> None:
    for part in range(2):
        await memory.store.write(RecordBatch(facts=_part(part)[:200]), idempotency_key=f"part {part}")
        acknowledge(str(part))


async def _lost_parts(memory: Memory, acknowledged: Sequence[str]) -> list[str]:
    lost = []
    for part in map(int, acknowledged):
        ids = [one.id for one in _part(part)[:200]]
        if len(await memory.store.get_facts(ids)) != len(ids):
            lost.append(f"part {part}")
    return lost


async def _half_parts(memory: Memory) -> list[str]:
    stored = (await memory.store.count_all())["fact"]  # type: ignore[attr-defined]
    return [] if stored in (0, 200, 400) else [f"{stored} facts"]


WORKS: dict[str, Work] = {
    "ingest": Work(nothing, _ingest, _lost_messages, _half_portions),
    "statements": Work(nothing, _state, _lost_statements, _half_batches),
    "consolidation": Work(_filled, _consolidate, _lost_passes, _half_passes),
    "resolution": Work(_namesakes, _resolve, _lost_passes, _half_passes),
    "gate": Work(_candidates, _judge, _lost_runs, _half_gates),
    "migration": Work(nothing, _open, _lost_fact, no_halves),
    "bulk": Work(nothing, _write_parts, _lost_parts, _half_parts),
}


def too_large() -> RecordBatch:
    """A batch for which the memory of a transaction is not enough."""
    return RecordBatch(facts=[fact(n, content=f"{n} " + "x" * 2_000) for n in range(BULK)])


__all__ = ["EMBEDDER", "START", "WORKS", "State", "Work", "clock", "state_of", "too_large"]
