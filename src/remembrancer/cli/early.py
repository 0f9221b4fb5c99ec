"""What comes before a command, whose modules take a second or two to load: signals, and standard streams that are
closed."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final, TextIO

USUAL: Final[dict[signal.Signals, Callable[[int, FrameType | None], Any] | signal.Handlers]] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
"""What Python does at these signals."""


def watch_from_the_start() -> None:
    """From now on a signal ends the process with a word, until a command watches for itself."""
    for one, usual in USUAL.items():
        if signal.getsignal(one) is usual:  # what the parent has had ignored stays ignored
            signal.signal(one, nothing_begun)


def fill_closed_streams() -> None:
    """See to standard streams that whoever started the process has closed, so that no file opened later gets their
    numbers and with them what is said or read there.

    Who closes stdin has nothing to be read, and who closes stderr wants to hear nothing. A closed stdout ends the
    process with 2: each command has an answer, and here it would be lost.
    """
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            _fill(number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - to the end of the process
    if sys.stdout is None:
        sys.stderr.write("error: standard output is closed, and nothing was done; > /dev/null if nobody reads it\n")
        sys.exit(2)


def end_if_stdout_fails() -> None:
    """End the process with 1 if what was to be printed cannot be: for help and the like, which no command prints."""
    try:
        sys.stdout.write("\n")  # unbuffered, it has nothing left that a flush could fail on
        sys.stdout.flush()
    except OSError as error:
        print_nowhere(sys.stdout)
        sys.exit(f"error: cannot write to standard output: {error.strerror or error}")


def print_nowhere(stream: TextIO) -> None:
    """Send what is still said on a stream nowhere, which Python would try again as the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _fill(number: int) -> None:
    taken = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if taken == number:
        os.set_inheritable(number, True)
    else:  # something has the number already
        os.close(taken)


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the answer is to be JSON, of a command line that nobody has read yet: behind `--` come no options."""
    return "--json" in itertools.takewhile(lambda one: one != "--", arguments)


def error_of(kind: str, message: str) -> dict[str, Any]:
    """What a document tells of an error."""
    return {"error": {"type": kind, "message": message}}


def error_document(kind: str, message: str) -> str:
    """The document itself, for who has nothing loaded yet that prints."""
    return json.dumps(error_of(kind, message), indent=2) + "\n"


def nothing_begun(number: int, _: FrameType | None) -> None:
    """End the process, which has done nothing yet: one line on stderr, and with `--json` a document as well."""
    message = f"stopped by {signal.Signals(number).name}: nothing had begun"
    os.write(sys.stderr.fileno(), f"{message}\n".encode())
    if wants_json(sys.argv[1:]):
        os.write(sys.stdout.fileno(), error_document("Stopped", message).encode())
    os._exit(128 + number)  # nothing is open, and an exception here could be taken for one of an import
