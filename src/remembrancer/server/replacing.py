"""Putting a new store in the place of a folder's, so that a kill at any moment leaves the old one or the new one whole.

The new store is made in `compact/new`, a database folder of its own. While there is no `compact/ready`, the old one
counts, and what is in `compact` is removed before the next start. From `ready` on the new one counts, and what is left
of the change is finished before the next start. So the one step that decides is the making of an empty file.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from pathlib import Path
from typing import Final

from remembrancer.records.errors import ServerUnavailableError
from remembrancer.server.exclusive import is_held
from remembrancer.server.folder import DatabaseFolder, password_record, write_private

END_SECONDS: Final = 60.0


def fresh_folder(folder: DatabaseFolder) -> DatabaseFolder:
    """Make the folder for a new store beside the old one, with the same password. Call it under the start lock."""
    settle(folder)
    made = DatabaseFolder.at(folder.path / "compact" / "new")
    made.prepare()
    credentials = folder.known_credentials()
    initial = made.path / "data" / "dbms" / "auth.ini"
    initial.parent.mkdir(parents=True, mode=0o700)
    write_private(initial, password_record(credentials, secrets.token_bytes(32)))
    write_private(made.path / "credentials.json", credentials.model_dump_json())
    return made


def replace_store(folder: DatabaseFolder) -> None:
    """Let the new store be the folder's; no server may run on either. Call it under the start lock."""
    ready = folder.path / "compact" / "ready"
    with ready.open("wb") as file:
        os.fsync(file.fileno())
    _sync(ready.parent)
    settle(folder)


def settle(folder: DatabaseFolder) -> None:
    """Finish or take back what a killed process left of a change; nothing when there is none.

    Call it under the start lock, while no server runs on the folder. Blocks.

    Raises:
        ServerUnavailableError: The server of the unfinished store does not end, or the files were meddled with.
    """
    work = folder.path / "compact"
    if not work.exists():
        return
    wait_until_free(DatabaseFolder.at(work / "new"))
    if not (work / "ready").exists():
        shutil.rmtree(work)
        return
    new, old, data = work / "new" / "data", work / "old", folder.path / "data"
    if new.exists():
        if data.exists():
            if old.exists():
                raise ServerUnavailableError(
                    f"{folder.path} has a store that was made while another took its place: keep {new} as data, or "
                    f"{data} and remove {work}",
                    address=str(folder.path),
                )
            data.rename(old)
        new.rename(data)
        _sync(folder.path)
    for left in (folder.path / "logs").iterdir():  # they may quote what was stored
        left.unlink(missing_ok=True)
    for left in (old, work / "new", work / "export"):
        shutil.rmtree(left, ignore_errors=True)
    (work / "ready").unlink()
    work.rmdir()


def wait_until_free(folder: DatabaseFolder) -> None:
    """Wait until no supervisor has the folder. Blocks, a minute at most.

    Raises:
        ServerUnavailableError: One still has it then.
    """
    if not folder.path.exists():
        return
    deadline = time.monotonic() + END_SECONDS
    while is_held(folder.supervisor_lock):
        if time.monotonic() > deadline:
            raise ServerUnavailableError(f"the server of {folder.path} does not end", address=str(folder.path))
        time.sleep(0.1)


def size_of(path: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _sync(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
