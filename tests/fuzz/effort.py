"""How hard is tried, and what must hold of every try.

`REMEMBRANCER_FUZZ_EXAMPLES` is the number of examples of each property; without it a few, so that the folder is quick.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import hypothesis

from remembrancer.records import InvalidInputError, RemembranceError

VARIABLE = "REMEMBRANCER_FUZZ_EXAMPLES"
EXAMPLES = int(os.environ.get(VARIABLE, "20"))
_SECONDS = 20.0

fuzz = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
"""Of a property whose examples take milliseconds."""

fuzz_costly = hypothesis.settings(fuzz, max_examples=max(5, EXAMPLES // 4))
"""Of one whose examples take longer."""


@contextmanager
def only_ours() -> Iterator[None]:
    """A block that ends in time, well or with an error of the library's own that says what is wrong with what."""
    with in_time():
        try:
            yield
        except InvalidInputError as error:
            holds(error.field.strip() and error.problem.strip(), error)
        except RemembranceError as error:
            holds(str(error).strip(), error)


def holds(condition: object, error: Exception) -> None:
    """What an error that was raised must be."""
    assert condition, repr(error)


@contextmanager
def in_time(seconds: float = _SECONDS) -> Iterator[None]:
    """A block that is broken off when it hangs: after so many seconds of the processor, more than anything takes."""
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def broken_off(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it hangs: not done within {seconds:g} s")

    before = signal.signal(signal.SIGPROF, broken_off)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def grows_with_its_input(read: Callable[[str], object], text_of: Callable[[int], str]) -> None:
    """Four times as much to read takes about four times as long; a quadratic expression would take sixteen times."""
    long = _processor_seconds(read, text_of(40_000), tries=1)
    if long < 0.05:
        return
    short = _processor_seconds(read, text_of(10_000), tries=3)
    long = min(long, _processor_seconds(read, text_of(40_000), tries=2))
    assert long < 9 * max(short, 0.005), f"10,000: {short:.3f} s, 40,000: {long:.3f} s"


def _processor_seconds(read: Callable[[str], object], text: str, *, tries: int) -> float:
    best = float("inf")
    for _ in range(tries):
        begin = time.process_time()
        with only_ours():
            read(text)
        best = min(best, time.process_time() - begin)
    return best
