"""What a command prints: its answer on stdout, everything else on stderr.

With `--json` the answer is exactly one JSON document, also when the command fails. Texts from the memory were written
by others: control characters in them, which could steer a terminal, are shown as a replacement character, and nothing
in them is read as markup.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from signal import Signals
from typing import Annotated, Any, BinaryIO

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from remembrancer.cli.early import error_of, print_nowhere
from remembrancer.cli.exit_code import ExitCode
from remembrancer.records import InvalidInputError, RemembranceError
from remembrancer.records.json_text import encodable

# Controls but for tab and line feed, and the marks that turn the direction of the text around them.
_STEERING = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HIDDEN = (*_STEERING, *range(0xD800, 0xE000))  # halves of pairs have no UTF-8: to print one is an error
_REPLACED = dict.fromkeys(_HIDDEN, "\N{REPLACEMENT CHARACTER}")
_FORMAT = "%(levelname)s: %(message)s"
_WIDTH = 120  # of tables that do not go to a terminal
PANEL = "Output"


@dataclass(frozen=True)
class Output:
    """Where a command's words go; the options that every command has."""

    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of text.", rich_help_panel=PANEL)
    ] = False
    debug: Annotated[
        bool, typer.Option("--debug", help="Log everything, and show where an error comes from.", rich_help_panel=PANEL)
    ] = False
    told: list[bool] = field(default_factory=list, init=False, repr=False, compare=False)  # not empty after a document
    lost: list[OSError] = field(default_factory=list, init=False, repr=False, compare=False)  # why an answer is

    def aside(self) -> Output:
        """The same with the answer on stderr, for a command whose stdout is the records themselves."""
        return _Aside(json=self.json, debug=self.debug)

    def _answers(self) -> Console:
        return _stdout()

    def text(self, *lines: str | Text) -> None:
        """Lines for a reader, on stdout; nothing with `--json`."""
        if not self.json:
            console = self._answers()
            for line in lines:
                # Into a file or a pipe a line goes as it is; a terminal gets it broken between words.
                with self._losing():
                    console.print(printable(line), soft_wrap=not console.is_terminal)

    def heading(self, title: str) -> None:
        """A title with an empty line before it."""
        self.text("", Text(title, style="bold"))

    def table(self, *columns: str, rows: Sequence[Sequence[str | Text]], numbers: Sequence[str] = ()) -> None:
        """A table, on stdout; nothing with `--json`. `numbers` names the columns that are set to the right."""
        if self.json:
            return
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for column in columns:
            table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(printable, row))
        with self._losing():
            self._answers().print(table)

    def document(self, value: Mapping[str, Any]) -> None:
        """The answer as JSON, on stdout; nothing without `--json`."""
        if self.json:
            is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
            with self._losing():
                sys.stdout.write(encodable(json.dumps(value, ensure_ascii=not is_unicode, indent=2)) + "\n")
                sys.stdout.flush()
            self.told.append(True)

    def _losing(self) -> AbstractContextManager[None]:
        """A block that writes an answer: the command goes on if that cannot be written, and fails at its end."""
        return _going_on(self.lost)

    def note(self, message: str) -> None:
        """Something worth knowing, on stderr."""
        console = _stderr()
        with _if_possible():
            console.print(printable(message), style="dim", soft_wrap=not console.is_terminal)

    def error(self, error: RemembranceError) -> None:
        """An error: one line on stderr, and with `--json` a document as well, unless the answer was told before."""
        message = Text.assemble(("error: ", "bold red"), _visible(" ".join(str(error).split())))
        with _if_possible():
            _stderr().print(message, soft_wrap=True)
        if not self.told:
            self.document(error_of(type(error).__name__, str(error)))

    def stopped(self, by: Signals, holds: str) -> None:
        """That a signal has ended the command, and what holds: likewise, unless the answer was told before."""
        message = f"stopped by {by.name}: {holds}"
        console = _stderr()
        with _if_possible():
            console.print(printable(message), soft_wrap=not console.is_terminal)
        if not self.told:
            self.document(error_of("Stopped", message))

    def ended(self, code: int) -> int:
        """The exit code of a command that ended with this one; it has failed as well if its answer is lost."""
        if not self.lost:
            return code
        self.told.append(True)  # there is no place for a document
        self.error(RemembranceError(f"cannot write to standard output: {self.lost[0].strerror or self.lost[0]}"))
        return code or ExitCode.FAILED

    @contextmanager
    def counting(self, what: str, *, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """A bar on stderr, while that is a terminal; yields what tells it how many there are."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = _stderr()
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task(what, total=total)
            yield lambda done: progress.update(task, completed=done)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """A sign of life and the time taken, likewise, for what has no parts that could be counted."""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        console = _stderr()
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            progress.add_task(what, total=None)
            yield

    @contextmanager
    def downloading(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """A bar of bytes, likewise, once there is something to show; yields what tells it how many, and of how many."""
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
        console = _stderr()
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task(what, total=None, visible=False)
            yield lambda done, total: progress.update(task, completed=done, total=total, visible=True)

    @contextmanager
    def logging(self) -> Iterator[None]:
        """A block whose log goes to stderr: warnings, with `--debug` everything of this library."""
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(_FORMAT))
        logger = logging.getLogger("remembrancer")
        before = logger.level, logger.propagate
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG if self.debug else logging.WARNING)
        logger.propagate = False
        # What is tried again is told by what comes of it; the library that tries has no words for it.
        retries = logging.getLogger("stamina")
        retries.addHandler(logging.NullHandler())
        retries.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before[0])
            logger.propagate = before[1]


@dataclass(frozen=True)
class _Aside(Output):
    def _answers(self) -> Console:
        return _stderr()

    def _losing(self) -> AbstractContextManager[None]:
        return _if_possible()


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Stdout for bytes that are the answer. Unlike a report, an answer that nobody reads to its end is an error.

    Raises:
        InvalidInputError: It cannot be written; names FILE.
    """
    stream = typer.get_binary_stream("stdout")
    try:
        yield stream
        stream.flush()
    except OSError as error:
        print_nowhere(sys.stdout)
        raise InvalidInputError("FILE", f"cannot write to standard output: {error.strerror or error}") from error


def printable(text: str | Text) -> Text:
    """The text without characters that could steer a terminal; a `Text` was made of such."""
    return text if isinstance(text, Text) else Text(_visible(text))


def moment(instant: dt.datetime | None, *, open_end: str = "") -> str:
    """An instant for a reader: UTC, to the minute; a date alone at midnight."""
    if instant is None:
        return open_end
    midnight = instant.time() == dt.time(0)
    return f"{instant:%Y-%m-%d}" if midnight else f"{instant:%Y-%m-%d %H:%M}"


def is_terminal() -> bool:
    """Whether somebody reads stdout as it is printed."""
    return _stdout().is_terminal


def _visible(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_REPLACED)


def _stdout() -> Console:
    return _console(stderr=False)


def _stderr() -> Console:
    return _console(stderr=True)


@contextmanager
def _going_on(lost: list[OSError]) -> Iterator[None]:
    """Of a pipe whose reader has gone, there is nothing to tell."""
    try:
        yield
    except OSError as error:
        print_nowhere(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            lost.append(error)


@contextmanager
def _if_possible() -> Iterator[None]:
    """A block that writes to stderr, for whose sake no command fails."""
    try:
        yield
    except OSError:
        print_nowhere(sys.stderr)


class _Console(Console):
    """A console that goes on when nobody reads it any more: a command has more to do than to speak."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        print_nowhere(sys.stderr if self.stderr else sys.stdout)


def _console(*, stderr: bool) -> Console:
    console = _Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH
    return console
