"""A call of every public coroutine of a memory and of what it stands on, for tests that walk them by reflection.

A coroutine that is not registered here fails those tests, by its name.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

from remembrancer import Memory, MemoryQuery
from remembrancer.graph import Neo4jIndex, Neo4jStore
from remembrancer.graph.ledger import Neo4jLedger
from remembrancer.graph.tiers import Neo4jTiers
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import (
    GateDecision,
    GatePass,
    RecordBatch,
    RetentionPolicy,
    RunOutcome,
    Source,
    ThemeAddition,
)
from remembrancer.records.packed import PackedIds
from remembrancer.records.statement import Statement
from remembrancer.records.tier import TierItem
from remembrancer.testing.samples import (
    START,
    day,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)
from remembrancer.tiers import TieredMemory, TurnMemory

EMBEDDER = HashingEmbedder(dimensions=16)
VECTOR = [1.0] * 16

Arguments = tuple[tuple[Any, ...], dict[str, Any]]

OURS, THEIRS = "-4000-8000-", "-4000-9000-"
"""The middle of the ids of the samples, and of ids to put in their place where two memories hold the same else."""

RELATIONAL = Statement(subject_id=sample_id("entity", 1), predicate="use", object_id=sample_id("entity", 2))

BATCH = RecordBatch(
    entities=[entity(1), entity(2)],
    claims=[entity(3, name="Claimed")],
    relationships=[relationship(1, 1, 2)],
    assertions=[relationship(2, 1, 2, valid_from=day(-1)), relationship(3, 2, 1)],
    episodes=[episode(1, messages=[message(1, speaker="Ada"), message(2)], facts=[1])],
    facts=[fact(1, entities=[1, 9], episodes=[1], tags=["a"], embedding=VECTOR), fact(2, statement=RELATIONAL)],
    themes=[theme(1, facts=[1], embedding=VECTOR)],
    theme_additions=[ThemeAddition(theme_id=sample_id("theme", 1), fact_ids=[sample_id("fact", 2)])],
    gate_passes=[
        GatePass(
            id=sample_id("theme", 1),
            policy=RetentionPolicy(candidate_tag="a"),
            decisions=[GateDecision(fact_id=sample_id("fact", 1), verdict="held", trials=0)],
        )
    ],
    removals={
        "message": [sample_id("message", 8)],
        "episode": [sample_id("episode", 8)],
        "fact": [sample_id("fact", 8)],
        "theme": [sample_id("theme", 8)],
        "entity": [sample_id("entity", 8)],
        "relationship": [sample_id("relationship", 8)],
    },
    expected_messages={sample_id("episode", 1): 0},
)

RUN = RunOutcome(run_id="run", score=0.5, fact_ids=["a"], holdout={"b": 0.5})
ITEM = TierItem(tier="semantic", id=sample_id("fact", 1), text="a", embedding=VECTOR, remembered_at=START)

STATED = [{"subject_id": sample_id("entity", 1), "predicate": "port", "value": value} for value in (1, 2)]

SAID = [
    {
        "id": sample_id("message", 20),
        "role": "user",
        "speaker": "Ada",
        "content": "Ada Berg works at Acme Corp now.",
        "timestamp": "2025-01-01",
    }
]

MEMORY_ARGUMENTS: dict[str, Arguments] = {
    "ingest": ((SAID,), {"idempotency_key": "a"}),
    "recall": (("Where does Ada work?",), {}),
    "retry_extraction": ((), {}),
    "subgraph": (([sample_id("entity", 1)],), {}),
    "get": ((sample_id("relationship", 1),), {}),
    "lessons": ((["a"],), {}),
    "record_outcome": (("run", 0.5), {"fact_ids": [sample_id("fact", 1)]}),
    "gate": ((RetentionPolicy(candidate_tag="a"),), {}),
    "gate_decisions": ((), {}),
    "consolidate": ((), {"max_facts": 1, "max_episodes": 0}),
    "should_consolidate": ((), {"max_facts": 1, "max_episodes": 1}),
    "assert_statements": ((STATED,), {"single_valued": ["port"]}),
    "resolve_entities": ((), {}),
    "find_conflicts": ((), {}),
    "resolve_conflicts": (("supersede-on-newer",), {}),
    "admit": (("Ada works",), {}),
    "history": ((sample_id("fact", 1),), {}),
    "why": ((sample_id("entity", 1),), {}),
    "passes": ((), {}),
    "forget": ((sample_id("message", 1),), {}),
    "served_to": (("run",), {}),
    "memory_retriever": (({"text": "Ada"}, {"run_id": "run"}), {}),
    "memory_writer": (([{"content": "Ada", "source_fact_ids": [sample_id("fact", 1)]}],), {}),
    "reflect": (("Ada works at Acme Corp now.", ["a"], "run", "node"), {"iteration": 1}),
    "quarantine_run": (("run",), {}),
    "release_run": (("run",), {}),
    "reembed": ((), {"embedder": HashingEmbedder(dimensions=24)}),
    "import_foreign": (([Path(__file__).parent / "foreign" / "data" / "mem0.json"],), {"format": "mem0"}),
    "clear": ((), {}),
}

STORE_ARGUMENTS: dict[str, Arguments] = {
    "write": ((BATCH,), {"idempotency_key": "once"}),
    "touch_facts": (([sample_id("fact", 1)],), {}),
    "find_entities": ((), {"entity_type": "concept"}),
    "find_facts": ((), {"tags": ["a"], "exclude_tags": ["b"], "entity_id": sample_id("entity", 1)}),
    "get_relationships_for_entity": ((sample_id("entity", 1),), {"relation_type": "use"}),
    "find_episode_near": ((None,), {"starting_before": day(9), "ending_after": START}),
    "find_unread_episodes": ((), {}),
    "find_statements": (([(sample_id("entity", 1), "port")],), {}),
    "active_fact_ids": ((), {}),
    "near_duplicates": (([sample_id("fact", 1)],), {"min_similarity": 0.5, "limit": 5}),
    "duplicates_among": ((PackedIds([sample_id("fact", 1)]),), {"min_similarity": 0.5, "limit": 5}),
    "weakest_facts": ((1,), {"uses": {}, "without": (), "now": day(1), "half_life_days": 1.0}),
    "theme_ids_naming": (([sample_id("fact", 1)],), {}),
    "mean_embedding": (([sample_id("fact", 1)],), {}),
    "namesakes": ((), {}),
    "fact_ids_naming": (([sample_id("entity", 1)],), {}),
    "relationship_ids_at": (([sample_id("entity", 1)],), {}),
    "relationship_ids_between": (([(sample_id("entity", 1), sample_id("entity", 2), "use")],), {}),
    "shared_entities": ((), {}),
    "facts_by_entity": (([sample_id("entity", 1)],), {}),
    "similar_facts": (([VECTOR],), {"min_similarity": 0.5, "limit": 5}),
    "facts_near": (([sample_id("fact", 1)],), {"min_similarity": 0.5, "limit": 5}),
    "get_pass": ((sample_id("fact", 1),), {}),
    "list_passes": ((), {}),
    "pass_entries": ((sample_id("fact", 1),), {}),
    "record_entries": ((sample_id("fact", 1),), {}),
    "history": ((sample_id("fact", 1),), {}),
    "why": ((sample_id("fact", 1),), {}),
    "find_dependents": ((), {"messages": [sample_id("message", 1)], "entities": [sample_id("entity", 1)]}),
    "find_from": ((Source(agent_id="planner"),), {}),
    "find_texts_with": (("message",), {}),
    "count_mentions": (([[sample_id("entity", 1), sample_id("entity", 9)]],), {}),
    "count_all": ((), {}),
    "forget_all": ((), {}),
    "stored_message_ids": (([sample_id("message", 1)],), {}),
    "outline_themes": (([sample_id("theme", 1)],), {"label": "theme 1", "most": 3}),
    "find_themes_labelled": (("theme 1",), {}),
    "list_episodes": ((), {}),
    "list_themes": ((), {}),
    "serve_run": (("run", [sample_id("fact", 1)]), {}),
    "get_serving": (("run",), {}),
    "run_reach": (("run",), {}),
    "find_receipt": (("once",), {}),
    "flush_usage": ((), {}),
    "clear": ((), {}),
}

LEDGER_ARGUMENTS: dict[str, Arguments] = {
    "record_outcome": ((RUN,), {}),
    "record_outcomes": (([RUN],), {}),
    "get_outcome": (("run",), {}),
    "list_fact_stats": ((), {}),
    "get_fact_stats": (("a",), {}),
    "get_fact_stats_batch": ((["a"],), {}),
    "get_baseline": ((), {}),
    "get_baselines": ((["a"],), {}),
    "get_run_scores": ((["a"],), {}),
    "get_gate_pass": ((sample_id("theme", 1),), {}),
    "decisions": ((), {}),
    "clear": ((), {}),
}

INDEX_ARGUMENTS: dict[str, Arguments] = {"nearest_themes": (([VECTOR],), {"limit": 3})}

TIER_ARGUMENTS: dict[str, Arguments] = {
    "put": (([ITEM],), {}),
    "nearest": ((["semantic"], VECTOR), {}),
    "clear": ((["semantic"],), {}),
}

TIERED_ARGUMENTS: dict[str, Arguments] = {
    "remember": (([{"id": sample_id("fact", 2), "text": "Ada", "tier": "semantic"}, {"text": "Now."}],), {}),
    "recall": (("Ada",), {"threshold": 0.0}),
    "clear": ((), {}),
}

TURN_ARGUMENTS: dict[str, Arguments] = {
    "before": (("a",), {"session_id": "s"}),
    "after": (("Ada", "Noted."), {"session_id": "s"}),
}

RETRIEVING = {"retrieve", "extract_subgraph", "recall", "gather_candidates"}
"""What retrieval asks of the store; called by way of the memory."""

PARTS: dict[str, type] = {
    "memory": Memory,
    "store": Neo4jStore,
    "ledger": Neo4jLedger,
    "index": Neo4jIndex,
    "tiers": Neo4jTiers,
    "tiered": TieredMemory,
    "turns": TurnMemory,
}
"""What a memory offers, and what of it others may reach."""

_LEFT_OUT: Mapping[str, set[str]] = {"store": RETRIEVING, "index": {"rebuild"}}

_RECORDS = {
    "entity": entity(1),
    "relationship": relationship(1, 1, 2),
    "episode": episode(1),
    "fact": fact(1),
    "theme": theme(1),
    "message": message(1),
}
_PLURALS = {"entities": "entity"} | {f"{kind}s": kind for kind in _RECORDS}


def public(part: str) -> list[str]:
    """Names of the coroutines and asynchronous generators of a part."""
    found = inspect.getmembers(
        PARTS[part], lambda value: inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value)
    )
    names = {name for name, _ in found if not name.startswith("_")}
    return sorted(names - {"aclose"} - _LEFT_OUT.get(part, set()))


async def called(memory: Memory, part: str, name: str, *, family: str = OURS) -> Any:
    """Call a coroutine of a part of a memory, with ids of a family; what it returns or yields."""
    if part == "memory" and name in _SPECIAL:
        return await _SPECIAL[name](memory, family)
    given, named = in_family(arguments(part, name), family)
    answer = getattr(part_of(memory, part), name)(*given, **named)
    if inspect.isasyncgen(answer):
        return [one async for one in answer]
    answer = await answer
    return [one async for one in answer] if isinstance(answer, AsyncIterator) else answer


def part_of(memory: Memory, part: str) -> Any:
    """The object of a memory that offers a part."""
    if part == "memory":
        return memory
    if part == "tiers":
        return cast(Any, memory.store).tiers
    if part in ("tiered", "turns"):
        tiered = memory.tiered(semantic=True)
        return tiered if part == "tiered" else tiered.turns(scope="shared", threshold=0.0, remember_tier="semantic")
    return getattr(memory, part)


def is_registered(part: str, name: str) -> bool:
    """Whether `called` knows how to call a coroutine."""
    try:
        arguments(part, name)
    except LookupError:
        return part == "memory" and name in _SPECIAL
    return True


def arguments(part: str, name: str) -> Arguments:
    """What to call a coroutine with: from a table, or by the verb and kind in its name."""
    registered = {
        "memory": MEMORY_ARGUMENTS,
        "store": STORE_ARGUMENTS,
        "ledger": LEDGER_ARGUMENTS,
        "index": INDEX_ARGUMENTS,
        "tiers": TIER_ARGUMENTS,
        "tiered": TIERED_ARGUMENTS,
        "turns": TURN_ARGUMENTS,
    }[part]
    if name in registered:
        return registered[name]
    verb, _, kind = name.partition("_")
    if part == "store" and kind in _RECORDS | _PLURALS and verb in ("get", "put", "delete"):
        if verb == "put":
            return (_RECORDS[kind],), {}
        one = _RECORDS[_PLURALS.get(kind, kind)].id
        return ([one] if kind in _PLURALS else one,), {}
    if part == "index" and verb == "search":
        return (VECTOR,), {"limit": 3}
    raise LookupError(f"{part}.{name} is not registered in tests/surface.py")


def in_family(value: Any, family: str) -> Any:
    """The same with other ids."""
    if family == OURS:
        return value
    if isinstance(value, str):
        return value.replace(OURS, family)
    if isinstance(value, BaseModel):
        return type(value).model_validate_json(value.model_dump_json(exclude_unset=True).replace(OURS, family))
    if isinstance(value, Mapping):
        return {in_family(key, family): in_family(one, family) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(in_family(one, family) for one in value)
    return [in_family(one, family) for one in value] if isinstance(value, Sequence) else value


async def _every_path(memory: Memory, family: str) -> list[Any]:
    entity_id = in_family(sample_id("entity", 1), family)
    queries = (
        MemoryQuery(entity_ids=[entity_id]),
        MemoryQuery(text="work"),
        MemoryQuery(embedding=VECTOR, tags=["a"]),
        MemoryQuery(embedding=VECTOR, changed_since=day(1)),
        MemoryQuery(tags=["a"]),
    )
    answers = []
    for first in (True, False):
        for one in queries:
            answers.append(await memory.retrieve(one, filter_first=first))
            await memory.store.flush_usage()  # so that the next answer tells of these uses, whenever it comes
    return answers


async def _restored(memory: Memory, family: str) -> Any:
    closed = in_family(sample_id("fact", 2), family)
    await memory.forget(closed, hard=False)
    return await memory.restore(closed)


async def _undone(memory: Memory, family: str) -> Any:
    report = await memory.forget(in_family(sample_id("fact", 2), family), hard=False)
    return await memory.undo(str(report.pass_id))


async def _exported(memory: Memory, family: str) -> Any:
    del family  # an export is of everything
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.jsonl"
        report = await cast(Any, memory).export_to(file)
        return report.counts, file.read_text(encoding="utf-8").splitlines()[:-1]  # the last line is a sum of the others


async def _imported(memory: Memory, family: str) -> Any:
    del family
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.jsonl"
        await cast(Any, memory).export_to(file)
        await memory.clear()
        return (await cast(Any, memory).import_from(file)).counts


_SPECIAL: Mapping[str, Callable[[Memory, str], Awaitable[Any]]] = {
    "retrieve": _every_path,
    "restore": _restored,
    "undo": _undone,
    "export_to": _exported,
    "import_from": _imported,
}
