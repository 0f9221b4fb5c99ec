"""Walks on graphs without and with hubs: the quick form, the form that hubs bound, and what the store chooses.

The quick form here is let loose on hubs (its own threshold is set out of reach), which is what the choice avoids.
"""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable

import numpy as np
import world

from remembrancer.graph import Neo4jStore
from remembrancer.graph.retrieval import GraphRetrieval
from remembrancer.records import RecordBatch

OUT_OF_REACH = 10**9
Walk = Callable[[int], Awaitable[object]]


def uniform(nodes: int, edges: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(1)
    return [(int(a), int(b)) for a, b in rng.integers(0, nodes, size=(edges, 2))]


def with_hubs(nodes: int, edges: int, hubs: int, degree: int) -> list[tuple[int, int]]:
    """A uniform graph whose first nodes are hubs of a degree."""
    rng = np.random.default_rng(2)
    spokes = [(hub, int(node)) for hub in range(hubs) for node in rng.integers(hubs, nodes, size=degree)]
    return spokes + uniform(nodes, edges - len(spokes))


async def main() -> None:
    parser = world.parser(__doc__)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--degree", type=int, default=20_000, help="of a hub; of three, together fewer than the edges")
    parser.add_argument("--rounds", type=int, default=30)
    told = parser.parse_args()
    rows = []
    async with world.database() as database:
        for name, pairs in (
            ("uniform", uniform(told.nodes, told.edges)),
            ("3 hubs", with_hubs(told.nodes, told.edges, 3, told.degree)),
        ):
            async with Neo4jStore.open(database=database, namespace=world.fresh("hubs")) as store:
                for some in world.portions(world.entities(told.nodes), 2_000):
                    await store.write(RecordBatch(entities=some))
                for some in world.portions(world.relationships(pairs), 2_000):
                    await store.write(RecordBatch(relationships=some))
                rows += await measured(name, store, told)
                print(*rows[-3:], sep="\n", flush=True)
                if not told.keep:
                    await store.clear()
    world.report(rows, told.out)


async def measured(name: str, store: Neo4jStore, told: argparse.Namespace) -> list[dict[str, object]]:
    def walker(hub_degree: int, *, bounded: bool = False) -> GraphRetrieval:
        made = GraphRetrieval(store.database, store.namespace, number=1, dimensions=None, hub_degree=hub_degree)
        made._has_hubs = bounded
        return made

    rows: list[dict[str, object]] = []
    seeds: dict[str, Callable[[int], int]] = {"random": lambda turn: 1_000 + 13 * turn, "hub": lambda turn: turn % 3}
    for start, seed in seeds.items():
        if name == "uniform" and start == "hub":
            continue
        for hops in (1, 2, 3):
            quick, bounded, chosen = walker(OUT_OF_REACH), walker(1_000, bounded=True), walker(1_000)

            def walking(retrieval: GraphRetrieval, hops: int = hops, seed: Callable[[int], int] = seed) -> Walk:
                return lambda turn: retrieval.extract_subgraph(
                    [world.record_id("e", seed(turn))],
                    max_hops=hops,
                    valid_at=world.day(1),
                    relation_types=[],
                    include_invalidated=False,
                    max_entities=500,
                )

            async def floor(turn: int) -> object:
                return await store.database.read("RETURN 1", {})

            times = await world.alternately(
                told.rounds,
                floor,
                walking(quick),
                walking(bounded),
                walking(chosen),
            )
            base = times[0][0]
            rows.append(
                {
                    "graph": name,
                    "edges": told.edges,
                    "seed": start,
                    "hops": hops,
                    "quick x floor": times[1][0] / base,
                    "bounded x floor": times[2][0] / base,
                    "chosen x floor": times[3][0] / base,
                    "quick / chosen": times[1][0] / times[3][0],
                }
            )
    return rows


if __name__ == "__main__":
    world.run(main)
