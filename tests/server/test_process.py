"""Which process an id belongs to: told by its command line, on Linux without any program's help."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from remembrancer.server import process
from remembrancer.server.folder import DatabaseFolder, RunningServer
from remembrancer.server.launch import end_orphan
from remembrancer.server.process import ProcessId, runs_with

ARGUMENT = "-Dmine=/home/zoë/memory"
WAIT = "print('ready', flush=True); import time; time.sleep(60)"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="command lines of others are not read there")


@pytest.fixture
def folder(tmp_path: Path) -> DatabaseFolder:
    return DatabaseFolder.at(tmp_path / "memory")


@pytest.fixture
def started(folder: DatabaseFolder) -> Iterator[subprocess.Popen[bytes]]:
    """A process with our arguments."""
    command = [sys.executable, "-c", WAIT, ARGUMENT, f"@{folder.java_arguments}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == b"ready\n"
        yield one
        one.kill()


def running(server_pid: int) -> RunningServer:
    ports = {"control_port": 1, "bolt_port": 2, "http_port": 3}
    return RunningServer(supervisor_pid=server_pid, server_pid=server_pid, token="", version="1", **ports)


@pytest.fixture(params=["what the system tells", "ps"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Both ways of finding out: that of Linux, which does without any program, and that of macOS."""
    if request.param == "ps":
        if shutil.which("ps") is None:
            pytest.skip("there is no ps")
        monkeypatch.setattr(process, "PROCESSES", tmp_path / "no such folder")
        return
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("this system has no /proc")
    monkeypatch.setenv("PATH", "")


@pytest.mark.usefixtures("way")
def test_a_process_is_known_by_an_argument(started: subprocess.Popen[bytes]) -> None:
    assert runs_with(started.pid, ARGUMENT)
    assert not runs_with(started.pid, "-Dmine=/home/another")


@pytest.mark.usefixtures("way")
def test_a_process_that_has_gone_is_none(started: subprocess.Popen[bytes]) -> None:
    started.kill()
    started.wait()
    assert not runs_with(started.pid, ARGUMENT)


@pytest.mark.usefixtures("way")
def test_an_orphan_is_ended_and_waited_for(started: subprocess.Popen[bytes], folder: DatabaseFolder) -> None:
    threading.Thread(target=started.wait, daemon=True).start()
    end_orphan(folder, running(started.pid))
    assert started.wait(10) == -signal.SIGTERM


@pytest.mark.usefixtures("way")
def test_a_stranger_with_the_id_of_an_orphan_is_left_alone(started: subprocess.Popen[bytes], tmp_path: Path) -> None:
    end_orphan(DatabaseFolder.at(tmp_path / "another"), running(started.pid))
    assert started.poll() is None


@pytest.mark.parametrize("known", [0, 1, -7, 2**31])
def test_no_file_of_ours_names_the_first_process(known: int) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(ProcessId).validate_python(known)
