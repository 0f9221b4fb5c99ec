from __future__ import annotations

import logging

import pytest

from remembrancer.inmemory import IN_MEMORY_INDEX_WARN_THRESHOLD, InMemoryIndex, InMemoryStore, rank
from remembrancer.ports import Hit
from remembrancer.records import EmbeddingDimensionMismatchError, EmbeddingSpace, InvalidInputError, RecordBatch
from remembrancer.testing import OpenStore
from remembrancer.testing.samples import SPACE, direction, entity, episode, fact, message, sample_id, theme

EVERYTHING = RecordBatch(
    entities=[entity(1, embedding=direction(0), invalidated_at="2025-01-01")],
    facts=[fact(1, embedding=direction(0), invalidated_by="x"), fact(2, embedding=direction(0), tags=["quarantined"])],
    themes=[theme(1, embedding=direction(0))],
    episodes=[episode(1, embedding=direction(0), messages=[message(1, embedding=direction(0))])],
)


async def test_a_rebuild_indexes_closed_and_quarantined_records_of_any_store(open_store: OpenStore) -> None:
    store = await open_store(space=SPACE)
    await store.write(EVERYTHING)
    index = InMemoryIndex()
    await index.rebuild(store)
    assert len(await index.search_facts(direction(0))) == 2
    for search in (index.search_entities, index.search_themes, index.search_episodes, index.search_messages):
        assert len(await search(direction(0))) == 1


async def test_an_index_of_an_in_memory_store_is_live_after_a_rebuild() -> None:
    store, index = InMemoryStore(space=SPACE), InMemoryIndex()
    assert not index.serves(store)
    await index.rebuild(store)
    await store.write(EVERYTHING)
    assert index.serves(store)
    assert len(await index.search_facts(direction(0))) == 2


async def test_after_a_failed_rebuild_the_former_content_still_answers() -> None:
    store, longer = InMemoryStore(space=SPACE), InMemoryStore(space=EmbeddingSpace(model="m", dimensions=5))
    await store.put_theme(theme(1, embedding=direction(0)))
    await longer.put_fact(fact(9, embedding=[1.0] * 5))
    index = InMemoryIndex(expected_dimensions=4)
    await index.rebuild(store)
    with pytest.raises(EmbeddingDimensionMismatchError) as caught:
        await index.rebuild(longer)
    assert (caught.value.expected, caught.value.actual, caught.value.context) == (4, 5, "rebuild (fact)")
    assert await index.search_themes(direction(0)) == [Hit(sample_id("theme", 1), 1.0)]
    assert index.serves(store)


async def test_an_index_cannot_be_live_on_what_is_no_in_memory_store() -> None:
    with pytest.raises(InvalidInputError, match="store"):
        InMemoryIndex(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("silenced", [False, True])
async def test_ten_thousand_records_are_worth_one_warning(silenced: bool, caplog: pytest.LogCaptureFixture) -> None:
    store = InMemoryStore(space=EmbeddingSpace(model="m", dimensions=1))
    entities = [entity(n, embedding=[1.0]) for n in range(IN_MEMORY_INDEX_WARN_THRESHOLD)]
    await store.write(RecordBatch(entities=entities[1:]))
    index = InMemoryIndex(silence_scale_warning=silenced)
    with caplog.at_level(logging.WARNING, logger="remembrancer.inmemory.index"):
        await index.rebuild(store)
        assert caplog.records == []
        await store.put_entity(entities[0])
        await index.rebuild(store)
        await index.rebuild(store)
    assert len(caplog.records) == (0 if silenced else 1)
    assert len(await index.search_entities([1.0], limit=20_000)) == IN_MEMORY_INDEX_WARN_THRESHOLD


def test_ranking_scores_zero_where_there_is_no_angle() -> None:
    vectors = [("zero", [0.0, 0.0]), ("short", [1.0]), ("empty", []), ("same", [2.0, 0.0])]
    assert rank([1.0, 0.0], vectors) == [Hit("same", 1.0)]
    assert rank([1.0, 0.0], vectors, min_similarity=0) == [
        Hit("same", 1.0),
        Hit("zero", 0.0),
        Hit("short", 0.0),
        Hit("empty", 0.0),
    ]
    assert rank([], vectors, min_similarity=0.5) == []
    assert rank([1e300, 1e300], [("huge", [1e308, 1e308])]) == [Hit("huge", pytest.approx(1.0))]
    assert rank([float("nan"), 0.0], vectors, min_similarity=-1, limit=9) == [
        Hit("short", 0.0),
        Hit("empty", 0.0),
    ]
