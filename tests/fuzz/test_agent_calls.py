"""What agents hand to their tools: any JSON as any argument is taken, or refused by its name with nothing written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import InvalidNamespaceError
from tests.fuzz.effort import fuzz_costly, holds, in_time, only_ours
from tests.fuzz.outside import odd_texts, odd_values

from remembrancer import Memory
from remembrancer.integrations.filters import check_filter, passes
from remembrancer.integrations.langgraph import RemembrancerStore
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import InvalidInputError, RemembranceError
from remembrancer.testing.samples import sample_id

FACT = {
    "content": "Deploys need a review.",
    "tags": ["lesson"],
    "provenance": {"source": "agent", "run_id": "r"},
    "valid_from": "2025-01-01",
    "valid_until": None,
    "entity_ids": [sample_id("entity", 1)],
    "source_fact_ids": [],
}
ASSERTION = {"subject_id": sample_id("entity", 1), "predicate": "port", "value": 80, "valid_from": "2025-01-01"}
MESSAGE = {"role": "user", "content": "Tea is hot.", "timestamp": "2025-01-01", "metadata": {"a": 1}}

values = odd_values | st.sampled_from(
    [
        FACT,
        [FACT],
        ASSERTION,
        [ASSERTION],
        MESSAGE,
        [MESSAGE],
        sample_id("fact", 1),
        "2025-01-01",
        ["a"],
        {"text": "tea"},
    ]
)


@st.composite
def calls(draw: st.DrawFn, **known: Any) -> dict[str, Any]:
    """Arguments of which some are not what they should be, and maps inside them likewise."""
    given_in = {}
    for name, good in known.items():
        kind = draw(st.sampled_from(["good", "good", "odd", "inside", "absent"]))
        if kind == "absent" and good is None:
            continue
        given_in[name] = draw(values) if kind == "odd" else good
        if kind == "inside" and isinstance(good, dict) and good:
            given_in[name] = {**good, draw(st.sampled_from([*good, "other"])): draw(values)}
        if kind == "inside" and isinstance(good, list) and good:
            first = good[0]
            if isinstance(first, dict):
                first = {**first, draw(st.sampled_from([*first, "other"])): draw(values)}
            given_in[name] = draw(st.permutations([*good[1:], first, draw(values)]))
    return given_in


CALLS: dict[str, tuple[str, st.SearchStrategy[Mapping[str, Any]]]] = {
    "retriever": (
        "memory_retriever",
        calls(query={"text": "review", "entity_ids": [], "tags": []}, options={"max_facts": 3, "goal": "g",
        "run_id": "r",
              "min_similarity": 0.1, "max_hops": 1, "valid_at": "2025-02-01"}),
    ),
    "writer": (
        "memory_writer",
        calls(facts=[FACT], options={"idempotency_key": None, "run_id": "r", "node_id": "n", "iteration": 1,
        "agent_id": "a",
              "admission": True, "threshold": 0.5}),
    ),
    "reflect": (
        "reflect",
        calls(text="Deploys need a review by two people.", tags=["a"], run_id="r", node_id="n", iteration=1,
        admission=False,
              min_sentence_length=3, source_fact_ids=[], agent_id=None, idempotency_key=None),
    ),
    "outcome": ("record_outcome", calls(run_id="r", score=0.5, fact_ids=[], holdout={})),
    "statements": ("assert_statements", calls(assertions=[ASSERTION], single_valued=["port"], idempotency_key=None)),
    "ingest": ("ingest", calls(messages=[MESSAGE], idempotency_key=None, admission=False)),
    "lessons": ("lessons", calls(tags=["a"], max_facts=3, candidate_slots=1, run_id="r", holdout=0.1)),
    "admit": ("admit", calls(content="Tea is hot.", threshold=None, tags=[], limit=5)),
    "get": ("get", calls(record_id=sample_id("fact", 1))),
    "history": ("history", calls(record_id=sample_id("fact", 1))),
    "why": ("why", calls(record_id=sample_id("fact", 1), limit=1)),
    "passes": ("passes", calls(limit=1, offset=0)),
    "decisions": ("gate_decisions", calls(fact_id=None, verdict=None, reason=None, since=None, until=None, limit=5)),
    "quarantine": ("quarantine_run", calls(run_id="r")),
    "release": ("release_run", calls(run_id="r")),
    "forget": ("forget", calls(target=sample_id("fact", 1), dry_run=False, hard=True, everything=False)),
    "subgraph": ("subgraph", calls(seeds=[sample_id("entity", 1)], max_hops=1, valid_at=None, relation_types=[],
    max_entities=5)),
    "undo": ("undo", calls(pass_id=sample_id("fact", 1), dry_run=False)),
}  # fmt: skip


@pytest.mark.parametrize("tool", CALLS)
@fuzz_costly
@given(data=st.data())
async def test_any_call_is_served_or_refused_by_name(tool: str, data: st.DataObject) -> None:
    method, arguments = CALLS[tool]
    async with Memory.in_memory() as memory:
        call: Callable[..., Awaitable[Any]] = getattr(memory, method)
        given_in = data.draw(arguments)
        with in_time():
            try:
                await call(**given_in)
            except InvalidInputError as error:
                holds(error.field and not await memory.store.find_facts(limit=5, include_invalidated=True), error)
            except RemembranceError:
                pass
            except TypeError as error:
                holds("required" in str(error), error)  # an argument that has to be there is not


@fuzz_costly
@given(
    text=odd_texts,
    metadata=odd_values,
    scope=odd_values,
    tier=st.sampled_from(["working", "episodic", "semantic"]) | odd_values,
)
async def test_any_item_of_a_tier_is_kept_or_refused(text: str, metadata: Any, scope: Any, tier: Any) -> None:
    async with Memory.in_memory(embedder=HashingEmbedder(dimensions=16)) as memory:
        with only_ours():
            tiered = memory.tiered(semantic=True, episodic=True)
            await tiered.remember([{"text": text, "metadata": metadata, "scope": scope, "tier": tier}])


@fuzz_costly
@given(
    value=st.dictionaries(st.text(max_size=3), values, max_size=3),
    wanted=odd_values,
    path=st.lists(odd_texts, max_size=2),
    key=odd_texts,
)
async def test_any_item_of_a_langgraph_store_is_kept_or_refused(
    value: Any, wanted: Any, path: list[str], key: str
) -> None:
    async with Memory.in_memory() as memory:
        store = RemembrancerStore(memory)
        with only_ours():
            try:
                await store.aput(tuple(path), key, value)
                item = await store.aget(tuple(path), key)
                assert item is not None
                assert item.value == value
                await store.asearch((), filter=wanted)
            except InvalidNamespaceError:
                return


def nested(depth: int, inner: Any) -> Any:
    """Maps inside one another."""
    for _ in range(depth):
        inner = {"a": inner}
    return inner


@fuzz_costly
@given(value=st.dictionaries(st.text(max_size=2), odd_values), wanted=st.dictionaries(st.text(max_size=2), odd_values
       | st.dictionaries(st.sampled_from(["$gt", "$lte", "$eq", "$ne", "$in"]), odd_values, max_size=2),
       max_size=3))  # fmt: skip
def test_any_filter_holds_or_does_not(value: Any, wanted: Any) -> None:
    with only_ours():
        assert passes(value, check_filter(wanted)) in (True, False)


def test_a_filter_that_is_nested_too_deeply_is_refused() -> None:
    assert passes(nested(100, 1), check_filter(nested(100, 1)))
    for depth in (101, 5_000):
        with pytest.raises(InvalidInputError, match="filter: nested deeper than 100 levels"):
            check_filter(nested(depth, 1))


@pytest.mark.parametrize("number", [10**400, -(10**400)])
async def test_a_number_beyond_every_float_is_refused_by_name(number: int) -> None:
    async with Memory.in_memory() as memory:
        for call, field in (
            (lambda: memory.consolidate(decay_half_life_days=number), "decay_half_life_days"),
            (lambda: memory.record_outcome("r", number, fact_ids=[]), "score"),
            (lambda: memory.lessons(["a"], holdout=number), "holdout"),
            (lambda: memory.memory_retriever({"text": "a"}, {"min_similarity": number}), "min_similarity"),
            (lambda: memory.memory_writer([FACT], {"threshold": number, "admission": True}), "threshold"),
        ):
            with pytest.raises(InvalidInputError, match=field):
                await call()


@pytest.mark.parametrize("holdout", [True, [], "a", ["ab"], [{"a": 1}]])
async def test_chances_that_are_no_map_are_refused_by_name(holdout: Any) -> None:
    async with Memory.in_memory() as memory:
        with pytest.raises(InvalidInputError, match="holdout: expected a map"):
            await memory.record_outcome("r", 0.5, fact_ids=[], holdout=holdout)
