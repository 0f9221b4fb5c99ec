"""Taking in what mem0 and Graphiti dump: what becomes of it, what is refused, and that twice is once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remembrancer import Memory, SyncMemory
from remembrancer.lifecycle.foreign_import import import_foreign
from remembrancer.lifecycle.foreign_reading import pieces
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import EmbeddingSpace, InvalidInputError
from remembrancer.testing import OpenStore

DATA = Path(__file__).parent / "data"
EMBEDDER = HashingEmbedder(dimensions=32)
SPACE = EmbeddingSpace(model=EMBEDDER.model, dimensions=EMBEDDER.dimensions)
ID = "0b8d2f7e-1111-4a6a-8a52-6a4f4f0f0"


@pytest.fixture
async def memory() -> AsyncIterator[Memory]:
    async with Memory.in_memory(embedder=EMBEDDER) as opened:
        yield opened


async def all_of(store: Any) -> list[Any]:
    return [
        await store.find_entities(limit=1000, include_invalidated=True),
        await store.find_facts(limit=1000, include_invalidated=True),
        await store.list_episodes(),
        await store.list_themes(),
    ]


async def test_memories_of_mem0_become_facts(open_store: OpenStore) -> None:
    store = await open_store(space=SPACE)
    report = await import_foreign(store, [DATA / "mem0.json"], format="mem0", embedder=EMBEDDER)
    assert report.read == 4
    assert report.created == {"entity": 3, "relationship": 2, "episode": 0, "fact": 2, "theme": 0}
    assert report.left == {"score": 1}
    second, first = await store.find_facts()
    assert first.id == "3f0c1f5e-58a4-4c0b-9a59-1d2d6f6d9a01"
    assert first.content == "Mara is allergic to peanuts"
    assert first.valid_from.isoformat() == "2024-07-01T17:15:30.123456+00:00"
    assert first.tags == (
        "user:mara", "agent:planner", "run:trip-1", "mem0:hash:0f9b7c", "mem0:category:health", "mem0:severity:3",
    )  # fmt: skip
    assert (first.provenance.agent_id, first.provenance.run_id) == ("planner", "trip-1")
    assert second.valid_until is not None
    assert second.valid_until.year == 2025
    assert "category:travel" in second.tags
    assert first.embedding is not None
    names = {one.name: one.id for one in await store.find_entities()}
    edges = await store.get_relationships_for_entity(names["mara"])
    assert {one.relation_type for one in edges} == {"allergic_to", "prefers"}


async def test_nodes_and_edges_of_graphiti_keep_their_windows(open_store: OpenStore) -> None:
    store = await open_store(space=SPACE)
    report = await import_foreign(store, [DATA / "graphiti.jsonl"], format="graphiti", embedder=EMBEDDER)
    assert report.read == 6
    assert report.created == {"entity": 2, "relationship": 1, "episode": 1, "fact": 1, "theme": 1}
    assert report.left == {"EpisodicEdge": 1, "group_id of a community": 1}
    (fact,) = await store.find_facts(include_invalidated=True)
    assert await store.find_facts() == []
    assert fact.id == f"{ID}c01"
    assert fact.valid_from.isoformat() == "2024-05-01T07:59:00+00:00"
    assert fact.valid_until is not None
    assert fact.valid_until.isoformat() == "2024-08-31T00:00:00+00:00"
    assert fact.closed_at is not None
    assert fact.closed_at.isoformat() == "2024-09-01T00:00:00.123456+00:00"
    assert fact.invalidated_by == "graphiti:expired"
    assert fact.entity_ids == (f"{ID}a01", f"{ID}a02")
    assert fact.source_episode_ids == (f"{ID}b01",)
    assert fact.tags == ("group:crew", "graphiti:role:pilot")
    (episode,) = await store.list_episodes()
    assert episode.fact_ids == (fact.id,)
    assert [one.id for one in episode.messages] == list(fact.source_message_ids)
    assert episode.messages[0].conversation == "crew"
    (edge,) = await store.get_relationships_for_entity(f"{ID}a01", include_invalidated=True)
    assert (edge.relation_type, edge.invalidated_by, edge.closed_at) == ("WORKS_AT", fact.id, fact.closed_at)
    kira = (await store.get_entities([f"{ID}a01"]))[f"{ID}a01"]
    assert kira.entity_type == "person"
    assert kira.attributes["rank"] == "captain"
    assert kira.attributes["summary"] == "A pilot."


@pytest.mark.parametrize(("name", "whose"), [("mem0.json", "mem0"), ("graphiti.jsonl", "graphiti")])
async def test_the_same_import_twice_changes_nothing(open_store: OpenStore, name: str, whose: str) -> None:
    store = await open_store(space=SPACE)
    first = await import_foreign(store, [DATA / name], format=whose, embedder=EMBEDDER)
    before = await all_of(store)
    again = await import_foreign(store, [DATA / name], format=whose, embedder=EMBEDDER)
    assert again.known == first.created
    assert not any(again.created.values())
    assert await all_of(store) == before


async def test_a_bad_record_is_named_and_nothing_is_written(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    good = {"id": "a", "memory": "Tea is hot.", "created_at": "2024-01-01"}
    file.write_text(f"{json.dumps(good)}\n{{broken\n{json.dumps({**good, 'id': 'b', 'created_at': 'soon'})}\n")
    with pytest.raises(InvalidInputError, match=r"two\.jsonl, line 2"):
        await memory.import_foreign([file], format="mem0")
    assert await memory.store.find_facts() == []
    report = await memory.import_foreign([file], format="mem0", skip_bad=True)
    assert (report.read, report.bad, report.created["fact"]) == (3, 2, 1)
    assert [one.line for one in report.problems] == [2, 3]
    assert "created_at" in report.problems[1].problem


@pytest.mark.parametrize("name", ["empty.json", "empty.jsonl"])
async def test_a_file_without_a_byte_is_refused(memory: Memory, tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(InvalidInputError, match=r"empty\.json.* is empty"):
        await memory.import_foreign([tmp_path / name], format="mem0")


async def test_embeddings_are_kept_only_of_the_memory_s_own_model(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "nodes.json"
    node = {"uuid": f"{ID}a07", "name": "Oslo", "group_id": "g", "created_at": "2024-01-01", "labels": ["Entity"]}
    file.write_text(json.dumps({"nodes": [{**node, "name_embedding": [1.0] + [0.0] * 31}]}))
    for vectors_by, kept in ((None, False), ("another", False), (EMBEDDER.model, True)):
        await memory.import_foreign([file], format="graphiti", vectors_by=vectors_by)
        (entity,) = await memory.store.find_entities()
        assert (entity.embedding == (1.0, *[0.0] * 31)) is kept
        await memory.clear()
    file.write_text(json.dumps([{**node, "name_embedding": [1.0, 2.0]}]))
    with pytest.raises(InvalidInputError):
        await memory.import_foreign([file], format="graphiti", vectors_by=EMBEDDER.model)


def test_the_blocking_memory_does_the_same() -> None:
    with SyncMemory.in_memory(embedder=EMBEDDER) as memory:
        assert memory.import_foreign([DATA / "mem0.json"], format="mem0").created["fact"] == 2


@pytest.mark.parametrize(
    ("paths", "whose", "field"), [([], "mem0", "paths"), (["x"], "zep", "format"), ("x", "mem0", "paths")]
)
async def test_wrong_arguments_are_named(memory: Memory, paths: Any, whose: str, field: str) -> None:
    with pytest.raises(InvalidInputError, match=field):
        await memory.import_foreign(paths, format=whose)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_document_is_read_in_pieces(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    records = [{"n": n, "text": "ü" * 70_000} for n in range(4)]
    if name.endswith("l"):
        file.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in records))
    else:
        file.write_text(json.dumps({"count": 4, "results": records, "next": None}, indent=1, ensure_ascii=False))
    found = list(pieces(file))
    assert [one.value for one in found] == records
    assert [one.line for one in found] == ([1, 2, 3, 4] if name.endswith("l") else [4, 8, 12, 16])
    assert [one.element for one in found] == ([None] * 4 if name.endswith("l") else [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[{"id": 1}, {"id": 2}, {"id" 3}]', "line 1, element 3: not JSON"),
        ('{"nodes": [{"a": 1}, {"a": 2}], "edges": [{"a": 1}, nonsense]}', "line 1, element 2 of edges: not JSON"),
        ('{"nodes": [{"a": 1}] "edges": []}', "line 1: not JSON"),
        ('\n{"nodes" 1}', "line 2: not JSON"),
    ],
)
def test_what_is_no_json_is_named_by_its_element(tmp_path: Path, text: str, place: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=place):
        list(pieces(file))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["id", "uuid", "memory", "name", "fact", "created_at", "valid_at", "labels", "source_node_uuid", "target_node_uuid",
     "content", "metadata", "attributes", "episodes", "source", "target", "relationship", "group_id", "fact_embedding"]
)  # fmt: skip
RECORDS = st.dictionaries(FIELDS, JSON | st.sampled_from(["2024-01-01", f"{ID}a01", "a\ud800", "x" * 1200]))


@given(st.lists(RECORDS, max_size=4) | st.dictionaries(st.sampled_from(["results", "nodes", "x"]), JSON))
def test_json_is_read_as_it_was_written(document: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.json"
        file.write_text(json.dumps(document, indent=1))
        found = [one.value for one in pieces(file)]
    streamed = isinstance(document, list) or not any(
        isinstance(one, list) and one and isinstance(one[0], dict) for one in document.values()
    )
    is_empty = document != {} and isinstance(document, dict) and all(one == [] for one in document.values())
    if streamed:
        assert found == (document if isinstance(document, list) else [] if is_empty else [document])


async def test_a_dump_of_no_memories_is_taken_in(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text('{"results": []}')
    assert (await memory.import_foreign([tmp_path / "none.json"], format="mem0")).read == 0


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        ({"id": "1", "memory": "Ivo keeps bees."}, "line 2.*id: an earlier record has it"),
        ({"id": "2", "memory": "A", "created_at": "2026-01-02", "expiration_date": "2026-01-01"}, "before it begins"),
        ({"id": "2", "memory": "a\ud800"}, "line 2.*surrogate"),
    ],
)
async def test_a_record_that_contradicts_is_told_and_can_be_left_out(
    memory: Memory, tmp_path: Path, second: dict[str, str], problem: str
) -> None:
    file = tmp_path / "two.jsonl"
    first = {"id": "1", "memory": "Ada sings.", "created_at": "2026-01-01"}
    file.write_text("".join(json.dumps({**first, **one}) + "\n" for one in (first, second)))
    with pytest.raises(InvalidInputError, match=problem):
        await memory.import_foreign([file], format="mem0")
    report = await memory.import_foreign([file], format="mem0", skip_bad=True)
    assert (report.read, report.created["fact"], report.bad) == (2, 1, 1)


@given(st.binary(max_size=60) | st.lists(RECORDS, max_size=3).map(lambda one: json.dumps(one).encode()), st.data())
@example(b"[" * 100_000, None)
@example(b'{"a":' * 100_000, None)
@example(b'[{"id": "a", "memory": "b", "created_at": 1e999}]', None)
@example(b"[" + b"9" * 5_000 + b"]", None)
def test_any_bytes_give_a_report_or_an_error_of_ours(raw: bytes, data: Any) -> None:
    lenient = data is not None and data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder, SyncMemoryOnce() as memory:
        for name, whose in (("a.json", "mem0"), ("a.jsonl", "graphiti")):
            file = Path(folder) / name
            file.write_bytes(raw)
            try:
                memory.import_foreign([file], format=whose, skip_bad=lenient)
            except InvalidInputError:
                continue


class SyncMemoryOnce:
    """One memory for all examples: opening one for each would take most of the time."""

    held: Any = None

    def __enter__(self) -> Any:
        if SyncMemoryOnce.held is None:
            SyncMemoryOnce.context = SyncMemory.in_memory(embedder=EMBEDDER)
            SyncMemoryOnce.held = SyncMemoryOnce.context.__enter__()
        return SyncMemoryOnce.held

    def __exit__(self, *_: object) -> None:
        return None

    context: Any = None


@pytest.fixture(scope="module", autouse=True)
def _closed_at_the_end() -> Any:
    yield
    if SyncMemoryOnce.held is not None:
        SyncMemoryOnce.context.__exit__(None, None, None)
        SyncMemoryOnce.held = None
