"""Signals that end a command: its work is cancelled and what it has open is closed, and it says what holds.

SIGINT comes from Ctrl-C, SIGTERM from whatever supervises the process: systemd, Docker, a CI. A second one, of either
kind, ends the process at once, as it would without this.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextvars import ContextVar
from types import FrameType
from typing import Any, Final, NoReturn, TypeVar

from remembrancer.cli.early import USUAL, nothing_begun

T = TypeVar("T")

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_GOES_ON: Final = "what was committed stays, and the same command goes on where it was"
_ONE_TRANSACTION: Final = "it was written whole or not at all: `remembrancer passes` shows it if it was"
_SERVER_AS_IT_WAS: Final = "a server that was pinned runs again"
_READS: Final = "it only reads, and has changed nothing"
_HOLDS: Final = {
    "ingest": _GOES_ON,
    "retry-extraction": _GOES_ON,
    "reembed": _GOES_ON,
    "migrate": _GOES_ON,
    "import": "what was stored stays, and the same command with the same file completes it",
    "export": "the file is there whole or not at all",
    "consolidate": _ONE_TRANSACTION,
    "resolve": _ONE_TRANSACTION,
    "conflicts": _ONE_TRANSACTION,
    "restore": _ONE_TRANSACTION,
    "undo": _ONE_TRANSACTION,
    "forget": "what was erased stays erased, and the same command erases the rest",
    "run": "the verdicts were written whole or not at all: `remembrancer gate report` shows them if they were",
    "record": "the run was recorded whole or not at all",
    "demo": "run it again: it clears its namespace first",
    "up": "`remembrancer status` tells whether the server runs",
    "down": "`remembrancer status` tells whether the server runs",
    "browser": "what it served is served no longer, and nothing else has changed",
    "backup": f"the backup is there whole or not at all, and {_SERVER_AS_IT_WAS}",
    "restore-backup": f"the folder has what it had before or all of the backup, and {_SERVER_AS_IT_WAS}",
    "compact": f"the store is the old one or the new one, whole, and {_SERVER_AS_IT_WAS}",
    "retrieval": "there is no report, and the namespaces that it made are removed",
    "extraction": "there is no report",
}
"""What is true after a command was stopped, by its name."""


class Stopping:
    """Watches for the first signal while a command runs.

    Attributes:
        signal: What has come; `None`: nothing.
        holds: What is true then, where the block that was broken off knows better than the command's name.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self.holds: str | None = None
        self._task: asyncio.Task[Any] | None = None
        self._is_outside = False
        self._is_broken_off = False

    @property
    def exit_code(self) -> int:
        """128 and the number of the signal, as shells tell of a process that it ended."""
        return 128 + (self.signal or 0)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """A block in which the first signal cancels what `run` is given; on the main thread, where signals arrive."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        found = {one: signal.getsignal(one) for one in _SIGNALS}
        # A shell has what it puts into the background ignore Ctrl-C; what C code handles is its own affair.
        before = {one: handler for one, handler in found.items() if handler not in (signal.SIG_IGN, None)}
        token = _CURRENT.set(self)
        try:
            for one in before:
                signal.signal(one, self._on_signal)
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, USUAL[one] if handler is nothing_begun else handler)
            _CURRENT.reset(token)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work in this task, which the signal cancels.

        Raises:
            CancelledError: It was.
        """
        self._task = asyncio.current_task()
        if self.signal is not None:
            work.close()
            raise asyncio.CancelledError
        return await work

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self.signal = signal.Signals(number)
        for one in _SIGNALS:
            if signal.getsignal(one) == self._on_signal:
                signal.signal(one, signal.SIG_DFL)
        loop = None if self._task is None else self._task.get_loop()
        # A block that is suspended by an `await` of its own can be cancelled as everything else is.
        if self._is_outside and (loop is None or asyncio.current_task(loop) is not None):
            self._break_off()
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None and not self._is_broken_off:  # else it is closing what it has open already
            self._task.cancel()

    def _break_off(self) -> NoReturn:
        self._is_broken_off = True
        raise asyncio.CancelledError

    @contextlib.contextmanager
    def outside(self, holds: str | None = None) -> Iterator[None]:
        """See `broken_off_by_a_signal`."""
        self._is_outside = True
        try:
            if self.signal is not None and not self._is_broken_off:
                self._break_off()
            yield
        except asyncio.CancelledError:
            self.holds = holds
            raise
        finally:
            self._is_outside = False


_CURRENT: ContextVar[Stopping | None] = ContextVar("stopping", default=None)


@contextlib.contextmanager
def broken_off_by_a_signal(*, holds: str | None = None) -> Iterator[None]:
    """A block that waits for somebody, or computes, on the event loop's thread: a signal breaks it off there and then.

    Elsewhere a signal is noted, and the work cancelled at its next `await`, which such a block would never come to.
    Where nothing watches for signals, Ctrl-C alone does it.

    Args:
        holds: What is true when it was broken off here; left out: what is true of the command at any moment.
    """
    stopping = _CURRENT.get()
    if stopping is not None:
        with stopping.outside(holds):
            yield
        return
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def holds_when_stopped(what: str) -> None:
    """Say what is true of the command that runs, should a signal end it from now on."""
    stopping = _CURRENT.get()
    if stopping is not None:
        stopping.holds = what


def what_holds(command: str) -> str:
    """What is true after a command of this name was stopped."""
    return _HOLDS.get(command, _READS)
