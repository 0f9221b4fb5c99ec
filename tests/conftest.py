"""The two stores that every contract runs over, and the Neo4j that one of them needs.

`NEO4J_URI`, `NEO4J_USERNAME` and `NEO4J_PASSWORD` name a server to use, on which the run is a guest (`guest`); without
them a private one is started for it. Each opened store has a namespace of its own, so no test sees another's records
and nothing is wiped.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest

pytest.register_assert_rewrite("remembrancer.testing")

from tests import guest  # noqa: E402
from tests.recorder import Recorder  # noqa: E402

from remembrancer.inmemory import InMemoryStore  # noqa: E402
from remembrancer.records import Clock, EmbeddingSpace, system_clock  # noqa: E402
from remembrancer.testing import IndexedStore, OpenStore  # noqa: E402

# How long an example takes says something of the machine, not of the code; CI tries the same examples every time.
hypothesis.settings.register_profile(
    "remembrancer",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("remembrancer")

# A start-up archive that is there is used; making one in the background would compete with the tests.
os.environ.setdefault("REMEMBRANCER_START_ARCHIVE", "use")

# Who runs this in the background may have had Ctrl-C ignored, which the commands under test would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

GUEST = pytest.StashKey[guest.Guest]()
LEFT_BEHIND = pytest.StashKey[list[str]]()

# Most of what tests wait for is planning: a second and more for a long statement. Neo4j plans a statement anew for each
# order of magnitude of its texts and lists, and as the database grows; here all sizes are small, and one plan does.
# Servers in containers, and those that tests start for themselves, have Neo4j's own settings.
PLAN_ONCE = {
    "internal.cypher.use_parameter_size": "false",
    "dbms.cypher.min_replan_interval": "1h",
    "dbms.cypher.statistics_divergence_threshold": "1.0",
}

STORES = [pytest.param("inmemory", id="inmemory"), pytest.param("neo4j", id="neo4j", marks=pytest.mark.neo4j)]


@pytest.hookimpl(wrapper=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """Note what a server holds that was there before the run; the workers of a run find it noted."""
    if "NEO4J_URI" in os.environ and guest.VARIABLE not in os.environ and not session.config.option.collectonly:
        os.environ[guest.VARIABLE] = tempfile.mkdtemp(prefix="remembrancer-guest-")
        session.config.stash[GUEST] = host = guest.Guest.of_environment(Path(os.environ[guest.VARIABLE]))
        host.arrive()
    yield


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave the server as it was, once all workers have ended."""
    if (host := session.config.stash.get(GUEST, None)) is not None:
        left = host.leave()
        shutil.rmtree(os.environ.pop(guest.VARIABLE))
        if left:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            session.config.stash[LEFT_BEHIND] = left


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell what a run has left behind on a server."""
    for line in config.stash.get(LEFT_BEHIND, []):
        terminalreporter.write_line(f"left behind on the server: {line}", red=True)


@pytest.fixture(scope="session", autouse=True)
def every_statement() -> Iterator[Recorder]:
    """All that the library sends in this run; one without the namespace is an error at the end of it."""
    folder = Path(os.environ[guest.VARIABLE]) if guest.VARIABLE in os.environ else None
    with Recorder().installed() as recorder:
        recorder.refused = guest.refused(folder) if folder is not None else frozenset()
        yield recorder
    if folder is not None:
        guest.note(folder, recorder.namespaces)
    recorder.check()


@pytest.fixture(scope="session")
async def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[str, tuple[str, str]]]:
    """Address of a Neo4j, user and password."""
    if "NEO4J_URI" in os.environ:
        user = os.environ.get("NEO4J_USERNAME", "neo4j")
        yield os.environ["NEO4J_URI"], (user, os.environ.get("NEO4J_PASSWORD", ""))
        return
    from remembrancer.server import LocalServer

    # The quick compiler alone: a run of tests is over before the thorough one pays.
    options = ("-XX:TieredStopAtLevel=1",)
    folder = tmp_path_factory.mktemp("neo4j")
    async with LocalServer.open(folder, jvm_options=options, settings=PLAN_ONCE) as server:
        yield server.bolt_uri, (server.username, server.password)


@pytest.fixture(scope="session")
async def neo4j_database(neo4j_server: tuple[str, tuple[str, str]]) -> AsyncIterator[Any]:
    """One driver for the whole run."""
    from remembrancer.graph import Database

    uri, auth = neo4j_server
    async with Database.open(uri, auth=auth, name=os.environ.get("NEO4J_DATABASE")) as database:
        yield database


@pytest.fixture(scope="session", params=STORES)
def backend(request: pytest.FixtureRequest) -> Any:
    """The database of the run's Neo4j, or `None`: the store in memory."""
    # Fetched here, outside the event loop, so that a run without Neo4j never starts one.
    return request.getfixturevalue("neo4j_database") if request.param == "neo4j" else None


@asynccontextmanager
async def opening(backend: Any) -> AsyncIterator[OpenStore]:
    """Opens stores on a backend, and closes them all at the end; one namespace opened twice is one memory."""
    in_memory: dict[str, InMemoryStore] = {}
    async with AsyncExitStack() as opened:

        async def open_store(
            *, space: EmbeddingSpace | None = None, clock: Clock = system_clock, namespace: str | None = None
        ) -> IndexedStore:
            name = namespace or f"test-{uuid.uuid4()}"
            if backend is None:
                if name not in in_memory:
                    in_memory[name] = InMemoryStore(name, space=space, clock=clock)
                return in_memory[name]
            from remembrancer.graph import Neo4jStore

            return await opened.enter_async_context(
                Neo4jStore.open(database=backend, namespace=name, space=space, clock=clock)
            )

        yield open_store


@pytest.fixture
async def open_store(backend: Any) -> AsyncIterator[OpenStore]:
    """Opens stores for one test."""
    async with opening(backend) as open_one:
        yield open_one


@pytest.fixture(scope="module")
async def open_shared_store(backend: Any) -> AsyncIterator[OpenStore]:
    """Opens stores that all tests of a module may read."""
    async with opening(backend) as open_one:
        yield open_one
