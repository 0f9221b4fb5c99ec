"""The contract of an index that is live on a store; see `remembrancer.testing` for how to run it over your own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.ports import Hit
from remembrancer.records import (
    QUARANTINE_TAG,
    SIMILARITY_TOLERANCE,
    EmbeddingDimensionMismatchError,
    InvalidInputError,
    RecordBatch,
    RecordKind,
    cosine,
)
from remembrancer.testing.opening import IndexedStore, OpenStore
from remembrancer.testing.samples import (
    SPACE,
    START,
    day,
    direction,
    entity,
    episode,
    fact,
    message,
    sample_id,
    theme,
)

__all__ = ["TestBadSearches", "TestFactFilters", "TestLiveness", "TestSimilarity"]

_SEARCHES: Mapping[str, RecordKind] = {
    "search_entities": "entity",
    "search_facts": "fact",
    "search_themes": "theme",
    "search_episodes": "episode",
    "search_messages": "message",
}


def _numbers(hits: Sequence[Hit]) -> list[int]:
    return [int(hit.id[-12:], 16) for hit in hits]


def _every_kind(angles: Mapping[int, float]) -> RecordBatch:
    vectors = {number: direction(angle) for number, angle in angles.items()}
    return RecordBatch(
        entities=[entity(n, embedding=vector) for n, vector in vectors.items()],
        facts=[fact(n, embedding=vector) for n, vector in vectors.items()],
        themes=[theme(n, embedding=vector) for n, vector in vectors.items()],
        episodes=[
            episode(n, embedding=vector, messages=[message(n, embedding=vector)], started_at=START, ended_at=START)
            for n, vector in vectors.items()
        ],
    )


class TestSimilarity:
    @pytest.mark.parametrize("search", list(_SEARCHES))
    async def test_hits_come_by_cosine_best_first(self, open_store: OpenStore, search: str) -> None:
        store = await open_store(space=SPACE)
        await store.write(_every_kind({1: 80, 2: 10, 3: 45, 4: 100, 5: 180}))
        hits = await getattr(store.index, search)(direction(0), min_similarity=0.1)
        assert _numbers(hits) == [2, 3, 1]
        expected = [cosine(direction(angle), direction(0)) for angle in (10, 45, 80)]
        assert [hit.score for hit in hits] == pytest.approx(expected, abs=SIMILARITY_TOLERANCE)
        assert _numbers(await getattr(store.index, search)(direction(0))) == [2, 3]
        assert _numbers(await getattr(store.index, search)(direction(0), min_similarity=-1)) == [2, 3, 1, 4, 5]
        assert _numbers(await getattr(store.index, search)(direction(0), limit=1)) == [2]
        assert await getattr(store.index, search)(direction(0), limit=0) == []

    @pytest.mark.parametrize("search", list(_SEARCHES))
    async def test_ties_come_in_listing_order(self, open_store: OpenStore, search: str) -> None:
        store = await open_store(space=SPACE)
        await store.write(_every_kind({3: 20, 1: 20, 2: 20}))
        assert _numbers(await getattr(store.index, search)(direction(0))) == [1, 2, 3]
        for limit in (1, 2):
            assert _numbers(await getattr(store.index, search)(direction(0), limit=limit)) == [1, 2][:limit]

    async def test_ties_of_facts_come_newest_first(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        days = {1: 0, 2: 2, 3: 1, 4: 2}
        await store.write(
            RecordBatch(facts=[fact(n, valid_from=day(at), embedding=direction(0)) for n, at in days.items()])
        )
        assert _numbers(await store.index.search_facts(direction(0))) == [2, 4, 3, 1]
        assert _numbers(await store.index.search_facts(direction(0), limit=3)) == [2, 4, 3]

    async def test_the_nearest_themes_of_many_vectors_at_once(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(
            RecordBatch(themes=[theme(n, embedding=direction(60 * n)) for n in range(4)], facts=[fact(1)])
        )
        found = await store.index.nearest_themes([direction(170), direction(10), direction(170)], limit=2)
        assert [_numbers(hits) for hits in found] == [[3, 2], [0, 1], [3, 2]]
        assert found[1][1].score == pytest.approx(cosine(direction(10), direction(60)), abs=1e-6)
        assert await store.index.nearest_themes([], limit=2) == []
        assert await store.index.nearest_themes([direction(0)], limit=0) == [[]]
        with pytest.raises(EmbeddingDimensionMismatchError, match=r"nearest_themes\.1"):
            await store.index.nearest_themes([direction(0), [1.0]], limit=1)

    async def test_the_least_similarity_is_included(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.put_entity(entity(1, embedding=direction(60)))
        score = cosine(direction(60), direction(0))
        assert _numbers(await store.index.search_entities(direction(0), min_similarity=score)) == [1]
        assert await store.index.search_entities(direction(0), min_similarity=score + 1e-4) == []

    async def test_length_is_of_no_matter(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.put_entity(entity(1, embedding=[1e-12, 0, 0, 0]))
        await store.put_entity(entity(2, embedding=[1e12, 1e12, 0, 0]))
        hits = await store.index.search_entities([3e5, 0, 0, 0])
        assert _numbers(hits) == [1, 2]
        assert [hit.score for hit in hits] == pytest.approx([1, 0.5**0.5], abs=1e-6)

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    async def test_it_agrees_with_comparing_everything(self, open_store: OpenStore, data: st.DataObject) -> None:
        numbers = st.floats(-1, 1, width=16)
        vector = st.lists(numbers, min_size=4, max_size=4).filter(lambda v: cosine(v, v) > 0 and max(map(abs, v)) > 0.1)
        vectors = data.draw(st.lists(vector, min_size=1, max_size=20))
        query, least = data.draw(vector), data.draw(st.sampled_from([-1.0, 0.0, 0.5, 0.9]))
        store, twin = await open_store(space=SPACE), InMemoryStore(space=SPACE)
        batch = RecordBatch(facts=[fact(n, embedding=one) for n, one in enumerate(vectors)])
        await store.write(batch)
        await twin.write(batch)
        for one in (store, twin):
            hits = await one.index.search_facts(query, limit=1_000, min_similarity=least)
            scores = {sample_id("fact", n): cosine(query, one) for n, one in enumerate(vectors)}
            assert {hit.id for hit in hits} >= {n for n, score in scores.items() if score >= least}
            assert all(hit.score == pytest.approx(scores[hit.id], abs=2e-6) for hit in hits)
            assert all(hit.score >= least - SIMILARITY_TOLERANCE for hit in hits)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


class TestLiveness:
    async def test_what_was_written_is_found(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        assert store.index.serves(store)
        assert await store.index.search_facts(direction(0)) == []
        await store.put_fact(fact(1, embedding=direction(10)))
        assert _numbers(await store.index.search_facts(direction(0))) == [1]
        await store.put_fact(fact(1, embedding=direction(100)))
        assert await store.index.search_facts(direction(0)) == []
        await store.put_fact(fact(1))
        assert await store.index.search_facts(direction(0), min_similarity=-1) == []
        await store.put_fact(fact(1, embedding=direction(0)))
        await store.delete_fact(sample_id("fact", 1))
        assert await store.index.search_facts(direction(0), min_similarity=-1) == []

    async def test_a_deleted_record_that_others_name_is_not_found(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(RecordBatch(entities=[entity(1, embedding=direction(0))], facts=[fact(1, entities=[1])]))
        await store.delete_entity(sample_id("entity", 1))
        assert await store.index.search_entities(direction(0)) == []

    async def test_an_index_serves_only_its_own_store(self, open_store: OpenStore) -> None:
        ours, theirs = await open_store(space=SPACE), await open_store(space=SPACE)
        assert not ours.index.serves(theirs)

    async def test_rebuilding_changes_no_answer(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(_every_kind({1: 0, 2: 30}))
        await store.index.rebuild(store)
        assert _numbers(await store.index.search_facts(direction(0))) == [1, 2]

    async def test_a_store_without_a_space_finds_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        await store.put_fact(fact(1))
        assert await store.index.search_facts(direction(0), min_similarity=-1) == []


_FILTERS: Mapping[str, tuple[dict[str, Any], list[int]]] = {
    "open": ({"include_invalidated": False}, [3, 5, 6, 7, 8]),
    "shown": ({"include_quarantined": False}, [1, 2, 5, 6, 7, 8]),
    "held at an instant": ({"valid_at": day(5)}, [1, 2, 3, 4, 5, 6]),
    "changed since": ({"changed_since": day(7)}, [6, 7]),
    "tagged": ({"tags": ["a", "b"]}, [5, 7]),
    "of themes": ({"theme_ids": [sample_id("theme", 1), sample_id("theme", 3)]}, [6, 8]),
    "of no theme": ({"theme_ids": []}, []),
    "all at once": (
        {
            "include_invalidated": False,
            "include_quarantined": False,
            "valid_at": day(5),
            "tags": ["a", "x"],
            "theme_ids": [sample_id("theme", 2)],
        },
        [5],
    ),
}


class TestFactFilters:
    @staticmethod
    async def _filled(open_store: OpenStore) -> IndexedStore:
        store = await open_store(space=SPACE)
        fields: list[dict[str, Any]] = [
            {"invalidated_by": "consolidation:decay"},
            {"invalidated_by": sample_id("fact", 5)},
            {"tags": [QUARANTINE_TAG]},
            {"tags": ["x", QUARANTINE_TAG], "invalidated_by": "x"},
            {"tags": ["a", "x"], "theme_id": sample_id("theme", 2)},
            {"valid_until": day(8), "theme_id": sample_id("theme", 1)},
            {"valid_from": day(9), "tags": ["b"]},
            {"valid_until": day(5), "theme_id": sample_id("theme", 3)},
        ]
        facts = [fact(n, **{"embedding": direction(n), **one}) for n, one in enumerate(fields, start=1)]
        await store.write(RecordBatch(facts=facts))
        return store

    async def test_nothing_is_left_out_unless_asked(self, open_store: OpenStore) -> None:
        store = await self._filled(open_store)
        assert _numbers(await store.index.search_facts(direction(0))) == [1, 2, 3, 4, 5, 6, 7, 8]

    @pytest.mark.parametrize("name", list(_FILTERS))
    async def test_a_filter_acts_before_the_limit(self, open_store: OpenStore, name: str) -> None:
        store = await self._filled(open_store)
        filters, expected = _FILTERS[name]
        assert _numbers(await store.index.search_facts(direction(0), **filters)) == expected
        assert _numbers(await store.index.search_facts(direction(0), limit=1, **filters)) == expected[:1]

    async def test_many_closed_facts_do_not_hide_an_open_one(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        closed = [fact(n, embedding=direction(n / 10), invalidated_by="x", tags=["t"]) for n in range(1, 300)]
        shown = [fact(1_000, embedding=direction(50)), fact(1_001, embedding=direction(55), tags=["t", "u"])]
        await store.write(RecordBatch(facts=[*closed, *shown]))
        search = store.index.search_facts
        assert _numbers(await search(direction(0), limit=2, include_invalidated=False)) == [1_000, 1_001]
        assert _numbers(await search(direction(0), limit=2, tags=["u"])) == [1_001]

    async def test_closed_and_superseded_entities_can_be_left_out(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(
            RecordBatch(
                entities=[
                    entity(1, embedding=direction(1), invalidated_at=START),
                    entity(2, embedding=direction(2), superseded_by=sample_id("entity", 3)),
                    entity(3, embedding=direction(3)),
                ]
            )
        )
        assert _numbers(await store.index.search_entities(direction(0))) == [1, 2, 3]
        assert _numbers(await store.index.search_entities(direction(0), include_invalidated=False, limit=1)) == [3]


_BAD_SEARCHES: Mapping[str, Callable[[Any], Any]] = {
    "embedding": lambda index: index.search_facts([0.0, 0.0, 0.0, 0.0]),
    "embedding ": lambda index: index.search_themes([float("nan"), 0.0, 0.0, 0.0]),
    "embedding  ": lambda index: index.search_entities("text"),
    "embedding   ": lambda index: index.search_facts(None),
    "embedding    ": lambda index: index.search_facts([1e300, 0.0, 0.0, 0.0]),
    "embedding.1": lambda index: index.search_episodes([1.0, "2", 0.0, 0.0]),
    "limit": lambda index: index.search_facts(direction(0), limit=-1),
    "limit ": lambda index: index.search_messages(direction(0), limit=1.5),
    "min_similarity": lambda index: index.search_facts(direction(0), min_similarity=1.1),
    "min_similarity ": lambda index: index.search_themes(direction(0), min_similarity=float("nan")),
    "min_similarity  ": lambda index: index.search_entities(direction(0), min_similarity="0"),
    "tags": lambda index: index.search_facts(direction(0), tags="lesson"),
    "theme_ids.0": lambda index: index.search_facts(direction(0), theme_ids=["General"]),
    "valid_at": lambda index: index.search_facts(direction(0), valid_at=START.replace(tzinfo=None)),
    "include_quarantined": lambda index: index.search_facts(direction(0), include_quarantined=None),
}


class TestBadSearches:
    @pytest.mark.parametrize("name", list(_BAD_SEARCHES))
    async def test_a_bad_argument_is_refused_by_name(self, open_store: OpenStore, name: str) -> None:
        store = await open_store(space=SPACE)
        with pytest.raises(InvalidInputError) as caught:
            await _BAD_SEARCHES[name](store.index)
        assert caught.value.field == name.strip()

    @pytest.mark.parametrize("search", list(_SEARCHES))
    async def test_a_query_of_another_length_is_refused(self, open_store: OpenStore, search: str) -> None:
        store = await open_store(space=SPACE)
        for wrong in ([1.0], [], [1.0] * 5):
            with pytest.raises(EmbeddingDimensionMismatchError) as caught:
                await getattr(store.index, search)(wrong)
            assert (caught.value.expected, caught.value.actual) == (4, len(wrong))
            assert caught.value.context == search
