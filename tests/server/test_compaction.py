"""Compaction: what was erased is in no file, everything else is as it was, and a kill leaves one whole store."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import struct
import sys
import uuid
from pathlib import Path

import pytest

from remembrancer import Memory
from remembrancer.memory.compaction import compact
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import InvalidInputError, RecordBatch, ServerUnavailableError
from remembrancer.server import LocalServer, status
from remembrancer.server.folder import DatabaseFolder
from remembrancer.server.replacing import settle
from remembrancer.testing.samples import entity, episode, fact, message

pytestmark = pytest.mark.timeout(600)

QUICK = ("-XX:TieredStopAtLevel=1",)
EMBEDDER = HashingEmbedder(dimensions=16)


@pytest.fixture
def folder(tmp_path: Path) -> DatabaseFolder:
    made = DatabaseFolder.at(tmp_path / "memory")
    made.prepare()
    (made.path / "data").mkdir(exist_ok=True)
    (made.path / "data" / "old").write_text("")
    made.credentials()
    return made


def new_store(folder: DatabaseFolder) -> None:
    (folder.path / "compact" / "new" / "data").mkdir(parents=True)
    (folder.path / "compact" / "new" / "data" / "new").write_text("")


def test_an_unfinished_store_is_thrown_away(folder: DatabaseFolder) -> None:
    new_store(folder)
    settle(folder)
    assert (folder.path / "data" / "old").exists()
    assert not (folder.path / "compact").exists()


@pytest.mark.parametrize("killed_after", ["ready", "first rename", "second rename", "some removals"])
def test_a_finished_store_takes_the_place_of_the_old_one(folder: DatabaseFolder, killed_after: str) -> None:
    new_store(folder)
    work = folder.path / "compact"
    (work / "ready").write_text("")
    if killed_after != "ready":
        (folder.path / "data").rename(work / "old")
    if killed_after in ("second rename", "some removals"):
        (work / "new" / "data").rename(folder.path / "data")
    if killed_after == "some removals":
        (work / "old" / "old").unlink()
    settle(folder)
    settle(folder)
    assert (folder.path / "data" / "new").exists()
    assert not (folder.path / "data" / "old").exists()
    assert not work.exists()


async def test_a_folder_without_a_database_is_not_compacted(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no database"):
        await compact(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def files_with(folder: Path, needles: list[bytes]) -> set[str]:
    return {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file()
        and any(needle in (content := file.read_bytes()) or needle in content.lower() for needle in needles)
    }


async def fill(server: LocalServer, namespace: str, word: str, vector: list[float]) -> None:
    async with Memory.connect(
        server.bolt_uri, auth=(server.username, server.password), namespace=namespace, embedder=EMBEDDER, warm=False
    ) as memory:
        batch = RecordBatch(
            entities=[entity(1, name=f"{word}"), entity(2)],
            episodes=[episode(1, messages=[message(1, content=f"I met {word} today")], facts=[1])],
            facts=[fact(1, content=f"{word} likes tea", entities=[1], episodes=[1], embedding=vector)],
        )
        await memory.store.write(batch)


async def exported(path: Path, namespace: str, file: Path) -> bytes:
    async with (
        LocalServer.open(path, linger=0.0, jvm_options=QUICK) as server,
        Memory.connect(
            server.bolt_uri, auth=(server.username, server.password), namespace=namespace, embedder=EMBEDDER, warm=False
        ) as memory,
    ):
        await asyncio.to_thread(file.unlink, missing_ok=True)
        await memory.export_to(file)
    return await asyncio.to_thread(file.read_bytes)


@pytest.mark.neo4j
@pytest.mark.long
async def test_what_was_erased_is_in_no_file_after_a_compaction(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    word = f"canary{uuid.uuid4().hex}"
    vector = [random.uniform(0.1, 1.0) for _ in range(16)]
    needles = [word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be")]
    needles += [struct.pack(f"{order}4f", *vector[4:8]) for order in "<>"]
    async with LocalServer.open(path, linger=0.0, jvm_options=QUICK) as server:
        await fill(server, "kept", "somebody", vector=[0.5] * 16)
        await fill(server, "forgotten", word, vector)
        async with Memory.connect(
            server.bolt_uri,
            auth=(server.username, server.password),
            namespace="forgotten",
            embedder=EMBEDDER,
            warm=False,
        ) as memory:
            await memory.forget(everything=True)
        with pytest.raises(ServerUnavailableError, match="1 others use the server"):
            await compact(path)
    kept = await exported(path, "kept", tmp_path / "kept.jsonl")
    assert files_with(path, needles[:1]), "the database keeps the word, so the test can see"
    assert files_with(path, needles[3:]), "and the vector"

    done = await compact(path)
    assert "kept" in done.namespaces
    assert not (await status(path)).running
    assert files_with(path, needles) == set()
    assert await exported(path, "kept", tmp_path / "kept.jsonl") == kept
    assert files_with(path, needles) == set()


@pytest.mark.neo4j
@pytest.mark.long
async def test_a_compaction_killed_at_any_moment_leaves_a_whole_store(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    async with LocalServer.open(path, linger=0.0, jvm_options=QUICK) as server:
        await fill(server, "kept", "somebody", vector=[0.5] * 16)
    kept = await exported(path, "kept", tmp_path / "kept.jsonl")
    program = (
        "import asyncio, sys; from remembrancer.memory.compaction import compact; "
        "asyncio.run(compact(sys.argv[1], step=lambda what: print(what, flush=True)))"
    )
    for moment in ("exporting", "importing", "putting"):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, str(path), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        while not (said := await process.stdout.readline()).decode().startswith(moment):
            assert said, "it ended early"
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        assert await exported(path, "kept", tmp_path / "kept.jsonl") == kept
        assert not (path / "compact").exists()
