"""Starting a supervisor with its server, and ending a server whose supervisor was killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from remembrancer.records.errors import ServerUnavailableError
from remembrancer.server.archive import StartArchive, archive_choice, is_due, make_in_background
from remembrancer.server.artifact import NEO4J_VERSION
from remembrancer.server.distribution import Progress, install
from remembrancer.server.folder import DatabaseFolder, RunningServer, write_private
from remembrancer.server.java import find_java
from remembrancer.server.process import runs_with
from remembrancer.server.settings import heap_size, java_arguments, java_environment, page_cache_size, settings_text
from remembrancer.server.training import class_path

SUPERVISOR = Path(__file__).parent / "_supervisor.py"
ORPHAN_SECONDS = 35.0


@dataclass(frozen=True, slots=True)
class StartOptions:
    """What only matters to whoever starts the server; those who join get it as it is."""

    heap: str | None = None
    jvm_options: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    bolt_port: int | None = None
    http_port: int | None = None
    progress: Progress | None = None
    cut_log: bool = False


async def start_supervisor(folder: DatabaseFolder, options: StartOptions, *, fresh_ports: bool) -> bool:
    """Start a server on a folder; call it under the start lock. False: another supervisor has the folder.

    Returns as soon as the JVM runs, long before it answers.

    Raises:
        ServerUnavailableError: No Java, no jars, a store of a later Neo4j, a full disk, or the supervisor
            did not come up.
        InvalidInputError: A size of heap or page cache that is none, a port that was asked for and is taken, or an
            environment variable that has no such value.
    """
    folder.check_version(NEO4J_VERSION)
    folder.check_room()
    heap, page_cache = heap_size(options.heap), page_cache_size()
    java = await asyncio.to_thread(find_java)
    distribution = await install(progress=options.progress)
    jars = await asyncio.to_thread(class_path, distribution)
    choice = archive_choice()
    archive = StartArchive.of(distribution, java, jars, options.jvm_options)
    jvm_options = [*(archive.java_arguments() if choice != "off" else []), *options.jvm_options]
    credentials = folder.credentials()
    ports = folder.choose_ports(bolt=options.bolt_port, http=options.http_port, fresh=fresh_ports)
    settings = settings_text(ports, page_cache=page_cache, cut_log=options.cut_log, further=options.settings)
    write_private(folder.configuration / "neo4j.conf", settings)
    write_private(folder.java_arguments, java_arguments(folder, java, jars, heap=heap, options=jvm_options))
    folder.note_version(NEO4J_VERSION)
    plan = {
        "folder": str(folder.path),
        "command": [str(java.executable), _file_of_arguments(folder)],
        "environment": java_environment(),
        "bolt_port": ports.bolt,
        "http_port": ports.http,
        "username": credentials.username,
        "password": credentials.password,
        "version": NEO4J_VERSION,
    }
    is_started = await asyncio.to_thread(_spawn, folder, json.dumps(plan))
    if is_started and choice == "auto" and is_due(archive):
        make_in_background(options.jvm_options)
    return is_started


def _spawn(folder: DatabaseFolder, plan: str) -> bool:
    errors = folder.path / "logs" / "supervisor.log"
    with os.fdopen(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own file, run by this very Python
            [sys.executable, "-P", str(SUPERVISOR)],
            cwd=folder.path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            # Neither Ctrl-C nor the end of the terminal is meant for it.
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
            umask=0o077 if os.name == "posix" else -1,
        )
    # Someone has to take note of its end, or a long-lived user keeps a dead process in the process table.
    threading.Thread(target=process.wait, name="remembrancer-supervisor", daemon=True).start()
    assert process.stdin is not None  # noqa: S101 - asked for above
    assert process.stdout is not None  # noqa: S101 - asked for above
    with process.stdin as stdin, process.stdout as stdout:
        try:
            stdin.write(plan.encode())
            stdin.close()
        except BrokenPipeError:
            pass  # it ended at once: the empty answer below tells
        word = stdout.readline().strip()
    if word in (b"ready", b"busy"):
        return word == b"ready"
    problem = errors.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
    raise ServerUnavailableError(
        f"the supervisor of {folder.path} did not start: {problem or 'it said nothing'}; see {errors}",
        address=str(folder.path),
    )


def _file_of_arguments(folder: DatabaseFolder) -> str:
    return f"@{folder.java_arguments}"


def end_orphan(folder: DatabaseFolder, running: RunningServer) -> None:
    """End the JVM of a supervisor that was killed. On Linux it is ending already; elsewhere nobody has told it.

    A process id alone proves nothing, since it may have been given away again: only a process whose command line names
    this folder's argument file is touched. Blocks until it is gone, 35 seconds at most.
    """
    if os.name != "posix":
        return
    argument = _file_of_arguments(folder)
    deadline = time.monotonic() + ORPHAN_SECONDS
    told = False
    while runs_with(running.server_pid, argument):
        is_late = time.monotonic() > deadline
        if is_late or not told:
            told = True
            with suppress(ProcessLookupError):  # it has gone since
                os.kill(running.server_pid, signal.SIGKILL if is_late else signal.SIGTERM)
        if is_late:
            return
        time.sleep(0.1)
