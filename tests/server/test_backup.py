"""A backup holds everything, is checked, overwrites nothing by itself, and comes back as it was."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from remembrancer import Memory
from remembrancer.records import InvalidInputError, RecordBatch, RemembranceError, ServerUnavailableError
from remembrancer.server import Backup, LocalServer, backup, restore_backup, status
from remembrancer.server.administration import Administration
from remembrancer.server.backup import read_manifest
from remembrancer.testing.samples import entity, episode, fact, message

QUICK = ("-XX:TieredStopAtLevel=1",)


def archive(file: Path, name: str, content: bytes) -> Path:
    with tarfile.open(file, "w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return file


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("else.json", b"{}", "does not begin with backup.json"),
        ("backup.json", b"{}", "backup.json has no number as remembrancer_backup$"),
        ("backup.json", b"\xff\xfe", "backup.json is no JSON$"),
        ("backup.json", b'{"remembrancer_backup": 1}', "damaged: made_at in its backup.json: field required$"),
        (
            "backup.json",
            b'{"remembrancer_backup": 2, "remembrancer": "9.0", "new": 1}',
            "made by remembrancer 9.0, ",
        ),
        (
            "backup.json",
            b'{"remembrancer_backup": 1, "made_at": "2026-01-01T00:00:00Z", "neo4j": "2999.01.0", '
            b'"remembrancer": "9.0", "bytes": 1, "sha256": ""}',
            "Neo4j 2999",
        ),
    ],
)
def test_what_is_no_backup_is_refused(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        read_manifest(archive(tmp_path / "file", name, content))


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"not a tar")
    for file in (tmp_path / "file", tmp_path / "nothing"):
        with pytest.raises(InvalidInputError, match="file"):
            read_manifest(file)


def backup_of(dump: bytes, file: Path, *, sha256: str | None = None) -> Path:
    """A backup as it should be, but for what is in it."""
    digest = hashlib.sha256(dump).hexdigest() if sha256 is None else sha256
    made = Backup(
        remembrancer_backup=1,
        made_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        neo4j="2026.01.0",
        remembrancer="1.0",
        bytes=len(dump),
        sha256=digest,
    )
    with tarfile.open(file, "w") as tar:
        for name, content in (("backup.json", made.model_dump_json().encode()), ("neo4j.dump", dump)):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return file


class Failing:
    """Tools of Neo4j that refuse every dump."""

    def halt(self) -> None: ...

    def check(self) -> None: ...

    def run(self, home: Path, *command: str) -> None:
        raise RemembranceError(f"{command[1]} of {home.name} failed")


def all_in(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*"))


@pytest.mark.parametrize(
    "damage", ["no file", "empty", "no tar", "another dump", "no dump", "cut off", "a link as the dump", "another size"]
)
async def test_a_backup_that_is_refused_leaves_no_folder(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "file"
    if damage == "another dump":
        backup_of(b"dump", file, sha256="0" * 64)
    elif damage == "no dump":
        archive(file, "backup.json", read_manifest(backup_of(b"", file)).model_dump_json().encode())
    elif damage == "cut off":
        file.write_bytes(backup_of(b"dump" * 9_000, file).read_bytes()[:20_000])
    elif damage == "a link as the dump":
        with tarfile.open(backup_of(b"dump", file), "a") as tar:
            entry = tarfile.TarInfo("neo4j.dump")  # the last of a name counts
            entry.type, entry.linkname = tarfile.SYMTYPE, str(file)
            tar.addfile(entry)
    elif damage == "another size":
        file.write_bytes(backup_of(b"dump", file).read_bytes().replace(b'"bytes":4', b'"bytes":5'))
    elif damage != "no file":
        file.write_bytes(b"" if damage == "empty" else b"not a tar")
    before = all_in(tmp_path)
    with pytest.raises(InvalidInputError, match=r"^file: "):
        await restore_backup(file, tmp_path / "new" / "memory")
    assert all_in(tmp_path) == before


@pytest.mark.parametrize("holds", ["a file of somebody", "a database", "nothing, it is a file"])
async def test_a_folder_that_is_taken_stays_as_it_is(tmp_path: Path, holds: str) -> None:
    file, path = backup_of(b"dump", tmp_path / "file"), tmp_path / "memory"
    if holds == "nothing, it is a file":
        path.touch()
    else:
        (path / "data" / "databases" if holds == "a database" else path / "mine").mkdir(parents=True)
    before = all_in(tmp_path)
    with pytest.raises(InvalidInputError, match=r"^path: "):
        await restore_backup(file, path)
    assert all_in(tmp_path) == before


@pytest.mark.parametrize("is_there", [False, True])
async def test_a_folder_made_for_a_restore_that_fails_goes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    async def failing(_: object) -> Failing:
        return Failing()

    monkeypatch.setattr(Administration, "of", failing)
    file, path = backup_of(b"dump", tmp_path / "file"), tmp_path / "new" / "memory"
    if is_there:
        path.mkdir(parents=True)
    before = all_in(tmp_path)
    with pytest.raises(RemembranceError, match="load of new failed"):
        await restore_backup(file, path)
    assert all_in(tmp_path) == before


async def test_a_backup_does_not_lie_in_the_folder_that_it_is_of(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    (path / "data" / "databases").mkdir(parents=True)
    (tmp_path / "link").symlink_to(path / "data")
    before = all_in(tmp_path)
    for file in (path / "file", tmp_path / "link" / "file"):
        with pytest.raises(InvalidInputError, match=r"^file: .* lies in the database's own folder"):
            await backup(path, file)
    assert all_in(tmp_path) == before


async def test_a_folder_without_a_database_has_no_backup(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no database"):
        await backup(tmp_path / "nothing", tmp_path / "file")


async def exported(path: Path, file: Path) -> bytes:
    async with (
        LocalServer.open(path, linger=0.0, jvm_options=QUICK) as server,
        Memory.connect(server.bolt_uri, auth=(server.username, server.password), namespace="a", warm=False) as memory,
    ):
        await memory.export_to(file)
    return await asyncio.to_thread(file.read_bytes)


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_backup_comes_back_as_it_was(tmp_path: Path) -> None:
    path, file = tmp_path / "memory", tmp_path / "memory.backup"
    async with LocalServer.open(path, linger=0.0, jvm_options=QUICK) as server:
        async with Memory.connect(
            server.bolt_uri, auth=(server.username, server.password), namespace="a", warm=False
        ) as memory:
            batch = RecordBatch(
                entities=[entity(1), entity(2)],
                episodes=[episode(1, messages=[message(1)], facts=[1])],
                facts=[fact(1, entities=[1], episodes=[1])],
            )
            await memory.store.write(batch)
        with pytest.raises(ServerUnavailableError, match="1 others use the server"):
            await backup(path, file)
    before = await exported(path, tmp_path / "before.jsonl")
    (tmp_path / ".backup-memory.backup-killed").mkdir()
    made = await backup(path, file)
    assert (made.bytes > 0, made) == (True, read_manifest(file))
    with pytest.raises(InvalidInputError, match="exists already"):
        await backup(path, file)
    assert sorted(await asyncio.to_thread(os.listdir, tmp_path)) == ["before.jsonl", "memory", "memory.backup"]

    fresh = tmp_path / "fresh"
    await restore_backup(file, fresh)
    assert not (await status(fresh)).running
    assert await exported(fresh, tmp_path / "after.jsonl") == before
    with pytest.raises(InvalidInputError, match="has a database already"):
        await restore_backup(file, fresh)

    content = bytearray(await asyncio.to_thread(file.read_bytes))
    content[len(content) // 2] ^= 1
    await asyncio.to_thread((tmp_path / "damaged").write_bytes, content)
    with pytest.raises(InvalidInputError, match="damaged"):
        await restore_backup(tmp_path / "damaged", fresh, force=True)
    assert await exported(fresh, tmp_path / "still.jsonl") == before
    await restore_backup(file, fresh, force=True)
    assert await exported(fresh, tmp_path / "again.jsonl") == before
