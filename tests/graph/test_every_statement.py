"""No statement about records leaves the library without the namespace: recorded at the driver, over all it offers."""

from __future__ import annotations

import inspect
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import neo4j
import pytest

from remembrancer import Memory, MemoryQuery
from remembrancer.graph import Database, Neo4jIndex, Neo4jStore, queries
from remembrancer.graph.ledger import Neo4jLedger
from remembrancer.graph.tiers import Neo4jTiers
from remembrancer.ports.tiers import KeepsTiers
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
from remembrancer.records.statement import Statement as Stated
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

pytestmark = pytest.mark.neo4j

EMBEDDER = HashingEmbedder(dimensions=16)
VECTOR = [1.0] * 16

ABOUT_ALL = re.compile(r"CALL dbms\.components\(\)|SHOW (INDEXES|CONSTRAINTS)|CALL db\.awaitIndexes|CYPHER 25 CREATE ")
"""What is sent about the database as a whole, besides the files of `cypher/schema/`."""

Statement = tuple[str, Mapping[str, Any]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Statement]:
    """Every statement that the driver is handed from here on."""
    statements: list[Statement] = []

    def record(kind: type) -> None:
        original = kind.run  # type: ignore[attr-defined]

        async def run(self: Any, query: Any, parameters: Any = None, **more: Any) -> Any:
            statements.append((str(query), {**(parameters or {}), **more}))
            return await original(self, query, parameters, **more)

        monkeypatch.setattr(kind, "run", run)

    for kind in (neo4j.AsyncSession, neo4j.AsyncTransaction, neo4j.AsyncManagedTransaction):
        record(kind)
    monkeypatch.setattr(neo4j.AsyncDriver, "execute_query", None)  # nothing may go round the two
    return statements


@pytest.fixture
async def memory(
    sent: list[Statement], neo4j_server: tuple[str, tuple[str, str]], neo4j_database: Database
) -> AsyncIterator[Memory]:
    uri, auth = neo4j_server
    async with Memory.connect(
        uri, auth=auth, namespace=f"test-{uuid.uuid4()}", embedder=EMBEDDER, warm=False
    ) as opened:
        yield opened


async def on_memory(memory: Memory, name: str) -> None:
    said = [
        {"role": "user", "speaker": "Ada", "content": "Ada Berg works at Acme Corp now.", "timestamp": "2025-01-01"}
    ]
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "ingest": lambda: memory.ingest(said, idempotency_key="a"),
        "recall": lambda: memory.recall("Where does Ada work?"),
        "retry_extraction": memory.retry_extraction,
        "retrieve": lambda: every_path(memory),
        "subgraph": lambda: memory.subgraph([sample_id("entity", 1)]),
        "get": lambda: memory.get(sample_id("relationship", 99)),
        "lessons": lambda: memory.lessons(["a"]),
        "record_outcome": lambda: memory.record_outcome("run", 0.5, fact_ids=[sample_id("fact", 1)]),
        "gate": lambda: memory.gate(RetentionPolicy(candidate_tag="a")),
        "gate_decisions": memory.gate_decisions,
        "consolidate": lambda: memory.consolidate(max_facts=1, max_episodes=0),
        "should_consolidate": lambda: memory.should_consolidate(max_facts=1, max_episodes=1),
        "assert_statements": lambda: memory.assert_statements(STATED, single_valued=["port"]),
        "resolve_entities": memory.resolve_entities,
        "find_conflicts": memory.find_conflicts,
        "resolve_conflicts": lambda: memory.resolve_conflicts("supersede-on-newer"),
        "admit": lambda: memory.admit("Ada works"),
        "history": lambda: memory.history(sample_id("fact", 1)),
        "why": lambda: memory.why(sample_id("entity", 1)),
        "passes": memory.passes,
        "restore": lambda: taken_back(memory, memory.restore, of_pass=False),
        "undo": lambda: taken_back(memory, memory.undo, of_pass=True),
        "forget": lambda: memory.forget(sample_id("message", 1)),
        "served_to": lambda: memory.served_to("run"),
        "memory_retriever": lambda: memory.memory_retriever({"text": "Ada"}, {"run_id": "run"}),
        "memory_writer": lambda: memory.memory_writer([{"content": "Ada", "source_fact_ids": [sample_id("fact", 1)]}]),
        "reflect": lambda: memory.reflect("Ada works at Acme Corp now.", ["a"], "run", "node", iteration=1),
        "quarantine_run": lambda: memory.quarantine_run("run"),
        "release_run": lambda: memory.release_run("run"),
        "clear": memory.clear,
    }
    await calls[name]()


async def taken_back(memory: Memory, taking_back: Callable[[str], Awaitable[object]], *, of_pass: bool) -> None:
    closed = sample_id("fact", 2)
    report = await memory.forget(closed, hard=False)
    await taking_back(str(report.pass_id) if of_pass else closed)


async def every_path(memory: Memory) -> None:
    for filter_first in (True, False):
        await memory.retrieve(MemoryQuery(entity_ids=[sample_id("entity", 1)]), filter_first=filter_first)
        await memory.retrieve(MemoryQuery(text="work"), filter_first=filter_first)
        await memory.retrieve(MemoryQuery(embedding=VECTOR, tags=["a"]), filter_first=filter_first)
        await memory.retrieve(MemoryQuery(embedding=VECTOR, changed_since=day(1)), filter_first=filter_first)
        await memory.retrieve(MemoryQuery(tags=["a"]), filter_first=filter_first)


RELATIONAL = Stated(subject_id=sample_id("entity", 1), predicate="use", object_id=sample_id("entity", 2))

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

STATED = [{"subject_id": sample_id("entity", 1), "predicate": "port", "value": value} for value in (1, 2)]

STORE_ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
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

RETRIEVING = {"retrieve", "extract_subgraph", "recall", "gather_candidates"}
"""What retrieval asks of the store; called by way of the memory."""


def public(kind: type) -> set[str]:
    return {
        name
        for name, value in inspect.getmembers(kind, inspect.iscoroutinefunction)
        if not name.startswith("_") and name != "aclose"
    }


RECORDS = {
    "entity": entity(1),
    "relationship": relationship(1, 1, 2),
    "episode": episode(1),
    "fact": fact(1),
    "theme": theme(1),
    "message": message(1),
}
PLURALS = {"entities": "entity"} | {f"{kind}s": kind for kind in RECORDS}


def arguments(name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What to call a method of the store with: from the table, or by the verb and kind in its name."""
    if name in STORE_ARGUMENTS:
        return STORE_ARGUMENTS[name]
    verb, kind = name.split("_")
    if verb == "put":
        return (RECORDS[kind],), {}
    if kind in PLURALS:
        return ([RECORDS[PLURALS[kind]].id],), {}
    return (RECORDS[kind].id,), {}


@pytest.mark.parametrize("name", sorted(public(Memory)))
async def test_of_the_memory(memory: Memory, sent: list[Statement], name: str) -> None:
    await memory.store.write(BATCH)
    await on_memory(memory, name)
    await memory.store.flush_usage()
    assert_all_walled(sent, memory.namespace)


@pytest.mark.parametrize("name", sorted(public(Neo4jStore) - RETRIEVING))
async def test_of_the_store(memory: Memory, sent: list[Statement], name: str) -> None:
    if name != "write":
        await memory.store.write(BATCH)
    before = len(sent)
    given, named = arguments(name)
    await getattr(memory.store, name)(*given, **named)
    if name not in ("touch_facts", "flush_usage"):
        assert len(sent) > before
    await memory.store.flush_usage()
    assert_all_walled(sent, memory.namespace)


RUN = RunOutcome(run_id="run", score=0.5, fact_ids=["a"], holdout={"b": 0.5})

LEDGER_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "record_outcome": (RUN,),
    "record_outcomes": ([RUN],),
    "get_outcome": ("run",),
    "get_fact_stats": ("a",),
    "get_fact_stats_batch": (["a"],),
    "get_baselines": (["a"],),
    "get_run_scores": (["a"],),
    "get_gate_pass": (sample_id("theme", 1),),
}


@pytest.mark.parametrize("name", sorted(public(Neo4jLedger)))
async def test_of_the_ledger(memory: Memory, sent: list[Statement], name: str) -> None:
    before = len(sent)
    await getattr(memory.ledger, name)(*LEDGER_ARGUMENTS.get(name, ()))
    assert len(sent) > before
    assert_all_walled(sent, memory.namespace)


@pytest.mark.parametrize("name", sorted(public(Neo4jIndex) - {"rebuild"}))
async def test_of_the_index(memory: Memory, sent: list[Statement], name: str) -> None:
    before = len(sent)
    given = [VECTOR] if name == "nearest_themes" else VECTOR
    await getattr(memory.index, name)(given, limit=3)
    if name == "search_facts":
        await memory.index.search_facts(VECTOR, tags=["a"])
    assert len(sent) > before
    assert_all_walled(sent, memory.namespace)


TIER_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "put": ([TierItem(tier="semantic", id="a", text="a", embedding=VECTOR, remembered_at=START)],),
    "nearest": (["semantic"], VECTOR),
    "clear": (["semantic"],),
}


@pytest.mark.parametrize("name", sorted(public(Neo4jTiers)))
async def test_of_the_tiers(memory: Memory, sent: list[Statement], name: str) -> None:
    assert isinstance(memory.store, KeepsTiers)
    before = len(sent)
    await getattr(memory.store.tiers, name)(*TIER_ARGUMENTS[name])
    assert len(sent) > before
    assert_all_walled(sent, memory.namespace)


def assert_all_walled(sent: list[Statement], namespace: str) -> None:
    shared = {text for name, text in schema_files() if "$namespace" not in text}
    about_records = [(text, given) for text, given in sent if text not in shared and not ABOUT_ALL.match(text.strip())]
    assert about_records
    for text, given in about_records:
        assert "$namespace" in text, text
        assert given["namespace"] == namespace


def schema_files() -> list[tuple[str, str]]:
    names = ("claim", "read", "record_migrations", "record_spaces")
    return [(name, queries.load(f"schema.{name}")) for name in names]
