"""Many processes at once on an empty folder, and what a memory meets whose server was killed under it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remembrancer import Memory
from remembrancer.records import RecordBatch, ServerUnavailableError
from remembrancer.server import LocalServer, status
from remembrancer.testing.samples import entity, sample_id

pytestmark = [pytest.mark.neo4j, pytest.mark.long, pytest.mark.timeout(600)]

OPENERS = 8
OPENER = """
import asyncio, json, sys
from remembrancer import Memory
from remembrancer.records import RecordBatch
from remembrancer.server import status
from remembrancer.testing.samples import entity, sample_id

async def main():
    number = int(sys.argv[2])
    async with Memory.local(sys.argv[1], namespace="shared", warm=False) as memory:
        await memory.store.write(RecordBatch(entities=[entity(number, name=f"opener {number}")]))
        server = await status(sys.argv[1])
        print(json.dumps([server.server_pid, server.bolt_uri]), flush=True)
        await asyncio.to_thread(sys.stdin.read)  # until all have written
        ids = [sample_id("entity", one) for one in range(1, 9)]
        print(len(await memory.store.get_entities(ids)), flush=True)

asyncio.run(main())
"""


async def eventually_stopped(path: Path) -> None:
    deadline = time.monotonic() + 30
    while (await status(path)).running:
        assert time.monotonic() < deadline, "it did not stop"
        await asyncio.sleep(0.1)


async def test_eight_processes_open_an_empty_folder_at_once(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    openers = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            OPENER,
            str(path),
            str(number),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(1, OPENERS + 1)
    ]
    servers = set()
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stderr is not None
        line = await opener.stdout.readline()
        assert line, (await opener.stderr.read()).decode()
        servers.add(tuple(json.loads(line)))
    assert len(servers) == 1, "one server for all"
    assert (await status(path)).users == OPENERS
    ended = await asyncio.gather(*(opener.communicate(b"") for opener in openers))
    assert [out.split() for out, _ in ended] == [[b"8"]] * OPENERS, "each sees what all have written"
    assert [opener.returncode for opener in openers] == [0] * OPENERS
    await eventually_stopped(path)
    assert not (path / "server.json").exists()


async def test_a_memory_whose_server_was_killed_says_so_and_works_again_once_the_folder_was_opened_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory"
    async with Memory.local(path, warm=False) as memory:
        await memory.store.write(RecordBatch(entities=[entity(1)]))
        pid = (await status(path)).server_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ServerUnavailableError, match="cannot be reached"):
            await memory.store.get_entities([sample_id("entity", 1)])
        async with LocalServer.open(path):  # the same ports and the same password
            assert sample_id("entity", 1) in await memory.store.get_entities([sample_id("entity", 1)])
            await memory.store.write(RecordBatch(entities=[entity(2)]))
    await eventually_stopped(path)
