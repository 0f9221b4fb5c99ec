"""What works on the store of a folder at rest, or alone with it, demands of the folder and leaves as it was."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from remembrancer.records.errors import InvalidInputError, ServerUnavailableError
from remembrancer.server.folder import DatabaseFolder
from remembrancer.server.local import status, up
from remembrancer.server.unbroken import seen_through
from remembrancer.server.unfinished import Unfinished, WorkKind, forget_work, note_work, unfinished


def require_database(folder: DatabaseFolder) -> None:
    """See that a folder has a database.

    Raises:
        InvalidInputError: It has none; names `path`.
    """
    if not folder.has_database:
        raise InvalidInputError("path", f"there is no database in {folder.path}")


def refuse_others(folder: DatabaseFolder, others: int) -> None:
    """See that nobody else uses the server of a folder.

    Raises:
        ServerUnavailableError: So many others do; says what to do.
    """
    if others > 0:
        raise ServerUnavailableError(
            f"{others} others use the server of {folder.path}, which must be left alone for this: close them, or stop "
            "it with `remembrancer down`",
            address=str(folder.path),
        )


@asynccontextmanager
async def left_alone(folder: DatabaseFolder, work: WorkKind) -> AsyncIterator[None]:
    """Work while nobody uses the server of a folder; one that was pinned runs again afterwards, whatever came of it.

    Also when the work is cancelled, or was killed once and is done again now: a note in the folder tells until the end.

    Raises:
        ServerUnavailableError: Others use the server.
    """
    before = await status(folder.path)
    refuse_others(folder, before.users)
    left = unfinished(folder)
    is_pinned = before.pinned or (left is not None and left.pinned)
    if folder.path.exists():
        note_work(folder, Unfinished(work=work, pinned=is_pinned, process=None if left is None else left.process))
    try:
        yield
    finally:
        if is_pinned:
            await seen_through(up(folder.path))
        forget_work(folder)
