"""Work on a store at rest: what is cancelled is waited for, and what was killed is known and ended by the next one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from remembrancer.server import down, status
from remembrancer.server.folder import DatabaseFolder
from remembrancer.server.unbroken import seen_through
from remembrancer.server.unfinished import (
    Unfinished,
    end_left_process,
    folder_mark,
    forget_work,
    note_process,
    note_work,
    unfinished,
)

PARENT = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
PARENT += "print('ready', flush=True); time.sleep(60)"


@pytest.fixture
def folder(tmp_path: Path) -> DatabaseFolder:
    made = DatabaseFolder.at(tmp_path / "memory")
    made.prepare()
    return made


def at_work(mark: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", PARENT, mark], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


async def test_what_is_cancelled_is_waited_for() -> None:
    done: list[str] = []
    halted = threading.Event()

    def work() -> None:
        halted.wait(30)
        done.append("work")

    async def whole() -> None:
        try:
            await seen_through(asyncio.to_thread(work), halt=halted.set)
        finally:
            done.append("what comes next")

    task = asyncio.ensure_future(whole())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["work", "what comes next"]


async def test_what_is_not_cancelled_gives_its_value_or_its_error() -> None:
    async def fail() -> None:
        raise ValueError("no")

    assert await seen_through(asyncio.to_thread(sum, [1, 2])) == 3
    with pytest.raises(ValueError, match="no"):
        await seen_through(fail())


def test_a_note_is_kept_until_the_work_is_done(folder: DatabaseFolder) -> None:
    assert unfinished(folder) is None
    note_process(folder, 17)
    assert unfinished(folder) is None
    note_work(folder, Unfinished(work="backup", pinned=True))
    note_process(folder, 17)
    assert unfinished(folder) == Unfinished(work="backup", pinned=True, process=17)
    folder.prepare()  # it is one of the folder's own files
    forget_work(folder)
    forget_work(folder)
    assert unfinished(folder) is None
    (folder.path / "work.json").write_text('{"work": "backup"')
    assert unfinished(folder) is None


async def test_the_status_tells_of_unfinished_work_and_down_gives_the_server_up(folder: DatabaseFolder) -> None:
    note_work(folder, Unfinished(work="restore", pinned=True))
    assert (await status(folder.path)).unfinished == "restore"
    assert not await down(folder.path)
    assert unfinished(folder) == Unfinished(work="restore", pinned=False)


@pytest.mark.skipif(os.name != "posix", reason="there are no groups of processes")
def test_what_is_left_at_work_is_ended_with_all_that_it_started(folder: DatabaseFolder) -> None:
    left = at_work(folder_mark(folder))
    note_work(folder, Unfinished(work="backup", pinned=False, process=left.pid))
    threading.Thread(target=left.wait, daemon=True).start()
    began = time.monotonic()
    end_left_process(folder)
    assert time.monotonic() - began < 20
    with pytest.raises(ProcessLookupError):
        os.killpg(left.pid, 0)
    assert unfinished(folder) == Unfinished(work="backup", pinned=False)
    assert left.stdout is not None
    left.stdout.close()


@pytest.mark.skipif(os.name != "posix", reason="there are no groups of processes")
def test_a_stranger_that_has_the_process_id_now_is_left_alone(folder: DatabaseFolder, tmp_path: Path) -> None:
    stranger = at_work(folder_mark(DatabaseFolder.at(tmp_path / "another")))
    try:
        note_work(folder, Unfinished(work="backup", pinned=False, process=stranger.pid))
        end_left_process(folder)
        assert stranger.poll() is None
        assert unfinished(folder) == Unfinished(work="backup", pinned=False)
    finally:
        os.killpg(stranger.pid, 9)
        stranger.communicate()
