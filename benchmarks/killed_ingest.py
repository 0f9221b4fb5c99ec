"""One large ingest into a real Neo4j whose process is killed (SIGKILL) and run again; then everything is counted.

    python benchmarks/killed_ingest.py --messages 100000 [--kills 2] [--uri bolt://... --password ...]

Without an address a Neo4j of its own is started in a new folder, which is removed at the end. The messages are those of
`ingest.py`. What must come out is worked out beforehand from the messages alone: every message once, every sentence one
fact of its episode. Ends with 1 when that is not so, or when `doctor --deep` finds anything. The last line is the
result as JSON; the lines before tell the rate and the resident memory of the ingesting process as it goes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import ingest as made_up
from remembrancer import Memory, Message
from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.doctor import examine
from remembrancer.graph.namespaces import remove_namespace
from remembrancer.hierarchy import RuleBasedExtractor, SimpleEpisodeSegmenter
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.server import LocalServer

_SHOWN = 10  # how many lines tell of the way


@dataclass(frozen=True)
class Where:
    """A Neo4j, and a namespace of it."""

    uri: str
    auth: tuple[str, str]
    namespace: str


@dataclass
class Outcome:
    """What came of it.

    Attributes:
        messages: How many went in.
        killed_at: How many had been acknowledged at each kill.
        seconds: All runs together.
        rates: Messages a second, one a tenth of the way, of the last run.
        rss_mib: Resident memory of the ingesting process, by how many messages it had read in the last run.
        stored: Records in the end, by kind.
        expected: What should be stored, by kind.
        findings: Of the deep examination.
    """

    messages: int
    killed_at: list[int] = field(default_factory=list)
    seconds: float = 0.0
    rates: list[float] = field(default_factory=list)
    rss_mib: dict[int, float] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        return not self.findings and all(self.stored[kind] == count for kind, count in self.expected.items())


def resident_mib() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


async def ingest(where: Where, count: int) -> None:
    """The process that is killed: takes a stream in and tells how far it is."""
    began = time.perf_counter()

    def tell(read: int) -> None:
        print(read, f"{time.perf_counter() - began:.3f}", f"{resident_mib():.1f}", flush=True)

    async with Memory.connect(
        where.uri, auth=where.auth, namespace=where.namespace, embedder=HashingEmbedder(), warm=False
    ) as memory:
        report = await memory.ingest(made_up.messages(count), progress=tell)
    print(json.dumps({"failed": len(report.failed), "duplicates": len(report.duplicates)}), flush=True)


async def run(where: Where, count: int, kills: int, rng: random.Random) -> Outcome:
    outcome = Outcome(count)
    began = time.perf_counter()
    for kill in range(kills):
        # Somewhere in the next part of what is left, and then in the midst of a transaction.
        least = outcome.killed_at[-1] if outcome.killed_at else 0
        most = least + (count - least) // (kills - kill + 1)
        reached = await _one(where, count, stop_at=rng.randint(least + 1, max(least + 1, most)), rng=rng)
        outcome.killed_at.append(reached[-1][0])
        print(f"killed after {reached[-1][0]} messages", flush=True)
    told = await _one(where, count, stop_at=None, rng=rng)
    outcome.seconds = round(time.perf_counter() - began, 1)
    _follow(outcome, told)
    outcome.expected = await expected(count)
    async with Database.open(where.uri, auth=where.auth) as database:
        found = await examine(database, where.namespace, deep=True)
    outcome.stored = {one.kind: one.stored for one in found.counts}
    outcome.findings = [f"{one.check}: {one.total} {one.summary}" for one in found.findings if one.is_wrong]
    return outcome


async def _one(where: Where, count: int, *, stop_at: int | None, rng: random.Random) -> list[tuple[int, float, float]]:
    """Run the ingesting process, to its end or until it has read so many; what it told."""
    arguments = [where.uri, *where.auth, where.namespace, str(count)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--child", *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    told = [(0, 0.0, 0.0)]
    async for line in process.stdout:
        words = line.split()
        if not words[0].isdigit():
            continue
        told.append((int(words[0]), float(words[1]), float(words[2])))
        if told[-1][0] % max(count // _SHOWN // 200 * 200, 200) == 0:
            read, seconds, rss = told[-1]
            print(f"{read:>8} messages {seconds:>8.1f} s {rss:>7.1f} MiB", flush=True)
        if stop_at is not None and told[-1][0] >= stop_at:
            await asyncio.sleep(rng.random() * 0.5)
            process.kill()
            stop_at = None
    code = await process.wait()
    if code not in (0, -9):
        raise SystemExit(f"the ingesting process ended with {code}")
    return told


def _follow(outcome: Outcome, told: list[tuple[int, float, float]]) -> None:
    done = outcome.killed_at[-1] if outcome.killed_at else 0
    step = max((outcome.messages - done) // _SHOWN, 1)
    last = next((one for one in told if one[0] >= done), told[0])
    for one in told:
        if one[0] >= last[0] + step or (one is told[-1] and one[0] > last[0]):
            outcome.rates.append(round((one[0] - last[0]) / max(one[1] - last[1], 1e-9), 1))
            outcome.rss_mib[one[0]] = one[2]
            last = one


async def expected(count: int) -> dict[str, int]:
    """How many records the messages come to: each conversation is one that no silence cuts."""
    segmenter, extractor = SimpleEpisodeSegmenter(), RuleBasedExtractor()
    counts = {"message": 0, "episode": 0, "fact": 0}
    for talk in _talks(made_up.messages(count)):
        ids = {message.id for message in talk}
        counts["message"] += len(ids)
        for episode in await segmenter.segment(talk):
            counts["episode"] += 1
            counts["fact"] += len((await extractor.extract(episode)).facts)
    return counts


def _talks(messages: Iterator[Message]) -> Iterator[list[Message]]:
    talk: list[Message] = []
    for message in messages:
        if talk and message.conversation != talk[0].conversation:
            yield talk
            talk = []
        talk.append(message)
    if talk:
        yield talk


async def clear(where: Where) -> None:
    async with Database.open(where.uri, auth=where.auth) as database:
        async with Neo4jStore.open(database=database, namespace=where.namespace) as store:
            await store.clear()
        await remove_namespace(database, where.namespace)


@asynccontextmanager
async def somewhere(arguments: argparse.Namespace) -> AsyncIterator[Where]:
    namespace = arguments.namespace or f"killed-ingest-{time.time_ns()}"
    if arguments.uri is not None:
        yield Where(arguments.uri, (arguments.user, arguments.password), namespace)
        return
    # The server may still be closing its files when the folder is removed.
    with tempfile.TemporaryDirectory(prefix="killed-ingest-", ignore_cleanup_errors=True) as folder:
        async with LocalServer.open(folder, linger=0.0) as server:
            yield Where(server.bolt_uri, (server.username, server.password), namespace)


async def main(arguments: argparse.Namespace) -> int:
    rng = random.Random(arguments.seed)
    async with somewhere(arguments) as where:
        outcome = await run(where, arguments.messages, arguments.kills, rng)
        if arguments.clear:
            await clear(where)
        document: dict[str, Any] = {**asdict(outcome), "right": outcome.is_right}
        print(json.dumps(document), flush=True)
    return 0 if outcome.is_right else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        uri, user, password, namespace, count = sys.argv[2:]
        asyncio.run(ingest(Where(uri, (user, password), namespace), int(count)))
        sys.exit()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--uri", help="a Neo4j that is there already; left out: one of its own")
    parser.add_argument("--user", default="neo4j")
    parser.add_argument("--password", default="")
    parser.add_argument("--namespace", help="by default a new one")
    parser.add_argument("--clear", action="store_true", help="remove the namespace at the end")
    sys.exit(asyncio.run(main(parser.parse_args())))
