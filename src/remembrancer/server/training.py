"""Making a start-up archive: the server is run on a scratch folder, asked what this library asks, and stopped.

At its end the JVM writes what it had loaded and compiled. As a program, `python -m remembrancer.server.training` makes
the archive of the options that it is given, at the lowest priority and a while after it was started, so that the start
that asked for it is not held up.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from remembrancer.records.errors import RemembranceError, ServerUnavailableError
from remembrancer.server._kit import kit_folder, with_kit
from remembrancer.server.archive import KEPT, StartArchive, is_due, remove_archives, sweep
from remembrancer.server.distribution import Distribution, Progress, install
from remembrancer.server.exclusive import exclusive_in_thread, is_held
from remembrancer.server.folder import DatabaseFolder, Ports, write_private
from remembrancer.server.java import Java, find_java
from remembrancer.server.settings import java_arguments, java_environment, settings_text

if TYPE_CHECKING:
    import httpx

logger = logging.getLogger(__name__)

WAIT_SECONDS: Final = 20.0  # between a start without an archive and the making of one
START_SECONDS: Final = 300.0
WRITE_SECONDS: Final = 600.0  # the archive is written after the server has stopped
HEAP: Final = "1g"
FREE_BYTES: Final = 1_500_000_000  # what making one takes at most, with plenty to spare
_PARAMETER = re.compile(r"\$(\w+)")
PLANNED: Final = ("retrieval/recall", "namespace/read", "fact/put")
_VECTOR = [1.0] + [0.0] * 383


async def make_archive(*, options: Sequence[str] = (), progress: Progress | None = None) -> Path:
    """Make the start-up archive of the local server unless it is there; takes about half a minute.

    Several processes may call it at once: one makes it, the others wait for that one.

    Args:
        options: Further options of the JVM that it is for, as `LocalServer.open` takes them.
        progress: Called with (bytes there, bytes in all) while Neo4j is fetched, which happens once.

    Returns:
        The file.

    Raises:
        ServerUnavailableError: Neo4j could not be fetched or run, or no archive came out of it.
    """
    java = await asyncio.to_thread(find_java)
    distribution = await install(progress=progress)
    return await asyncio.to_thread(_make, distribution, java, tuple(options))


def class_path(distribution: Distribution) -> list[Path]:
    """The jars in the order in which the JVM gets them, Browser's with the kit in it."""
    browser = with_kit(distribution.browser_jar)
    return sorted(browser if jar == distribution.browser_jar else jar for jar in distribution.jars)


def _make(distribution: Distribution, java: Java, options: tuple[str, ...]) -> Path:
    jars = class_path(distribution)
    archive = StartArchive.of(distribution, java, jars, options)
    try:
        archive.file.parent.mkdir(exist_ok=True, mode=0o700)
        with exclusive_in_thread(archive.lock, lambda: None):
            if archive.file.exists():
                return archive.file
            sweep(archive.file.parent)
            archive.failed.write_bytes(b"")  # taken away at the end; stays when this process is killed
            _check_room(archive.file.parent)
            scratch = Path(tempfile.mkdtemp(prefix="training-", dir=archive.file.parent))
            try:
                _train(archive, scratch, java, jars, options)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            archive.failed.unlink(missing_ok=True)
            remove_archives(distribution, keep=KEPT)
    except OSError as error:
        raise ServerUnavailableError(
            f"no start-up archive could be made in {archive.file.parent}: {error}", address=str(archive.file.parent)
        ) from error
    return archive.file


def _check_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < FREE_BYTES:
        raise ServerUnavailableError(
            f"no start-up archive was made: {folder} has {free // 1_000_000} MB to spare, and making one needs "
            f"{FREE_BYTES // 1_000_000} MB",
            address=str(folder),
        )


def _train(archive: StartArchive, scratch: Path, java: Java, jars: Sequence[Path], options: tuple[str, ...]) -> None:
    from remembrancer.server._supervisor import end_with_parent  # needs a package of the extra

    folder = DatabaseFolder.at(scratch)
    folder.prepare()
    folder.credentials()
    ports = folder.choose_ports(bolt=None, http=None, fresh=True)
    part = archive.file.with_suffix(f".part{os.getpid()}")
    write_private(folder.configuration / "neo4j.conf", settings_text(ports))
    training = [*options, f"-XX:AOTCacheOutput={part}"]
    write_private(folder.java_arguments, java_arguments(folder, java, jars, heap=HEAP, options=training))
    with folder.console.open("wb") as console:
        process = subprocess.Popen(  # noqa: S603 - the Java that was found, no shell involved
            [java.executable, f"@{folder.java_arguments}"],
            cwd=scratch,
            env=java_environment(),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            preexec_fn=end_with_parent(os.getpid()) if sys.platform == "linux" else None,
        )
    try:
        _use(process, folder, ports)
        process.terminate()
        process.wait(WRITE_SECONDS)
        os.replace(part, archive.file)
    except (OSError, subprocess.TimeoutExpired) as error:
        said = folder.console.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
        raise ServerUnavailableError(
            f"no start-up archive came out of the training: {error} ({said[:300]})", address=str(scratch)
        ) from error
    finally:
        process.kill()
        process.wait()
        part.unlink(missing_ok=True)


def _use(process: subprocess.Popen[bytes], folder: DatabaseFolder, ports: Ports) -> None:
    """Do what a start and the first writes and questions do, so that the archive has what they load."""
    import httpx

    from remembrancer.server._supervisor import first_query  # needs a package of the extra

    credentials = folder.known_credentials()
    log = folder.path / "logs" / "neo4j.log"
    deadline = time.monotonic() + START_SECONDS
    while not (log.exists() and b" Started." in log.read_bytes()):
        if process.poll() is not None or time.monotonic() > deadline:
            raise OSError("the server did not start")
        time.sleep(0.1)
    while (problem := first_query(ports.bolt, credentials.username, credentials.password)) is not None:
        if process.poll() is not None or time.monotonic() > deadline:
            raise OSError(f"the server did not answer: {problem}")
        time.sleep(0.1)
    address = f"http://127.0.0.1:{ports.http}"
    auth = (credentials.username, credentials.password)
    with httpx.Client(base_url=address, auth=auth, trust_env=False, timeout=60.0) as client:
        for statement, parameters in _statements():
            _ask(client, statement, parameters)


def _ask(client: httpx.Client, statement: str, parameters: dict[str, Any]) -> None:
    """Run a statement; one that the server refuses has trained the parser all the same."""
    import httpx

    try:
        client.post("/db/neo4j/query/v2", json={"statement": statement, "parameters": parameters})
    except httpx.HTTPError as error:
        logger.debug("a statement of the training was not answered: %s", error)


def _statements() -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema, a write and a search with what is written found; then the plans of a few large statements."""
    folder = kit_folder().parent
    for file in sorted((folder / "migrations").glob("*.cypher")):
        yield from ((one, {}) for one in _several(file))
    yield from ((one, {}) for one in _several(folder / "schema" / "vector_indexes.cypher"))
    rows = [{"id": f"training-{number}", "content": f"a fact about training {number}"} for number in range(20)]
    parameters: dict[str, Any] = {"namespace": "training", "rows": rows, "vector": _VECTOR, "text": "training"}
    for name in ("put", "find"):
        for _ in range(3):
            yield (folder / "training" / f"{name}.cypher").read_text(encoding="utf-8"), parameters
    for name in PLANNED:
        text = (folder / f"{name}.cypher").read_text(encoding="utf-8")
        yield f"EXPLAIN {text}", dict.fromkeys(_PARAMETER.findall(text))


def _several(file: Path) -> list[str]:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("//")]
    return [one.strip() for one in re.split(r";\s*$", "\n".join(lines), flags=re.MULTILINE) if one.strip()]


def main(options: Sequence[str]) -> int:
    """Make the archive of these options unless it is there, somebody makes one, or it did not work lately."""
    os.nice(19)
    time.sleep(WAIT_SECONDS)

    async def go() -> None:
        java, distribution = find_java(), await install()
        archive = StartArchive.of(distribution, java, class_path(distribution), options)
        if is_due(archive) and not (archive.lock.exists() and is_held(archive.lock)):
            await make_archive(options=options)

    try:
        asyncio.run(go())
    except RemembranceError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
