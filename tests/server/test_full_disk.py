"""A full disk: at the start, and while something is written."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from remembrancer import Memory
from remembrancer.records import RecordBatch, ServerUnavailableError
from remembrancer.server import LocalServer, folder, status
from remembrancer.testing.samples import entity, sample_id

QUICK = ("-XX:TieredStopAtLevel=1",)


async def test_a_disk_that_is_full_at_the_start_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "ROOM_BYTES", 1 << 62)
    with pytest.raises(ServerUnavailableError, match=r"MB to spare.*nothing is lost") as caught:
        await LocalServer.open(tmp_path / "memory")
    assert str(tmp_path / "memory") in str(caught.value)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", str(disk)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root of a Linux can mount a small disk")
    yield disk
    # The supervisor may still be ending.
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path, *, leave: int) -> None:
    free = os.statvfs(disk)
    (disk / "filling").write_bytes(bytes(free.f_bavail * free.f_frsize - leave))


async def write_until_refused(memory: Memory, written: list[str]) -> None:
    for portion in range(1, 100):
        batch = [entity(portion * 100 + number, name=f"{number}-{portion}" + "y" * 900) for number in range(100)]
        await memory.store.write(RecordBatch(entities=batch))
        written += [one.id for one in batch]


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_disk_that_fills_up_is_an_error_and_loses_nothing(small_disk: Path) -> None:
    path = small_disk / "memory"
    written: list[str] = []
    async with (
        LocalServer.open(path, jvm_options=QUICK) as server,
        Memory.connect(server.bolt_uri, auth=(server.username, server.password), namespace="a", warm=False) as memory,
    ):
        await asyncio.to_thread(fill, small_disk, leave=3_000_000)
        with pytest.raises(ServerUnavailableError, match=r"disk is full.*what was committed is kept"):
            await write_until_refused(memory, written)
        with pytest.raises(ServerUnavailableError, match="disk is full"):
            await memory.store.get_entities([sample_id("entity", 100)])
        await asyncio.to_thread((small_disk / "filling").unlink)

        async with (  # while the first user still holds the server that gave up
            # Where the log tears decides whether Neo4j can read it with the usual heap; the error would say so.
            LocalServer.open(path, jvm_options=QUICK, heap="5g") as again,
            Memory.connect(again.bolt_uri, auth=(again.username, again.password), namespace="a", warm=False) as other,
        ):
            assert list(await other.store.get_entities(written)) == sorted(written)
            await other.store.write(RecordBatch(entities=[entity(1)]))
    while (await status(path)).running:  # noqa: ASYNC110 - another process sets no event
        await asyncio.sleep(0.1)
