"""The contract of every store with durable memory tiers; see `remembrancer.testing` for how to run it over your own."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.ports.tiers import FoundItem, KeepsTiers, TierStore
from remembrancer.records import (
    EmbeddingDimensionMismatchError,
    InvalidInputError,
    cosine,
)
from remembrancer.records.tier import DURABLE_TIERS, Tier, TierItem
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import SPACE, START, direction

__all__ = ["TestTierItems", "TestTierWalls", "TestWrongTierCalls"]


def _item(item_id: str, degrees: float = 0, **fields: Any) -> TierItem:
    whole = {"tier": "semantic", "text": f"text of {item_id}", "embedding": direction(degrees), "remembered_at": START}
    return TierItem.model_validate({"id": item_id, **whole, **fields})


async def _tiers(open_store: OpenStore, **options: Any) -> TierStore:
    store = await open_store(space=SPACE, **options)
    assert isinstance(store, KeepsTiers)
    return store.tiers


async def _one(tiers: TierStore, tier: Tier, scope: str | None = None) -> FoundItem:
    (found,) = await tiers.nearest([tier], direction(0), scope=scope, min_similarity=-1)
    return found


class TestTierItems:
    async def test_an_item_is_found_as_it_was_put(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        metadata = {"nested": {"list": [1, 2.5, None, "\u00e9\U0001f600"]}, "": True}
        at = dt.datetime(2026, 1, 2, 3, 4, 5, 678901, dt.UTC)
        await tiers.put([_item("a", 60, text="Ada\nworks", metadata=metadata, remembered_at=at, scope="s")])
        found = await _one(tiers, "semantic", "s")
        assert (found.tier, found.id, found.text, found.metadata) == ("semantic", "a", "Ada\nworks", metadata)
        assert (found.remembered_at, found.uses) == (at, 1)
        assert found.similarity == pytest.approx(0.5, abs=1e-6)

    async def test_items_come_by_tier_as_asked_then_best_first(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        placed = [("far", 80), ("near", 10), ("b", 30), ("a", 30)]
        await tiers.put([_item(name, at, tier=tier) for tier in DURABLE_TIERS for name, at in placed])
        found = await tiers.nearest(["procedural", "semantic"], direction(0), min_similarity=0.5)
        names = ["near", "a", "b"]
        assert [(one.tier, one.id) for one in found] == [(t, n) for t in ("procedural", "semantic") for n in names]
        cut = await tiers.nearest(["episodic"], direction(0), limit=1, min_similarity=-1)
        assert [(one.tier, one.id) for one in cut] == [("episodic", "near")]
        assert await tiers.nearest([], direction(0)) == []
        assert await tiers.nearest(["semantic"], direction(0), limit=0) == []

    async def test_the_same_key_again_replaces_the_item_and_counts(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        later = START + dt.timedelta(days=1)
        await tiers.put([_item("a", 80, metadata={"old": 1}), _item("a", 60, metadata={"old": 2})])
        await tiers.put([_item("a", 0, text="new", remembered_at=later)])
        found = await _one(tiers, "semantic")
        assert (found.text, found.metadata, found.remembered_at, found.uses) == ("new", None, later, 3)
        assert found.similarity == pytest.approx(1, abs=1e-6)

    async def test_only_a_procedural_item_keeps_metadata_that_the_newer_lacks(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        for tier in DURABLE_TIERS:
            await tiers.put([_item("a", tier=tier, metadata={"first": tier})])
            await tiers.put([_item("a", tier=tier)])
        kept = {tier: (await _one(tiers, tier)).metadata for tier in DURABLE_TIERS}
        assert kept == {"semantic": None, "episodic": None, "procedural": {"first": "procedural"}}
        await tiers.put([_item("a", tier="procedural", metadata={}), _item("a", tier="procedural")])
        assert (await _one(tiers, "procedural")).metadata == {}

    async def test_writers_at_once_lose_no_use(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        names = ["a", "b", "c"]
        puts = [[_item(name, tier="procedural") for name in (names if n % 2 else reversed(names))] for n in range(12)]
        await asyncio.gather(*(tiers.put(items) for items in puts))
        found = await tiers.nearest(["procedural"], direction(0))
        assert {one.id: one.uses for one in found} == dict.fromkeys(names, 12)

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    async def test_it_agrees_with_the_twin_in_memory(self, open_store: OpenStore, data: st.DataObject) -> None:
        item = st.builds(
            lambda name, scope, tier, steps: _item(name, 15 * steps, scope=scope, tier=tier),
            st.sampled_from("abcd"),
            st.sampled_from([None, "s", "S", "s "]),
            st.sampled_from(DURABLE_TIERS),
            st.integers(0, 11),
        )
        tiers, twin = await _tiers(open_store), InMemoryStore(space=SPACE).tiers
        for items in data.draw(st.lists(st.lists(item, max_size=6), max_size=3)):
            await tiers.put(items)
            await twin.put(items)
        query, limit = direction(15 * data.draw(st.integers(0, 11)) + 7), data.draw(st.sampled_from([1, 2, 20]))
        for scope in (None, "s", "S", "s ", "t"):
            asked: dict[str, Any] = {"scope": scope, "limit": limit, "min_similarity": 0.1}
            found = await tiers.nearest(DURABLE_TIERS, query, **asked)
            expected = await twin.nearest(DURABLE_TIERS, query, **asked)
            assert [(one.tier, one.id, one.uses) for one in found] == [(e.tier, e.id, e.uses) for e in expected]
            assert [one.similarity for one in found] == pytest.approx([e.similarity for e in expected], abs=1e-6)


class TestTierWalls:
    async def test_a_scope_sees_its_own_items_and_no_scope_those_without(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        scopes = [None, "s", "S", "s2", "s/2", " s"]
        await tiers.put([_item("a", text=f"of {scope}", scope=scope) for scope in scopes])
        for scope in scopes:
            assert (await _one(tiers, "semantic", scope)).text == f"of {scope}"
        assert await tiers.nearest(["semantic"], direction(0), scope="none") == []

    async def test_nearer_items_of_other_scopes_and_tiers_take_no_place(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        crowd = [_item(f"n{n}", 0, scope="crowd") for n in range(150)]
        crowd += [_item(f"n{n}", 0, tier="episodic", scope="own") for n in range(150)]
        await tiers.put([*crowd, _item("mine", 80, scope="own")])
        found = await tiers.nearest(["semantic"], direction(0), scope="own", limit=1, min_similarity=0.1)
        assert [one.id for one in found] == ["mine"]
        assert found[0].similarity == pytest.approx(cosine(direction(80), direction(0)), abs=1e-6)

    async def test_namespaces_share_nothing(self, open_store: OpenStore) -> None:
        ours, theirs = await open_store(space=SPACE), await open_store(space=SPACE)
        assert isinstance(ours, KeepsTiers)
        assert isinstance(theirs, KeepsTiers)
        for store, text in ((ours, "ours"), (theirs, "theirs")):
            await store.tiers.put([_item("a", text=text, tier=tier, scope="s") for tier in DURABLE_TIERS])
        for store, text in ((ours, "ours"), (theirs, "theirs")):
            found = await store.tiers.nearest(DURABLE_TIERS, direction(0), scope="s")
            assert [(one.text, one.uses) for one in found] == [(text, 1)] * 3
        await ours.tiers.clear()
        assert await ours.tiers.nearest(DURABLE_TIERS, direction(0), scope="s") == []
        await ours.clear()
        assert len(await theirs.tiers.nearest(DURABLE_TIERS, direction(0), scope="s")) == 3
        await theirs.clear()
        assert await theirs.tiers.nearest(DURABLE_TIERS, direction(0), scope="s") == []

    async def test_a_tier_is_cleared_in_all_scopes_and_no_other_tier(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        await tiers.put([_item("a", tier=tier, scope=scope) for tier in DURABLE_TIERS for scope in (None, "s")])
        await tiers.clear(["episodic"])
        for scope in (None, "s"):
            found = await tiers.nearest(DURABLE_TIERS, direction(0), scope=scope)
            assert [one.tier for one in found] == ["semantic", "procedural"]


_WRONG: Mapping[str, Callable[[TierStore], Any]] = {
    "items": lambda tiers: tiers.put("text"),  # type: ignore[arg-type]
    "items.1": lambda tiers: tiers.put([_item("a"), {"text": "b"}]),  # type: ignore[list-item]
    "items.1.embedding": lambda tiers: tiers.put([_item("a"), _item("b", embedding=[0.0] * 4)]),
    "tiers": lambda tiers: tiers.nearest("semantic", direction(0)),  # type: ignore[arg-type]
    "tiers.0": lambda tiers: tiers.nearest(["working"], direction(0)),
    "tiers.1": lambda tiers: tiers.clear(["semantic", "other"]),  # type: ignore[list-item]
    "scope": lambda tiers: tiers.nearest(["semantic"], direction(0), scope=""),
    "limit": lambda tiers: tiers.nearest(["semantic"], direction(0), limit=5_001),
    "min_similarity": lambda tiers: tiers.nearest(["semantic"], direction(0), min_similarity=2),
    "embedding": lambda tiers: tiers.nearest(["semantic"], [0.0] * 4),
}


class TestWrongTierCalls:
    async def test_a_bad_argument_is_refused_by_name_and_nothing_is_written(self, open_store: OpenStore) -> None:
        tiers = await _tiers(open_store)
        for name, call in _WRONG.items():
            with pytest.raises(InvalidInputError) as caught:
                await call(tiers)
            assert caught.value.field == name
        with pytest.raises(EmbeddingDimensionMismatchError, match=r"items\.0\.embedding"):
            await tiers.put([_item("a", embedding=[1.0])])
        with pytest.raises(EmbeddingDimensionMismatchError, match=r"tiers\.nearest"):
            await tiers.nearest(["semantic"], [1.0])
        assert await tiers.nearest(DURABLE_TIERS, direction(0), min_similarity=-1) == []

    async def test_a_store_without_vectors_takes_no_item_and_finds_none(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert isinstance(store, KeepsTiers)
        with pytest.raises(InvalidInputError, match=r"items\.0\.embedding.*embedding space"):
            await store.tiers.put([_item("a")])
        assert await store.tiers.nearest(["semantic"], direction(0)) == []
