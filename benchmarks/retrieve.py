"""`retrieve_memory` against bare queries of the same search, and `recall` against a bare vector search.

The bare queries do what a hand-written search would: the hierarchy by embedding (nearest facts of the nearest themes
and nearest facts, with episodes, entities and the edges between them), a breadth-first walk of two hops with the facts
of what it visits, and one vector search for 100 hits. They return ids and texts, not whole records; of the first two
there is a second form that also returns the messages of the episodes. All alternate in one process.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import numpy as np
import world
from neo4j.vector import Vector

from remembrancer import Memory, MemoryQuery, Message
from remembrancer.graph import Neo4jStore
from remembrancer.records import Episode, Fact, RecordBatch

BY_EMBEDDING = """CYPHER 25
CALL () {
  MATCH (t:Theme) SEARCH t IN (VECTOR INDEX theme_embedding_1 FOR $v WHERE t.namespace = $namespace LIMIT $limit)
  WITH collect(t.id) AS ths
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $v WHERE f.namespace = $namespace AND f.theme_id IN ths
     AND f.valid_from <= $t AND f.valid_until > $t AND f.live = true LIMIT $limit) SCORE AS score
  RETURN f, score
UNION ALL
  MATCH (f:Fact) SEARCH f IN (VECTOR INDEX fact_embedding_1 FOR $v WHERE f.namespace = $namespace
     AND f.valid_from <= $t AND f.valid_until > $t AND f.live = true LIMIT $limit) SCORE AS score
  RETURN f, score
}
WITH f, max(score) AS score
WITH f, score, f.id AS id ORDER BY score DESC, id LIMIT $limit
WITH collect(f) AS fs, collect({id: id, content: f.content, score: score,
  entities: COLLECT { MATCH (f)-[:MENTIONS]->(e) RETURN e.id }}) AS facts
CALL (fs) { UNWIND fs AS f MATCH (f)-[:FROM_EPISODE]->(e) WITH DISTINCT e RETURN collect(e.topic) AS episodes }
CALL (fs) { UNWIND fs AS f MATCH (f)-[:MENTIONS]->(e) WITH DISTINCT e RETURN collect(e) AS es }
CALL (es) { UNWIND es AS a MATCH (a)-[r:RELATES_TO]->(b) WHERE b IN es RETURN collect(r.id) AS edges }
RETURN facts, episodes, [e IN es | e.name] AS entities, edges"""

BY_ENTITY = """CYPHER 25
MATCH (s:Entity {namespace: $namespace, id: $seed})
WITH [s] AS l0
CALL (l0) {
  UNWIND l0 AS f
  MATCH (f)-[r:RELATES_TO]-(m) WHERE r.valid_from <= $t AND r.valid_until > $t AND NOT m IN l0
  WITH DISTINCT m ORDER BY m.id LIMIT 500
  RETURN collect(m) AS l1
}
WITH l0, l1, l0 + l1 AS seen
CALL (l1, seen) {
  UNWIND l1 AS f
  MATCH (f)-[r:RELATES_TO]-(m) WHERE r.valid_from <= $t AND r.valid_until > $t AND NOT m IN seen
  WITH DISTINCT m ORDER BY m.id LIMIT 500
  WITH collect(m) AS found
  RETURN found[..500 - size(seen)] AS l2
}
WITH seen + l2 AS seen
CALL (seen) {
  UNWIND seen AS a MATCH (a)-[r:RELATES_TO]->(b) WHERE b IN seen AND r.valid_from <= $t AND r.valid_until > $t
  RETURN collect(r.id) AS edges
}
CALL (seen) {
  UNWIND seen AS n
  CALL (n) { MATCH (n)<-[:MENTIONS]-(f:Fact) WHERE f.live RETURN f ORDER BY f.valid_from DESC LIMIT $limit }
  WITH DISTINCT f LIMIT $limit
  RETURN collect(f.content) AS facts
}
RETURN [n IN seen | n.name] AS entities, edges, facts"""

Way = Callable[[int], Awaitable[object]]

EPISODES = """e {.id, .topic, messages: COLLECT {
  MATCH (e)-[x:HAS_MESSAGE]->(m) RETURN [m.id, m.role, m.content, toString(m.timestamp)] ORDER BY x.positions[0] }}"""
BY_EMBEDDING_WITH_MESSAGES = BY_EMBEDDING.replace("e.topic", EPISODES)
BY_ENTITY_WITH_MESSAGES = BY_ENTITY.replace(
    "  RETURN collect(f.content) AS facts\n}",
    f"""  RETURN collect(f) AS fs, collect(f.content) AS facts
}}
CALL (fs) {{ UNWIND fs AS f MATCH (f)-[:FROM_EPISODE]->(e) WITH DISTINCT e RETURN collect({EPISODES}) AS episodes }}""",
).replace("edges, facts", "edges, facts, episodes")

NEAREST = """CYPHER 25
MATCH (m:Message) SEARCH m IN (VECTOR INDEX message_embedding_1 FOR $v
  WHERE m.namespace = $namespace LIMIT 100) SCORE AS score
RETURN m.id AS id, m.content AS content, score"""

VOCABULARY = 20_000
ODDS = 1 / (np.arange(VOCABULARY) + 30)
ODDS /= ODDS.sum()


class Given:
    """An embedder whose vectors were made before: the index is asked, not a model."""

    model, dimensions = world.SPACE.model, world.DIMENSIONS

    def __init__(self, vectors: world.Vectors) -> None:
        self._vectors = vectors
        self._turn = 0

    async def embed(self, texts: Any) -> list[tuple[float, ...]]:
        self._turn += 1
        return [tuple(self._vectors[self._turn % len(self._vectors)].tolist()) for _ in texts]


def words(seed: int, count: int, size: int) -> list[str]:
    """Texts of so many words, which are as rare as the telling words of running text (law of Zipf and Mandelbrot)."""
    drawn = np.random.default_rng(seed).choice(VOCABULARY, size=(count, size), p=ODDS)
    return [" ".join(f"w{word}" for word in line) for line in drawn]


QUESTIONS = words(10**9, 64, 6)


def episodes(vectors: world.Vectors, *, first: int) -> list[Episode]:
    """Messages of 12 words, ten an episode; `first` ends in 0."""
    texts = words(first, len(vectors), 12)
    made = []
    for start in range(first, first + len(vectors), 10):
        said = [
            Message(
                id=world.record_id("a", place),
                role="user" if place % 2 else "assistant",
                content=texts[place - first],
                timestamp=world.START + dt.timedelta(minutes=place),
                embedding=tuple(vectors[place - first].tolist()),
            )
            for place in range(start, min(start + 10, first + len(vectors)))
        ]
        made.append(
            Episode(
                id=world.record_id("d", start // 10),
                topic=f"episode {start // 10}",
                messages=said,
                started_at=said[0].timestamp,
                ended_at=said[-1].timestamp,
                provenance=world.MADE,
            )
        )
    return made


async def begin(store: Neo4jStore) -> None:
    rng = np.random.default_rng(4)
    await store.write(RecordBatch(entities=world.entities(1000), themes=world.themes()))
    pairs = [(int(a), int(b)) for a, b in rng.integers(0, 1000, size=(3000, 2))]
    await store.write(RecordBatch(relationships=world.relationships(pairs)))


async def grow(store: Neo4jStore, first: int, last: int, *, turns: bool, writers: int) -> float:
    """Add messages, and facts that cite one each, in portions; the seconds that the portions took in the median."""
    spent = []
    starts = iter(range(first, last, world.PORTION))

    async def write() -> None:
        for start in starts:
            count = min(world.PORTION, last - start)
            said = episodes(world.clustered(count, seed=11, first=start), first=start)
            told = [] if turns else list(facts(start, count))
            began = time.perf_counter()
            await store.write(RecordBatch(episodes=said, facts=told))
            spent.append(time.perf_counter() - began)
            if start % 50_000 == 0:
                print(f"{start} stored", file=sys.stderr, flush=True)

    await asyncio.gather(*(write() for _ in range(writers)))
    return statistics.median(spent)


def facts(start: int, count: int) -> Iterator[Fact]:
    """Each cites a message and has eight of its words in another order."""
    made = world.facts(world.clustered(count, seed=12, first=start), first=start)
    for place, (fact, said) in enumerate(zip(made, words(start, count, 12), strict=True), start):
        content = " ".join(said.split()[8:0:-1])
        yield fact.model_copy(update={"content": content, "source_message_ids": (world.record_id("a", place),)})


async def measured(memory: Memory, rounds: int, *, turns: bool) -> dict[str, Any]:
    store = memory.store
    assert isinstance(store, Neo4jStore)
    asked = world.clustered(64, seed=13)
    at = world.day(400)

    async def bare(query: str, **parameters: Any) -> object:
        return await store.database.read(query, {"namespace": store.namespace, "t": at, "limit": 20, **parameters})

    def vector(turn: int) -> tuple[float, ...]:
        return tuple(asked[turn % 64].tolist())

    def embedding(turn: int) -> Awaitable[object]:
        return memory.retrieve(MemoryQuery(embedding=vector(turn), valid_at=at, min_similarity=0))

    def entity(turn: int) -> Awaitable[object]:
        return memory.retrieve(MemoryQuery(entity_ids=[world.record_id("e", 7 * turn % 1000)], valid_at=at))

    def searching(query: str) -> Way:
        return lambda turn: bare(query, v=Vector(vector(turn), "f32"))

    def walking(query: str) -> Way:
        return lambda turn: bare(query, seed=world.record_id("e", 7 * turn % 1000))

    ways: dict[str, list[Way]] = {
        "by embedding": [embedding, searching(BY_EMBEDDING), searching(BY_EMBEDDING_WITH_MESSAGES)],
        "by entity, 2 hops": [entity, walking(BY_ENTITY), walking(BY_ENTITY_WITH_MESSAGES)],
        "recall": [lambda turn: memory.recall(QUESTIONS[turn % 64], valid_at=at), searching(NEAREST)],
    }
    row: dict[str, Any] = {}
    for name, compared in ways.items():
        if turns and name != "recall":
            continue
        (mine, late), (base, late_base), *whole = await world.alternately(rounds, *compared, warm=30)
        row |= {f"{name} x bare": mine / base, f"{name} p95 x bare p95": late / late_base, f"{name} ms": 1000 * mine}
        if whole:
            row[f"{name} x bare with messages"] = mine / whole[0][0]
    return row


async def kilobytes(address: world.Address, namespace: str) -> float:
    """What the client reads in one recall, in the median of 64; counted, not timed."""
    spent = []
    async with (
        world.relay(address) as (uri, counter),
        address.database(uri) as database,
        Neo4jStore.open(database=database, namespace=namespace, space=world.SPACE) as store,
    ):
        memory = Memory(store, store.index, embedder=Given(world.clustered(64, seed=13)))
        for turn in range(65):
            before = counter.received
            await memory.recall(QUESTIONS[turn % 64], valid_at=world.day(400))
            spent.append((counter.received - before) / 1024)
    return statistics.median(spent[1:])  # the first one opens the connection


async def main() -> None:
    parser = world.parser(__doc__)
    parser.add_argument("--sizes", default="1000,10000,20000,100000", help="facts and messages, as many of each")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--turns", action="store_true", help="messages alone, and recall alone")
    parser.add_argument("--writers", type=int, default=1, help="so many portions are written at once")
    parser.add_argument(
        "--again", metavar="NAMESPACE", help="measure a memory that was kept; --sizes says how large it is"
    )
    told = parser.parse_args()
    rows = []
    async with (
        world.server() as address,
        address.database() as database,
        Neo4jStore.open(database=database, namespace=told.again or world.fresh("retrieve"), space=world.SPACE) as store,
    ):
        if not told.again:
            await begin(store)
        memory = Memory(store, store.index, embedder=Given(world.clustered(64, seed=13)))
        stored = 0
        for count in map(int, told.sizes.split(",")):
            row: dict[str, Any] = {"messages": count, "facts": 0 if told.turns else count}
            if not told.again:
                row["s a portion"] = await grow(store, stored, count, turns=told.turns, writers=told.writers)
            stored = count
            row |= await measured(memory, told.rounds, turns=told.turns)
            row["recall KB"] = await kilobytes(address, store.namespace)
            rows.append(row)
            print(rows[-1], flush=True)
        if told.keep or told.again:  # what was kept once is not cleared by being measured again
            print(f"kept: --again {store.namespace} --sizes {stored}")
        else:
            await store.clear()
    world.report(rows, told.out)


if __name__ == "__main__":
    world.run(main)
