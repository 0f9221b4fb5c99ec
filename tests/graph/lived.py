"""A memory that has been through everything that a memory offers, by its public methods alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.surface import EMBEDDER

from remembrancer import Memory
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import MemoryQuery, RetentionPolicy
from remembrancer.testing.samples import day, entity
from remembrancer.tiers import TieredMemory

POLICY = RetentionPolicy(min_trials=3, decision_rule="margin", promote_margin=0.05, evict_margin=0.05)

SAID = [
    {
        "role": "user" if number % 2 else "assistant",
        "speaker": "Priya Raman" if number % 2 else "Tomás Ek",
        "conversation": f"talk {number // 6}",
        "content": f"Priya Raman works at Northwind {number % 3}. The harbour of Lisbon opens at {number} on Monday.",
        "timestamp": f"2025-01-{1 + number // 6:02}T09:{number % 6:02}:00Z",
    }
    for number in range(1, 31)
]


class Recorded:
    """A memory of which each method that is called is noted.

    Attributes:
        names: What was called.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.names: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.names.add(name)
        return getattr(self._memory, name)


async def live_through(memory: Recorded, *, elsewhere: Recorded, folder: Path) -> None:
    """Call every public method of a memory, most of them to some effect.

    Args:
        memory: An empty one.
        elsewhere: Another empty one, into which it is carried over.
        folder: Where the export goes.
    """
    await _take_in(memory)
    await _learn(memory)
    await _tidy(memory)
    await _take_back(memory)
    await _work_as_agents(memory)
    await memory.import_foreign([Path(__file__).parents[1] / "foreign" / "data" / "mem0.json"], format="mem0")
    await memory.export_to(folder / "memory.jsonl")
    await elsewhere.import_from(folder / "memory.jsonl")
    await elsewhere.reembed(embedder=HashingEmbedder(dimensions=24))


async def _take_in(memory: Recorded) -> None:
    await memory.ingest(SAID[:20], idempotency_key="first")
    await memory.ingest(SAID[:20], idempotency_key="first")
    await memory.ingest(SAID[15:], admission=True)
    await memory.retry_extraction()
    vectors = await EMBEDDER.embed([f"Person {number // 2}" for number in range(4)])
    people = [entity(number, name=f"Person {number // 2}", embedding=vectors[number]) for number in range(4)]
    for one in people:
        await memory.store.put_entity(one)
    stated = [
        {"subject_id": people[0].id, "predicate": "works_with", "object_id": people[2].id, "valid_from": day(1)},
        {"subject_id": people[2].id, "predicate": "port", "value": 80, "valid_from": day(1)},
        {"subject_id": people[1].id, "predicate": "knows", "object_id": people[3].id, "valid_from": day(1)},
    ]
    await memory.assert_statements(stated, single_valued=["port", "works_with"], idempotency_key="stated")
    later = [
        {"subject_id": people[0].id, "predicate": "works_with", "object_id": people[3].id, "valid_from": day(2)},
        {"subject_id": people[2].id, "predicate": "port", "value": 81, "valid_from": day(2)},
    ]
    await memory.assert_statements(later, single_valued=["port", "works_with"])
    await memory.recall("Where does Priya work?")
    found = await memory.retrieve(MemoryQuery(text="harbour", limit=5))
    await memory.subgraph([people[0].id])
    await memory.get(people[0].id)
    await memory.admit(found.facts[0].content)
    await memory.should_consolidate(max_facts=1, max_episodes=1)


async def _learn(memory: Recorded) -> None:
    notes = [{"content": f"Lesson {number}: ask twice.", "tags": ["lesson", "candidate"]} for number in range(6)]
    await memory.memory_writer(notes, {"run_id": "writing"})
    candidates = await memory.store.find_facts(tags=["candidate"])
    for number in range(12):
        chosen = await memory.lessons(["lesson"], candidate_slots=2, holdout=0.5, run_id=f"run {number}")
        good = chosen.facts and chosen.facts[0].id == candidates[0].id
        await memory.record_outcome(f"run {number}", 0.9 if good else 0.4)
    for number in range(8):
        given = [candidates[number % 2].id]
        await memory.record_outcome(f"trial {number}", 0.9 - 0.5 * (number % 2), fact_ids=given)
    await memory.record_outcome("trial 0", 0.8, fact_ids=["never stored"])
    await memory.record_outcome("trial 0", 0.8, fact_ids=[candidates[0].id])
    await memory.served_to("run 1")
    await memory.gate(POLICY)
    await memory.gate_decisions()


async def _tidy(memory: Recorded) -> None:
    await memory.resolve_entities()
    await memory.find_conflicts(embedding_threshold=0.3, semantic_overlap_threshold=0.1)
    await memory.resolve_conflicts("supersede-on-newer")
    await memory.consolidate(max_facts=12, max_episodes=2)
    (done,) = [one for one in await memory.passes() if one.kind == "consolidation"]
    undone = await memory.undo(done.id)
    await memory.undo(undone.pass_id)


async def _take_back(memory: Recorded) -> None:
    fact, other, *_ = await memory.store.find_facts()
    closed = await memory.forget(fact.id, hard=False)
    await memory.undo(closed.pass_id)
    await memory.forget(fact.id, hard=False)
    await memory.restore(fact.id)
    await memory.history(fact.id)
    await memory.why(other.id)
    episode = (await memory.store.list_episodes())[0]
    await memory.forget(episode.messages[0].id)
    await memory.forget(other.id)
    stating = await memory.store.find_facts(include_invalidated=True, limit=1000)
    await memory.forget(next(one.id for one in stating if one.statement is not None))


async def _work_as_agents(memory: Recorded) -> None:
    await memory.memory_retriever({"text": "harbour"}, {"run_id": "retrieving"})
    await memory.reflect("Always ask twice. Then write it down for later.", ["lesson"], "run x", "node", iteration=1)
    await memory.memory_writer([{"content": "Bad advice.", "tags": ["lesson"]}], {"run_id": "bad"})
    await memory.quarantine_run("bad")
    await memory.release_run("bad")
    await memory.quarantine_run("run x")
    one, another, *_ = await memory.store.find_entities()
    await memory.assert_statements([{"subject_id": one.id, "predicate": "leads", "object_id": another.id}])
    tiered: TieredMemory = memory.tiered(semantic=True, episodic=True, procedural=True)
    for tier in ("semantic", "episodic", "procedural", "working"):
        await tiered.remember(
            [{"text": f"Something {tier}.", "tier": tier}, {"text": "Twice.", "scope": "s", "tier": tier}]
        )
        await tiered.remember([{"text": f"Something {tier}.", "tier": tier}])
    await tiered.recall("Something", threshold=0.0)
    await memory.store.flush_usage()
