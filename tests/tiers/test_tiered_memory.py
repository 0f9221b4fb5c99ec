"""The four tiers as one memory: ids, scopes, scores, and what is refused before anything is written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer import Memory, SyncMemory
from remembrancer.inmemory import InMemoryStore
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import EmbeddingSpace, InvalidInputError, SemanticSearchUnavailableError
from remembrancer.records.tier import TierEntry
from remembrancer.testing import FixedClock
from remembrancer.tiers import (
    EpisodicTier,
    TieredMemory,
    WorkingTier,
    episodic_score,
    item_id,
    procedural_score,
)

EMBEDDER = HashingEmbedder(dimensions=32)
ALL: dict[str, Any] = {"semantic": True, "episodic": True, "procedural": True}


def tiered(clock: FixedClock | None = None, **options: Any) -> TieredMemory:
    store = InMemoryStore(space=EmbeddingSpace(model=EMBEDDER.model, dimensions=EMBEDDER.dimensions))
    return TieredMemory(store.tiers, EMBEDDER, clock=clock or FixedClock("2026-01-01"), **options)


async def ids(memory: TieredMemory, query: str = "the port is open", **options: Any) -> list[str]:
    return [hit.id for hit in await memory.recall(query, **{"threshold": -1, **options})]


class TestRemembering:
    async def test_a_text_alone_is_remembered_in_the_default_tier(self) -> None:
        memory = tiered(semantic=True, default_tier="semantic")
        assert await memory.remember("the port is open") == (item_id("the port is open"),)
        (hit,) = await memory.recall("the port is open")
        assert (hit.tier, hit.text, hit.metadata) == ("semantic", "the port is open", None)
        assert hit.score == pytest.approx(1)

    async def test_one_text_on_two_days_is_two_episodes_unless_the_caller_chooses(self) -> None:
        for option, count in ((True, 2), (EpisodicTier(is_daily=False), 1)):
            clock = FixedClock("2026-01-01T23:59Z")
            memory = tiered(clock, episodic=option, default_tier="episodic")
            for step in (dt.timedelta(), dt.timedelta(minutes=2), dt.timedelta(hours=1)):
                clock.advance(step)
                await memory.remember("the harbour closed")
            assert len(await memory.recall("the harbour closed")) == count
            await memory.remember(TierEntry(text="the harbour closed", id="mine"))
            await memory.remember(TierEntry(text="the harbour closed", id="mine"))
            assert (await ids(memory)).count("mine") == 1

    async def test_ids_made_from_texts_have_128_bits(self) -> None:
        assert len({item_id(f"text {n}") for n in range(1_000)}) == 1_000
        assert {len(bytes.fromhex(item_id(text))) for text in ("", "a", "\u00e9\U0001f600")} == {16}
        assert item_id("a") != item_id("a", day=dt.date(2026, 1, 1)) != item_id("a", day=dt.date(2026, 1, 2))

    async def test_metadata_is_a_copy_both_ways(self) -> None:
        memory = tiered(**ALL)
        given_metadata = {"list": [1]}
        for tier in ("working", "semantic"):
            await memory.remember({"text": "a", "id": "a", "tier": tier, "metadata": given_metadata})
        given_metadata["list"].append(2)
        for _ in range(2):
            for hit in await memory.recall("a", threshold=-1):
                assert hit.metadata == {"list": [1]}
                hit.metadata["list"].append(3)

    async def test_an_embedder_that_fails_leaves_nothing_behind(self) -> None:
        class Broken(HashingEmbedder):
            async def embed(self, texts: Sequence[str]) -> Any:
                return (await super().embed(texts))[:-1]

        store = InMemoryStore(space=EmbeddingSpace(model="x", dimensions=32))
        memory = TieredMemory(store.tiers, Broken(dimensions=32), semantic=True)
        with pytest.raises(InvalidInputError, match="embedder"):
            await memory.remember(["at hand", {"text": "so", "tier": "semantic"}])
        assert await memory.recall("at hand", tier="working") == []


class TestWorkingTier:
    async def test_beyond_its_bound_the_oldest_of_any_scope_goes_and_overwriting_keeps_the_place(self) -> None:
        memory = tiered(working=WorkingTier(max_items=3))
        await memory.remember([{"text": n, "id": n, "scope": s} for n, s in (("1", "s"), ("2", None), ("3", None))])
        await memory.remember({"text": "again", "id": "2"})
        assert await ids(memory) == ["3", "2"]
        await memory.remember({"text": "4", "id": "4"})
        assert await ids(memory, scope="s") == []
        assert [(hit.id, hit.text, hit.score) for hit in await memory.recall("")] == [
            ("4", "4", 1),
            ("3", "3", pytest.approx(2 / 3)),
            ("2", "again", pytest.approx(1 / 3)),
        ]

    async def test_it_is_shared_by_name_and_lives_in_no_store(self) -> None:
        async with Memory.in_memory() as memory, Memory.in_memory() as other:
            await memory.tiered().remember("at hand")
            assert len(await memory.tiered().recall("x")) == 1
            assert await memory.tiered(name="other").recall("x") == []
            assert await other.tiered().recall("x") == []
            await memory.clear()
            assert await memory.tiered().recall("x") == []

    async def test_forgetting_everything_forgets_all_tiers_and_a_dry_run_none(self) -> None:
        async with Memory.in_memory(embedder=EMBEDDER) as memory:
            tiers = memory.tiered(**ALL)
            await tiers.remember([{"text": "x", "tier": tier} for tier in tiers.tiers])
            await memory.forget(everything=True, dry_run=True)
            assert len(await tiers.recall("x", threshold=-1)) == 4
            await memory.forget(everything=True)
            assert await tiers.recall("x", threshold=-1) == []


class TestScopes:
    async def test_no_tier_shows_an_item_of_another_scope(self) -> None:
        memory = tiered(**ALL)
        tiers = ("working", "semantic", "episodic", "procedural")
        scopes = (None, "s", "S", "session:1", "session:11")
        await memory.remember(
            [{"text": f"in {scope}", "id": "same", "tier": tier, "scope": scope} for tier in tiers for scope in scopes]
        )
        for scope in scopes:
            found = await memory.recall("in", threshold=-1, k=100, scope=scope)
            assert {hit.text for hit in found} == {f"in {scope}"}
            assert sorted(hit.tier for hit in found) == sorted(tiers)
        await memory.clear("semantic")
        await memory.clear("working")
        left = [await memory.recall("in", threshold=-1, scope=scope) for scope in scopes]
        assert [sorted(hit.tier for hit in found) for found in left] == [["episodic", "procedural"]] * len(scopes)
        await memory.clear()
        assert [await memory.recall("in", threshold=-1, scope=scope) for scope in scopes] == [[]] * len(scopes)


class TestScores:
    @given(
        similarity=st.floats(-1, 1),
        weight=st.floats(0, 1),
        age=st.floats(-1e6, 1e6),
        half_life=st.floats(1e-9, 1e6),
        uses=st.integers(1, 10**9),
    )
    def test_they_stay_within_0_and_1(
        self, similarity: float, weight: float, age: float, half_life: float, uses: int
    ) -> None:
        assert 0 <= episodic_score(similarity, age_days=age, recency_weight=weight, half_life_days=half_life) <= 1
        assert 0 <= procedural_score(similarity, uses=uses, reinforcement_weight=weight) <= 1

    async def test_an_episode_from_ahead_counts_as_now_and_halves_with_its_half_life(self) -> None:
        clock = FixedClock("2026-01-08")
        memory = tiered(clock, episodic={"recency_weight": 1, "half_life_days": 2}, default_tier="episodic")
        await memory.remember("the harbour closed")
        for days, score in ((-1, 1), (0, 1), (2, 0.5), (4, 0.25)):
            clock.now = dt.datetime(2026, 1, 8, tzinfo=dt.UTC) + dt.timedelta(days=days)
            (hit,) = await memory.recall("the harbour closed")
            assert hit.score == pytest.approx(score)

    async def test_the_least_cosine_is_asked_of_the_cosine_and_not_of_the_blend(self) -> None:
        memory = tiered(episodic={"recency_weight": 1}, default_tier="episodic")
        await memory.remember("the harbour closed")
        assert await memory.recall("quantum chess", threshold=0.9) == []


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"working": False}, "working"),
            ({"working": {"max_items": 0}}, "working.max_items"),
            ({"working": {"max_items": 1.5}}, "working.max_items"),
            ({"working": {"most": 1}}, "working.most"),
            ({"working": 1}, "working"),
            ({"semantic": 1}, "semantic"),
            ({"episodic": {"recency_weight": 1.1}}, "episodic.recency_weight"),
            ({"episodic": {"half_life_days": 0}}, "episodic.half_life_days"),
            ({"episodic": {"half_life_days": float("inf")}}, "episodic.half_life_days"),
            ({"procedural": {"reinforcement_weight": -0.1}}, "procedural.reinforcement_weight"),
            ({"default_tier": "semantic"}, "default_tier"),
            ({"default_tier": "other"}, "default_tier"),
            ({"k": -1}, "k"),
            ({"k": 1_001}, "k"),
            ({"threshold": 2}, "threshold"),
            ({"name": ""}, "name"),
        ],
    )
    def test_a_setting(self, options: Mapping[str, Any], field: str) -> None:
        with pytest.raises(InvalidInputError) as caught:
            tiered(**options)
        assert caught.value.field == field

    async def test_a_durable_tier_without_vectors(self) -> None:
        for tier in ALL:
            with pytest.raises(InvalidInputError, match=tier):
                TieredMemory(None, EMBEDDER, **dict.fromkeys([tier], ALL[tier]))
        async with Memory.in_memory() as memory:
            with pytest.raises(SemanticSearchUnavailableError, match="the semantic tier"):
                memory.tiered(semantic=True)
        unready = Memory((store := InMemoryStore()), store.index, embedder=EMBEDDER)
        with pytest.raises(InvalidInputError, match="episodic: the store has no vector search"):
            unready.tiered(episodic=True)

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            ({"text": ""}, "items.1.text"),
            ({"text": "\ud800"}, "items.1.text"),
            ({"text": "b", "tier": "episodic"}, "items.1.tier"),
            ({"text": "b", "tier": "other"}, "items.1.tier"),
            ({"text": "b", "scope": ""}, "items.1.scope"),
            ({"text": "b", "scope": "x" * 1_001}, "items.1.scope"),
            ({"text": "b", "id": 5}, "items.1.id"),
            ({"text": "b", "metadata": {"x": float("nan")}}, "items.1.metadata"),
            ({"text": "b", "tag": "x"}, "items.1.tag"),
            (5, "items.1"),
        ],
    )
    async def test_an_entry_and_nothing_is_remembered(self, wrong: Any, field: str) -> None:
        memory = tiered(semantic=True)
        with pytest.raises(InvalidInputError) as caught:
            await memory.remember(["fine", wrong])
        assert caught.value.field == field
        assert await memory.recall("fine") == []

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"k": -1}, "k"),
            ({"tier": "episodic"}, "tier"),
            ({"tier": ["working", "episodic"], "k": 0}, "tier.1"),
            ({"threshold": float("nan")}, "threshold"),
            ({"scope": ""}, "scope"),
            ({"query": 5}, "query"),
        ],
    )
    async def test_a_question(self, options: dict[str, Any], field: str) -> None:
        with pytest.raises(InvalidInputError) as caught:
            await tiered(semantic=True).recall(**{"query": "x", **options})
        assert caught.value.field == field


def test_the_blocking_twin_remembers_recalls_and_clears() -> None:
    with SyncMemory.in_memory(embedder=EMBEDDER) as memory:
        tiers = memory.tiered(semantic=True, default_tier="semantic")
        (made,) = tiers.remember("the port is open")
        assert [hit.id for hit in tiers.recall("the port is open")] == [made]
        turns = tiers.turns()
        with turns.turn("open the port", session_id="1", context={"a": 1}) as turn:
            assert turn.context == {"a": 1}
            turn.settle("opened")

        def failing() -> None:
            with turns.turn("open the port", session_id="1") as turn:
                assert [hit.text for hit in turn.context["memories"]] == ["open the port\nopened"]
                turn.settle("never")
                raise LookupError

        with pytest.raises(LookupError):
            failing()
        assert len(tiers.recall("open the port opened", scope="session:1", threshold=-1)) == 1
        tiers.clear()
        assert tiers.recall("the port is open") == []
