"""A TCP proxy that counts the messages of Bolt which clients send, and does something at the n-th of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, Self

COMMIT = 0x12
_MANIFEST = b"\x00\x00\x01\xff"
_PRELUDE, _PRELUDE_WITH_MANIFEST = 20, 25

Moment = Literal["before", "after"]
"""Whether something happens before the server has the message, or when it has it and its answer is held back."""

Happening = Callable[["Connection"], Awaitable[None]]


@dataclass
class Trap:
    """What happens at a message.

    Attributes:
        at: Its number, from 1.
        moment: Before or after it was handed on.
        happening: What happens.
        commits_only: Count messages that commit, and no others.
    """

    at: int
    moment: Moment
    happening: Happening
    commits_only: bool = False
    is_sprung: bool = False


class Frames:
    """Tells where messages end in what a client sends, and of which kind they are."""

    def __init__(self) -> None:
        self._pending = b""
        self._prelude: int | None = None
        self._first = True
        self._kind: int | None = None

    def answered(self, data: bytes) -> None:
        """The first bytes of the server's answer, which tell how long the client's prelude is."""
        if self._prelude is None:
            self._prelude = _PRELUDE_WITH_MANIFEST if data.startswith(_MANIFEST) else _PRELUDE

    def sent(self, data: bytes) -> list[int]:
        """Kinds of the messages that end in these bytes."""
        self._pending += data
        if self._prelude is None:
            return []
        if self._prelude:
            if len(self._pending) < self._prelude:
                return []
            self._pending, self._prelude = self._pending[self._prelude :], 0
        kinds = []
        while len(self._pending) >= 2:
            size = int.from_bytes(self._pending[:2], "big")
            if len(self._pending) < 2 + size:
                break
            chunk, self._pending = self._pending[2 : 2 + size], self._pending[2 + size :]
            if size and self._kind is None:
                self._kind = chunk[1] if size > 1 else 0
            elif not size and self._kind is not None:
                kinds.append(self._kind)
                self._kind = None
        return kinds


@dataclass
class Connection:
    """One client and its way to the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    frames: Frames = field(default_factory=Frames)

    def cut(self) -> None:
        """Both sides see a reset."""
        for side in (self.client, self.server):
            side.transport.abort()

    def half_close(self) -> None:
        """The server sees the end of what the client sends; nothing more is handed on to it."""
        with contextlib.suppress(OSError, RuntimeError):
            self.server.write_eof()


class Proxy:
    """Listens on a port of its own and hands on to another; open with `async with`.

    Attributes:
        trap: What is to happen; `None`: nothing.
        messages: Messages counted since `watch`.
        commits: Those of them that commit.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._connections: set[asyncio.Task[None]] = set()
        self.watch(None)

    def watch(self, trap: Trap | None) -> None:
        """Count anew, and set a trap."""
        self.trap = trap
        self.messages = 0
        self.commits = 0

    async def __aenter__(self) -> Self:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._listening.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            try:
                back, onward = await asyncio.open_connection("127.0.0.1", self._to)
            except OSError:
                writer.transport.abort()
                return
            connection = Connection(writer, onward)
            ways = [
                asyncio.create_task(self._forward(connection, reader)),
                asyncio.create_task(self._backward(connection, back)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                connection.cut()
        finally:
            self._connections.discard(task)

    async def _forward(self, connection: Connection, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(65_536):
            due = self._counted(connection.frames.sent(data))
            if due is not None and due.moment == "before":
                await due.happening(connection)
            connection.server.write(data)
            await connection.server.drain()
            if due is not None and due.moment == "after":
                await due.happening(connection)

    def _counted(self, kinds: list[int]) -> Trap | None:
        due = None
        for kind in kinds:
            self.messages += 1
            self.commits += kind == COMMIT
            trap = self.trap
            if trap is None or trap.is_sprung or (trap.commits_only and kind != COMMIT):
                continue
            if (self.commits if trap.commits_only else self.messages) >= trap.at:
                trap.is_sprung = True
                due = trap
        return due

    async def _backward(self, connection: Connection, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(65_536):
            connection.frames.answered(data)
            connection.client.write(data)
            await connection.client.drain()
