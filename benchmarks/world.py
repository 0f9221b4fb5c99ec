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
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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


def clustered(count: int, *, seed: int, first: int = 0) -> Vectors:
    """Unit vectors around 200 centres; the noise is about as long as a centre, so neighbours are not obvious."""
    centres = np.random.default_rng(7).normal(size=(CENTRES, DIMENSIONS))
    rng = np.random.default_rng((seed, first) if first else seed)
    made = centres[(first + np.arange(count)) % CENTRES] + rng.normal(size=(count, DIMENSIONS))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype(np.float32)


def facts(vectors: Vectors, *, first: int = 0, **more: Callable[[int], Any]) -> Iterator[Fact]:
    """One fact a vector: in the theme of its centre, with two entities and an episode; `more` makes further fields."""
    for place, vector in enumerate(vectors):
        number = first + place
        yield Fact(
            id=record_id("f", number),
            content=f"fact {number} about topic {number % CENTRES}",
            entity_ids=[record_id("e", number % 1000), record_id("e", (7 * number + 1) % 1000)],
            source_episode_ids=[record_id("d", number // 10)],
            theme_id=record_id("c", number % CENTRES),
            valid_from=day(number % 365),
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


@dataclass(frozen=True)
class Address:
    """Where a server is, and who may enter."""

    uri: str
    auth: tuple[str, str]
    name: str | None

    def database(self, uri: str | None = None) -> AbstractAsyncContextManager[Database]:
        return Database.open(uri or self.uri, auth=self.auth, name=self.name)


@asynccontextmanager
async def server() -> AsyncIterator[Address]:
    """The server of `NEO4J_URI`, or a private one with a heap of 2 GB in a folder that is removed at the end."""
    if uri := os.environ.get("NEO4J_URI"):
        auth = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ["NEO4J_PASSWORD"])
        yield Address(uri, auth, os.environ.get("NEO4J_DATABASE"))
        return
    from remembrancer.server import LocalServer

    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        async with LocalServer.open(folder, heap="2g") as started:
            yield Address(started.bolt_uri, (started.username, started.password), "neo4j")


@asynccontextmanager
async def database() -> AsyncIterator[Database]:
    """A database of `server`."""
    async with server() as address, address.database() as opened:
        yield opened


class Counter:
    """Bytes that came from the server."""

    received = 0


@asynccontextmanager
async def relay(address: Address) -> AsyncIterator[tuple[str, Counter]]:
    """A second way to the server that counts what it sends; slower, so nothing is timed over it."""
    target = urlsplit(address.uri)
    counter = Counter()
    tasks: set[asyncio.Task[None]] = set()

    async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, counts: bool) -> None:
        try:
            while data := await source.read(65536):
                counter.received += len(data) if counts else 0
                sink.write(data)
                await sink.drain()
        finally:
            sink.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection(target.hostname, target.port)
        for source, sink, counts in ((reader, forth, False), (back, writer, True)):
            task = asyncio.create_task(pass_on(source, sink, counts=counts))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"bolt://127.0.0.1:{listening.sockets[0].getsockname()[1]}", counter
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
    made.add_argument("--keep", action="store_true", help="do not clear what was written, which takes a while")
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
