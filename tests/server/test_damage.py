"""A transaction log whose end cannot be read: told as that, and cut off only when that is safe."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from remembrancer import Memory
from remembrancer.records import RecordBatch, ServerUnavailableError
from remembrancer.server import LocalServer, down, up
from remembrancer.server.damage import gave_up_for_room
from remembrancer.server.folder import DatabaseFolder
from remembrancer.testing.samples import entity

QUICK = ("-XX:TieredStopAtLevel=1",)
FULL = (
    '{"level":"ERROR","category":"o.n.m.DatabaseHealth","message":"Database panic: it has encountered a critical '
    'error","stacktrace":"java.io.IOException: No space left on device"}\n'
)
OTHER = FULL.replace("No space left on device", "Input/output error")
READY = (
    '{"level":"INFO","category":"o.n.k.a.DatabaseAvailabilityGuard","message":"[neo4j/ee41935b] '
    'DatabaseId{ee41935b[neo4j]} is ready."}\n'
)
CHECKING = READY.replace("o.n.k.a.DatabaseAvailabilityGuard", "o.n.k.r.Recovery")


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        (None, None, False),
        (None, READY, False),
        (None, READY + FULL, True),
        (None, FULL + CHECKING, True),  # a start that looked at the store and then failed
        (FULL, CHECKING, True),
        (None, FULL + READY, False),  # it has run again since
        (FULL, READY, False),
        (None, FULL + OTHER, False),
        (None, OTHER + FULL, True),
    ],
)
def test_the_last_thing_the_database_said_decides_whether_it_lacked_room(
    tmp_path: Path, older: str | None, newer: str | None, expected: bool
) -> None:
    (tmp_path / "logs").mkdir()
    for name, text in (("debug.log.1", older), ("debug.log", newer)):
        if text is not None:
            (tmp_path / "logs" / name).write_text(text)
    assert gave_up_for_room(DatabaseFolder.at(tmp_path)) is expected


def memory_of(server: LocalServer) -> Memory:
    auth = (server.username, server.password)
    return Memory.connect(server.bolt_uri, auth=auth, namespace="a", warm=False)


async def left_with_a_torn_log(path: Path) -> list[str]:
    """Write, kill the server, and put the half of an entry at the end of its log."""
    written = [entity(number) for number in range(20)]
    async with LocalServer.open(path, jvm_options=QUICK) as server, memory_of(server) as memory:
        await memory.store.write(RecordBatch(entities=written))
        running = DatabaseFolder.at(path).running()
        assert running is not None
        os.kill(running.server_pid, signal.SIGKILL)
    await down(path)  # waits for the supervisor
    logs = sorted((path / "data" / "transactions" / "neo4j").glob("neostore.transaction.db.*"))
    with logs[-1].open("ab") as log:
        log.write(bytes([32, 3, 17, *range(1, 255)]))
    return sorted(one.id for one in written)


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_torn_log_is_cut_when_the_disk_was_full_or_the_user_says_so(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    written = await left_with_a_torn_log(path)
    with pytest.raises(ServerUnavailableError, match=r"log is damaged.*restore-backup.*--cut-damaged-log"):
        await LocalServer.open(path, jvm_options=QUICK)

    with (path / "logs" / "debug.log").open("a") as log:
        await asyncio.to_thread(log.write, FULL)
    async with LocalServer.open(path, jvm_options=QUICK) as server, memory_of(server) as memory:
        assert list(await memory.store.get_entities(written)) == written

    await left_with_a_torn_log(path)
    assert (await up(path, jvm_options=QUICK, cut_damaged_log=True)).ready
    async with LocalServer.open(path) as server, memory_of(server) as memory:
        assert list(await memory.store.get_entities(written)) == written
    await down(path)
