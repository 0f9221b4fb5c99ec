"""Each retrieval is one statement and one wire trip, and no stored vector travels back.

Counted between driver and server, by a proxy that reads the messages of Bolt as they pass.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import struct
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from remembrancer import Memory, MemoryQuery
from remembrancer.graph import Database, Neo4jStore
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import QUARANTINE_TAG, RecordBatch, RecordKind
from remembrancer.testing.samples import day, entity, episode, fact, message, relationship, sample_id, theme

pytestmark = pytest.mark.neo4j

RUN, BEGIN, COMMIT = 0x10, 0x11, 0x12
COUNT = 40
EMBEDDER = HashingEmbedder(dimensions=1024)  # so long that one kind's vectors weigh more than all else together


class Wire:
    """What went over one or more connections since `clear`.

    Attributes:
        trips: How often the client sent something and then waited.
        received: Bytes from the server.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.trips = 0
        self.sent = b""
        self.received = b""
        self._answered = True

    @property
    def requests(self) -> list[int]:
        """The kinds of the messages to the server; `clear` must have come between two of them."""
        found, place, begins = [], 0, True
        while place + 2 <= len(self.sent):
            (size,) = struct.unpack_from(">H", self.sent, place)
            if size and begins:
                found.append(self.sent[place + 3])
            begins = size == 0
            place += 2 + size
        return found

    def asked(self, data: bytes) -> None:
        self.trips += self._answered
        self._answered = False
        self.sent += data

    def answered(self, data: bytes) -> None:
        self._answered = True
        self.received += data


@asynccontextmanager
async def proxy(uri: str) -> AsyncIterator[tuple[str, Wire]]:
    """An address in front of a server, and what goes over it."""
    wire = Wire()
    target = urlsplit(uri)
    tasks: set[asyncio.Task[None]] = set()

    async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter, note: Callable[[bytes], None]) -> None:
        while data := await source.read(2**20):
            note(data)
            sink.write(data)
            await sink.drain()
        sink.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection(target.hostname, target.port)
        for way in (pass_on(reader, forth, wire.asked), pass_on(back, writer, wire.answered)):
            task = asyncio.create_task(way)
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"bolt://127.0.0.1:{server.sockets[0].getsockname()[1]}", wire
    finally:
        server.close()
        if tasks:
            await asyncio.wait(tasks, timeout=10)


@pytest.fixture(scope="module")
async def watched(neo4j_server: tuple[str, tuple[str, str]]) -> AsyncIterator[tuple[Memory, Wire]]:
    """A filled memory, and the wire to its server."""
    uri, auth = neo4j_server
    if urlsplit(uri).scheme not in ("bolt", "neo4j"):
        pytest.skip("the messages of an encrypted connection cannot be counted")
    async with (
        proxy(uri) as (address, wire),
        Memory.connect(address, auth=auth, namespace=f"test-{uuid.uuid4()}", embedder=EMBEDDER, warm=False) as memory,
    ):
        await fill(memory)
        yield memory, wire


async def fill(memory: Memory) -> None:
    numbers = range(COUNT)
    texts = [f"Harbour note {number}: the crane moves box {number} to pier {number % 7}." for number in numbers]
    vectors = [tuple(vector) for vector in await EMBEDDER.embed(texts)]
    messages = [message(n, content=texts[n], embedding=vectors[n]) for n in numbers]
    spoken = [episode(n, messages=[messages[n]], facts=[n], embedding=vectors[n]) for n in numbers]
    facts = [
        fact(
            n,
            content=texts[n],
            entities=[n],
            episodes=[n],
            embedding=vectors[n],
            source_message_ids=[sample_id("message", n)],
            theme_id=sample_id("theme", n % 5),
            tags=["note"],
        )
        for n in numbers
    ]
    themes = [theme(n, facts=[one for one in numbers if one % 5 == n], embedding=vectors[n]) for n in range(5)]
    entities = [entity(n, embedding=vectors[n]) for n in numbers]
    edges = [relationship(n, n, (n + 1) % COUNT) for n in numbers]
    batch = RecordBatch(episodes=spoken, facts=facts, themes=themes, entities=entities, relationships=edges)
    await memory.store.write(batch)


async def count(watched: tuple[Memory, Wire], act: Callable[[], Awaitable[object]]) -> Wire:
    """What an act sends, on a connection that is open already and with no usage count outstanding."""
    memory, wire = watched
    await act()
    await memory.store.flush_usage()
    wire.clear()
    await act()
    return wire


VECTOR = [1.0] * EMBEDDER.dimensions
QUERIES = {
    "entities": MemoryQuery(entity_ids=[sample_id("entity", 0)], max_hops=5, limit=COUNT),
    "embedding": MemoryQuery(embedding=VECTOR, min_similarity=0, limit=COUNT),
    "embedding at an instant": MemoryQuery(embedding=VECTOR, min_similarity=0, limit=COUNT, valid_at=day(1)),
    "embedding and tags": MemoryQuery(embedding=VECTOR, min_similarity=0, limit=COUNT, tags=["note"]),
    "embedding and changes": MemoryQuery(embedding=VECTOR, min_similarity=0, limit=COUNT, changed_since=day(-1)),
    "embedding, quarantined": MemoryQuery(embedding=VECTOR, min_similarity=0, tags=[QUARANTINE_TAG]),
    "tags": MemoryQuery(tags=["note"], limit=COUNT),
    "nothing found": MemoryQuery(tags=["never used"]),
}


@pytest.mark.parametrize("filter_first", [True, False], ids=["filters first", "themes first"])
@pytest.mark.parametrize("path", QUERIES)
async def test_a_query_is_one_statement_and_one_trip(
    watched: tuple[Memory, Wire], path: str, filter_first: bool
) -> None:
    memory, _ = watched
    wire = await count(watched, lambda: memory.retrieve(QUERIES[path], filter_first=filter_first))
    assert_one_trip(wire)


@pytest.mark.parametrize("max_hops", range(6))
async def test_a_walk_is_one_statement_and_one_trip_however_far(watched: tuple[Memory, Wire], max_hops: int) -> None:
    memory, _ = watched
    wire = await count(watched, lambda: memory.subgraph([sample_id("entity", 0)], max_hops=max_hops))
    assert_one_trip(wire)


@pytest.mark.parametrize(
    "question",
    [
        "Which crane moves box 7?",
        "What happened on 1 January 2025?",
        "Qwertzuiop?",
        "What of the?",
    ],
)
async def test_a_recall_is_one_statement_and_one_trip(watched: tuple[Memory, Wire], question: str) -> None:
    memory, _ = watched
    wire = await count(watched, lambda: memory.recall(question))
    assert_one_trip(wire)


@pytest.mark.parametrize("question", ["Which crane moves box 7?", "Qwertzuiop?"])
async def test_a_recall_by_text_alone_is_one_statement_and_one_trip(
    watched: tuple[Memory, Wire], neo4j_server: tuple[str, tuple[str, str]], question: str
) -> None:
    uri, auth = neo4j_server
    async with (
        proxy(uri) as (address, wire),
        Memory.connect(address, auth=auth, namespace=watched[0].namespace, warm=False) as bare,
    ):
        assert_one_trip(await count((bare, wire), lambda: bare.recall(question)))


async def test_a_recall_in_the_past_is_one_statement_and_one_trip(watched: tuple[Memory, Wire]) -> None:
    memory, _ = watched
    then = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    wire = await count(watched, lambda: memory.recall("Which crane moves box 7?", valid_at=then, believed_at=then))
    assert_one_trip(wire)


@pytest.mark.parametrize("kind", ["fact", "entity", "theme", "episode", "message", "relationship"])
async def test_the_past_of_a_record_is_told_in_one_trip(watched: tuple[Memory, Wire], kind: RecordKind) -> None:
    memory, _ = watched
    assert_one_trip(await count(watched, lambda: memory.history(sample_id(kind, 3))))
    assert_one_trip(await count(watched, lambda: memory.why(sample_id(kind, 3))))


async def test_no_answer_carries_stored_vectors(watched: tuple[Memory, Wire]) -> None:
    memory, _ = watched
    stored = COUNT * EMBEDDER.dimensions * 4  # bytes of the facts' vectors alone, at float32
    acts: dict[str, Callable[[], Awaitable[object]]] = {
        "retrieve by embedding": lambda: memory.retrieve(QUERIES["embedding"]),
        "retrieve by entities": lambda: memory.retrieve(QUERIES["entities"]),
        "retrieve by tags": lambda: memory.retrieve(QUERIES["tags"]),
        "walk": lambda: memory.subgraph([sample_id("entity", 0)], max_hops=5),
        "recall": lambda: memory.recall("Which crane moves box 7?", limit=1000),
        "why": lambda: memory.why(sample_id("theme", 3)),
    }
    (one,) = (await memory.store.get_facts([sample_id("fact", 3)])).values()
    assert one.embedding is not None
    numbers = [struct.pack(">f", number) for number in one.embedding if abs(number) > 0.01]
    for name, act in acts.items():
        wire = await count(watched, act)
        assert sum(number in wire.received for number in numbers) < len(numbers) / 2, name
        assert len(wire.received) < stored, name


async def test_a_stored_vector_would_be_noticed(watched: tuple[Memory, Wire]) -> None:
    memory, _ = watched
    (one,) = (await memory.store.get_facts([sample_id("fact", 3)])).values()
    assert one.embedding is not None
    numbers = [struct.pack(">f", number) for number in one.embedding if abs(number) > 0.01]
    wire = await count(watched, lambda: memory.store.get_facts([sample_id("fact", 3)]))
    assert all(number in wire.received for number in numbers)


async def test_a_managed_transaction_would_be_noticed(watched: tuple[Memory, Wire]) -> None:
    memory, _ = watched
    assert isinstance(memory.store, Neo4jStore)
    database: Database = memory.store.database
    wire = await count(watched, lambda: database.write(lambda transaction: transaction.run("RETURN 1 AS one", {})))
    assert wire.trips > 1
    assert {BEGIN, RUN, COMMIT} <= set(wire.requests)


def assert_one_trip(wire: Wire) -> None:
    assert wire.requests.count(RUN) == 1
    assert wire.trips == 1
