"""The store for LangGraph: what LangGraph promises of a store, over a memory in this process and in Neo4j."""

from __future__ import annotations

import asyncio
import datetime as dt
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore as Reference

from remembrancer import InvalidInputError, Memory, RemembranceError, SyncMemory
from remembrancer.integrations import items
from remembrancer.integrations.filters import passes
from remembrancer.integrations.langgraph import RemembrancerStore
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import EmbeddingSpace
from remembrancer.testing import FixedClock, OpenStore

EMBEDDER = HashingEmbedder()
SPACE = EmbeddingSpace(model=EMBEDDER.model, dimensions=EMBEDDER.dimensions)

ADA = ("users", "ada")
BO = ("users", "bo")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock("2026-03-01T12:00Z")


@pytest.fixture
async def memory(open_store: OpenStore) -> Memory:
    store = await open_store(space=SPACE)
    return Memory(store, store.index, embedder=EMBEDDER)


@pytest.fixture
async def store(memory: Memory, clock: FixedClock) -> RemembrancerStore:
    return RemembrancerStore(memory, clock=clock)


def keys(found: list[SearchItem]) -> list[str]:
    return [item.key for item in found]


def later(clock: FixedClock) -> None:
    clock.advance(dt.timedelta(seconds=1))


class TestItems:
    async def test_an_item_comes_back_as_it_was_put(self, store: RemembrancerStore, clock: FixedClock) -> None:
        value = {"text": "likes tea", "n": 2**70, "list": [1, None, {"deep": True}], "naïve": "日本"}
        await store.aput(ADA, "drinks", value)
        item = await store.aget(ADA, "drinks")
        assert item is not None
        assert (item.namespace, item.key, item.value) == (ADA, "drinks", value)
        assert item.created_at == item.updated_at == clock.now

    async def test_what_was_not_put_is_none(self, store: RemembrancerStore) -> None:
        await store.aput(ADA, "drinks", {"text": "tea"})
        assert await store.aget(BO, "drinks") is None
        assert await store.aget(ADA, "food") is None

    async def test_putting_again_keeps_when_it_was_created(self, store: RemembrancerStore, clock: FixedClock) -> None:
        await store.aput(ADA, "drinks", {"text": "tea", "sugar": 1})
        first = clock.now
        later(clock)
        await store.aput(ADA, "drinks", {"text": "coffee"})
        item = await store.aget(ADA, "drinks")
        assert item is not None
        assert item.value == {"text": "coffee"}
        assert (item.created_at, item.updated_at) == (first, clock.now)

    async def test_a_deleted_item_is_gone_and_deleting_it_again_is_fine(self, store: RemembrancerStore) -> None:
        await store.aput(ADA, "drinks", {"text": "tea"}, index=["text"])
        await store.adelete(ADA, "drinks")
        await store.adelete(ADA, "drinks")
        assert await store.aget(ADA, "drinks") is None
        assert await store.asearch(ADA, query="tea") == []

    async def test_nothing_is_left_of_a_deleted_item(self, store: RemembrancerStore, memory: Memory) -> None:
        await store.aput(ADA, "notes", {"notes": ["one thing", "other thing"]}, index=["notes[*]"], ttl=5)
        await store.adelete(ADA, "notes")
        assert await memory.store.find_facts(include_invalidated=True) == []
        assert await memory.store.find_entities(include_invalidated=True) == []

    async def test_reads_of_a_batch_see_what_was_before_it(self, store: RemembrancerStore) -> None:
        await store.aput(ADA, "drinks", {"text": "tea"})
        answers = await store.abatch(
            [
                PutOp(ADA, "drinks", {"text": "milk"}),
                PutOp(ADA, "drinks", {"text": "coffee"}),
                GetOp(ADA, "drinks"),
                SearchOp(ADA),
                ListNamespacesOp(),
            ]
        )
        assert answers[:2] == [None, None]
        assert answers[2].value == {"text": "tea"}  # type: ignore[union-attr]
        assert [item.value for item in answers[3]] == [{"text": "tea"}]  # type: ignore[union-attr]
        assert answers[4] == [ADA]
        item = await store.aget(ADA, "drinks")
        assert item is not None
        assert item.value == {"text": "coffee"}

    async def test_many_writers_at_once_lose_nothing(self, store: RemembrancerStore) -> None:
        await asyncio.gather(*(store.aput(("users", str(n % 3)), str(n), {"n": n}) for n in range(12)))
        assert len(await store.asearch(("users",), limit=50)) == 12
        assert len(await store.alist_namespaces()) == 3


class TestNamespaces:
    async def test_a_search_reaches_at_and_below_its_prefix(self, store: RemembrancerStore) -> None:
        for path in (ADA, BO, ("users", "ada", "trips"), ("users2",)):
            await store.aput(path, "k", {"path": list(path)})
        assert {item.namespace for item in await store.asearch(ADA)} == {ADA, ("users", "ada", "trips")}
        assert len(await store.asearch(("users",))) == 3
        assert len(await store.asearch(())) == 4
        assert await store.asearch(("user",)) == []

    async def test_they_are_listed_by_patterns_and_depth(self, store: RemembrancerStore) -> None:
        paths = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f")]
        await store.abatch([PutOp(path, "k", {"x": 1}) for path in paths])
        assert await store.alist_namespaces() == sorted(paths)
        assert await store.alist_namespaces(prefix=("a", "b"), max_depth=3) == [
            ("a", "b", "c"),
            ("a", "b", "d"),
            ("a", "b", "f"),
        ]
        assert await store.alist_namespaces(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]
        assert await store.alist_namespaces(prefix=("a", "*", "f")) == [("a", "b", "f"), ("a", "c", "f")]
        assert await store.alist_namespaces(prefix=("a",), suffix=("d", "*")) == [
            ("a", "b", "d", "e"),
            ("a", "b", "d", "i"),
        ]
        assert await store.alist_namespaces(limit=2, offset=1) == sorted(paths)[1:3]
        lone = ListNamespacesOp(match_conditions=(MatchCondition("suffix", "f"),))  # type: ignore[arg-type]
        assert await store.abatch([lone]) == [[("a", "b", "f"), ("a", "c", "f")]]

    async def test_a_path_may_be_a_list(self, store: RemembrancerStore) -> None:
        await store.aput(["users", "ada"], "k", {"x": 1})  # type: ignore[arg-type]
        assert [item.namespace for item in await store.asearch(["users"])] == [ADA]  # type: ignore[arg-type]

    async def test_an_empty_one_is_not_listed(self, store: RemembrancerStore) -> None:
        await store.abatch(
            [PutOp(("a", "b"), "k", {"x": 1}), PutOp(("a",), "k", {"x": 1}), PutOp(("a",), "l", {"x": 1})]
        )
        await store.adelete(("a", "b"), "k")
        await store.adelete(("a",), "k")
        assert await store.alist_namespaces() == [("a",)]

    @pytest.mark.parametrize("path", [(), ("a.b",), ("",), ("a\x00",), ("\ud800",), (3,), "users"])
    async def test_a_bad_one_is_refused_before_anything_is_written(self, store: RemembrancerStore, path: Any) -> None:
        with pytest.raises(InvalidNamespaceError):
            await store.abatch([PutOp(ADA, "k", {"x": 1}), PutOp(path, "k", {"x": 1})])
        assert await store.asearch(()) == []

    async def test_langgraphs_own_root_is_left_to_langgraph(self, store: RemembrancerStore) -> None:
        with pytest.raises(InvalidNamespaceError):
            await store.aput(("langgraph", "x"), "k", {"x": 1})
        await store.abatch([PutOp(("langgraph", "x"), "k", {"x": 1})])
        assert await store.aget(("langgraph", "x"), "k") is not None

    async def test_long_labels_are_kept_apart(self, store: RemembrancerStore) -> None:
        long, longer = ("ü" * 2_000,), ("ü" * 2_000, "x")
        await store.aput(long, "k", {"n": 1})
        await store.aput(longer, "k", {"n": 2})
        assert [item.value["n"] for item in await store.asearch(longer)] == [2]
        assert len(await store.asearch(long)) == 2

    @given(
        st.lists(
            st.tuples(
                st.lists(st.text("ab.:/1", min_size=1, max_size=3), min_size=1, max_size=3).map(tuple),
                st.text(max_size=3),
            ),
            min_size=2,
            max_size=2,
            unique=True,
        )
    )
    def test_two_places_never_share_an_id_or_a_tag(self, places: list[tuple[tuple[str, ...], str]]) -> None:
        (path, key), (other, other_key) = places
        assert items.item_id(path, key) != items.item_id(other, other_key)
        if path != other and not any("." in label for label in (*path, *other)):
            assert items.tag_in(path) != items.tag_in(other)
            assert items.tag_under(path) != items.tag_under(other)
            assert items.path_id(path) != items.path_id(other)


class TestSearch:
    async def test_the_last_written_comes_first_page_by_page(self, store: RemembrancerStore, clock: FixedClock) -> None:
        for n in range(5):
            await store.aput(ADA, f"k{n}", {"n": n})
            later(clock)
        assert keys(await store.asearch(ADA, limit=2)) == ["k4", "k3"]
        assert keys(await store.asearch(ADA, limit=2, offset=2)) == ["k2", "k1"]
        assert keys(await store.asearch(ADA, limit=2, offset=4)) == ["k0"]
        assert await store.asearch(ADA, limit=0) == []

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            ({"kind": "tea"}, ["a"]),
            ({"kind": {"$eq": "tea"}}, ["a"]),
            ({"kind": {"$ne": "tea"}}, ["b", "c"]),
            ({"n": {"$gt": 1}}, ["b", "c"]),
            ({"n": {"$gte": 2, "$lt": 3}}, ["b"]),
            ({"n": {"$lte": 1}}, ["a"]),
            ({"at": {"$gt": "2026-02-01"}}, ["c"]),
            ({"n": {"$gt": 1}, "kind": "milk"}, ["c"]),
            ({"deep": {"x": 1}}, ["b"]),
            ({"deep": {"x": {"$gt": 0}}}, ["b"]),
            ({"tags": ["x", "y"]}, ["c"]),
            ({"flag": True}, ["a"]),
            ({"missing": None}, ["a", "b", "c"]),
            ({"missing": {"$gt": 1}}, []),
        ],
    )
    async def test_a_filter_keeps_what_passes(
        self, store: RemembrancerStore, wanted: dict[str, Any], found: list[str]
    ) -> None:
        await store.abatch(
            [
                PutOp(ADA, "a", {"kind": "tea", "n": 1, "at": "2026-01-01", "flag": True}),
                PutOp(ADA, "b", {"kind": "coffee", "n": 2, "at": "2026-02-01", "deep": {"x": 1, "y": 2}, "flag": 1}),
                PutOp(ADA, "c", {"kind": "milk", "n": 3, "at": "2026-03-01", "tags": ["x", "y"]}),
            ]
        )
        assert sorted(keys(await store.asearch(ADA, filter=wanted))) == found

    async def test_a_filter_looks_behind_the_first_page(self, store: RemembrancerStore) -> None:
        await store.abatch([PutOp(ADA, str(n), {"n": n, "text": "tea"}, index=["text"]) for n in range(210)])
        assert keys(await store.asearch(ADA, filter={"n": 209})) == ["209"]
        assert keys(await store.asearch(ADA, filter={"n": 7}, query="tea")) == ["7"]

    async def test_an_unknown_operator_is_refused(self, store: RemembrancerStore) -> None:
        with pytest.raises(InvalidInputError, match=r"filter.n: unknown: \$in"):
            await store.asearch(ADA, filter={"n": {"$in": [1]}})

    async def test_a_query_ranks_by_similarity(self, store: RemembrancerStore) -> None:
        await store.aput(ADA, "tea", {"text": "green tea in the morning"}, index=["text"])
        await store.aput(ADA, "boat", {"text": "sails a small boat"}, index=["text"])
        await store.aput(BO, "tea", {"text": "green tea in the morning"}, index=["text"])
        found = await store.asearch(ADA, query="a small boat")
        assert [item.namespace for item in found] == [ADA, ADA]
        assert keys(found) == ["boat", "tea"]
        assert found[0].score is not None
        assert found[1].score is not None
        assert found[0].score > 0.5 > found[1].score

    async def test_the_best_of_an_items_texts_counts_and_it_comes_once(self, store: RemembrancerStore) -> None:
        await store.aput(ADA, "notes", {"notes": ["green tea", "small boat"]}, index=["notes[*]"])
        await store.aput(ADA, "other", {"notes": ["red wine"]}, index=["notes[*]"])
        assert keys(await store.asearch(ADA, query="small boat")) == ["notes", "other"]
        assert sorted(keys(await store.asearch(ADA))) == ["notes", "other"]

    async def test_what_is_not_indexed_comes_last_and_without_a_score(self, store: RemembrancerStore) -> None:
        await store.aput(ADA, "hidden", {"text": "small boat"}, index=False)
        await store.aput(ADA, "shown", {"text": "red wine"}, index=["text"])
        found = await store.asearch(ADA, query="small boat")
        assert keys(found) == ["shown", "hidden"]
        assert found[1].score is None

    async def test_an_item_is_no_longer_found_by_its_former_text(self, store: RemembrancerStore) -> None:
        await store.aput(ADA, "k", {"notes": ["green tea", "small boat"]}, index=["notes[*]"])
        await store.aput(ADA, "k", {"notes": ["red wine"]}, index=["notes[*]"])
        (found,) = await store.asearch(ADA, query="small boat")
        assert found.score is not None
        assert found.score < 0.5

    async def test_the_stores_own_fields_are_the_default(self, memory: Memory) -> None:
        store = RemembrancerStore(memory, fields=["text"])
        await store.aput(ADA, "k", {"text": "small boat", "noise": "red wine " * 20})
        (found,) = await store.asearch(ADA, query="small boat")
        assert found.score is not None
        assert found.score > 0.9

    async def test_recall_finds_items_too(self, memory: Memory) -> None:
        store = RemembrancerStore(memory, fields=["text"])
        await store.aput(ADA, "k", {"text": "Ada keeps the boat at the north pier."})
        (hit,) = (await memory.recall("Where is the boat of Ada?")).hits
        assert hit.text == "Ada keeps the boat at the north pier."

    async def test_without_an_embedder_the_last_written_come_and_the_log_says_so(
        self, open_store: OpenStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        opened = await open_store()
        store = RemembrancerStore(Memory(opened, opened.index))
        await store.aput(ADA, "k", {"text": "small boat"})
        assert keys(await store.asearch(ADA, query="wine")) == ["k"]
        assert "no embedder" in caplog.text


class TestExpiry:
    async def test_an_item_expires_and_a_read_keeps_it_for_longer(
        self, store: RemembrancerStore, clock: FixedClock
    ) -> None:
        await store.aput(ADA, "k", {"text": "tea"}, ttl=10)
        clock.advance(dt.timedelta(minutes=9))
        assert await store.aget(ADA, "k") is not None
        clock.advance(dt.timedelta(minutes=9))
        assert keys(await store.asearch(ADA, query="tea", refresh_ttl=False)) == ["k"]
        clock.advance(dt.timedelta(minutes=2))
        assert await store.aget(ADA, "k") is None
        assert await store.asearch(ADA) == []
        assert await store.asearch(ADA, query="tea") == []

    async def test_putting_again_without_a_term_keeps_it_for_good(
        self, store: RemembrancerStore, clock: FixedClock
    ) -> None:
        await store.aput(ADA, "k", {"text": "tea"}, ttl=10)
        await store.aput(ADA, "k", {"text": "tea"})
        clock.advance(dt.timedelta(days=900))
        assert await store.aget(ADA, "k") is not None

    async def test_sweeping_removes_the_expired_for_good(
        self, store: RemembrancerStore, memory: Memory, clock: FixedClock
    ) -> None:
        await store.aput(ADA, "short", {"text": "tea"}, ttl=1)
        await store.aput(ADA, "long", {"text": "tea"}, ttl=100)
        await store.aput(BO, "short", {"text": "tea"}, ttl=1)
        clock.advance(dt.timedelta(minutes=2))
        assert await store.asweep_ttl() == 2
        assert await store.asweep_ttl() == 0
        assert await store.alist_namespaces() == [ADA]
        assert len(await memory.store.find_facts()) == 1

    async def test_a_default_term_is_used(self, memory: Memory, clock: FixedClock) -> None:
        store = RemembrancerStore(memory, ttl={"default_ttl": 5, "refresh_on_read": False}, clock=clock)
        await store.aput(ADA, "k", {"text": "tea"})
        clock.advance(dt.timedelta(minutes=3))
        assert await store.aget(ADA, "k") is not None
        clock.advance(dt.timedelta(minutes=3))
        assert await store.aget(ADA, "k") is None

    @pytest.mark.parametrize("ttl", [0, -1, float("inf"), float("nan"), True, "5"])
    async def test_a_bad_term_is_refused(self, store: RemembrancerStore, ttl: Any) -> None:
        with pytest.raises(InvalidInputError, match="ttl: expected minutes"):
            await store.aput(ADA, "k", {"text": "tea"}, ttl=ttl)


class TestBadInput:
    @pytest.mark.parametrize(
        "value", [{"x": float("nan")}, {"x": object()}, {1: "x"}, ["x"], {"x": "\ud800"}, {"x": {1, 2}}]
    )
    async def test_a_value_that_is_no_json_is_refused(self, store: RemembrancerStore, value: Any) -> None:
        with pytest.raises(InvalidInputError, match="value: "):
            await store.abatch([PutOp(BO, "k", {"x": 1}), PutOp(ADA, "k", value)])
        assert await store.asearch(()) == []

    @pytest.mark.parametrize(
        "op",
        [
            SearchOp(ADA, limit=-1),
            SearchOp(ADA, offset=-1),
            SearchOp(ADA, query=3),  # type: ignore[arg-type]
            ListNamespacesOp(max_depth=-1),
            ListNamespacesOp(match_conditions=(MatchCondition("middle", ("a",)),)),  # type: ignore[arg-type]
            GetOp(ADA, 3),  # type: ignore[arg-type]
            "get",
        ],
    )
    async def test_a_bad_operation_is_refused(self, store: RemembrancerStore, op: Any) -> None:
        with pytest.raises(InvalidInputError):
            await store.abatch([op])

    def test_only_a_memory_is_taken(self) -> None:
        with pytest.raises(InvalidInputError, match="memory: expected a Memory or SyncMemory"):
            RemembrancerStore("neo4j://localhost")  # type: ignore[arg-type]


class TestBlocking:
    def test_over_a_blocking_memory_both_forms_work(self) -> None:
        with SyncMemory.in_memory(embedder=EMBEDDER) as memory:
            store: BaseStore = RemembrancerStore(memory)
            store.put(ADA, "k", {"text": "tea"})
            item = store.get(ADA, "k")
            assert item is not None
            assert item.value == {"text": "tea"}
            assert store.list_namespaces() == [ADA]
            assert keys(asyncio.run(store.asearch(ADA, query="tea"))) == ["k"]
            store.delete(ADA, "k")
            assert store.search(ADA) == []

    async def test_a_blocking_call_works_from_a_thread_beside_the_loop(self, store: RemembrancerStore) -> None:
        await asyncio.to_thread(store.put, ADA, "k", {"text": "tea"})
        item = await asyncio.to_thread(store.get, ADA, "k")
        assert item is not None
        assert await asyncio.to_thread(store.sweep_ttl) == 0

    async def test_a_blocking_call_on_the_memorys_own_loop_is_refused(self, store: RemembrancerStore) -> None:
        with pytest.raises(RemembranceError, match="leading a"):
            store.get(ADA, "k")


labels = st.sampled_from(["a", "b", "*"])
paths = st.lists(labels, min_size=1, max_size=3).map(tuple)
values = st.fixed_dictionaries({"n": st.integers(0, 3), "s": st.sampled_from(["x", "y"])})
filters = st.one_of(
    st.none(),
    st.fixed_dictionaries({"s": st.sampled_from(["x", "y"])}),
    st.fixed_dictionaries({"n": st.fixed_dictionaries({"$gte": st.integers(0, 3)})}),
    st.fixed_dictionaries({"n": st.fixed_dictionaries({"$ne": st.integers(0, 3)})}),
)
changes = st.lists(st.tuples(paths, st.sampled_from("kl"), st.one_of(st.none(), values)), max_size=12)


@settings(max_examples=40)
@given(changes=changes, prefix=st.lists(labels, max_size=2).map(tuple), wanted=filters)
async def test_it_holds_what_the_store_of_langgraph_itself_holds(
    changes: list[tuple[tuple[str, ...], str, dict[str, Any] | None]],
    prefix: tuple[str, ...],
    wanted: dict[str, Any] | None,
) -> None:
    reference = Reference()
    async with Memory.in_memory(namespace=str(uuid.uuid4())) as memory:
        store = RemembrancerStore(memory)
        for path, key, value in changes:
            for one in (store, reference):
                await one.abatch([PutOp(path, key, value)])

        async def held(one: BaseStore) -> set[tuple[Any, ...]]:
            found = await one.asearch(prefix, filter=wanted, limit=100)
            return {(item.namespace, item.key, item.value["n"], item.value["s"]) for item in found}

        assert await held(store) == await held(reference)
        filled = {item.namespace for item in await reference.asearch((), limit=100)}
        assert await store.alist_namespaces(limit=100) == sorted(filled)


@given(
    value=st.dictionaries(st.sampled_from("ab"), st.one_of(st.integers(), st.text(), st.booleans(), st.none())),
    wanted=st.dictionaries(
        st.sampled_from("ab"),
        st.one_of(st.integers(), st.text(), st.fixed_dictionaries({"$lt": st.one_of(st.integers(), st.text())})),
    ),
)
def test_any_filter_has_an_answer(value: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert passes(value, wanted) in (True, False)
