"""Compaction of the local server: everything is carried into a fresh store, so that no file holds what was erased.

Neo4j keeps the bytes of what it deleted in its store files, its transaction log and its indexes.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.namespaces import namespaces_of
from remembrancer.lifecycle.transfer_export import export_to
from remembrancer.lifecycle.transfer_import import header_of, import_from
from remembrancer.records import RemembranceError, ServerUnavailableError
from remembrancer.server import LocalServer, status
from remembrancer.server.exclusive import exclusive
from remembrancer.server.folder import DatabaseFolder
from remembrancer.server.local import stop_server
from remembrancer.server.replacing import fresh_folder, replace_store, settle, size_of, wait_until_free
from remembrancer.server.resting import left_alone, refuse_others, require_database
from remembrancer.server.unbroken import seen_through

logger = logging.getLogger(__name__)

Step = Callable[[str], None]
"""Told what is being done, in words."""


class Compaction(BaseModel):
    """What a compaction did.

    Attributes:
        path: The database folder.
        namespaces: The namespaces that were carried over.
        lines: Lines of their exports, which are equal before and after.
        bytes_before: Bytes of the old store.
        bytes_after: Bytes of the new one.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    namespaces: tuple[str, ...]
    lines: int
    bytes_before: int
    bytes_after: int


async def compact(path: str | os.PathLike[str], *, step: Step | None = None) -> Compaction:
    """Make the store of a local server anew, from an export of all its namespaces, so that erased bytes are gone.

    Nobody else may use the server; who opens the folder meanwhile waits. Each namespace is exported again from the new
    store and compared with its first export before the new store takes the old one's place. Killed at any moment, the
    folder has the old store or the new one, whole. A server that was pinned runs again afterwards. Needs room for a
    second store and for the exports. Logs are removed too. What is in backups, exports and snapshots stays there.

    Args:
        path: The database folder.
        step: Told what is being done.

    Raises:
        ServerUnavailableError: Others use the server, or it could not be started.
        InvalidInputError: There is no database; or it also holds nodes that are of no memory; they would be lost.
        RemembranceError: An export from the new store differs; the old store was kept.
    """
    folder = DatabaseFolder.at(path)
    told = step if step is not None else logger.info
    require_database(folder)
    async with left_alone(folder, "compaction"):
        folder.prepare()
        async with exclusive(folder.start_lock):
            try:
                return await _compacted(folder, told)
            except BaseException:
                await _take_back(folder)
                raise


async def _compacted(folder: DatabaseFolder, told: Step) -> Compaction:
    async with LocalServer.open(folder.path, linger=0.0).under_lock() as server:
        refuse_others(folder, (await status(folder.path)).users - 1)
        new = await seen_through(asyncio.to_thread(fresh_folder, folder))
        exports = folder.path / "compact" / "export"
        await asyncio.to_thread(exports.mkdir, mode=0o700)
        async with _database(server) as database:
            names = tuple(await namespaces_of(database))
            for number, name in enumerate(names):
                told(f"exporting namespace {number + 1} of {len(names)}")
                await _export(database, name, exports / f"{number}.jsonl")
    await _stop(folder)
    told("making the new store")
    async with LocalServer.open(new.path, linger=0.0) as server, _database(server) as database:
        lines = 0
        for number, name in enumerate(names):
            told(f"importing namespace {number + 1} of {len(names)}")
            lines += await _carry(database, name, exports / f"{number}.jsonl")
    await _stop(new)
    bytes_before, bytes_after = size_of(folder.path / "data"), size_of(new.path / "data")
    told("putting the new store in place of the old one")
    await seen_through(asyncio.to_thread(replace_store, folder))
    return Compaction(
        path=str(folder.path), namespaces=names, lines=lines, bytes_before=bytes_before, bytes_after=bytes_after
    )


def _database(server: LocalServer) -> AbstractAsyncContextManager[Database]:
    return Database.open(server.bolt_uri, auth=(server.username, server.password), name="neo4j")


async def _export(database: Database, namespace: str, file: Path) -> str:
    async with Neo4jStore.open(database=database, namespace=namespace) as store:
        return (await export_to(store, file)).sha256


async def _carry(database: Database, namespace: str, file: Path) -> int:
    async with Neo4jStore.open(database=database, namespace=namespace, space=header_of(file).space) as store:
        report = await import_from(store, file)
    again = file.with_suffix(".again")
    if await _export(database, namespace, again) != report.sha256:
        raise RemembranceError(f"namespace {namespace!r} is not the same in the new store; the old store was kept")
    for done in (file, again):
        await asyncio.to_thread(done.unlink)
    return sum(report.counts.values())


async def _stop(folder: DatabaseFolder) -> None:
    await stop_server(folder)
    await asyncio.to_thread(wait_until_free, folder)


async def _take_back(folder: DatabaseFolder) -> None:
    """Remove what a compaction that failed or was cancelled has made: it holds the texts of all namespaces."""
    try:
        await seen_through(asyncio.to_thread(settle, folder))
    except (OSError, ServerUnavailableError) as error:  # what made it fail is told; the next open does this again
        logger.warning("what a compaction of %s made could not be removed: %s", folder.path, error)
