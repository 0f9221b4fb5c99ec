"""A model server on the loopback interface that answers as scripted: well, badly, late, or half."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    """One answer of the server.

    Attributes:
        body: Its bytes; a map or list is sent as JSON.
        status: Of the answer.
        headers: Besides length and type.
        content_type: As it claims.
        delay: Seconds before anything is sent.
        cut: Send half of the body, then break off.
        drop: Close the connection without a word.
        drip: Send a byte every so many seconds.
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    cut: bool = False
    drop: bool = False
    drip: float = 0.0

    @property
    def raw(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


@dataclass
class Request:
    """What the server was asked."""

    path: str
    headers: dict[str, str]
    body: Any


Script = Sequence[Reply] | Callable[[Request], Reply]


class ModelServer:
    """Answers each request by the next reply of its script, the last one for ever; or by a function."""

    def __init__(self) -> None:
        self.script: Script = [Reply()]
        self.requests: list[Request] = []
        self.at_once = 0
        self.most_at_once = 0
        self.address = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._one(reader, writer):
                    pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(head[0].split()[1], headers, json.loads(body))
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(self._next(request), writer)
        finally:
            self.at_once -= 1

    def _next(self, request: Request) -> Reply:
        if callable(self.script):
            return self.script(request)
        return self.script[min(len(self.requests), len(self.script)) - 1]

    async def _answer(self, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(reply.delay)
        if reply.drop:
            return False
        raw = reply.raw
        lines = [
            f"HTTP/1.1 {reply.status} Scripted",
            f"content-type: {reply.content_type}",
            f"content-length: {len(raw)}",
            *(f"{name}: {value}" for name, value in reply.headers.items()),
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        if reply.cut:
            writer.write(raw[: len(raw) // 2])
            await writer.drain()
            return False
        if reply.drip:
            for byte in raw:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(reply.drip)
            return True
        writer.write(raw)
        await writer.drain()
        return True


def said(content: Any, *, usage: Any = None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """What a chat server answers with."""
    answer: dict[str, Any] = {
        "object": "chat.completion",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
    }
    return answer if usage is None else {**answer, "usage": usage}


@asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    """A server that runs in this event loop."""
    scripted_server = ModelServer()
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(scripted_server.handle(reader, writer)))

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    scripted_server.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    yield scripted_server
    listening.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await listening.wait_closed()
