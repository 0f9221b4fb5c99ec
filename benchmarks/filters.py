"""Filtered vector search against an exact scan: recall@20 at every selectivity, and whether hits were lost.

One database holds clustered facts in three namespaces: 89.9 %, 10 % and 0.1 % of them. Each filter of `search_facts`
and combinations of them are asked with vectors beside stored ones; numpy over the same float32 vectors is the judge.
"""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import world

from remembrancer.graph import Database, Neo4jStore
from remembrancer.records import QUARANTINE_TAG, Fact, RecordBatch, is_changed_since, is_valid_at

K = 20
SHARES = {"89.9 %": 0.899, "10 %": 0.1, "0.1 %": 0.001}
INSTANT = world.day(200)
BELIEVED = world.day(180)

FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "live": {"include_invalidated": False},
    "valid at": {"valid_at": INSTANT},
    "live, not quarantined, valid": {"include_invalidated": False, "include_quarantined": False, "valid_at": INSTANT},
    "one theme of 200": {"theme_ids": [world.record_id("c", 3)]},
    "tag on 10 %": {"tags": ["often"]},
    "tag on 1 %, live": {"tags": ["seldom"], "include_invalidated": False},
    "changed since": {"changed_since": world.day(330)},
    "changed since, tag, valid": {"changed_since": world.day(180), "tags": ["often"], "valid_at": INSTANT},
    "believed at": {"believed_at": BELIEVED, "include_invalidated": False},
}


def tags(place: int) -> list[str]:
    return [
        *(["often"] if place % 10 == 1 else []),
        *(["seldom"] if place % 100 == 7 else []),
        *([QUARANTINE_TAG] if place % 20 == 5 else []),
    ]


def until(place: int) -> dt.datetime | None:
    return world.day(place % 365 + 60) if place % 3 else None


def passes(fact: Fact, wanted: dict[str, Any]) -> bool:
    closed = fact.invalidated_by is not None
    if believed := wanted.get("believed_at"):
        if fact.recorded_at is None or fact.recorded_at > believed:
            return False
        closed = closed and fact.closed_at is not None and fact.closed_at <= believed
    return (
        (wanted.get("include_invalidated", True) or not closed)
        and (wanted.get("include_quarantined", True) or QUARANTINE_TAG not in fact.tags)
        and ("valid_at" not in wanted or is_valid_at(fact, wanted["valid_at"]))
        and ("changed_since" not in wanted or is_changed_since(fact, wanted["changed_since"]))
        and (not wanted.get("tags") or bool(set(wanted["tags"]) & set(fact.tags)))
        and ("theme_ids" not in wanted or fact.theme_id in wanted["theme_ids"])
    )


async def load(database: Database, share: float, total: int, seed: int) -> tuple[Neo4jStore, world.Vectors, list[Fact]]:
    vectors = world.clustered(round(total * share), seed=seed)
    fields: dict[str, Callable[[int], Any]] = {
        "tags": tags,
        "valid_until": until,
        "invalidated_by": lambda place: "closed" if place % 7 == 0 else None,
        "recorded_at": lambda place: world.day(place % 365),
        "closed_at": lambda place: world.day(place % 365 + 30) if place % 7 == 0 else None,
    }
    made = list(world.facts(vectors, **fields))
    async with Neo4jStore.open(database=database, namespace=world.fresh("filters"), space=world.SPACE) as store:
        for some in world.portions(made):
            await store.write(RecordBatch(facts=some))
    return store, vectors, made


async def main() -> None:
    parser = world.parser(__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=40)
    told = parser.parse_args()
    rows: list[dict[str, Any]] = []
    async with world.database() as database:
        loaded = [
            (name, *await load(database, share, told.facts, seed=100 + place))
            for place, (name, share) in enumerate(SHARES.items())
        ]
        for name, store, vectors, made in loaded:
            rows += await measured(name, store, vectors, made, told)
            print(*rows[-len(FILTERS) :], sep="\n", flush=True)
            if not told.keep:
                await store.clear()
    world.report(rows, told.out)


async def measured(
    name: str, store: Neo4jStore, vectors: world.Vectors, made: list[Fact], told: argparse.Namespace
) -> list[dict[str, Any]]:
    asked = world.clustered(told.queries, seed=9)
    rows = []
    for label, wanted in FILTERS.items():
        chosen = np.array([place for place, fact in enumerate(made) if passes(fact, wanted)], dtype=int)
        recalls, fewer = [], 0
        for query in asked:
            exact = vectors[chosen] @ query
            expected = [made[chosen[place]].id for place in np.argsort(-exact, kind="stable")[:K]]
            hits = await store.index.search_facts(query.tolist(), limit=K, min_similarity=-1.0, **wanted)
            recalls.append(len({hit.id for hit in hits} & set(expected)) / len(expected) if expected else 1.0)
            fewer += len(hits) < len(expected)
        rows.append(
            {
                "namespace": name,
                "filter": label,
                "passing": len(chosen),
                "recall@20": float(np.mean(recalls)),
                "least": float(min(recalls)),
                "searches with fewer hits": fewer,
            }
        )
    return rows


if __name__ == "__main__":
    world.run(main)
