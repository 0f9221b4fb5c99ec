"""Fetching Neo4j's jars, with two small ones instead of two hundred."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import stamina

from remembrancer.records.errors import InvalidInputError, ServerUnavailableError
from remembrancer.server import cache_folder, install
from remembrancer.server.artifact import Lock, parse_lock, shipped_lock
from remembrancer.server.distribution import repository_address

CONTENT = {"neo4j-browser-5.jar": b"a browser" * 20_000, "kernel-1-linux.jar": b"a kernel" * 30_000}
LOCK = parse_lock(
    "".join(
        f"{hashlib.sha256(CONTENT[name]).hexdigest()} {len(CONTENT[name])} {coordinates}\n"
        for name, coordinates in (
            ("neo4j-browser-5.jar", "a.b:neo4j-browser:5"),
            ("kernel-1-linux.jar", "a:kernel:1:linux"),
        )
    )
)

Answer = Callable[[httpx.Request], httpx.Response]


class Repository:
    """A Maven repository that answers as it is told, or properly; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.instead: list[Answer] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        name = request.url.path.rpartition("/")[2]
        if self.instead and name == "kernel-1-linux.jar":
            return self.instead.pop(0)(request)
        return httpx.Response(200, stream=Pieces(CONTENT[name]))


class Pieces(httpx.SyncByteStream):
    """A body that arrives in pieces, and may break off."""

    def __init__(self, *pieces: bytes, error: Exception | None = None) -> None:
        self._pieces = pieces
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        if self._error is not None:
            raise self._error


@pytest.fixture
def repository() -> Repository:
    return Repository()


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=4, cap=True):
        yield


async def fetch(cache: Path, repository: Repository, *, lock: Lock = LOCK, **options: object) -> Path:
    transport = httpx.MockTransport(repository)
    distribution = await install(
        cache=cache,
        lock=lock,
        base_url="http://mirror.test/maven",
        transport=transport,
        **options,  # type: ignore[arg-type]
    )
    return distribution.folder


def names(folder: Path, pattern: str) -> list[str]:
    return [path.name for path in folder.rglob(pattern)]


def answers(status: int) -> Answer:
    return lambda _: httpx.Response(status)


async def test_every_jar_is_fetched_from_its_place_below_the_base_address(
    tmp_path: Path, repository: Repository
) -> None:
    folder = await fetch(tmp_path, repository)
    assert {path.name: path.read_bytes() for path in (folder / "jars").iterdir()} == CONTENT
    assert sorted(repository.asked) == [
        "/maven/a/b/neo4j-browser/5/neo4j-browser-5.jar",
        "/maven/a/kernel/1/kernel-1-linux.jar",
    ]


async def test_a_complete_installation_asks_nobody(tmp_path: Path, repository: Repository) -> None:
    await fetch(tmp_path, repository)
    repository.asked.clear()
    await fetch(tmp_path, repository)
    assert repository.asked == []


async def test_a_jar_that_went_missing_is_fetched_again_alone(tmp_path: Path, repository: Repository) -> None:
    folder = await fetch(tmp_path, repository)
    (folder / "jars" / "kernel-1-linux.jar").unlink()
    repository.asked.clear()
    await fetch(tmp_path, repository)
    assert repository.asked == ["/maven/a/kernel/1/kernel-1-linux.jar"]


async def test_progress_ends_at_the_total(tmp_path: Path, repository: Repository) -> None:
    told: list[tuple[int, int]] = []
    await fetch(tmp_path, repository, progress=lambda done, total: told.append((done, total)))
    await asyncio.sleep(0)
    assert max(told) == (LOCK.total_size, LOCK.total_size)


async def test_other_content_than_the_locked_is_refused_and_thrown_away(tmp_path: Path, repository: Repository) -> None:
    forged = b"x" * len(CONTENT["kernel-1-linux.jar"])
    repository.instead = [lambda _: httpx.Response(200, stream=Pieces(forged))]
    with pytest.raises(
        ServerUnavailableError, match=r"another kernel-1-linux\.jar than the one whose checksum is locked"
    ):
        await fetch(tmp_path, repository)
    assert not names(tmp_path, "kernel*")
    assert not names(tmp_path, "complete")


async def test_more_bytes_than_locked_are_refused(tmp_path: Path, repository: Repository) -> None:
    longer = CONTENT["kernel-1-linux.jar"] + b"x"
    repository.instead = [lambda _: httpx.Response(200, stream=Pieces(longer))]
    with pytest.raises(ServerUnavailableError, match="checksum"):
        await fetch(tmp_path, repository)


async def test_a_missing_jar_is_not_asked_for_twice(tmp_path: Path, repository: Repository) -> None:
    repository.instead = [answers(404)] * 2
    with pytest.raises(ServerUnavailableError, match=r"mirror\.test answered 404 for kernel-1-linux\.jar") as caught:
        await fetch(tmp_path, repository)
    assert caught.value.address == "http://mirror.test/maven/a/kernel/1/kernel-1-linux.jar"
    assert len(repository.instead) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_in_trouble_is_asked_again(tmp_path: Path, repository: Repository, status: int) -> None:
    repository.instead = [answers(status)] * 3
    folder = await fetch(tmp_path, repository)
    assert (folder / "complete").exists()


async def test_a_server_in_lasting_trouble_is_given_up(tmp_path: Path, repository: Repository) -> None:
    repository.instead = [answers(503)] * 9
    with pytest.raises(ServerUnavailableError, match="answered 503"):
        await fetch(tmp_path, repository)
    assert len(repository.instead) == 5


@pytest.mark.parametrize("error", [None, httpx.ReadError("reset")])
async def test_a_download_that_breaks_off_is_tried_again(
    tmp_path: Path, repository: Repository, error: Exception | None
) -> None:
    torn = Pieces(CONTENT["kernel-1-linux.jar"][:100_000], error=error)
    repository.instead = [lambda _: httpx.Response(200, stream=torn)]
    told: list[int] = []
    await fetch(tmp_path, repository, progress=lambda done, _: told.append(done))
    await asyncio.sleep(0)
    assert max(told) == LOCK.total_size  # what broke off is not counted twice
    assert not names(tmp_path, "*.part")


async def test_without_a_network_the_error_names_the_address_and_the_cache(
    tmp_path: Path, repository: Repository
) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route to host", request=request)

    repository.instead = [refuse] * 9
    with pytest.raises(
        ServerUnavailableError, match=r"mirror\.test.*no route to host.*REMEMBRANCER_MAVEN_URL"
    ) as caught:
        await fetch(tmp_path, repository)
    assert str(tmp_path) in str(caught.value)
    assert caught.value.address == "http://mirror.test/maven/"


async def test_what_arrived_before_a_failure_is_kept(tmp_path: Path, repository: Repository) -> None:
    repository.instead = [answers(404)]
    with pytest.raises(ServerUnavailableError):
        await fetch(tmp_path, repository)
    kept = names(tmp_path, "*.jar")
    repository.asked.clear()
    await fetch(tmp_path, repository)
    assert len(repository.asked) == 2 - len(kept)


async def test_installs_at_the_same_time_fetch_once(tmp_path: Path, repository: Repository) -> None:
    await asyncio.gather(*(fetch(tmp_path, repository) for _ in range(4)))
    assert len(repository.asked) == 2


async def test_an_install_can_be_cancelled(tmp_path: Path, repository: Repository) -> None:
    begun = threading.Event()

    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            begun.set()
            while True:
                time.sleep(0.001)
                yield b"x"

    repository.instead = [lambda _: httpx.Response(200, stream=Endless())]
    fetching = asyncio.ensure_future(fetch(tmp_path, repository))
    await asyncio.to_thread(begun.wait, 10)
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    assert not names(tmp_path, "complete")


async def test_a_cache_folder_that_cannot_be_written_is_named(tmp_path: Path, repository: Repository) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ServerUnavailableError, match="REMEMBRANCER_CACHE_DIR") as caught:
        await fetch(tmp_path / "file", repository)
    assert str(tmp_path / "file") in str(caught.value)


def test_the_cache_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_CACHE_DIR", str(tmp_path))
    assert cache_folder() == tmp_path


def test_the_repository_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REMEMBRANCER_MAVEN_URL", raising=False)
    assert repository_address().startswith("https://")
    monkeypatch.setenv("REMEMBRANCER_MAVEN_URL", "http://mirror.test/maven")
    assert repository_address() == "http://mirror.test/maven"


def test_a_repository_that_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_MAVEN_URL", "/srv/maven")
    with pytest.raises(InvalidInputError) as caught:
        repository_address()
    assert caught.value.field == "REMEMBRANCER_MAVEN_URL"


def test_the_shipped_lock_names_each_jar_once_with_a_full_checksum() -> None:
    lock = shipped_lock()
    names = [artifact.file_name for artifact in lock.artifacts]
    assert len(set(names)) == len(names) > 150
    assert all(len(artifact.sha256) == 64 and artifact.size > 0 for artifact in lock.artifacts)
    assert "neo4j-browser-5.24.0.jar" in names
    assert "netty-transport-native-epoll-4.2.17.Final-linux-x86_64.jar" in names
