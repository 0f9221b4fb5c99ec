"""`retrieve_memory` against bare queries of the same search, and `recall` against a bare vector search.

The bare queries do what a hand-written search would: the hierarchy by embedding (nearest facts of the nearest themes
and nearest facts, with episodes, entities and the edges between them), a breadth-first walk of two hops with the facts
of what it visits, and one vector search for 100 hits. They return ids and texts, not whole records. All alternate in
one process.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import world
from neo4j.vector import Vector

from remembrancer import Memory, MemoryQuery, Message
from remembrancer.graph import Neo4jStore
from remembrancer.records import Episode, RecordBatch

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

NEAREST = """CYPHER 25
MATCH (m:Message) SEARCH m IN (VECTOR INDEX message_embedding_1 FOR $v
  WHERE m.namespace = $namespace LIMIT 100) SCORE AS score
RETURN m.id AS id, m.content AS content, score"""

WORDS = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u") for c in ("lin", "ton", "ra", "mek", "dos")
]


class Given:
    """An embedder whose vectors were made before: the index is asked, not a model."""

    model, dimensions = world.SPACE.model, world.DIMENSIONS

    def __init__(self, vectors: world.Vectors) -> None:
        self._vectors = vectors
        self._turn = 0

    async def embed(self, texts: Any) -> list[tuple[float, ...]]:
        self._turn += 1
        return [tuple(self._vectors[self._turn % len(self._vectors)].tolist()) for _ in texts]


def text(rng: np.random.Generator, place: int) -> str:
    common = WORDS[: 1 + place % len(WORDS)]
    return f"{' '.join(rng.choice(common, size=12))} w{place % 5000}"


def episodes(vectors: world.Vectors) -> list[Episode]:
    """Messages of 12 words from a vocabulary of 300 and one rarer word, ten an episode."""
    rng = np.random.default_rng(5)
    made = []
    for number, start in enumerate(range(0, len(vectors), 10)):
        said = [
            Message(
                id=world.record_id("a", place),
                role="user" if place % 2 else "assistant",
                content=text(rng, place),
                timestamp=world.START + dt.timedelta(minutes=place),
                embedding=tuple(vectors[place].tolist()),
            )
            for place in range(start, min(start + 10, len(vectors)))
        ]
        made.append(
            Episode(
                id=world.record_id("d", number),
                topic=f"episode {number}",
                messages=said,
                started_at=said[0].timestamp,
                ended_at=said[-1].timestamp,
                provenance=world.MADE,
            )
        )
    return made


async def fill(store: Neo4jStore, count: int) -> None:
    rng = np.random.default_rng(4)
    await store.write(RecordBatch(entities=world.entities(1000), themes=world.themes()))
    pairs = [(int(a), int(b)) for a, b in rng.integers(0, 1000, size=(3000, 2))]
    await store.write(RecordBatch(relationships=world.relationships(pairs)))
    for some in world.portions(episodes(world.clustered(count, seed=11)), 50):
        await store.write(RecordBatch(episodes=some))
    vectors = world.clustered(count, seed=12)
    for start in range(0, count, world.PORTION):
        made = list(world.facts(vectors[start : start + world.PORTION], first=start))
        await store.write(RecordBatch(facts=made))


async def measured(memory: Memory, count: int, rounds: int) -> dict[str, Any]:
    store = memory.store
    assert isinstance(store, Neo4jStore)
    asked = world.clustered(64, seed=13)
    rng = np.random.default_rng(6)
    questions = [text(rng, 17 * turn) for turn in range(64)]
    at = world.day(400)

    async def bare(query: str, **parameters: Any) -> object:
        return await store.database.read(query, {"namespace": store.namespace, "t": at, "limit": 20, **parameters})

    def vector(turn: int) -> tuple[float, ...]:
        return tuple(asked[turn % 64].tolist())

    pairs = {
        "by embedding": (
            lambda turn: memory.retrieve(MemoryQuery(embedding=vector(turn), valid_at=at, min_similarity=0)),
            lambda turn: bare(BY_EMBEDDING, v=Vector(vector(turn), "f32")),
        ),
        "by entity, 2 hops": (
            lambda turn: memory.retrieve(MemoryQuery(entity_ids=[world.record_id("e", 7 * turn % 1000)], valid_at=at)),
            lambda turn: bare(BY_ENTITY, seed=world.record_id("e", 7 * turn % 1000)),
        ),
        "recall": (
            lambda turn: memory.recall(questions[turn % 64], valid_at=at),
            lambda turn: bare(NEAREST, v=Vector(vector(turn), "f32")),
        ),
    }
    row: dict[str, Any] = {"facts": count, "messages": count}
    for name, (ours, theirs) in pairs.items():
        (mine, late), (base, late_base) = await world.alternately(rounds, ours, theirs)
        row |= {f"{name} x bare": mine / base, f"{name} p95 x bare p95": late / late_base}
    return row


async def main() -> None:
    parser = world.parser(__doc__)
    parser.add_argument("--sizes", default="1000,10000,20000,100000", help="facts and messages, as many of each")
    parser.add_argument("--rounds", type=int, default=60)
    told = parser.parse_args()
    rows = []
    async with world.database() as database:
        for count in map(int, told.sizes.split(",")):
            async with Neo4jStore.open(
                database=database, namespace=world.fresh("retrieve"), space=world.SPACE
            ) as store:
                await fill(store, count)
                memory = Memory(store, store.index, embedder=Given(world.clustered(64, seed=13)))
                rows.append(await measured(memory, count, told.rounds))
                print(rows[-1], flush=True)
                await store.clear()
    world.report(rows, told.out)


if __name__ == "__main__":
    world.run(main)
