"""Signals that come before a command has begun, while its modules are loaded, which takes a second or two."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final

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
