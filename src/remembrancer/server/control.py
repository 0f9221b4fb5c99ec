"""One connection to the supervisor of a running server. While it is open and holds, the server stays.

A plain socket rather than a stream: it outlives the event loop that opened it, and the operating system closes it for
a process that was killed.
"""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from remembrancer.server.folder import RunningServer

CONNECT_SECONDS = 5.0
LINE_BYTES = 1 << 16


class News(BaseModel):
    """What the supervisor says about its server, at once after a request and at each change."""

    model_config = ConfigDict(frozen=True)

    state: Literal["starting", "ready", "stopping", "stopped", "failed"]
    authenticated: bool
    pinned: bool
    users: int
    supervisor_pid: int
    server_pid: int
    bolt_port: int
    http_port: int
    version: str
    exit_code: int | None = None
    output: str = ""


class Control:
    """An open connection to a supervisor that knew the token."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._received = b""

    @classmethod
    async def open(cls, running: RunningServer, request: dict[str, Any]) -> tuple[Control, News] | None:
        """Connect and make a request; None when nobody answers there, or somebody else does."""
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.setblocking(False)
        control = cls(connection)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await loop.sock_connect(connection, ("127.0.0.1", running.control_port))
                await loop.sock_sendall(connection, json.dumps({**request, "token": running.token}).encode() + b"\n")
                news = await control.next_news()
        except (OSError, TimeoutError, ValueError):
            control.close()
            return None
        except BaseException:
            control.close()
            raise
        if news is None:
            control.close()
            return None
        return control, news

    async def next_news(self) -> News | None:
        """Wait for the next change; None when the supervisor has gone."""
        loop = asyncio.get_running_loop()
        while b"\n" not in self._received:
            try:
                chunk = await loop.sock_recv(self._socket, LINE_BYTES)
            except ConnectionError:
                return None
            if not chunk:
                return None
            self._received += chunk
        line, _, self._received = self._received.partition(b"\n")
        return News.model_validate_json(line)

    def is_open(self) -> bool:
        """Whether the supervisor still holds its end."""
        if self._socket.fileno() == -1:
            return False
        try:
            while chunk := self._socket.recv(LINE_BYTES):  # non-blocking
                self._received += chunk
        except BlockingIOError:
            return b'"state": "stopping"' not in self._received
        except OSError:
            return False
        return False

    def close(self) -> None:
        """Let go. Closing twice is fine."""
        self._socket.close()
