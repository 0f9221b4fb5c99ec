"""What is known of work on a store at rest that did not come to its end: a note that is removed when the work is done.

A cancelled process clears up after itself. A killed one leaves the note, from which the next one to open the folder
ends what still runs on the store, and keeps the server running when it was pinned before.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from remembrancer.server.folder import DatabaseFolder, write_private
from remembrancer.server.process import ProcessId, runs_with

WorkKind = Literal["backup", "restore", "compaction"]
END_SECONDS: Final = 35.0


class Unfinished(BaseModel):
    """What `work.json` says of the work on a store at rest.

    Attributes:
        work: What is done.
        pinned: Whether the server was pinned before, so that it is to run again afterwards.
        process: The leader of a group of processes that has the store's files open; None: there is none.
    """

    model_config = ConfigDict(frozen=True)

    work: WorkKind
    pinned: bool
    process: ProcessId | None = None


def unfinished(folder: DatabaseFolder) -> Unfinished | None:
    """The note of a folder; None when there is none, or a torn one."""
    try:
        return Unfinished.model_validate_json((folder.path / "work.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def note_work(folder: DatabaseFolder, work: Unfinished) -> None:
    """Note what is about to be done to a folder that exists."""
    write_private(folder.path / "work.json", work.model_dump_json())


def note_process(folder: DatabaseFolder, process: int | None) -> None:
    """Note which process has the store's files open, beside what is noted already."""
    known = unfinished(folder)
    if known is not None:
        note_work(folder, known.model_copy(update={"process": process}))


def forget_work(folder: DatabaseFolder) -> None:
    """Remove the note: the work is done, and the server as it was."""
    (folder.path / "work.json").unlink(missing_ok=True)


def folder_mark(folder: DatabaseFolder) -> str:
    """What tells a process on this folder's store from others, in its command line."""
    return f"-Dremembrancer.folder={folder.path}"


def end_left_process(folder: DatabaseFolder) -> None:
    """End what a killed process left at work on the store. Call it under the start lock; blocks, 35 seconds at most.

    A process id alone proves nothing, since it may have been given away again: only a process whose command line names
    this folder is touched, with the group that it leads.
    """
    known = unfinished(folder)
    if known is None or known.process is None:
        return
    if os.name == "posix" and runs_with(known.process, folder_mark(folder)):
        _end_group(known.process)
    note_process(folder, None)


def _end_group(leader: int) -> None:
    deadline = time.monotonic() + END_SECONDS
    try:
        os.killpg(leader, signal.SIGTERM)
        while time.monotonic() < deadline:
            time.sleep(0.1)
            os.killpg(leader, 0)
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return  # the last of them has gone
