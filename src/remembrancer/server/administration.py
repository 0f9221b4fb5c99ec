"""Neo4j's own administration of stores at rest: dump, load and check, each a process that can be ended from outside."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from remembrancer.records.errors import RemembranceError
from remembrancer.server.distribution import install
from remembrancer.server.folder import DatabaseFolder, Ports, write_private
from remembrancer.server.java import Java, find_java
from remembrancer.server.settings import java_environment, settings_text
from remembrancer.server.training import class_path
from remembrancer.server.unfinished import folder_mark, note_process

ADMIN_CLASS: Final = "org.neo4j.server.startup.Neo4jAdminCommand"
_NO_PORTS: Final = Ports(bolt=7687, http=7474)  # nobody listens: the database is worked on at rest


class HaltedError(Exception):
    """The work was told to end early. Nobody but the thread that does it sees this."""


class Administration:
    """Runs commands on the store of a folder, one after the other, for a worker thread; `halt` may come from any."""

    def __init__(self, folder: DatabaseFolder, java: Java, jars: Sequence[Path]) -> None:
        self._folder = folder
        self._java = java
        self._jars = jars
        self._changing = threading.Lock()
        self._is_halted = False
        self._running: subprocess.Popen[bytes] | None = None

    @classmethod
    async def of(cls, folder: DatabaseFolder) -> Self:
        """Find Java and fetch Neo4j, as a start does; errors likewise."""
        java = await asyncio.to_thread(find_java)
        return cls(folder, java, await asyncio.to_thread(class_path, await install()))

    def halt(self) -> None:
        """End the command that runs, and begin no other. From any thread; the worker sees a `HaltedError` soon."""
        with self._changing:
            self._is_halted = True
            if self._running is not None and self._running.poll() is None:
                _end(self._running)

    def check(self) -> None:
        """Ask, between two steps of the work, whether to go on.

        Raises:
            HaltedError: No.
        """
        if self._is_halted:
            raise HaltedError

    def run(self, home: Path, *command: str) -> None:
        """Run a command on a home folder that no server uses.

        Raises:
            RemembranceError: It failed; says how.
            HaltedError: It was to end early.
        """
        configuration = home / "conf"
        configuration.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (configuration / "neo4j.conf").exists():
            write_private(configuration / "neo4j.conf", settings_text(_NO_PORTS))
        with self._changing:
            self.check()
            process = self._running = self._begin(home, command)
        try:
            note_process(self._folder, process.pid)
            said, _ = process.communicate()
        finally:
            with self._changing:
                if process.poll() is None:
                    _end(process)
                self._running = None
            note_process(self._folder, None)
        self.check()
        if process.returncode != 0:
            told = said.decode(errors="replace").strip()[-600:]
            raise RemembranceError(f"Neo4j's `{' '.join(command[:2])}` of {home} failed ({process.returncode}): {told}")

    def _begin(self, home: Path, command: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - the Java that was found, no shell involved
            [
                self._java.executable,
                folder_mark(self._folder),
                "-Xmx512m",
                "-cp",
                os.pathsep.join(map(str, self._jars)),
                ADMIN_CLASS,
                *command,
            ],
            env=java_environment() | dict(NEO4J_HOME=str(home), NEO4J_CONF=str(home / "conf")),  # noqa: C408 - set here, not read
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            umask=0o077 if os.name == "posix" else -1,
            # It starts a process of its own, so both are one group. Ctrl-C is ours to pass on, after which they end.
            start_new_session=os.name == "posix",
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
            os.killpg(process.pid, signal.SIGTERM)
    else:
        process.terminate()
