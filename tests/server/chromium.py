"""Chromium without a window, driven over two pipes by the protocol of its developer tools; no package is needed.

One who drives it sends a command and waits for the answer, so what the page tells in between is passed over.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
SILENT = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps"),
    *("--remote-debugging-pipe", "--window-size=1400,900"),
)
# Chromium reads commands from descriptor 3 and answers on 4.
PLACE = "import os, sys; [os.dup2(int(sys.argv[n]), 2 + n) for n in (1, 2)]; os.execv(sys.argv[3], sys.argv[3:])"
LINE_BYTES = 1 << 26
ANSWER_SECONDS = 30.0


def find() -> str | None:
    """Where a Chromium is that can be driven so, if there is one; Windows hands down no descriptors by number."""
    return next(filter(None, map(shutil.which, NAMES)), None) if os.name == "posix" else None


class PageError(Exception):
    """What the page or Chromium says against a command."""


class Page:
    """The one page of a Chromium."""

    def __init__(self, answers: asyncio.StreamReader, commands: Any) -> None:
        self._answers = answers
        self._commands = commands
        self._session: str | None = None
        self._count = 0

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        command = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        self._commands.write(json.dumps(command).encode() + b"\0")
        self._commands.flush()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                message = await self._answer_to(self._count)
        except TimeoutError:
            raise PageError(f"{method}: no answer within {ANSWER_SECONDS:g} s") from None
        if "error" in message:
            raise PageError(f"{method}: {message['error']['message']}")
        answer: dict[str, Any] = message["result"]
        return answer

    async def _answer_to(self, number: int) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads((await self._answers.readuntil(b"\0"))[:-1])
            if message.get("id") == number:
                return message

    async def attach(self) -> None:
        target = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        await self.call("Page.enable")

    async def goto(self, address: str) -> None:
        """Begin to load another page; `until` tells when it is there."""
        answer = await self.call("Page.navigate", url=address)
        if "errorText" in answer:
            raise PageError(f"{address}: {answer['errorText']}")

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript; a promise is waited for."""
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    async def until(self, expression: str, *, seconds: float = 100.0) -> Any:
        """Wait until an expression is true, also across a change of pages, and return its value."""
        end = time.monotonic() + seconds
        problem = "false"
        while time.monotonic() < end:
            try:
                if value := await self.evaluate(expression):
                    return value
            except PageError as error:  # it changes just now
                problem = str(error)
            await asyncio.sleep(0.1)
        shown = await self.evaluate("location.href + '\\n' + document.body.innerText")
        raise AssertionError(f"{expression} is not true after {seconds:g} s ({problem}) at {shown[:2000]}")

    async def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        await self.call("Input.insertText", text=text)

    async def press(self, key: str, code: int, *, modifiers: int = 0) -> None:
        """Press a key; `modifiers` 2 is Ctrl."""
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        text = {"text": "\r"} if key == "Enter" and not modifiers else {}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **pressed, **text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    async def stored(self, key: str) -> Any:
        """What the page's origin has in its local storage, read as JSON."""
        text = await self.evaluate(f"localStorage.getItem({json.dumps(key)})")
        return None if text is None else json.loads(text)

    async def picture(self) -> bytes:
        """A picture of the page as PNG, for whoever wants to see what a test sees."""
        return base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])


@asynccontextmanager
async def open_page(chromium: str, profile: Path) -> AsyncIterator[Page]:
    """A page of a new Chromium that ends with the block; what the page stores lies in the folder `profile`."""
    import fcntl

    commands_end, answers_end = os.pipe(), os.pipe()
    placed = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (commands_end[0], answers_end[1])]
    for end in (commands_end[0], answers_end[1]):
        os.close(end)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PLACE, *map(str, placed)),
        *(chromium, *SILENT, f"--user-data-dir={profile}"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=placed,
    )
    for end in placed:
        os.close(end)
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    answers = os.fdopen(answers_end[0], "rb")
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), answers
    )
    commands = os.fdopen(commands_end[1], "wb")
    try:
        page = Page(reader, commands)
        await page.attach()
        yield page
    finally:
        with contextlib.suppress(BrokenPipeError):
            commands.close()  # Chromium ends when nobody drives it
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            process.kill()
            await process.wait()
        transport.close()
