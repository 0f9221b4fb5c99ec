"""Neo4j's jars in the user's cache folder: fetched once, in parallel, each checked against the lock while it arrives.

Neo4j Community and Neo4j Browser are under the GPLv3. They are fetched to the user's machine and run as a process of
their own; this library contains none of their code and passes none of it on.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from remembrancer.records.errors import InvalidInputError, ServerUnavailableError
from remembrancer.records.file import require_absolute_path, require_path
from remembrancer.server.artifact import BROWSER_ARTIFACT, NEO4J_VERSION, Artifact, Lock, shipped_lock
from remembrancer.server.exclusive import exclusive_in_thread
from remembrancer.server.extra import missing_package

if TYPE_CHECKING:
    import httpx

logger = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Called with the bytes that are there and the bytes there will be."""

CACHE_VARIABLE: Final = "REMEMBRANCER_CACHE_DIR"
MAVEN_VARIABLE: Final = "REMEMBRANCER_MAVEN_URL"
CONNECTIONS: Final = 8  # 4 and 16 were as quick, 32 slower
TRIES: Final = 4


@dataclass(frozen=True, slots=True)
class Distribution:
    """Neo4j as it lies in the cache folder.

    Attributes:
        folder: Where it lies.
        jars: Every jar, sorted by file name.
        browser_jar: The one of them that holds Neo4j Browser.
    """

    folder: Path
    jars: tuple[Path, ...]
    browser_jar: Path


class _CancelledError(Exception):
    """The caller gave up, or another jar failed: the worker threads stop."""


def cache_folder() -> Path:
    """Where downloads are kept: `REMEMBRANCER_CACHE_DIR`, or the platform's cache folder for this user."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return require_absolute_path(chosen, field=CACHE_VARIABLE)
    try:
        import platformdirs
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    return Path(platformdirs.user_cache_dir("remembrancer"))


async def install(
    *,
    progress: Progress | None = None,
    cache: Path | None = None,
    lock: Lock | None = None,
    base_url: str | None = None,
    transport: httpx.BaseTransport | None = None,
) -> Distribution:
    """Make sure that Neo4j is in the cache folder, fetching what is missing. Several processes may call it at once.

    Args:
        progress: Called now and then on the event loop while jars are fetched; not at all when nothing is missing.
        cache: The cache folder. Left out: `cache_folder()`.
        lock: What belongs to the installation. Left out: the lock that is shipped.
        base_url: A Maven repository. Left out: `REMEMBRANCER_MAVEN_URL`, or Maven's central one.
        transport: An httpx transport instead of the network.

    Raises:
        ServerUnavailableError: The repository could not be reached, lacks a jar or sent another one than the lock
            names; or the cache folder is not writable. What was fetched so far stays, and is not fetched again.
        InvalidInputError: `REMEMBRANCER_MAVEN_URL` is not an http or https address, or `cache` no path.
    """
    loop = asyncio.get_running_loop()
    given_up = threading.Event()

    def report(done: int, total: int) -> None:
        if progress is not None:
            loop.call_soon_threadsafe(progress, done, total)

    root = require_path(cache, field="cache") if cache is not None else cache_folder()
    installation = _Installation(root, lock if lock is not None else shipped_lock(), report, given_up)
    work = loop.run_in_executor(None, installation.complete, base_url, transport)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        given_up.set()
        await asyncio.wait([work])
        work.exception()  # seen: nobody else will ask for it
        raise


class _Installation:
    """One try to have all jars of a lock in a folder. Runs on a worker thread."""

    def __init__(self, cache: Path, lock: Lock, report: Callable[[int, int], None], given_up: threading.Event) -> None:
        self.folder = cache / "neo4j" / NEO4J_VERSION
        self._lock = lock
        self._report = report
        self._given_up = given_up
        self._failed = threading.Event()
        self._arrived = 0
        self._counting = threading.Lock()

    def complete(self, base_url: str | None, transport: httpx.BaseTransport | None) -> Distribution:
        try:
            if not self._is_complete():
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                with exclusive_in_thread(self.folder / "install.lock", self._check_wanted):
                    if not self._is_complete():  # another process may have been quicker
                        self._fetch_missing(base_url, transport)
                        self._marker.write_text(self._lock.digest, encoding="utf-8")
        except OSError as error:
            raise ServerUnavailableError(
                f"cannot keep Neo4j's jars in {self.folder}: {error}; set {CACHE_VARIABLE} to a folder with "
                f"{self._lock.total_size // 1_000_000} MB to spare that you may write to",
                address=str(self.folder),
            ) from error
        jars = tuple(sorted(self._path(artifact) for artifact in self._lock.artifacts))
        browser = next(a for a in self._lock.artifacts if a.name == BROWSER_ARTIFACT)
        return Distribution(self.folder, jars, self._path(browser))

    @property
    def _marker(self) -> Path:
        return self.folder / "complete"

    def _path(self, artifact: Artifact) -> Path:
        return self.folder / "jars" / artifact.file_name

    def _is_complete(self) -> bool:
        # Hashing all jars again costs a second, so a finished installation is trusted, except for missing files.
        try:
            return self._marker.read_text(encoding="utf-8") == self._lock.digest and all(
                self._path(artifact).stat().st_size == artifact.size for artifact in self._lock.artifacts
            )
        except FileNotFoundError:
            return False

    def _check_wanted(self) -> None:
        if self._given_up.is_set() or self._failed.is_set():
            raise _CancelledError

    def _fetch_missing(self, base_url: str | None, transport: httpx.BaseTransport | None) -> None:
        (self.folder / "jars").mkdir(exist_ok=True)
        missing = [artifact for artifact in self._lock.artifacts if not self._is_intact(artifact)]
        if not missing:
            return
        self._arrived = self._lock.total_size - sum(artifact.size for artifact in missing)
        address = base_url or repository_address()
        logger.info("fetching %d jars of Neo4j %s into %s", len(missing), NEO4J_VERSION, self.folder)
        with _client(address, transport) as client, ThreadPoolExecutor(CONNECTIONS) as pool:
            # The largest first, so that no connection is left alone with a big one at the end.
            missing.sort(key=lambda artifact: -artifact.size)
            self._raise_first_failure([pool.submit(self._fetch, client, artifact) for artifact in missing])

    def _raise_first_failure(self, jobs: list[Future[None]]) -> None:
        finished, _ = wait(jobs, return_when=FIRST_EXCEPTION)
        failures = [error for job in finished if (error := job.exception()) is not None]
        if failures:
            self._failed.set()
            for job in jobs:
                job.cancel()
        # A worker that stopped because another one failed says nothing: the cause is the other one's error.
        for error in sorted(failures, key=lambda failure: isinstance(failure, _CancelledError)):
            raise error

    def _is_intact(self, artifact: Artifact) -> bool:
        path = self._path(artifact)
        if not path.is_file() or path.stat().st_size != artifact.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == artifact.sha256

    def _fetch(self, client: httpx.Client, artifact: Artifact) -> None:
        import httpx
        import stamina

        try:
            for attempt in stamina.retry_context(on=_worth_another_try, attempts=TRIES, wait_initial=0.2, wait_max=3.0):
                with attempt:
                    self._fetch_once(client, artifact)
        except httpx.HTTPStatusError as error:
            raise ServerUnavailableError(
                f"{error.request.url.host} answered {error.response.status_code} for {artifact.file_name}, which Neo4j "
                f"{NEO4J_VERSION} needs; set {MAVEN_VARIABLE} to a Maven repository that has it",
                address=str(error.request.url),
            ) from error
        except httpx.HTTPError as error:
            raise ServerUnavailableError(
                f"could not fetch {artifact.file_name} from {client.base_url.host} ({type(error).__name__}: {error}). "
                f"Neo4j's jars are fetched once, into {self.folder}: connect to a network, or set {MAVEN_VARIABLE} to "
                "a Maven repository within reach",
                address=str(client.base_url),
            ) from error

    def _fetch_once(self, client: httpx.Client, artifact: Artifact) -> None:
        import httpx

        part = self._path(artifact).with_suffix(".part")
        digest = hashlib.sha256()
        size = 0  # never more than the lock says is written or counted
        try:
            with client.stream("GET", artifact.url_path) as response, part.open("wb") as file:
                response.raise_for_status()
                for chunk in response.iter_raw():
                    self._check_wanted()
                    if size + len(chunk) > artifact.size:
                        raise self._refusal(artifact, response)
                    size += len(chunk)
                    digest.update(chunk)
                    file.write(chunk)
                    self._count(len(chunk))
            if size < artifact.size:
                raise httpx.RemoteProtocolError(f"the connection ended after {size} of {artifact.size} bytes")
            if digest.hexdigest() != artifact.sha256:
                raise self._refusal(artifact, response)
            os.replace(part, self._path(artifact))
        except BaseException:
            self._count(-size)
            part.unlink(missing_ok=True)
            raise

    def _refusal(self, artifact: Artifact, response: httpx.Response) -> ServerUnavailableError:
        return ServerUnavailableError(
            f"{response.url.host} sent another {artifact.file_name} than the one whose checksum is locked; "
            "it was thrown away",
            address=str(response.url),
        )

    def _count(self, size: int) -> None:
        with self._counting:
            self._arrived += size
            self._report(self._arrived, self._lock.total_size)


def repository_address() -> str:
    """The Maven repository to fetch from: `REMEMBRANCER_MAVEN_URL`, or the central one that `jgo` knows."""
    chosen = os.environ.get(MAVEN_VARIABLE)
    if chosen is None:
        try:
            import jgo
        except ModuleNotFoundError as error:
            raise missing_package(error) from error
        return str(jgo.MAVEN_CENTRAL_URL)  # type: ignore[attr-defined]  # exported by its __all__-less __init__
    if not chosen.startswith(("http://", "https://")):
        raise InvalidInputError(MAVEN_VARIABLE, f"must be an http or https address, got {chosen!r}")
    return chosen


@contextmanager
def _client(address: str, transport: httpx.BaseTransport | None) -> Iterator[httpx.Client]:
    import httpx

    with httpx.Client(
        base_url=address.rstrip("/") + "/",
        transport=transport,
        follow_redirects=True,  # whatever a mirror answers with, the hash decides
        timeout=httpx.Timeout(15.0, connect=10.0),
        limits=httpx.Limits(max_connections=CONNECTIONS),
        headers={"Accept-Encoding": "identity"},
    ) as client:
        yield client


def _worth_another_try(error: Exception) -> bool:
    import httpx

    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code == 429 or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError)
