"""A private Neo4j for one database folder, shared by every process of this user that opens it.

The first user starts it, the others join, and it stops when the last one has gone, however that one ended. It listens
on the loopback interface only.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict

from remembrancer.records.errors import InvalidInputError, ServerUnavailableError
from remembrancer.server.archive import drop_refused
from remembrancer.server.control import Control, News
from remembrancer.server.damage import UNREADABLE_LOG, gave_up_for_room
from remembrancer.server.distribution import Progress
from remembrancer.server.exclusive import exclusive, is_held
from remembrancer.server.folder import Credentials, DatabaseFolder
from remembrancer.server.launch import StartOptions, end_orphan, start_supervisor
from remembrancer.server.replacing import settle
from remembrancer.server.settings import HEAP_VARIABLE, further_settings, heap_size
from remembrancer.server.unbroken import seen_through
from remembrancer.server.unfinished import WorkKind, end_left_process, forget_work, note_work, unfinished

logger = logging.getLogger(__name__)

START_SECONDS: Final = 600.0
START_TRIES: Final = 5
SILENT_SECONDS: Final = 60.0  # how long a supervisor may live without answering
STORE_LOCK_SECONDS: Final = 2.0
PATIENCE_SECONDS: Final = 10.0  # how often a slow start is mentioned in the log

PORT_TAKEN = re.compile(r"BindException|Address already in use")
OUT_OF_HEAP = re.compile(r"OutOfMemoryError: Java heap space")
TELLING = re.compile(r"ERROR|Error|Exception|Caused by|Unrecognized|Invalid|Neo\.\w+Error")
STORE_LOCKED = re.compile(r"FileLockException|store_lock")


class ServerStatus(BaseModel):
    """What is known about the server of a database folder.

    Attributes:
        path: The folder.
        running: Whether a server answers, starting ones included.
        ready: Whether it takes queries.
        pinned: Whether it stays when nobody uses it.
        users: How many connections hold it.
        bolt_uri, http_uri: Where it listens; None when it does not run.
        supervisor_pid, server_pid: The processes; None when it does not run.
        version: Its version of Neo4j; None when it does not run.
        unfinished: What is being done to its store at rest, or was when the process that did it was killed; None:
            nothing. Opening the folder again then mends what it left, and pins the server again if it was pinned.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    running: bool
    ready: bool = False
    pinned: bool = False
    users: int = 0
    bolt_uri: str | None = None
    http_uri: str | None = None
    supervisor_pid: int | None = None
    server_pid: int | None = None
    version: str | None = None
    unfinished: WorkKind | None = None


class LocalServer:
    """One user's hold on a running server; made by `open`. The server stays while it is held.

    Attributes:
        path: The database folder.
        username: Who to log in as.
        password: The password made for this folder; also in its `credentials.json`.
    """

    def __init__(self, folder: DatabaseFolder, control: Control, news: News, credentials: Credentials) -> None:
        self.path = folder.path
        self.username = credentials.username
        self.password = credentials.password
        self._control = control
        self._news = news

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        linger: float | None = 0.5,
        keep: bool = False,
        progress: Progress | None = None,
        start_timeout: float = START_SECONDS,
        heap: str | None = None,
        jvm_options: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        bolt_port: int | None = None,
        http_port: int | None = None,
    ) -> Opening:
        """Join the server of a folder, or start one.

        Use it as `async with LocalServer.open(path) as server`, or await it and call `aclose()` at the end.

        Args:
            path: The database folder; made when it does not exist. A leading `~` is the home folder.
            linger: Seconds that the server waits for a new user after this one was the last. None is as `keep`.
            keep: Leave the server running until `down`.
            progress: Called with (bytes there, bytes in all) while Neo4j is fetched, which happens once.
            start_timeout: Seconds to wait for the first answered query. A start after a kill replays the log, which can
                take minutes; one that times out has lost nothing.
            heap: The JVM's heap, such as `512m` or `2g`. Left out: `REMEMBRANCER_HEAP`, or 1g. Ignored when joining.
            jvm_options: Further options for the JVM. Ignored when joining.
            settings: Further settings of Neo4j, such as `{"db.transaction.timeout": "30s"}`; it does not start with one
                that it does not know. Ignored when joining.
            bolt_port: The Bolt port to listen on. Left out: the one of the last time, or a free one.
            http_port: The HTTP port to listen on, likewise.

        Raises:
            ServerUnavailableError: It could not be started or joined; the message says why and what to do.
            InvalidInputError: An argument that cannot be used, a port that is taken among them, or a folder that holds
                something else.
        """
        if linger is not None and not 0 <= linger <= 86_400:
            raise InvalidInputError("linger", f"must be 0 to 86,400 seconds or None, got {linger!r}")
        if not start_timeout > 0:
            raise InvalidInputError("start_timeout", f"must be more than 0 seconds, got {start_timeout!r}")
        for name, port in (("bolt_port", bolt_port), ("http_port", http_port)):
            if port is not None and not 1 <= port <= 65_535:
                raise InvalidInputError(name, f"must be 1 to 65,535, got {port!r}")
        if bolt_port is not None and bolt_port == http_port:
            raise InvalidInputError("http_port", f"must differ from bolt_port, both are {bolt_port}")
        if heap is not None:
            heap_size(heap)
        options = StartOptions(heap, tuple(jvm_options), further_settings(settings), bolt_port, http_port, progress)
        request = {"verb": "hold", "linger": linger, "keep": keep or linger is None}
        return Opening(DatabaseFolder.at(path), request, options, start_timeout)

    @property
    def bolt_uri(self) -> str:
        """What a driver connects to."""
        return f"bolt://localhost:{self._news.bolt_port}"

    @property
    def http_uri(self) -> str:
        """Where the HTTP interface and Browser are."""
        return f"http://localhost:{self._news.http_port}"

    @property
    def browser_url(self) -> str:
        """The one address that opens Browser with style, saved queries and guide; it asks for the password."""
        return f"{self.http_uri}/browser/remembrancer/"

    def is_running(self) -> bool:
        """Whether the server that was joined still runs. After a crash, opening the folder again starts a new one."""
        return self._control.is_open()

    async def aclose(self) -> None:
        """Let go of the server; when nobody else holds it, it stops a moment later. Closing twice is fine."""
        self._control.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Opening:
    """A server about to be joined: enter it with `async with`, or await it to get the `LocalServer`."""

    def __init__(
        self, folder: DatabaseFolder, request: dict[str, Any], options: StartOptions, start_timeout: float
    ) -> None:
        self._folder = folder
        self._request = request
        self._options = options
        self._start_timeout = start_timeout
        self._has_lock = False
        self._server: LocalServer | None = None

    def __await__(self) -> Generator[Any, None, LocalServer]:
        return self._open().__await__()

    async def __aenter__(self) -> LocalServer:
        self._server = await self._open()
        return self._server

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            await self._server.aclose()

    def under_lock(self) -> Opening:
        """The same for a caller that holds the start lock already."""
        self._has_lock = True
        return self

    def cutting_log(self) -> Opening:
        """The same, starting also when the end of the transaction log cannot be read."""
        self._options = replace(self._options, cut_log=True)
        return self

    async def _open(self) -> LocalServer:
        await asyncio.to_thread(self._folder.prepare)
        problem = ""
        for attempt in range(START_TRIES):
            control, news = await self._join_or_start(fresh_ports=bool(PORT_TAKEN.search(problem)))
            try:
                news = await self._wait_until_ready(control, news)
                if news.state == "ready":
                    await asyncio.to_thread(drop_refused, self._folder)
                    return self._hold(control, news)
            except BaseException:
                control.close()
                raise
            control.close()
            problem = news.output or await asyncio.to_thread(self._console)
            logger.info("start %d of the server in %s did not succeed (%s)", attempt + 1, self._folder.path, news.state)
            if STORE_LOCKED.search(problem):
                await asyncio.sleep(STORE_LOCK_SECONDS)  # a killed supervisor's JVM is still closing the store
            elif UNREADABLE_LOG.search(problem) and await self._may_cut_log():
                self._options = replace(self._options, cut_log=True)
            elif news.state == "failed" and not PORT_TAKEN.search(problem):
                break
        raise self._failure(problem)

    async def _may_cut_log(self) -> bool:
        if self._options.cut_log or not await asyncio.to_thread(gave_up_for_room, self._folder):
            return False
        logger.warning(
            "the disk of %s was full: the end of its transaction log, of a write that was never confirmed, is cut off",
            self._folder.path,
        )
        return True

    async def _join_or_start(self, *, fresh_ports: bool) -> tuple[Control, News]:
        """Find the running server or start one, one process at a time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + SILENT_SECONDS
        while loop.time() < deadline:
            async with nullcontext() if self._has_lock else exclusive(self._folder.start_lock):
                joined = await self._join()
                if joined is None and not is_held(self._folder.supervisor_lock):
                    await self._clear_away()
                    await seen_through(asyncio.to_thread(settle, self._folder))
                    self._keep_as_before()
                    if await start_supervisor(self._folder, self._options, fresh_ports=fresh_ports):
                        joined = await self._join()
                        if joined is None:
                            raise self._failure(await asyncio.to_thread(self._console))
                        return joined  # a start that has failed already is told, not tried again
            if joined is not None and joined[1].state in ("starting", "ready"):
                return joined
            if joined is None:
                await asyncio.sleep(0.2)  # a supervisor lives: it has not said yet where it listens, or is about to end
            else:
                await self._wait_until_gone(joined[0])
        raise ServerUnavailableError(
            f"the supervisor of {self._folder.path} lives but does not answer: wait, or end it (pid in server.json)",
            address=str(self._folder.path),
        )

    async def _join(self) -> tuple[Control, News] | None:
        running = self._folder.running()
        if running is None:
            return None
        joined = await Control.open(running, self._request)
        if joined is not None:
            self._check_ports(joined)
        return joined

    async def _clear_away(self) -> None:
        """Remove what a supervisor left that was killed. Only when its lock is free: one that is slow is not dead."""
        running = self._folder.running()
        if running is not None:
            logger.info("the supervisor of %s was killed; its server had pid %d", self._folder.path, running.server_pid)
            await asyncio.to_thread(end_orphan, self._folder, running)
            self._folder.forget_running()
        await asyncio.to_thread(end_left_process, self._folder)

    def _keep_as_before(self) -> None:
        """Pin a server that was pinned until a process stopped it for work on its store, and was killed."""
        left = unfinished(self._folder)
        if left is not None and left.pinned and not self._has_lock and not self._request["keep"]:
            logger.info("the server in %s was pinned before a %s, and is again", self._folder.path, left.work)
            self._request = {**self._request, "keep": True}

    def _check_ports(self, joined: tuple[Control, News]) -> None:
        control, news = joined
        for name, wanted, actual in (
            ("Bolt", self._options.bolt_port, news.bolt_port),
            ("HTTP", self._options.http_port, news.http_port),
        ):
            if wanted is not None and wanted != actual and news.state in ("starting", "ready"):
                control.close()
                raise ServerUnavailableError(
                    f"the server in {self._folder.path} runs already, with port {actual} for {name} and not {wanted}: "
                    "stop it first, or name no port",
                    address=f"localhost:{actual}",
                )

    async def _wait_until_gone(self, control: Control) -> None:
        try:
            while await control.next_news() is not None:
                pass
        finally:
            control.close()

    async def _wait_until_ready(self, control: Control, news: News) -> News:
        """Follow a start to its end: the state is ready, stopping, stopped or failed then."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._start_timeout
        coming = asyncio.ensure_future(control.next_news())
        try:
            while news.state == "starting":
                left = deadline - loop.time()
                if left <= 0:
                    raise ServerUnavailableError(
                        f"the server in {self._folder.path} did not answer within {self._start_timeout:g} seconds"
                        f"{await asyncio.to_thread(self._recovery)}; nothing is lost: open it again with a longer "
                        "start_timeout",
                        address=f"localhost:{news.bolt_port}",
                    )
                done, _ = await asyncio.wait({coming}, timeout=min(left, PATIENCE_SECONDS))
                if not done:
                    recovery = await asyncio.to_thread(self._recovery)
                    logger.info("the server in %s is still starting%s", self._folder.path, recovery)
                    continue
                told = coming.result()
                if told is None:
                    return news.model_copy(update={"state": "failed"})
                news = told
                coming = asyncio.ensure_future(control.next_news())
            return news
        finally:
            coming.cancel()

    def _hold(self, control: Control, news: News) -> LocalServer:
        credentials = self._folder.known_credentials()
        if not news.authenticated:
            raise ServerUnavailableError(
                f"the server in {self._folder.path} refuses the password in its credentials.json: if you changed the "
                "password in the database, write the new one there",
                address=f"localhost:{news.bolt_port}",
            )
        if not self._has_lock:
            forget_work(self._folder)
        return LocalServer(self._folder, control, news, credentials)

    def _console(self) -> str:
        try:
            return self._folder.console.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    def _recovery(self) -> str:
        """The last thing the database said about replaying its log, in brackets; nothing when it did not."""
        try:
            with (self._folder.path / "logs" / "debug.log").open("rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - 100_000))
                lines = log.read().decode(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        told = [line for line in lines if "ecover" in line]
        return f" ({told[-1].strip()[:200]})" if told else ""

    def _failure(self, output: str) -> ServerUnavailableError:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        telling = [line for line in lines if TELLING.search(line)]
        if STORE_LOCKED.search(output):
            reason = "another Neo4j uses its files"
        elif PORT_TAKEN.search(output):
            reason = "no port could be had"
        elif UNREADABLE_LOG.search(output):
            reason = (
                "its transaction log is damaged, by the disk or by something that wrote into it: restore a backup "
                "(`remembrancer restore-backup`), or start it with `remembrancer up --cut-damaged-log`, which loses "
                "what follows the damage"
            )
        elif OUT_OF_HEAP.search(output):
            reason = (
                "it ran out of heap, as it can where a full disk has left a torn end of its log: start it with more, "
                f"such as {HEAP_VARIABLE}=5g, which loses nothing"
            )
        else:
            told = telling or lines[-1:] or ["it said nothing"]
            reason = told[0] if len(told) == 1 else f"{told[0][:300]} ... {told[-1][:300]}"
        return ServerUnavailableError(
            f"Neo4j did not start in {self._folder.path}: {reason}; see {self._folder.console}",
            address=str(self._folder.path),
        )


async def status(path: str | os.PathLike[str]) -> ServerStatus:
    """Say whether the server of a folder runs, without touching it."""
    folder = DatabaseFolder.at(path)
    running = folder.running()
    answer = await Control.open(running, {"verb": "status"}) if running is not None else None
    if answer is None:
        left = unfinished(folder)
        return ServerStatus(path=str(folder.path), running=False, unfinished=None if left is None else left.work)
    control, news = answer
    control.close()
    return _status(folder, news)


async def up(
    path: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    start_timeout: float = START_SECONDS,
    heap: str | None = None,
    jvm_options: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    bolt_port: int | None = None,
    http_port: int | None = None,
    cut_damaged_log: bool = False,
) -> ServerStatus:
    """Start the server of a folder, or join it, and pin it: it stays until `down`. Arguments, errors as for `open`.

    Args:
        cut_damaged_log: Start even when the transaction log is damaged, with what it holds before the damage; what was
            committed after it is lost. Not needed after a full disk, which is seen to. Ignored when joining.
    """
    opening = LocalServer.open(
        path,
        keep=True,
        progress=progress,
        start_timeout=start_timeout,
        heap=heap,
        jvm_options=jvm_options,
        settings=settings,
        bolt_port=bolt_port,
        http_port=http_port,
    )
    async with opening.cutting_log() if cut_damaged_log else opening:
        pass
    return await status(path)


async def down(path: str | os.PathLike[str]) -> bool:
    """Stop the server of a folder, whoever uses it, and wait until it has stopped. False: none was running."""
    folder = DatabaseFolder.at(path)
    was_running = await stop_server(folder)
    left = unfinished(folder)
    if left is not None and left.pinned:  # whoever stops it does not want it back
        note_work(folder, left.model_copy(update={"pinned": False}))
    return was_running


async def stop_server(folder: DatabaseFolder) -> bool:
    """The same for work on the store at rest, after which a server that was pinned is to run again."""
    running = folder.running()
    answer = await Control.open(running, {"verb": "stop"}) if running is not None else None
    if answer is None:
        return False
    control, _ = answer
    try:
        while await control.next_news() is not None:
            pass
    finally:
        control.close()
    return True


def _status(folder: DatabaseFolder, news: News) -> ServerStatus:
    return ServerStatus(
        path=str(folder.path),
        running=news.state in ("starting", "ready", "stopping"),
        ready=news.state == "ready",
        pinned=news.pinned,
        users=news.users,
        bolt_uri=f"bolt://localhost:{news.bolt_port}",
        http_uri=f"http://localhost:{news.http_port}",
        supervisor_pid=news.supervisor_pid,
        server_pid=news.server_pid,
        version=news.version,
    )
