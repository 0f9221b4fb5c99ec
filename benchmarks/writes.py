"""Bulk write of ready facts through the store, against a bare loop that writes the same nodes and edges.

The bare loop sends the same rows, with vectors as `Vector` parameters, one `UNWIND` a kind of node or edge, one managed
transaction a portion: what a user would write by hand who needs no receipt, no placeholders and no whole-record puts.
"""

from __future__ import annotations

import resource
import time
from typing import Any

import world
from neo4j.vector import Vector

from remembrancer.graph import Database, Neo4jStore
from remembrancer.records import Fact, RecordBatch

BARE = """CYPHER 25
UNWIND $rows AS row
MERGE (f:Fact {namespace: $namespace, id: row.id})
SET f += row.properties
WITH f, row
CALL (f, row) { CALL db.create.setNodeVectorProperty(f, $embedding, row.embedding) }
CALL (f, row) {
  UNWIND row.entities AS id
  MERGE (e:Entity {namespace: $namespace, id: id})
  MERGE (f)-[x:MENTIONS]->(e) SET x.namespace = $namespace, x.positions = [0]
}
CALL (f, row) {
  UNWIND row.episodes AS id
  MERGE (e:Episode {namespace: $namespace, id: id})
  MERGE (f)-[x:FROM_EPISODE]->(e) SET x.namespace = $namespace, x.positions = [0]
}
"""


def bare_row(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "embedding": Vector(fact.embedding, "f32"),
        "entities": sorted(set(fact.entity_ids)),
        "episodes": list(fact.source_episode_ids),
        "properties": {
            "content": fact.content,
            "theme_id": fact.theme_id,
            "valid_from": fact.valid_from,
            "valid_until": world.dt.datetime(9999, 1, 1, tzinfo=world.dt.UTC),
            "access_count": 0,
            "live": True,
            "quarantined": False,
            "namespace_token": "token",
            "recorded_at": fact.valid_from,
            "provenance_source": fact.provenance.source,
            "provenance_created_at": fact.provenance.created_at,
        },
    }


async def main() -> None:
    parser = world.parser(__doc__)
    parser.add_argument("--facts", type=int, default=20_000)
    told = parser.parse_args()
    made = list(world.facts(world.clustered(told.facts, seed=3)))
    rows: list[dict[str, Any]] = []
    async with (
        world.database() as database,
        Neo4jStore.open(database=database, namespace=world.fresh("ours"), space=world.SPACE) as ours,
        Neo4jStore.open(database=database, namespace=world.fresh("bare"), space=world.SPACE) as bare,
    ):
        embedding = (
            await database.read("MATCH (n:Namespace {name: $name}) RETURN n.space AS space", {"name": bare.namespace})
        )[0]["space"]
        spent = {"ours": 0.0, "bare": 0.0}
        for place, some in enumerate(world.portions(made)):
            ways = [("ours", ours), ("bare", bare)]
            for name, store in ways if place % 2 else ways[::-1]:
                began = time.perf_counter()
                if name == "ours":
                    await store.write(RecordBatch(facts=some))
                else:
                    await write_bare(database, store.namespace, f"embedding_{embedding}", some)
                if place >= 2:  # the first portions plan and compile
                    spent[name] += time.perf_counter() - began
            if place % 10 == 9:
                rows.append(
                    {
                        "facts each": (place + 1) * world.PORTION,
                        "bare / ours": spent["bare"] / spent["ours"],
                        "client memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                    }
                )
        await ours.clear()
        await bare.clear()
    world.report(rows, told.out)


async def write_bare(database: Database, namespace: str, embedding: str, some: Any) -> None:
    rows = sorted((bare_row(fact) for fact in some), key=lambda row: row["id"])
    parameters = {"namespace": namespace, "embedding": embedding, "rows": rows}
    await database.write(lambda transaction: transaction.run(BARE, parameters))


if __name__ == "__main__":
    world.run(main)
