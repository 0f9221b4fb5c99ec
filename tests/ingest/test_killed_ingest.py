"""Ingests whose server or whose own process is killed: what was acknowledged is there, nothing is there by halves, and
the same ingest run again completes it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from remembrancer.graph import Neo4jStore
from remembrancer.hierarchy.ingestion import pipeline
from remembrancer.records import Message, ServerUnavailableError
from remembrancer.server import LocalServer, status

pytestmark = [pytest.mark.neo4j, pytest.mark.long]

QUICK = ("-XX:TieredStopAtLevel=1",)
PORTION = 20

INGESTER = """
import asyncio, json, sys
from remembrancer import Memory
from remembrancer.hierarchy.ingestion import pipeline
from remembrancer.providers.embedding import HashingEmbedder

pipeline.PORTION = 20

async def main():
    uri, user, password, namespace = sys.argv[1:]
    messages = json.loads(sys.stdin.readline())
    embedder = HashingEmbedder(dimensions=32)
    async with Memory.connect(uri, auth=(user, password), namespace=namespace, embedder=embedder) as memory:
        await memory.ingest(messages, progress=lambda read: print(read, flush=True))

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed-neo4j")


@pytest.fixture(scope="module")
async def server(folder: Path) -> AsyncIterator[LocalServer]:
    async with LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK) as opened:
        yield opened


@pytest.fixture
def messages(kit: Any) -> list[Message]:
    return kit.conversation(length=240, gap_after=range(6, 239, 7), name="bulk")  # type: ignore[no-any-return]


async def kill(folder: Path) -> None:
    pid = (await status(folder)).server_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


async def noticed(folder: Path) -> None:
    for _ in range(200):
        if not (await status(folder)).running:
            return
        await asyncio.sleep(0.05)
    pytest.fail("the server is still said to run")


def check_after_kill(held: Any, messages: list[Message], acknowledged: int) -> None:
    """Whole portions only, all acknowledged ones among them, and every list agrees with its mirror."""
    held.check()
    stored = set(held.messages)
    assert {message.id for message in messages[:acknowledged]} <= stored
    assert len(stored) % PORTION == 0
    assert stored == {message.id for message in messages[: len(stored)]}
    assert len(held.facts) == len(stored)


def check_completed(held: Any, messages: list[Message]) -> None:
    held.check()
    assert set(held.messages) == {message.id for message in messages}
    assert len(held.facts) == len(messages)
    assert len(held.episodes) == len(range(6, 239, 7)) + 1


@pytest.mark.parametrize("after", [0, 5])
async def test_a_killed_client_leaves_whole_portions(
    server: LocalServer, messages: list[Message], kit: Any, unique_namespace: str, after: int
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", INGESTER, server.bolt_uri, server.username, server.password, unique_namespace),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    whole = json.dumps([message.model_dump(mode="json") for message in messages])
    process.stdin.write(whole.encode() + b"\n")
    await process.stdin.drain()
    acknowledged = 0
    while acknowledged <= after * PORTION:
        acknowledged = int(await process.stdout.readline())
    await asyncio.sleep(0.02 * after)  # somewhere inside the next portion
    process.kill()
    rest, _ = await process.communicate()
    acknowledged = max([acknowledged, *map(int, rest.split())])
    assert acknowledged < len(messages), "killed too late to test anything"
    auth = (server.username, server.password)
    async with Neo4jStore.open(server.bolt_uri, auth=auth, namespace=unique_namespace, space=kit.space) as store:
        for _ in range(100):  # a commit that was under way may still come
            held = await kit.contents_of(store)
            await asyncio.sleep(0.05)
            if len((await kit.contents_of(store)).messages) == len(held.messages):
                break
        check_after_kill(await kit.contents_of(store), messages, acknowledged)
        report = await kit.ingestion(store).ingest(messages)
        assert len(report.duplicates) == len(held.messages)
        check_completed(await kit.contents_of(store), messages)


async def test_a_killed_server_keeps_what_it_acknowledged_and_nothing_by_halves(
    folder: Path,
    messages: list[Message],
    kit: Any,
    unique_namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipeline, "PORTION", PORTION)
    key = "bulk"
    told: list[int] = []
    under_way = asyncio.Event()

    def progress(read: int) -> None:
        told.append(read)
        if len(told) == 4:
            under_way.set()

    async def ingest(server: LocalServer) -> None:
        auth = (server.username, server.password)
        async with Neo4jStore.open(server.bolt_uri, auth=auth, namespace=unique_namespace, space=kit.space) as store:
            await kit.ingestion(store).ingest(messages, idempotency_key=key, progress=progress)

    killed = await LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK)
    ingesting = asyncio.create_task(ingest(killed))
    await under_way.wait()
    await kill(folder)
    acknowledged = told[-1]
    assert acknowledged < len(messages), "killed too late to test anything"
    ingesting.cancel()
    results = await asyncio.gather(ingesting, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError | ServerUnavailableError)
    acknowledged = told[-1]
    await killed.aclose()
    await noticed(folder)

    async with LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK) as again:
        auth = (again.username, again.password)
        async with Neo4jStore.open(again.bolt_uri, auth=auth, namespace=unique_namespace, space=kit.space) as store:
            held = await kit.contents_of(store)
            check_after_kill(held, messages, acknowledged)
            report = await kit.ingestion(store).ingest(messages, idempotency_key=key)
            assert report.replayed_batches == len(held.messages) // PORTION
            check_completed(await kit.contents_of(store), messages)


async def test_an_ingest_survives_a_server_that_is_killed_and_started_again(
    folder: Path, messages: list[Message], kit: Any, unique_namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "PORTION", PORTION)
    under_way = asyncio.Event()
    killed = await LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK)
    auth = (killed.username, killed.password)
    async with Neo4jStore.open(killed.bolt_uri, auth=auth, namespace=unique_namespace, space=kit.space) as store:
        ingesting = asyncio.create_task(
            kit.ingestion(store).ingest(messages, progress=lambda read: under_way.set() if read > 40 else None)
        )
        await under_way.wait()
        await kill(folder)
        await killed.aclose()
        await noticed(folder)
        async with LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK) as again:
            assert again.bolt_uri == killed.bolt_uri
            results = await asyncio.gather(ingesting, return_exceptions=True)
            if isinstance(results[0], BaseException):  # the kill met a commit, whose fate nobody knows
                assert isinstance(results[0], ServerUnavailableError)
                assert "during a commit" in str(results[0])
                await kit.ingestion(store).ingest(messages)
            check_completed(await kit.contents_of(store), messages)
