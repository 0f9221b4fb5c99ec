"""The contract of retrieval: whatever a store does itself, its answers are those of the plain way.

See `remembrancer.testing` for how to run it over a store of your own.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.inmemory import InMemoryStore
from remembrancer.records import InvalidInputError, MemoryQuery, MemoryResult, RecordBatch
from remembrancer.retrieval import (
    extract_subgraph,
    extract_subgraph_plain,
    retrieve_memory,
    retrieve_memory_plain,
)
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.opening import OpenStore
from remembrancer.testing.samples import (
    MADE,
    SPACE,
    day,
    direction,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)
from remembrancer.testing.worlds import batches, queries, walks

__all__ = ["TestOneAnswer", "TestRetrieval"]

_NOW = FixedClock(day(30))
_EXAMPLES = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


class TestOneAnswer:
    @_EXAMPLES
    @given(batch=batches(), asked=st.lists(walks(), min_size=1, max_size=3))
    async def test_every_walk_gives_the_plain_answer(
        self, open_store: OpenStore, batch: RecordBatch, asked: list[dict[str, Any]]
    ) -> None:
        store, twin = await open_store(space=SPACE, clock=_NOW), InMemoryStore(space=SPACE, clock=_NOW)
        await store.write(batch)
        await twin.write(batch)
        for walk in asked:
            expected = await extract_subgraph_plain(twin, **walk)
            assert await extract_subgraph(store, **walk) == expected
            assert await extract_subgraph_plain(store, **walk) == expected

    @_EXAMPLES
    @given(batch=batches(), asked=st.lists(queries(), min_size=1, max_size=3), filter_first=st.booleans())
    async def test_every_query_gets_the_plain_answer(
        self, open_store: OpenStore, batch: RecordBatch, asked: list[MemoryQuery], filter_first: bool
    ) -> None:
        store, twin = await open_store(space=SPACE, clock=_NOW), InMemoryStore(space=SPACE, clock=_NOW)
        await store.write(batch)
        await twin.write(batch)
        for query in asked:
            expected = await retrieve_memory_plain(twin, twin.index, query, filter_first=filter_first)
            plain = await retrieve_memory_plain(store, store.index, query, filter_first=filter_first)
            served = await retrieve_memory(store, store.index, query, filter_first=filter_first, clock=_NOW)
            for answer in (plain, served):
                _assert_same(answer, expected)


class TestRetrieval:
    async def test_answers_carry_no_embeddings(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(_small())
        for query in (
            MemoryQuery(embedding=direction(0)),
            MemoryQuery(entity_ids=[sample_id("entity", 1)]),
            MemoryQuery(tags=["t"]),
        ):
            result = await retrieve_memory(store, store.index, query)
            assert result.facts
            assert result.themes
            assert result.episodes
            held = [one for episode in result.episodes for one in episode.messages]
            records: list[Any] = [*result.facts, *result.themes, *result.episodes, *result.entities, *held]
            assert [record.embedding for record in records] == [None] * len(records)
        walked = await extract_subgraph(store, [sample_id("entity", 1)])
        assert [one.embedding for one in walked.entities] == [None, None]

    async def test_messages_come_as_they_were_told(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        odd = [None, "", ":", "\n", "\\", "\\n", "a\\\n:b\r\u2028", " 1 user\n\n"]
        said = [
            message(
                number, conversation=one, speaker=other, content=f"{other}{one}", metadata={} if one else {"\n": one}
            )
            for number, (one, other) in enumerate(itertools.product(odd, odd))
        ]
        said[7] = said[7].model_copy(update={"provenance": MADE})
        batch = _small()
        held = episode(1, messages=said, facts=[1], embedding=direction(10))
        await store.write(batch.model_copy(update={"episodes": (held,)}))
        expected = [held.model_copy(update={"embedding": None})]
        paths: list[dict[str, Any]] = [
            {"embedding": direction(0)},
            {"embedding": direction(0), "changed_since": day(-1)},
            {"entity_ids": [sample_id("entity", 1)]},
            {"tags": ["t"]},
        ]
        for path, filter_first in itertools.product(paths, (True, False)):
            result = await retrieve_memory(store, store.index, MemoryQuery(**path), filter_first=filter_first)
            assert list(result.episodes) == expected

    async def test_facts_served_are_counted_and_shown_as_before(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(_small())
        for times, query in enumerate((MemoryQuery(embedding=direction(0)), MemoryQuery(tags=["t"])), start=1):
            result = await retrieve_memory(store, store.index, query, clock=FixedClock(day(times)))
            assert result.facts[0].access_count == times - 1
            await store.flush_usage()
            got = await store.get_fact(sample_id("fact", 1))
            assert got is not None
            assert (got.access_count, got.last_accessed_at) == (times, day(times))

    async def test_filtering_first_leaves_no_slot_to_closed_or_hidden_facts(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        closed = [fact(n, embedding=direction(n), invalidated_by="x") for n in range(1, 6)]
        hidden = [fact(n, embedding=direction(n), tags=["quarantined"]) for n in range(6, 11)]
        await store.write(RecordBatch(facts=[*closed, *hidden, fact(20, embedding=direction(20))]))
        query = MemoryQuery(embedding=direction(0), limit=3)
        first = await retrieve_memory(store, store.index, query)
        assert [one.id for one in first.facts] == [sample_id("fact", 20)]
        last = await retrieve_memory(store, store.index, query, filter_first=False)
        assert (last.facts, last.scores) == ((), {})

    async def test_facts_of_matching_themes_come_before_direct_hits(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        near, far = sample_id("theme", 1), sample_id("theme", 2)
        await store.write(
            RecordBatch(
                themes=[theme(1, embedding=direction(5), facts=[1, 2]), theme(2, embedding=direction(20), facts=[3])],
                facts=[
                    fact(1, embedding=direction(80), theme_id=near),
                    fact(2, embedding=direction(40), theme_id=near),
                    fact(3, embedding=direction(1), theme_id=far),
                    fact(4, embedding=direction(2)),
                ],
            )
        )
        result = await retrieve_memory(store, store.index, MemoryQuery(embedding=direction(0)))
        assert [one.id[-1] for one in result.facts] == ["2", "1", "3", "4"]
        assert result.scores is not None
        assert set(result.scores) == {sample_id("fact", n) for n in (2, 3, 4)}

    async def test_what_was_believed_is_shown_as_it_was_then(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(
            RecordBatch(
                entities=[entity(1, created_at=day(1)), entity(2, created_at=day(1), invalidated_at=day(5))],
                relationships=[
                    relationship(
                        1, 1, 2, recorded_at=day(2), invalidated_by=sample_id("relationship", 2), closed_at=day(5)
                    ),
                    relationship(2, 1, 2, recorded_at=day(6)),
                ],
                facts=[
                    fact(
                        1,
                        entities=[1],
                        embedding=direction(3),
                        recorded_at=day(2),
                        invalidated_by="x",
                        closed_at=day(5),
                    ),
                    fact(2, entities=[1], embedding=direction(3), recorded_at=day(6)),
                ],
            )
        )
        start = [sample_id("entity", 1)]
        for query in ({"embedding": direction(0)}, {"entity_ids": start}):
            then = await retrieve_memory(store, store.index, MemoryQuery(**query, believed_at=day(3)))
            assert [(one.id, one.invalidated_by, one.closed_at) for one in then.facts] == [
                (sample_id("fact", 1), None, None)
            ]
            now = await retrieve_memory(store, store.index, MemoryQuery(**query))
            assert [one.id for one in now.facts] == [sample_id("fact", 2)]
        walked = await extract_subgraph(store, start, believed_at=day(3))
        assert [one.invalidated_at for one in walked.entities] == [None, None]
        assert [(one.id, one.closed_at) for one in walked.relationships] == [(sample_id("relationship", 1), None)]
        assert (await extract_subgraph(store, start, believed_at=day(0))).entities == ()

    async def test_a_text_alone_finds_nothing_unless_it_can_be_embedded(self, open_store: OpenStore) -> None:
        store = await open_store(space=SPACE)
        await store.write(_small())
        query = MemoryQuery(text="something")
        assert await retrieve_memory(store, store.index, query) == MemoryResult()
        result = await retrieve_memory(store, store.index, query, embedder=_Compass())
        assert [one.id for one in result.facts] == [sample_id("fact", 1)]
        tagged = MemoryQuery(text="something", tags=["none"])
        assert await retrieve_memory(store, store.index, tagged, embedder=_Compass()) == MemoryResult()

    @pytest.mark.parametrize("bad", [{"tags": ["t"]}, None, "text"])
    async def test_only_a_query_can_be_asked(self, open_store: OpenStore, bad: Any) -> None:
        store = await open_store(space=SPACE)
        with pytest.raises(InvalidInputError, match="query"):
            await retrieve_memory(store, store.index, bad)

    @pytest.mark.parametrize(
        ("field", "arguments"),
        [
            ("seeds.0", {"seeds": ["x"]}),
            ("seeds", {"seeds": sample_id("entity", 1)}),
            ("max_hops", {"max_hops": 6}),
            ("max_hops", {"max_hops": True}),
            ("max_entities", {"max_entities": -1}),
            ("valid_at", {"valid_at": "soon"}),
            ("believed_at", {"believed_at": "soon"}),
            ("relation_types", {"relation_types": "use"}),
            ("include_invalidated", {"include_invalidated": "no"}),
        ],
    )
    async def test_a_bad_walk_is_refused_by_name(
        self, open_store: OpenStore, field: str, arguments: dict[str, Any]
    ) -> None:
        store = await open_store()
        for extract in (extract_subgraph, extract_subgraph_plain):
            with pytest.raises(InvalidInputError) as caught:
                await extract(store, **{"seeds": [], **arguments})
            assert caught.value.field == field


class _Compass:
    """An embedder for which every text points the same way."""

    model = "compass"
    dimensions = 4

    async def embed(self, texts: Any) -> list[tuple[float, ...]]:
        return [direction(0) for _ in texts]


def _small() -> RecordBatch:
    vector = direction(10)
    return RecordBatch(
        entities=[entity(1, embedding=vector), entity(2, embedding=vector)],
        relationships=[relationship(1, 1, 2)],
        facts=[
            fact(1, entities=[1], episodes=[1], theme_id=sample_id("theme", 1), embedding=vector, tags=["t"]),
        ],
        themes=[theme(1, facts=[1], embedding=vector)],
        episodes=[episode(1, messages=[message(1, embedding=vector)], facts=[1], embedding=vector)],
    )


def _assert_same(answer: MemoryResult, expected: MemoryResult) -> None:
    assert [one.id for one in answer.facts] == [one.id for one in expected.facts]
    for kind in ("themes", "episodes", "entities", "relationships"):
        assert list(getattr(answer, kind)) == list(getattr(expected, kind)), kind
    unused = {"access_count": 0, "last_accessed_at": None}
    assert [one.model_copy(update=unused) for one in answer.facts] == list(expected.facts)
    if expected.scores is None:
        assert answer.scores is None
    else:
        assert answer.scores == pytest.approx(expected.scores, abs=1e-6)
