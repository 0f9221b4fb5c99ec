"""The start-up archive: what it belongs to, how many are kept, and a start whose archive is damaged."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from remembrancer.records.errors import InvalidInputError
from remembrancer.server import Distribution, LocalServer, find_java, install, make_archive, remove_archives
from remembrancer.server.archive import StartArchive, archive_choice, archives_folder, is_due, sweep
from remembrancer.server.folder import DatabaseFolder
from remembrancer.server.training import class_path

OPTIONS = ("-XX:TieredStopAtLevel=1", "-Dremembrancer.test=archive")


@pytest.fixture
def distribution(tmp_path: Path) -> Distribution:
    jars = tmp_path / "jars"
    jars.mkdir()
    for name in ("a.jar", "b.jar"):
        (jars / name).write_bytes(b"jar")
    archives = archives_folder(Distribution(tmp_path, (), jars / "b.jar"))
    archives.mkdir()
    return Distribution(tmp_path, (jars / "a.jar", jars / "b.jar"), jars / "b.jar")


def archive_of(distribution: Distribution, *options: str) -> StartArchive:
    return StartArchive.of(distribution, find_java(), distribution.jars, options)


def test_an_archive_belongs_to_its_jars_and_options(distribution: Distribution) -> None:
    first = archive_of(distribution)
    assert archive_of(distribution) == first
    assert archive_of(distribution, "-Xss2m") != first
    os.utime(distribution.jars[0], (1, 1))
    assert archive_of(distribution) != first


def test_an_archive_that_is_not_there_changes_nothing(distribution: Distribution) -> None:
    archive = archive_of(distribution)
    assert archive.java_arguments() == []
    archive.file.write_bytes(b"")
    assert archive.java_arguments() == [f"-XX:AOTCache={archive.file}", "-XX:+VerifySharedSpaces"]


def test_a_making_that_failed_is_not_tried_again_the_same_day(distribution: Distribution) -> None:
    archive = archive_of(distribution)
    assert is_due(archive)
    archive.failed.write_bytes(b"")
    assert not is_due(archive)
    os.utime(archive.failed, (1, 1))
    assert is_due(archive)


def test_the_least_lately_used_archives_go_first(distribution: Distribution) -> None:
    folder = archives_folder(distribution)
    for age in range(5):
        (folder / f"{age}.aot").write_bytes(b"")
        os.utime(folder / f"{age}.aot", (1_000 - age, 1_000 - age))
    assert remove_archives(distribution, keep=3) == 2
    assert sorted(file.name for file in folder.iterdir()) == ["0.aot", "1.aot", "2.aot"]
    assert remove_archives(distribution) == 3


def test_what_a_killed_making_left_is_swept(distribution: Distribution) -> None:
    folder = archives_folder(distribution)
    (folder / "training-x").mkdir()
    (folder / "one.part12").write_bytes(b"")
    (folder / "one.aot").write_bytes(b"")
    sweep(folder)
    assert [file.name for file in folder.iterdir()] == ["one.aot"]


def test_a_choice_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_START_ARCHIVE", "maybe")
    with pytest.raises(InvalidInputError, match="one of auto, use, off"):
        archive_choice()


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.timeout(600)
async def test_an_archive_is_made_once_used_and_thrown_away_when_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several facts about one archive, since making one is slow."""
    monkeypatch.setenv("REMEMBRANCER_START_ARCHIVE", "use")
    program = (
        "import asyncio, sys; from remembrancer.server import make_archive; "
        f"print(asyncio.run(make_archive(options={OPTIONS!r})))"
    )
    racing = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
        for _ in range(2)
    ]
    made = {(await process.communicate())[0].decode().strip() for process in racing}
    distribution = await install()
    archive = StartArchive.of(distribution, find_java(), class_path(distribution), OPTIONS)
    try:
        assert made == {str(archive.file)}
        assert await make_archive(options=OPTIONS) == archive.file
        assert not list(archive.file.parent.glob("*.part*"))

        folder = DatabaseFolder.at(tmp_path / "memory")
        async with LocalServer.open(folder.path, linger=0.0, jvm_options=OPTIONS):
            assert str(archive.file) in folder.java_arguments.read_text()
            assert archive.file.exists(), "Java took it"
            assert b"[error" not in folder.console.read_bytes()
        with archive.file.open("r+b") as file:
            file.seek(archive.file.stat().st_size // 2)
            file.write(os.urandom(1 << 20))
        async with LocalServer.open(folder.path, linger=0.0, jvm_options=OPTIONS):
            assert not archive.file.exists(), "it was refused, so the server started without it, and it is gone"
    finally:
        archive.file.unlink(missing_ok=True)
        archive.failed.unlink(missing_ok=True)
