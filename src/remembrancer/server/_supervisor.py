"""The process between the users of one database folder and its Neo4j: it starts the JVM, counts users, stops it.

Run as a file by `remembrancer.server`, never imported by users. A user is an open connection to the control port, so
the operating system reports a killed user too: when the last connection is gone for that user's linger time, the JVM is
stopped, unless the server is pinned. It needs the standard library and `filelock` only, so it starts at once and stays
small.

It reads its launch plan (JSON) from standard input and writes one line to standard output: `ready`, when `server.json`
can be read, or `busy`, when another supervisor has the folder. Messages on the control port are JSON, one a line.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import hmac
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

FIRST_USER_SECONDS: Final = 15.0  # how long a fresh server waits for the user that asked for it
GREETING_SECONDS: Final = 5.0  # how long a connection may stay silent before it is dropped
STOP_SECONDS: Final = 30.0  # a clean stop takes under a second; after this it is killed, which is safe
FIRST_ANSWER_SECONDS: Final = 60.0  # how long a server that says it has started may refuse the first query
POLL_SECONDS: Final = 0.05
OUTPUT_BYTES: Final = 20_000  # how much of the console is handed to whoever waited for a start that failed
PR_SET_PDEATHSIG: Final = 1
PANICKED: Final = "needs to be restarted"
NOT_AVAILABLE: Final = "DatabaseUnavailable"
FAILED_DATABASE: Final = "Failed to start DatabaseId"
UNAUTHORIZED: Final = "Neo.ClientError.Security"
BOLT_GREETING: Final = bytes.fromhex("6060b017 00010205 00000000 00000000 00000000")  # Bolt 5.2 or 5.1


class Supervisor:
    """One JVM on one folder, and the connections of those who use it."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._folder = Path(plan["folder"])
        self._command: list[str] = plan["command"]
        self._environment: dict[str, str] = plan["environment"]
        self._bolt_port: int = plan["bolt_port"]
        self._http_port: int = plan["http_port"]
        self._username: str = plan["username"]
        self._password: str = plan["password"]
        self._version: str = plan["version"]
        self._token = secrets.token_hex(32)
        self._state = "starting"
        self._authenticated = True
        self._pinned = False
        self._users: set[asyncio.StreamWriter] = set()
        self._watchers: set[asyncio.StreamWriter] = set()
        self._linger: asyncio.TimerHandle | None = None
        self._stop = asyncio.Event()
        self._exit_code: int | None = None
        self._problem = ""  # why the database takes no queries although the server runs

    async def run(self, announce: Callable[[str], None]) -> None:
        """Start the JVM, serve until it has ended, and leave nothing behind."""
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                with contextlib.suppress(NotImplementedError):  # Windows has no such handlers
                    loop.add_signal_handler(getattr(signal, name), self._begin_to_stop)
        control = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._process = self._start_jvm()
        self._control_port: int = control.sockets[0].getsockname()[1]
        self._write_state_file()
        announce("ready")
        self._leave_after(FIRST_USER_SECONDS)
        ended = asyncio.ensure_future(asyncio.to_thread(self._process.wait))
        ready = asyncio.ensure_future(self._become_ready())
        ready.add_done_callback(self._note_failure)
        stop = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({ended, stop}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            self._begin_to_stop()
            self._process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(ended), STOP_SECONDS)
            if not ended.done():
                self._process.kill()
        self._exit_code = await ended
        for task in (ready, stop):
            task.cancel()
        # Removed before the users hear of it: whoever reacts by starting anew must not find this server again.
        (self._folder / "server.json").unlink(missing_ok=True)
        self._change("stopped" if self._state == "stopping" and not self._problem else "failed")
        control.close()
        for writer in self._users | self._watchers:
            with contextlib.suppress(OSError):
                await asyncio.wait_for(writer.drain(), 1)
            writer.close()

    def _start_jvm(self) -> subprocess.Popen[bytes]:
        options: dict[str, Any] = {}
        if os.name == "posix":
            options = {"start_new_session": True, "umask": 0o077}
        if sys.platform == "linux":
            # The signal follows the thread that forks, so this must stay on the main thread.
            options["preexec_fn"] = end_with_parent(os.getpid())
        self._console = self._folder / "logs" / "console.log"
        self._log = self._folder / "logs" / "neo4j.log"
        self._debug = self._folder / "logs" / "debug.log"
        self._log_start, self._debug_start = (
            log.stat().st_size if log.exists() else 0 for log in (self._log, self._debug)
        )
        with self._console.open("wb") as console:
            return subprocess.Popen(  # noqa: S603 - the command was built by remembrancer.server, no shell involved
                self._command,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                **options,
            )

    def _write_state_file(self) -> None:
        target = self._folder / "server.json"
        part = target.with_suffix(".part")
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({**self._facts(), "control_port": self._control_port, "token": self._token}, file)
        os.replace(part, target)

    def _facts(self) -> dict[str, Any]:
        return {
            "supervisor_pid": os.getpid(),
            "server_pid": self._process.pid,
            "bolt_port": self._bolt_port,
            "http_port": self._http_port,
            "version": self._version,
        }

    def _message(self) -> bytes:
        news: dict[str, Any] = {
            **self._facts(),
            "state": self._state,
            "authenticated": self._authenticated,
            "pinned": self._pinned,
            "users": len(self._users),
        }
        if self._state == "failed":
            news["exit_code"] = self._exit_code
            news["output"] = self._problem or self._said()[-OUTPUT_BYTES:].decode(errors="replace")
        return json.dumps(news).encode() + b"\n"

    def _said(self) -> bytes:
        """What the JVM has printed and logged since it was started."""
        return self._console.read_bytes() + read_from(self._log, self._log_start)

    def _failed_database(self) -> str | None:
        """Why the database did not start although the server did; None when it is not known to have failed."""
        for line in read_from(self._debug, self._debug_start).decode(errors="replace").splitlines():
            if FAILED_DATABASE in line:
                with contextlib.suppress(ValueError, AttributeError, RecursionError):
                    trace = json.loads(line).get("stacktrace", "")
                    causes = [part for part in trace.splitlines() if part.startswith("Caused by")]
                    return "\n".join([FAILED_DATABASE, *causes])
        return None

    def _change(self, state: str) -> None:
        self._state = state
        message = self._message()
        for writer in self._users | self._watchers:
            writer.write(message)

    async def _check_health(self) -> None:
        """Stop a server whose database has given up, as it does when its disk is full: a new start recovers it."""
        problem = await asyncio.to_thread(first_query, self._bolt_port, self._username, self._password)
        if problem is not None and PANICKED in problem:
            self._begin_to_stop()

    def _begin_to_stop(self) -> None:
        # State and event change in one step: a user that came between them would hold a server that goes away.
        self._stop.set()
        # A start that failed is told as such at its end, with the reason, not as a stop that somebody asked for.
        if self._state in ("starting", "ready") and not self._problem:
            self._change("stopping")

    async def _become_ready(self) -> None:
        # The password is offered only after our own JVM said that it holds the ports: before that, somebody else's
        # process could be listening there.
        while b" Started." not in self._said():  # noqa: ASYNC110 - a file sets no event
            await asyncio.sleep(POLL_SECONDS)
        deadline = asyncio.get_running_loop().time() + FIRST_ANSWER_SECONDS
        while True:
            problem = await asyncio.to_thread(first_query, self._bolt_port, self._username, self._password)
            if self._stop.is_set():
                return
            if problem is None or problem.startswith(UNAUTHORIZED):
                self._authenticated = problem is None
                self._change("ready")
                return
            if NOT_AVAILABLE in problem and (failed := await asyncio.to_thread(self._failed_database)):
                self._problem = failed
                self._stop.set()
                return
            if asyncio.get_running_loop().time() > deadline:
                self._problem = problem
                self._stop.set()
                return
            await asyncio.sleep(POLL_SECONDS)

    def _note_failure(self, ready: asyncio.Future[None]) -> None:
        if not ready.cancelled() and (error := ready.exception()) is not None:
            self._problem = f"the supervisor could not follow the start: {error}"
            self._stop.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        linger: float | None = None
        try:
            async with asyncio.timeout(GREETING_SECONDS):  # `wait_for` of 3.11 can lose the cancellation at the end
                line = await reader.readline()
            request = json.loads(line)
            if not hmac.compare_digest(str(request.get("token")).encode(), self._token.encode()):
                return
            verb = request["verb"]
            if verb == "hold" and self._state == "ready":
                await self._check_health()
            if verb == "hold" and self._state in ("starting", "ready"):
                linger = request["linger"]
                self._pinned = self._pinned or request["keep"]
                self._stay()
                self._users.add(writer)
            else:
                self._watchers.add(writer)
            if verb == "stop":
                self._begin_to_stop()
            writer.write(self._message())
            await writer.drain()
            if verb != "status" and self._state not in ("stopped", "failed"):
                while await reader.read(1024):  # until the other side is gone, however it went
                    pass
        except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
            pass  # a stranger, or a user that vanished: both end below
        finally:
            self._watchers.discard(writer)
            if writer in self._users:
                self._users.discard(writer)
                if not self._users and not self._pinned and linger is not None:
                    self._leave_after(linger)
            writer.close()

    def _leave_after(self, seconds: float) -> None:
        self._linger = asyncio.get_running_loop().call_later(seconds, self._begin_to_stop)

    def _stay(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None


def read_from(log: Path, start: int) -> bytes:
    """What was written to a log after its length was `start`; all of it when it has been rotated since."""
    try:
        with log.open("rb") as file:
            if os.fstat(file.fileno()).st_size >= start:
                file.seek(start)
            return file.read()
    except FileNotFoundError:
        return b""


def first_query(port: int, username: str, password: str) -> str | None:
    """Log in over Bolt and run `RETURN 1`, as any driver would; None, or what the server said against it.

    The driver itself would take longer to load than everything else here.
    """
    messages: tuple[tuple[int, list[str | dict[str, str]]], ...] = (
        (0x01, [{"user_agent": "remembrancer"}]),
        (0x6A, [{"scheme": "basic", "principal": username, "credentials": password}]),
        (0x10, ["RETURN 1", {}, {}]),
    )
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            stream = connection.makefile("rwb")
            stream.write(BOLT_GREETING)
            stream.flush()
            if stream.read(4) == bytes(4):
                return "it speaks no Bolt that we know"
            for signature, fields in messages:
                packed = bytes([0xB0 + len(fields), signature]) + b"".join(map(pack, fields))
                stream.write(len(packed).to_bytes(2, "big") + packed + b"\0\0")
                stream.flush()
                answer = b""
                while size := int.from_bytes(stream.read(2), "big"):
                    answer += stream.read(size)
                if answer[1:2] != b"\x70":  # SUCCESS
                    readable = answer.decode("latin-1")
                    return readable[max(0, readable.find("Neo.")) :] or "it closed the connection"
    except OSError as error:
        return f"it does not answer: {error}"
    return None


def pack(value: str | dict[str, str]) -> bytes:
    """Encode a text of up to 255 bytes, or a map of up to 15 of them, for Bolt."""
    if isinstance(value, dict):
        return bytes([0xA0 + len(value)]) + b"".join(pack(key) + pack(item) for key, item in value.items())
    encoded = value.encode()
    return b"\xd0" + bytes([len(encoded)]) + encoded


def end_with_parent(parent: int) -> Callable[[], None]:
    """Make what a Linux child calls before it becomes the JVM: it then gets SIGTERM when the supervisor is killed."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl  # loaded before the fork: little is safe after it

    def arm() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it died in between
            os._exit(1)

    return arm


def announce(word: str) -> None:
    """Tell the process that started this one, and let go of the pipe to it."""
    with contextlib.suppress(OSError):  # it may have been killed; the first-user time-out takes care of that
        os.write(1, word.encode() + b"\n")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def main() -> int:
    """Supervise the folder that the launch plan on standard input names."""
    plan = json.loads(sys.stdin.buffer.read())
    lock = FileLock(Path(plan["folder"]) / "supervisor.lock", mode=0o600)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        announce("busy")
        return 0
    try:
        asyncio.run(Supervisor(plan).run(announce))
    finally:
        lock.release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
