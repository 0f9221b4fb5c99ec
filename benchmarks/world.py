"""What the benchmarks share: a server, a clustered memory made from a seed, and fair timing.

Times of a shared machine mean nothing by themselves. What is compared runs alternately in one process, and what is
told is the ratio of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import os
import statistics
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np

from remembrancer.graph import Database
from remembrancer.records import EmbeddingSpace, Entity, Fact, Provenance, Relationship, Theme

DIMENSIONS = 384
SPACE = EmbeddingSpace(model="clusters", dimensions=DIMENSIONS)
CENTRES = 200
START = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
MADE = Provenance(source="system", created_at=START)
PORTION = 500

Vectors = np.ndarray[Any, np.dtype[np.float32]]


def record_id(letter: str, number: int) -> str:
    """An id of a letter's kind; ids sort like their numbers."""
    return f"{letter}0000000-0000-4000-8000-{number:012x}"


def day(number: float) -> dt.datetime:
    return START + dt.timedelta(days=number)


def clustered(count: int, *, seed: int) -> Vectors:
    """Unit vectors around 200 centres; the noise is about as long as a centre, so neighbours are not obvious."""
    centres = np.random.default_rng(7).normal(size=(CENTRES, DIMENSIONS))
    rng = np.random.default_rng(seed)
    made = centres[np.arange(count) % CENTRES] + rng.normal(size=(count, DIMENSIONS))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def facts(vectors: Vectors, *, first: int = 0, **more: Callable[[int], Any]) -> Iterator[Fact]:
    """One fact a vector: in the theme of its centre, with two entities and an episode; `more` makes further fields."""
    for place, vector in enumerate(vectors):
        number = first + place
        yield Fact(
            id=record_id("f", number),
            content=f"fact {number} about topic {place % CENTRES}",
            entity_ids=[record_id("e", place % 1000), record_id("e", (7 * place + 1) % 1000)],
            source_episode_ids=[record_id("d", place // 10)],
            theme_id=record_id("c", place % CENTRES),
            valid_from=day(place % 365),
            embedding=tuple(vector.tolist()),
            provenance=MADE,
            **{name: make(place) for name, make in more.items()},
        )


def themes() -> list[Theme]:
    """The centres as themes, without lists of their facts."""
    centres = np.random.default_rng(7).normal(size=(CENTRES, DIMENSIONS)).astype(np.float32)
    return [
        Theme(id=record_id("c", n), label=f"topic {n}", embedding=tuple(centre.tolist()), provenance=MADE)
        for n, centre in enumerate(centres)
    ]


def entities(count: int) -> list[Entity]:
    return [
        Entity(
            id=record_id("e", n),
            name=f"entity {n}",
            entity_type="thing",
            created_at=START,
            updated_at=START,
            provenance=MADE,
        )
        for n in range(count)
    ]


def relationships(pairs: Sequence[tuple[int, int]]) -> list[Relationship]:
    return [
        Relationship(
            id=record_id("b", n),
            source_id=record_id("e", source),
            target_id=record_id("e", target),
            relation_type="use",
            valid_from=START,
            provenance=MADE,
        )
        for n, (source, target) in enumerate(pairs)
    ]


def portions(records: Sequence[Any], size: int = PORTION) -> Iterator[Sequence[Any]]:
    for start in range(0, len(records), size):
        yield records[start : start + size]


def fresh(name: str) -> str:
    """A namespace that nobody else has."""
    return f"benchmark-{name}-{uuid.uuid4()}"


@asynccontextmanager
async def database() -> AsyncIterator[Database]:
    """The server of `NEO4J_URI`, or a private one with a heap of 2 GB in a folder that is removed at the end."""
    if address := os.environ.get("NEO4J_URI"):
        auth = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ["NEO4J_PASSWORD"])
        async with Database.open(address, auth=auth, name=os.environ.get("NEO4J_DATABASE")) as opened:
            yield opened
        return
    from remembrancer.server import LocalServer

    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        async with (
            LocalServer.open(folder, heap="2g") as server,
            Database.open(server.bolt_uri, auth=(server.username, server.password), name="neo4j") as opened,
        ):
            yield opened


async def alternately(
    rounds: int, *ways: Callable[[int], Awaitable[object]], warm: int = 5
) -> list[tuple[float, float]]:
    """Median and 95th percentile of each way, in seconds; every round runs each of them once."""
    for turn in range(warm):
        for way in ways:
            await way(turn)
    times: list[list[float]] = [[] for _ in ways]
    for turn in range(rounds):
        for place in range(len(ways)):
            chosen = (place + turn) % len(ways)  # nobody is always first
            began = time.perf_counter()
            await ways[chosen](turn)
            times[chosen].append(time.perf_counter() - began)
    return [(statistics.median(one), statistics.quantiles(one, n=20)[-1]) for one in times]


def parser(text: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=Path, help="a JSON file for the rows, which `pictures.py` draws")
    return made


def report(rows: Sequence[dict[str, Any]], out: Path | None) -> None:
    """Print rows as a table, and keep them when a file is named."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_shown(row.get(name, "")) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[n]) for line in cells)) for n, name in enumerate(names)]
    for line in [names, *cells]:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(list(rows), indent=1) + "\n", encoding="utf-8")


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def go() -> None:
        await main()

    asyncio.run(go())
