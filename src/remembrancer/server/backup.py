"""Backups of a local server: its whole database in one file, checked before it gets its name, and back.

Neo4j Community copies a database only while it is stopped (`dump`), so a server that runs is stopped for it. The file
is a tar of `backup.json` and `neo4j.dump`. It holds no password: a restored folder has one of its own.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import glob
import hashlib
import os
import shutil
import tarfile
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from remembrancer._version import __version__
from remembrancer.records.base import translated
from remembrancer.records.errors import InvalidInputError, ServerUnavailableError
from remembrancer.records.file import chunks, require_absolute_path, require_content
from remembrancer.records.json_text import read_json
from remembrancer.server.administration import Administration, HaltedError
from remembrancer.server.artifact import NEO4J_VERSION
from remembrancer.server.exclusive import exclusive
from remembrancer.server.folder import DatabaseFolder, version_numbers, write_private
from remembrancer.server.local import stop_server
from remembrancer.server.replacing import fresh_folder, replace_store, settle, wait_until_free
from remembrancer.server.resting import left_alone, require_database
from remembrancer.server.unbroken import seen_through
from remembrancer.server.unfinished import WorkKind, end_left_process

FORMAT: Final = 1
DUMP: Final = "neo4j.dump"
MANIFEST: Final = "backup.json"
_CHUNK: Final = 1 << 20
_MAKERS: Final = {"remembrancer": "remembrancer", "neo4j": "Neo4j"}  # by the fields of a manifest


class Backup(BaseModel):
    """What `backup.json` says of a backup.

    Attributes:
        remembrancer_backup: The version of this form, 1.
        made_at: When, UTC.
        neo4j: The version of Neo4j that made the dump; the same or a later one reads it.
        remembrancer: The version of this library.
        bytes: Size of the dump.
        sha256: Of the dump.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    remembrancer_backup: int
    made_at: dt.datetime
    neo4j: str
    remembrancer: str
    bytes: int
    sha256: str


async def backup(path: str | os.PathLike[str], file: str | os.PathLike[str], *, force: bool = False) -> Backup:
    """Write the whole database of a local server, all namespaces, to one file; checked before the file gets its name.

    A server that runs is stopped for it, and runs again afterwards when it was pinned. Who opens the folder meanwhile
    waits. For the check the dump is loaded beside the file, which needs room for a second store.

    Args:
        path: The database folder.
        file: The file to write.
        force: Replace a file that is there.

    Raises:
        InvalidInputError: There is no database, or the file exists, has no folder or lies in that of the database.
        ServerUnavailableError: Others use the server, or the file cannot be written; says what to do.
        RemembranceError: The dump or its check failed.
    """
    folder, target = DatabaseFolder.at(path), require_absolute_path(file, field="file")
    require_database(folder)
    if target.is_dir():
        raise InvalidInputError("file", f"{target} is a folder; name a file")
    if not target.parent.is_dir():
        raise InvalidInputError("file", f"there is no folder {target.parent}")
    if target.parent.resolve().is_relative_to(folder.path.resolve()):
        raise InvalidInputError("file", f"{target} lies in the database's own folder, with which it would be lost")
    if target.exists() and not force:
        raise InvalidInputError("file", f"{target} exists already; `force` (`--force`) replaces it")
    tools = await Administration.of(folder)
    async with _at_rest(folder, "backup"):
        return await seen_through(asyncio.to_thread(_dump, folder, target, tools), halt=tools.halt)


async def restore_backup(file: str | os.PathLike[str], path: str | os.PathLike[str], *, force: bool = False) -> Backup:
    """Make the database of a folder from a backup; it is checked before it takes its place, in one step.

    Killed at any moment, the folder has what it had before, or all of the backup. A file that is damaged is refused
    before anything is made; a folder that was made for a restore that fails goes again.

    Args:
        file: The backup.
        path: The database folder; made when it does not exist.
        force: Replace the database that the folder has.

    Raises:
        InvalidInputError: The file is no backup, damaged or of a later Neo4j; or the folder has a database already, or
            holds something else.
        ServerUnavailableError: Others use the server of the folder, or the folder cannot be written.
        RemembranceError: The dump could not be loaded, or its check failed. The folder is as it was.
    """
    folder, source = DatabaseFolder.at(path), require_absolute_path(file, field="file")
    made = await asyncio.to_thread(read_manifest, source)
    if folder.has_database and not force:
        raise InvalidInputError("path", f"{folder.path} has a database already; `force` (`--force`) replaces it")
    folder.check_free()
    halted = threading.Event()
    await seen_through(asyncio.to_thread(_examine, source, made, halted), halt=halted.set)
    tools = await Administration.of(folder)
    with _unmade_by_failure(folder):
        folder.prepare()
        async with _at_rest(folder, "restore"):
            folder.credentials()
            await seen_through(asyncio.to_thread(_load, folder, source, made, tools), halt=tools.halt)
    return made


@contextmanager
def _unmade_by_failure(folder: DatabaseFolder) -> Iterator[None]:
    """A block after whose failure a folder that was empty, or none, is so again."""
    had = folder.path.exists()
    if had and any(folder.path.iterdir()):
        yield  # what does not succeed is taken back by `settle`
        return
    missing = [] if had else [one for one in (folder.path, *folder.path.parents) if not one.exists()]
    try:
        yield
    except BaseException:
        if not folder.has_database:
            for left in folder.path.iterdir() if folder.path.exists() else ():
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
            with suppress(OSError):  # somebody else has put something there
                for one in missing:
                    one.rmdir()
        raise


def read_manifest(file: Path) -> Backup:
    """What a backup says of itself.

    Raises:
        InvalidInputError: It is none, or one of a later version.
    """
    try:
        with file.open("rb") as content:
            require_content(chunks(content), name=file, field="file")
        with tarfile.open(file, "r:") as tar:
            first = tar.next()
            is_manifest = first is not None and first.name == MANIFEST and first.isreg()  # links may lead in a ring
            manifest = tar.extractfile(first) if first is not None and is_manifest else None
            if manifest is None:
                raise InvalidInputError("file", f"{file} is no backup: it does not begin with {MANIFEST}")
            raw = manifest.read(_CHUNK)
    except OSError as error:
        raise InvalidInputError("file", f"{file} cannot be read: {error.strerror or error}") from error
    except InvalidInputError:
        raise
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise InvalidInputError("file", f"{file} is no backup, which is a tar archive, or damaged: {error}") from error
    return _said_by(raw, file)


def _said_by(raw: bytes, file: Path) -> Backup:
    """What a manifest says; one of a later form may say other things, and only its version counts."""
    try:
        document = read_json(raw.decode())
    except ValueError as error:
        raise InvalidInputError("file", f"{file} is no backup, or damaged: its {MANIFEST} is no JSON") from error
    form = document.get("remembrancer_backup") if isinstance(document, dict) else None
    if not isinstance(form, int):
        raise InvalidInputError("file", f"{file} is no backup: its {MANIFEST} has no number as remembrancer_backup")
    makers = [f"{name} {document[key]}" for key, name in _MAKERS.items() if key in document]
    maker = " with ".join(makers) or f"something that writes form {form}"
    try:
        made = Backup.model_validate(document) if form == FORMAT else None
        is_later = made is None or version_numbers(made.neo4j) > version_numbers(NEO4J_VERSION)
    except ValidationError as error:
        wrong = translated(error)
        problem = f"{file} is damaged: {wrong.field} in its {MANIFEST}: {wrong.problem}"
        raise InvalidInputError("file", problem) from error
    except ValueError as error:
        raise InvalidInputError("file", f"{file} is damaged: neo4j in its {MANIFEST} is no version") from error
    if made is None or is_later:
        problem = f"{file} was made by {maker}, which this version cannot read: install that one, or a later one"
        raise InvalidInputError("file", problem)
    return made


@asynccontextmanager
async def _at_rest(folder: DatabaseFolder, work: WorkKind) -> AsyncIterator[None]:
    """Keep the server of a folder stopped."""
    async with left_alone(folder, work):
        await stop_server(folder)
        async with exclusive(folder.start_lock):
            await seen_through(asyncio.to_thread(_rest, folder))
            yield


def _rest(folder: DatabaseFolder) -> None:
    wait_until_free(folder)
    end_left_process(folder)
    settle(folder)


def _dump(folder: DatabaseFolder, target: Path, tools: Administration) -> Backup:
    try:
        prefix = f".backup-{target.name}-"
        for left in target.parent.glob(f"{glob.escape(prefix)}*"):
            shutil.rmtree(left, ignore_errors=True)  # of a backup into this file that was killed
        scratch = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
        try:
            tools.run(folder.path, "database", "dump", "neo4j", f"--to-path={scratch}")
            _check(scratch / "check", scratch, tools)
            dump = scratch / DUMP
            with dump.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            made = Backup(
                remembrancer_backup=FORMAT,
                made_at=dt.datetime.now(dt.UTC),
                neo4j=NEO4J_VERSION,
                remembrancer=__version__,
                bytes=dump.stat().st_size,
                sha256=digest,
            )
            write_private(scratch / MANIFEST, made.model_dump_json(indent=1))
            part = scratch / "backup.tar"
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                with tarfile.open(fileobj=file, mode="w") as tar:
                    for name in (MANIFEST, DUMP):
                        tar.add(scratch / name, name)
                file.flush()
                os.fsync(file.fileno())
            tools.check()
            os.replace(part, target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise ServerUnavailableError(f"no backup could be written to {target}: {error}", address=str(target)) from error
    return made


def _load(folder: DatabaseFolder, source: Path, made: Backup, tools: Administration) -> None:
    try:
        new = fresh_folder(folder)
        dumps = folder.path / "compact" / "export"
        dumps.mkdir(mode=0o700)
        try:
            _unpack(source, made, dumps / DUMP, tools)
            _check(new.path, dumps, tools)
            tools.check()
            replace_store(folder)
        except BaseException:
            settle(folder)
            raise
        folder.note_version(made.neo4j)
    except OSError as error:
        raise ServerUnavailableError(
            f"the backup could not be loaded into {folder.path}: {error}", address=str(folder.path)
        ) from error


def _examine(source: Path, made: Backup, halted: threading.Event) -> None:
    """See that the dump is the one that was made, without keeping it."""

    def check() -> None:
        if halted.is_set():
            raise HaltedError

    try:
        for _ in _dumped(source, made, check):
            pass
    except OSError as error:
        raise InvalidInputError("file", f"{source} cannot be read: {error.strerror or error}") from error


def _unpack(source: Path, made: Backup, dump: Path, tools: Administration) -> None:
    with dump.open("wb") as file:
        for chunk in _dumped(source, made, tools.check):
            file.write(chunk)


def _dumped(source: Path, made: Backup, check: Callable[[], None]) -> Iterator[bytes]:
    """The dump in a backup, piece by piece; between two of them `check` may end it.

    Raises:
        InvalidInputError: At its end at the latest: it is not the one that was made.
    """
    digest, size = hashlib.sha256(), 0
    try:
        with tarfile.open(source, "r:") as tar:
            if DUMP not in tar.getnames():
                raise InvalidInputError("file", f"{source} is damaged: there is no {DUMP} in it")
            member = tar.getmember(DUMP)
            content = tar.extractfile(member) if member.isreg() else None
            while content is not None and (chunk := content.read(_CHUNK)):
                check()
                digest.update(chunk)
                size += len(chunk)
                yield chunk
    except InvalidInputError:
        raise
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise InvalidInputError("file", f"{source} is damaged: {error}") from error
    if (size, digest.hexdigest()) != (made.bytes, made.sha256):
        raise InvalidInputError("file", f"{source} is damaged: the dump in it is not the one that was made")


def _check(home: Path, dumps: Path, tools: Administration) -> None:
    """Load a dump into a home folder, and have Neo4j check the store that comes of it."""
    tools.run(home, "database", "load", "neo4j", f"--from-path={dumps}")
    tools.run(home, "database", "check", "neo4j", f"--report-path={home}")
