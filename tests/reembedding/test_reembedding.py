"""Moving a memory to another embedding model, over both stores; and in Neo4j while it is read, written and killed."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer import Memory, MemoryQuery
from remembrancer.graph import Database, Neo4jStore, check_indexes
from remembrancer.lifecycle.reembedding import NO_DIRECTION, reembed
from remembrancer.ports.reembedding import Mean, Reembeds, ThemePlace
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import (
    EmbeddingDimensionMismatchError,
    EmbeddingSpace,
    EmbeddingSpaceMismatchError,
    InvalidInputError,
    RecordBatch,
    ServerUnavailableError,
)
from remembrancer.records.tier import TierItem
from remembrancer.testing import IndexedStore, OpenStore
from remembrancer.testing.samples import START, entity, episode, fact, message, sample_id, theme

OLD, NEW, THIRD = (HashingEmbedder(dimensions=size) for size in (32, 48, 40))

SAID = [
    {"role": "user", "speaker": "Ada", "content": text, "timestamp": f"2025-01-0{day}T10:00:00Z"}
    for day, text in enumerate(
        ("Ada Berg works at Acme Corp now.", "Bob lives in Oslo.", "The harbour of Oslo freezes.", "Acme Corp hires."),
        1,
    )
]
QUESTIONS = ("Where does Ada work?", "Who lives in Oslo?", "What freezes?")


def space(embedder: HashingEmbedder) -> EmbeddingSpace:
    return EmbeddingSpace(model=embedder.model, dimensions=embedder.dimensions)


async def vectors(embedder: HashingEmbedder, *texts: str) -> list[tuple[float, ...]]:
    return [tuple(one) for one in await embedder.embed(list(texts))]


async def batch_by(embedder: HashingEmbedder) -> RecordBatch:
    """Records whose vectors are those of a model, as an ingest makes them."""
    facts = [f"fact number {n} of harbours and ships {n}" for n in range(1, 6)]
    spoken = [message(n, speaker="Ada") for n in (1, 2)]
    made = await vectors(embedder, *facts)
    said = await vectors(embedder, *(one.spoken for one in spoken))
    names = await vectors(embedder, "entity 1")
    mean = Mean()
    for one in said:
        mean.add(one)
    middle = Mean()
    for one in made[2:5]:
        middle.add(one)
    return RecordBatch(
        entities=[entity(1, name="entity 1", embedding=names[0]), entity(2)],
        episodes=[
            episode(
                1,
                messages=[one.model_copy(update={"embedding": v}) for one, v in zip(spoken, said, strict=True)],
                embedding=mean.vector,
            )
        ],
        facts=[fact(n, content=text, embedding=made[n - 1]) for n, text in enumerate(facts, 1)] + [fact(6)],
        themes=[theme(1, facts=[1, 2], embedding=made[0]), theme(2, facts=[3, 4, 5], embedding=middle.vector)],
    )


async def everything(store: IndexedStore) -> list[Any]:
    ids = [sample_id("message", n) for n in (1, 2)]
    return [
        await store.find_entities(limit=1000),
        sorted(await store.find_facts(limit=1000), key=lambda one: one.id),
        await store.list_episodes(),
        await store.list_themes(),
        await store.get_messages(ids),
    ]


def without_stamps(records: Any) -> Any:
    listed = (some.values() if isinstance(some, dict) else some for some in records)
    return [[one.model_dump(exclude={"recorded_at"}) for one in some] for some in listed]


@pytest.fixture
async def open_store(open_store: OpenStore) -> OpenStore:
    """With a namespace in each space, so that no test drops the indexes that the next one needs."""
    for one in (OLD, NEW, THIRD):
        await open_store(space=space(one), namespace=f"test-stays-{one.dimensions}")
    return open_store


async def test_afterwards_every_vector_is_that_of_a_memory_filled_with_the_new_model(open_store: OpenStore) -> None:
    store = await open_store(space=space(OLD))
    twin = await open_store(space=space(NEW))
    await store.write(await batch_by(OLD))
    await twin.write(await batch_by(NEW))
    report = await reembed(store, embedder=NEW, batch_size=2)
    assert report.switched
    assert store.space == space(NEW)
    assert report.embedded == {
        "message": 2, "entity": 1, "fact": 5, "tier_item": 0, "kept": 0, "episode": 1, "theme": 2,
    }  # fmt: skip
    assert report.made == 11
    assert report.without == {}
    assert without_stamps(await everything(store)) == without_stamps(await everything(twin))
    for text in ("fact number 2 of harbours", "ships"):
        (vector,) = await vectors(NEW, text)
        for search in ("search_facts", "search_messages", "search_themes", "search_episodes", "search_entities"):
            found = [await getattr(one.index, search)(vector, min_similarity=-1.0) for one in (store, twin)]
            assert [hit.id for hit in found[0]] == [hit.id for hit in found[1]]
            assert [hit.score for hit in found[0]] == pytest.approx([hit.score for hit in found[1]], abs=1e-6)


class Shorter(HashingEmbedder):
    """Gives vectors of another length than it says."""

    async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return [tuple(one[:-1]) for one in await super().embed(texts)]


class Away(HashingEmbedder):
    """Cannot be reached."""

    async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        raise ServerUnavailableError("nobody answers")


@pytest.mark.parametrize(
    ("embedder", "error"),
    [(Shorter(dimensions=48), EmbeddingDimensionMismatchError), (Away(dimensions=48), ServerUnavailableError)],
    ids=["shorter", "away"],
)
async def test_a_dry_run_tries_the_model(
    open_store: OpenStore, embedder: HashingEmbedder, error: type[Exception]
) -> None:
    store: Any = await open_store(space=space(OLD))
    await store.write(await batch_by(OLD))
    with pytest.raises(error):
        await reembed(store, embedder=embedder, dry_run=True)
    assert (await store.reembedding.situation()).next_space is None
    assert (await reembed(store, embedder=THIRD)).switched


async def test_a_dry_run_only_counts(open_store: OpenStore) -> None:
    store = await open_store(space=space(OLD))
    await store.write(await batch_by(OLD))
    before = await everything(store)
    report = await reembed(store, embedder=NEW, dry_run=True)
    assert report.is_dry_run
    assert sum(report.embedded.values()) == 11
    assert await everything(store) == before
    assert store.space == space(OLD)


async def test_notes_of_the_tiers_move_too(open_store: OpenStore) -> None:
    store: Any = await open_store(space=space(OLD))
    old, new = await vectors(OLD, "harbours freeze"), await vectors(NEW, "harbours freeze")
    note = TierItem(
        tier="semantic", scope="a", id="one", text="harbours freeze", embedding=old[0], remembered_at=START, uses=3
    )
    await store.tiers.put([note])
    await reembed(store, embedder=NEW)
    (found,) = await store.tiers.nearest(["semantic"], new[0], scope="a")
    assert found.similarity == pytest.approx(1.0, abs=1e-6)
    assert found.uses == 3


class Silent(HashingEmbedder):
    """Gives zeros for what has a certain word in it."""

    async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        made = await super().embed(texts)
        return [
            (0.0,) * self.dimensions if "number 3" in text else tuple(one)
            for text, one in zip(texts, made, strict=True)
        ]


async def test_what_gets_no_vector_is_named_with_the_reason(open_store: OpenStore) -> None:
    store = await open_store(space=space(OLD))
    await store.write(await batch_by(OLD))
    report = await reembed(store, embedder=Silent(dimensions=48))
    assert report.without == {"fact": 1}
    assert [(one.kind, one.id, one.reason) for one in report.skipped] == [("fact", sample_id("fact", 3), NO_DIRECTION)]
    assert (await store.get_facts([sample_id("fact", 3)]))[sample_id("fact", 3)].embedding is None


class CutError(Exception):
    """The process ends here."""


class Interrupted(HashingEmbedder):
    """Ends after some calls."""

    calls = 0

    async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        self.calls -= 1
        if self.calls < 0:
            raise CutError
        return [tuple(one) for one in await super().embed(texts)]


@pytest.mark.parametrize("calls", [0, 1, 3, 4])
async def test_broken_off_it_answers_as_before_and_goes_on_where_it_was(open_store: OpenStore, calls: int) -> None:
    store = await open_store(space=space(OLD))
    await store.write(await batch_by(OLD))
    before = await everything(store)
    broken = Interrupted(dimensions=48)
    broken.calls = calls
    with pytest.raises(CutError):
        await reembed(store, embedder=broken, batch_size=1)
    assert await everything(store) == before
    report = await reembed(store, embedder=NEW, batch_size=1)
    assert report.switched
    assert report.made == 11 - calls


async def test_what_is_written_meanwhile_is_not_missed(open_store: OpenStore) -> None:
    store = await open_store(space=space(OLD))
    await store.write(await batch_by(OLD))
    texts = iter(["changed once", "changed twice"])

    class Writing(HashingEmbedder):
        async def embed(self, texts_: Sequence[str]) -> list[tuple[float, ...]]:
            if (text := next(texts, None)) is not None:
                (vector,) = await vectors(OLD, text)
                await store.write(
                    RecordBatch(
                        facts=[fact(1, content=text, embedding=vector), fact(9, content=text, embedding=vector)]
                    )
                )
            return [tuple(one) for one in await super().embed(texts_)]

    await reembed(store, embedder=Writing(dimensions=48), batch_size=2)
    (wanted,) = await vectors(NEW, "changed twice")
    found = await store.get_facts([sample_id("fact", 1), sample_id("fact", 9)])
    assert [one.embedding for one in found.values()] == [pytest.approx(wanted, abs=1e-6)] * 2


async def test_it_can_be_given_up(open_store: OpenStore) -> None:
    store = await open_store(space=space(OLD))
    await store.write(await batch_by(OLD))
    before = await everything(store)
    broken = Interrupted(dimensions=48)
    broken.calls = 2
    with pytest.raises(CutError):
        await reembed(store, embedder=broken)
    with pytest.raises(InvalidInputError, match="is being re-embedded with"):
        await reembed(store, embedder=THIRD)
    assert not (await reembed(store, embedder=OLD)).switched
    assert await everything(store) == before
    assert (await reembed(store, embedder=THIRD)).switched


async def test_without_vectors_there_is_nothing_to_do(open_store: OpenStore) -> None:
    store = await open_store()
    with pytest.raises(InvalidInputError, match="has no vectors"):
        await reembed(store, embedder=NEW)
    assert isinstance(store, Reembeds)


async def test_what_a_pass_removed_is_restored_in_the_new_space(open_store: OpenStore) -> None:
    store = await open_store(space=space(OLD))
    await store.write(await batch_by(OLD))
    memory = Memory(store, store.index, embedder=OLD)
    await memory.consolidate(max_facts=0, max_episodes=0)
    report = await memory.reembed(embedder=NEW)
    assert report.embedded["kept"] == 3
    await memory.restore(sample_id("theme", 1))
    (restored,) = await store.list_themes()
    (wanted,) = await vectors(NEW, restored.label)
    assert restored.embedding == pytest.approx(wanted, abs=1e-6)


async def test_a_memory_goes_on_with_the_new_model() -> None:
    async with Memory.in_memory(embedder=OLD) as memory:
        await memory.ingest(SAID)
        told: list[int] = []
        report = await memory.reembed(embedder=NEW, progress=told.append)
        assert told[-1] == report.made
        assert memory.embedder is NEW
        await memory.ingest([{**SAID[0], "content": "Ada has moved to Bergen.", "timestamp": "2025-02-01"}])
        assert (await memory.recall("Where has Ada moved?")).hits[0].text.startswith("Ada has moved")


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3), min_size=1, max_size=6), st.data())
def test_a_theme_goes_where_the_fact_goes_that_it_lies_on(new: list[list[float]], data: st.DataObject) -> None:
    old = [[float(n == place) for n in range(len(new))] for place in range(len(new))]
    lies_on = data.draw(st.integers(0, len(new) - 1))
    place = ThemePlace(old[lies_on])
    for before, after in zip(old, new, strict=True):
        place.add(before, after)
    assert place.vector == tuple(new[lies_on])


@pytest.mark.neo4j
class TestInNeo4j:
    @pytest.fixture
    def namespace(self) -> str:
        return f"test-{uuid.uuid4()}"

    @pytest.mark.long
    async def test_reads_give_the_old_answers_until_the_switch_and_then_the_new(
        self, neo4j_server: tuple[str, tuple[str, str]], namespace: str
    ) -> None:
        uri, auth = neo4j_server
        async with (
            Memory.connect(uri, auth=auth, namespace=namespace, embedder=OLD, warm=False) as reader,
            Memory.connect(uri, auth=auth, namespace=namespace, embedder=OLD, warm=False) as mover,
            Memory.connect(uri, auth=auth, namespace=f"{namespace}-twin", embedder=NEW, warm=False) as twin,
        ):
            await reader.ingest(SAID)
            await twin.ingest(SAID)

            async def answers(memory: Memory) -> list[Any]:
                recalls = [await memory.recall(one) for one in QUESTIONS]
                return [[(hit.id, round(hit.score, 6)) for hit in one.hits] for one in recalls]

            before = await answers(reader)
            seen: list[Any] = []

            class Watched(HashingEmbedder):
                async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
                    seen.append(await answers(reader))
                    return [tuple(one) for one in await super().embed(texts)]

            await mover.reembed(embedder=Watched(dimensions=48), batch_size=2)
            assert len(seen) > 3
            assert all(one == before for one in seen)
            mover.embedder = NEW
            assert await answers(mover) == await answers(twin)
            with pytest.raises(EmbeddingSpaceMismatchError, match="remembrancer reembed") as raised:
                await reader.recall(QUESTIONS[0])
            assert (raised.value.expected, raised.value.actual) == (48, 32)
            with pytest.raises(EmbeddingSpaceMismatchError):
                await reader.ingest([{**SAID[0], "content": "Too late.", "timestamp": "2025-03-01"}])
            with pytest.raises(EmbeddingSpaceMismatchError):
                await reader.index.search_facts([1.0] * 32)
            with pytest.raises(EmbeddingSpaceMismatchError):
                await reader.retrieve(MemoryQuery(embedding=[1.0] * 32))
        with pytest.raises(EmbeddingSpaceMismatchError):
            async with Memory.connect(uri, auth=auth, namespace=namespace, embedder=OLD):
                pass

    @pytest.mark.long
    async def test_writers_at_work_lose_nothing(self, neo4j_database: Database, namespace: str) -> None:
        async def opened(stack: Any, one: HashingEmbedder) -> Neo4jStore:
            store = Neo4jStore.open(database=neo4j_database, namespace=namespace, space=space(one))
            return await stack.enter_async_context(store)  # type: ignore[no-any-return]

        from contextlib import AsyncExitStack

        written: dict[str, str] = {}
        async with AsyncExitStack() as stack:
            mover = await opened(stack, OLD)
            writers = [await opened(stack, OLD) for _ in range(4)]
            await mover.write(await batch_by(OLD))

            async def write(number: int, store: Neo4jStore) -> int:
                for turn in range(40):
                    text = f"writer {number} says {turn}"
                    (vector,) = await vectors(OLD, text)
                    one = fact(100 + 10 * number + turn % 5, content=text, embedding=vector)
                    try:
                        await store.write(RecordBatch(facts=[one]))
                    except EmbeddingSpaceMismatchError:
                        return turn
                    written[one.id] = text
                return 40

            at_work = [asyncio.create_task(write(number, store)) for number, store in enumerate(writers)]
            await asyncio.sleep(0.2)
            report = await reembed(mover, embedder=NEW, batch_size=7)
            turns = await asyncio.gather(*at_work)
            assert report.switched
            assert max(turns) > 0
            found = await mover.get_facts(list(written))
            wanted = await vectors(NEW, *written.values())
            assert {one.id: one.content for one in found.values()} == written
            for one, vector in zip(found.values(), wanted, strict=True):
                assert one.embedding == pytest.approx(vector, abs=1e-6)

    @pytest.mark.long
    async def test_the_indexes_of_a_space_go_with_the_last_namespace_in_it(
        self, neo4j_database: Database, namespace: str
    ) -> None:
        own = EmbeddingSpace(model=f"own {uuid.uuid4()}", dimensions=32)

        async def indexes() -> int:
            asked = "SHOW INDEXES YIELD type WHERE type = 'VECTOR' RETURN count(*) AS n"
            return int((await neo4j_database.read(asked, {}))[0]["n"])

        names = (namespace, f"{namespace}-too")
        for name in names:
            async with Neo4jStore.open(database=neo4j_database, namespace=name, space=own) as store:
                await store.write(await batch_by(OLD))
        async with Neo4jStore.open(database=neo4j_database, namespace=f"{namespace}-new", space=space(NEW)):
            pass
        counts = [await indexes()]
        for name in names:
            async with Neo4jStore.open(database=neo4j_database, namespace=name, space=own) as store:
                assert (await reembed(store, embedder=NEW)).removed == 11
            counts.append(await indexes())
        assert counts == [counts[0], counts[0], counts[0] - 6]
        assert [one for one in await check_indexes(neo4j_database) if "missing" in one] == []
        async with Neo4jStore.open(database=neo4j_database, namespace=f"{namespace}-back", space=own) as store:
            await store.write(await batch_by(OLD))
            assert await store.index.search_facts([1.0] * 32, min_similarity=-1.0)
        assert await indexes() == counts[0]
