"""A real server: joined by several processes, left by the last, killed in every way, and found again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from remembrancer.records.errors import ServerUnavailableError
from remembrancer.server import LocalServer, ServerStatus, down, folder, status, up

pytestmark = [pytest.mark.neo4j, pytest.mark.long]

QUICK = ("-XX:TieredStopAtLevel=1",)  # less compiling: what is measured here is not speed
USER = """
import asyncio, json, sys
from remembrancer.server import LocalServer

async def main():
    async with LocalServer.open(sys.argv[1], linger=0.2, jvm_options=("-XX:TieredStopAtLevel=1",)) as server:
        print(json.dumps({"bolt_uri": server.bolt_uri, "password": server.password}), flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


class User:
    """Another process that holds the server of a folder until it is told to go."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    async def joined(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = await asyncio.to_thread(self.process.stdout.readline)
        assert line, "the user could not open the server"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def leave(self) -> None:
        self.process.communicate()


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all, since the first start on a new one takes longest; each test finds it with no server."""
    prepared = folder.DatabaseFolder.at(tmp_path_factory.mktemp("local") / "memory")
    prepared.prepare()
    prepared.credentials()
    prepared.choose_ports(bolt=None, http=None, fresh=True)
    return prepared.path


@pytest.fixture(autouse=True)
async def stopped_afterwards(database: Path) -> AsyncIterator[None]:
    yield
    await down(database)


@pytest.fixture
def another_user(database: Path) -> Iterator[Callable[[], User]]:
    users: list[User] = []

    def start() -> User:
        users.append(User(database))
        return users[-1]

    yield start
    for user in users:
        if user.process.poll() is None:
            user.kill()


def processes_of(path: Path) -> list[str]:
    listed = subprocess.run(["ps", "-eww", "-o", "command="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if f"@{path}/run/java.args" in line]


async def eventually(holds: Callable[[], Awaitable[bool]], *, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not await holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.05)


async def until_stopped(path: Path) -> None:
    async def stopped() -> bool:
        return not (await status(path)).running and not processes_of(path)

    await eventually(stopped)


async def run(server: LocalServer | ServerStatus, password: str, query: str) -> list[Any]:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(
            f"{server.http_uri}/db/neo4j/query/v2", auth=("neo4j", password), json={"statement": query}
        )
    answer.raise_for_status()
    rows: list[Any] = answer.json()["data"]["values"]
    return rows


def open_quick(path: Path, **options: Any) -> Any:
    return LocalServer.open(path, jvm_options=QUICK, **{"linger": 0.2, **options})


async def test_users_join_one_server_and_the_last_one_out_stops_it(
    database: Path, another_user: Callable[[], User]
) -> None:
    racing = [another_user(), another_user()]
    found = [await user.joined() for user in racing]
    assert found[0] == found[1]
    assert len(processes_of(database)) == 1
    async with open_quick(database) as server:
        assert (server.bolt_uri, server.password) == (found[0]["bolt_uri"], found[0]["password"])
        assert (await status(database)).users == 3
        racing[0].kill()
        await asyncio.sleep(1.0)
        assert server.is_running()
        assert await run(server, server.password, "RETURN 1") == [[1]]
    assert (await status(database)).running
    racing[1].kill()  # nobody is left to close anything
    await until_stopped(database)
    assert not (database / "server.json").exists()


async def test_after_a_crash_the_next_open_starts_anew_and_nothing_is_lost(database: Path) -> None:
    async with open_quick(database) as server:
        await run(server, server.password, "CREATE (:Kept {at: 1})")
        before = await status(database)
        assert before.server_pid is not None
        os.kill(before.server_pid, signal.SIGKILL)

        async def noticed() -> bool:
            return not server.is_running()

        await eventually(noticed)
        async with open_quick(database) as again:
            assert again.bolt_uri == server.bolt_uri
            assert (await status(database)).server_pid != before.server_pid
            assert await run(again, again.password, "MATCH (kept:Kept) RETURN kept.at") == [[1]]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent was killed")
async def test_a_killed_supervisor_takes_its_server_along(database: Path) -> None:
    async with open_quick(database):
        pid = (await status(database)).supervisor_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        async with open_quick(database) as again:  # meets a server that is still closing its files
            assert await run(again, again.password, "RETURN 1") == [[1]]
            assert len(processes_of(database)) == 1
    await until_stopped(database)


async def test_a_pinned_server_keeps_to_itself_and_stays_until_it_is_told_to_go(database: Path) -> None:
    """Several facts about one server, since a start is slow."""
    stale = {"supervisor_pid": 1, "server_pid": 1, "control_port": 9, "token": "x", "bolt_port": 1, "http_port": 2}
    (database / "server.json").write_text(json.dumps({**stale, "version": "1"}))
    assert not (await status(database)).running, "a stale state file misleads nobody"
    assert not await down(database)

    pinned = await up(database, jvm_options=QUICK)
    assert (pinned.running, pinned.ready, pinned.pinned, pinned.users) == (True, True, True, 0)
    async with open_quick(database, linger=0.0) as server:
        assert os.name != "posix" or open_to_others(database) == []
        ports = json.loads((database / "server.json").read_text())
        ours = {ports["bolt_port"], ports["http_port"], ports["control_port"]}
        assert not ours & (listening_on("0.0.0.0") | listening_on("::")), "only the loopback interface is listened on"
        with pytest.raises(httpx.HTTPStatusError, match="401"):
            await run(server, "wrong password", "RETURN 1")
        await knock(ports["control_port"], b'{"verb": "stop", "token": "guessed"}\n')
        assert server.is_running(), "a stranger stops nothing"
        await check_browser(server)
        with pytest.raises(ServerUnavailableError, match="runs already, with port"):
            await open_quick(database, bolt_port=19_999)

    await asyncio.sleep(0.5)
    assert (await status(database)).running, "pinned, it stays when its users have gone"
    begun = time.monotonic()
    assert await down(database)
    assert time.monotonic() - begun < 10.0, "it stops quickly; Neo4j alone would take longer"
    assert not await down(database)
    assert await status(database) == ServerStatus(path=str(database), running=False)


async def test_a_port_taken_at_the_last_moment_is_replaced(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = json.loads((database / "ports.json").read_text())["bolt"]
    listening = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port)
    monkeypatch.setattr(folder, "is_free", lambda candidate: True)  # it was, when we looked
    async with listening, open_quick(database) as moved:
        assert moved.bolt_uri != f"bolt://localhost:{port}"
        assert await run(moved, moved.password, "RETURN 1") == [[1]]


async def test_a_password_changed_elsewhere_is_said_to_be_wrong(database: Path) -> None:
    file = database / "credentials.json"
    right = file.read_text()
    file.write_text('{"username": "neo4j", "password": "not this one"}')
    try:
        with pytest.raises(ServerUnavailableError, match=r"refuses the password in its credentials\.json"):
            await open_quick(database)
    finally:
        file.write_text(right)
    await until_stopped(database)


async def test_a_start_that_takes_too_long_is_given_up_and_leaves_nothing(database: Path) -> None:
    with pytest.raises(ServerUnavailableError, match=r"did not answer within 0\.2 seconds.*nothing is lost"):
        await open_quick(database, start_timeout=0.2)
    await until_stopped(database)


async def test_a_java_that_will_not_start_says_why(database: Path) -> None:
    with pytest.raises(ServerUnavailableError, match="Unrecognized VM option 'NoSuchOption'"):
        await LocalServer.open(database, jvm_options=["-XX:+NoSuchOption"])


def open_to_others(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.stat().st_mode & 0o077]


def listening_on(address: str) -> set[int]:
    """Ports that anything listens on, at exactly this address; empty where the system does not list them in /proc."""
    name, blank = ("tcp", "00000000") if address == "0.0.0.0" else ("tcp6", "0" * 32)
    with contextlib.suppress(FileNotFoundError):
        rows = [line.split() for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
        return {int(row[1].partition(":")[2], 16) for row in rows if row[1].startswith(blank) and row[3] == "0A"}
    return set()


async def knock(port: int, greeting: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(greeting)
    assert await reader.read() == b""
    writer.close()


async def check_browser(server: LocalServer) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        page = await client.get(server.browser_url)
        assert page.status_code == 200
        assert "script-src 'self'" in page.headers["content-security-policy"]
        for name in ("kit.js", "style.grass", "guide.html", "queries.json"):
            assert (await client.get(server.browser_url + name)).status_code == 200
        assert (await client.get(f"{server.http_uri}/browser/")).status_code == 200
    if chromium := shutil.which("chromium") or shutil.which("google-chrome"):
        assert "This memory as a graph" in await browse(chromium, server.browser_url)


async def browse(chromium: str, address: str) -> str:
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    quiet += ["--disable-component-update", "--disable-sync", "--virtual-time-budget=15000"]
    process = await asyncio.create_subprocess_exec(
        chromium, "--headless", *quiet, "--dump-dom", address, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    return output.decode()
