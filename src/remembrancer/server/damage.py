"""A transaction log whose end cannot be read, and whether that end may be cut off.

A write that fails halfway because the disk is full can leave a torn entry at the end of the log. Neo4j then refuses to
start, since it cannot know whether something follows that was confirmed. When the disk was full, nothing does: the
database gave up at that very write and confirmed none after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from remembrancer.server.folder import DatabaseFolder

UNREADABLE_LOG: Final = re.compile(r"Error reading transaction logs, recovery not possible")

_GAVE_UP = "Database panic"
_NO_ROOM = re.compile(r"No space left on device|not enough space on the disk|disk quota exceeded", re.IGNORECASE)
_RUNS_AGAIN = re.compile(r'\.DatabaseAvailabilityGuard","message":"[^"]*\[neo4j\]\} is ready')


def gave_up_for_room(folder: DatabaseFolder) -> bool:
    """Whether the last thing the database of a folder did, when it last ran, was to give up because the disk was full.

    It is read from Neo4j's own log; False also when that log does not tell.
    """
    answer = False
    for line in _lines(folder):
        if _GAVE_UP in line:
            answer = _NO_ROOM.search(line) is not None
        elif answer and _RUNS_AGAIN.search(line):
            answer = False
    return answer


def _lines(folder: DatabaseFolder) -> Iterator[str]:
    """Lines of `debug.log`, the older file first when it was rotated."""
    for name in ("debug.log.1", "debug.log"):
        try:
            with (folder.path / "logs" / name).open(encoding="utf-8", errors="replace") as log:
                yield from log
        except FileNotFoundError:
            continue
