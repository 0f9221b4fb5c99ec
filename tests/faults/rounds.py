"""Rounds of faults: work in a process of its own, something that goes wrong in its midst, and what is there then."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.proxy import Connection, Proxy, Trap
from tests.faults.work import EMBEDDER, WORKS, State, clock, state_of

from remembrancer import Memory
from remembrancer.graph import Database
from remembrancer.graph.doctor import examine
from remembrancer.server import LocalServer, launch, status

FAULTS = ("kill server", "kill client", "cut", "half close", "delay", "memory")
QUICK = ("-XX:TieredStopAtLevel=1",)
TRANSACTION_MEMORY = "48m"
_AT_ONCE = {"kill server": 3, "kill client": 5, "cut": 2, "half close": 2}
"""How many faults one piece of work meets; of the others one."""

_ENDS_WITHIN = 300.0


@dataclass
class Tally:
    """What became of one kind of work under one kind of fault."""

    rounds: int = 0
    faults: int = 0
    acknowledged: int = 0
    lost: int = 0
    half: int = 0
    doubled: int = 0
    broken: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)


class Rounds:
    """Runs rounds on a server of its own; made by `opening`."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self._folder = folder
        self._chance = random.Random(seed)
        self._spans: dict[str, tuple[int, int]] = {}
        self._twins: dict[str, list[State]] = {}
        self._order: list[tuple[str, str]] = []
        self._killing: asyncio.Task[None] | None = None
        self.tallies: defaultdict[tuple[str, str], Tally] = defaultdict(Tally)
        self.kills: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()

    async def start(self) -> None:
        """Start the server, or start it again after it was killed."""
        self._server = await LocalServer.open(
            self._folder / "neo4j", linger=0.2, heap="512m", jvm_options=QUICK, start_timeout=120
        )
        pid = (await status(self._folder / "neo4j")).server_pid
        assert pid is not None
        self._pid = pid

    async def stop(self) -> None:
        """Let go of the server."""
        await self._server.aclose()

    def next_pair(self, faults: Collection[str], *, is_alone: bool) -> tuple[str, str]:
        """A kind of fault and of work: all of them by turns, kills twice as often as the others."""
        if not self._order:
            order = [one for one in pairs() if one[0] in faults and (is_alone or one[1] != "migration")]
            order += [one for one in order if one[0].startswith("kill")]
            self._order = self._chance.sample(order, k=len(order))
        return self._order.pop()

    @property
    def _auth(self) -> tuple[str, str]:
        return self._server.username, self._server.password

    @property
    def port(self) -> int:
        """Where the server listens; the same after each start."""
        return int(self._server.bolt_uri.rpartition(":")[2])

    def memory(self, namespace: str) -> Any:
        """Opens a memory without a proxy between."""
        return Memory.connect(
            self._server.bolt_uri, auth=self._auth, namespace=namespace, embedder=EMBEDDER, warm=False, clock=clock()
        )

    async def run(self, proxy: Proxy, fault: str, work: str) -> None:
        """One round: work that meets faults of one kind, is then done in peace, and is looked at each time."""
        tally = self.tallies[fault, work]
        tally.rounds += 1
        namespace, log = f"faults-{uuid.uuid4()}", self._folder / f"{uuid.uuid4()}.log"
        if work == "migration":
            await self._wipe()
        else:
            async with self.memory(namespace) as memory:
                await WORKS[work].prepare(memory)
        if work not in self._spans:
            self._spans[work] = await self._span(proxy, work)
            if work == "migration":
                await self._wipe()
        for _ in range(_AT_ONCE.get(fault, 1)):
            await self._attempt(proxy, fault, work, namespace, log, tally)
            await self._look(work, namespace, log, tally)
        code, said = await self._client(proxy.port, "none", work, namespace, log)
        if code != 0:
            tally.problems.append(f"the work could not be completed: {said}")
            tally.broken += 1
            return
        await self._look(work, namespace, log, tally, is_final=True)
        tally.acknowledged += len(acknowledged(log))

    async def _span(self, proxy: Proxy, work: str) -> tuple[int, int]:
        """How many messages the work sends when nothing goes wrong, and how many commits; in a namespace of its own."""
        namespace = f"faults-{uuid.uuid4()}"
        if work != "migration":
            async with self.memory(namespace) as memory:
                await WORKS[work].prepare(memory)
        proxy.watch(None)
        code, said = await self._client(proxy.port, "none", work, namespace, self._folder / f"{uuid.uuid4()}.log")
        assert code == 0, said
        return proxy.messages, proxy.commits

    async def _attempt(self, proxy: Proxy, fault: str, work: str, namespace: str, log: Path, tally: Tally) -> None:
        """The work once, with the fault."""
        client: list[asyncio.subprocess.Process] = []
        proxy.watch(None if fault == "memory" else self._trap(fault, work, client))
        code, said = await self._client(proxy.port, fault, work, namespace, log, client)
        sprung = fault == "memory" or (proxy.trap is not None and proxy.trap.is_sprung)
        proxy.watch(None)
        if self._killing is not None:
            await self._killing
            self._killing = None
        tally.faults += sprung
        if sprung and fault.startswith("kill"):
            self.kills[fault] += 1
        if fault == "memory" and ("memory" not in said.lower() or code != 3):
            tally.problems.append(f"a batch that is too large was answered with {code}: {said or 'nothing'}")
            tally.broken += 1
        if code == 3:
            tally.refused += 1
            self.errors[" ".join(said.split()[:1]) + " " + said[-70:].strip()] += 1
        elif code not in (0, -signal.SIGKILL):
            tally.problems.append(f"the client ended with {code}: {said[-300:]}")
            tally.broken += 1

    def _trap(self, fault: str, work: str, client: Sequence[asyncio.subprocess.Process]) -> Trap:
        messages, commits = self._spans[work]
        at_commits = commits > 0 and self._chance.random() < 0.5
        at = self._chance.randint(1, commits if at_commits else messages)
        pause = self._chance.choice((0.0, 0.0, 0.001, 0.005, 0.02))
        delay = self._chance.uniform(0.5, 4.0)

        async def happen(connection: Connection) -> None:
            if pause:
                await asyncio.sleep(pause)
            if fault == "kill server":
                os.kill(self._pid, signal.SIGKILL)
                self._killing = asyncio.create_task(self._again())
            elif fault == "kill client":
                client[0].kill()
            elif fault == "cut":
                connection.cut()
            elif fault == "half close":
                connection.half_close()
            else:
                await asyncio.sleep(delay)

        return Trap(at, self._chance.choice(("before", "after")), happen, commits_only=at_commits)

    async def _again(self) -> None:
        await self._server.aclose()
        for _ in range(400):
            if not (await status(self._folder / "neo4j")).running:
                break
            await asyncio.sleep(0.05)
        await self.start()

    async def _client(
        self,
        port: int,
        fault: str,
        work: str,
        namespace: str,
        log: Path,
        started: list[asyncio.subprocess.Process] | None = None,
    ) -> tuple[int, str]:
        """Run the client to its end; how it ended, and what it said."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.faults.client"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=Path(__file__).parents[2],
        )
        if started is not None:
            started.append(process)
        user, password = self._auth
        order = {"uri": f"bolt://127.0.0.1:{port}", "user": user, "password": password, "namespace": namespace}
        order |= {"log": str(log), "work": work, "fault": fault}
        try:
            async with asyncio.timeout(_ENDS_WITHIN):
                said, _ = await process.communicate(json.dumps(order).encode())
        except TimeoutError:
            process.kill()
            await process.wait()
            return -1, f"did not end within {_ENDS_WITHIN:g} seconds"
        assert process.returncode is not None
        return process.returncode, said.decode(errors="replace").strip()

    async def _look(self, work: str, namespace: str, log: Path, tally: Tally, *, is_final: bool = False) -> None:
        """Compare what is there with what must be there."""
        kind = WORKS[work]
        async with self.memory(namespace) as memory:
            state = await self._settled(memory)
            lost = await kind.lost(memory, acknowledged(log))
            halves = await kind.halves(memory)
            tally.lost += len(lost)
            tally.half += len(halves)
            tally.problems += [f"lost: {one}" for one in lost] + [f"half: {one}" for one in halves]
            if not is_final:
                return
            found = await examine(memory.store.database, namespace, deep=True)
            wrong = [one for one in found.findings if one.is_wrong]
            tally.broken += len(wrong)
            tally.problems += [f"{one.check}: {one.total} {one.summary}: {one.examples}" for one in wrong]
            if state not in await self._twin(work):
                tally.doubled += 1
                tally.problems.append(f"differs from the twin: {differences(state, (await self._twin(work))[0])}")

    async def _settled(self, memory: Memory) -> State:
        """The state, once what a killed client had asked for is done or undone."""
        before = await state_of(memory)
        while (later := await state_of(memory)) != before:
            before = later
            await asyncio.sleep(0.1)
        return later

    async def _twin(self, work: str) -> list[State]:
        """Where the work ends in memory, with nothing to disturb it."""
        if work not in self._twins:
            states = []
            async with Memory.in_memory(embedder=EMBEDDER, clock=clock()) as twin:
                await WORKS[work].prepare(twin)
                for _ in range(WORKS[work].most_runs):
                    await WORKS[work].do(twin, lambda _: None)
                    states.append(await state_of(twin))
            self._twins[work] = states
        return self._twins[work]

    async def _wipe(self) -> None:
        """Make the database as one that was never migrated."""
        async with Database.open(self._server.bolt_uri, auth=self._auth) as database:
            while (await database.write(_remove_some)) > 0:
                continue
            for row in await database.read("SHOW CONSTRAINTS YIELD name RETURN name", {}):
                await database.change_schema(f"DROP CONSTRAINT `{row['name']}`")
            for row in await database.read("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name", {}):
                await database.change_schema(f"DROP INDEX `{row['name']}`")


async def _remove_some(transaction: Any) -> int:
    text = "MATCH (n) WITH n LIMIT 2000 DETACH DELETE n RETURN count(*) AS removed"
    return int((await transaction.run(text, {}))[0]["removed"])


def acknowledged(log: Path) -> list[str]:
    """What the client was told to be done; a line that was cut off while it was written was not."""
    text = log.read_text() if log.exists() else ""
    return list(dict.fromkeys(text.rpartition("\n")[0].splitlines()))


def differences(state: State, twin: State) -> dict[str, Any]:
    """Where two states differ."""
    differing: dict[str, Any] = {}
    for name in state:
        if state[name] != twin[name]:
            one, other = dict(state[name]), dict(twin[name])
            keys = [key for key in {**one, **other} if one.get(key) != other.get(key)][:4]
            differing[name] = {str(key): (one.get(key), other.get(key)) for key in keys}
    return differing


def pairs() -> list[tuple[str, str]]:
    """Every fault with every work that it can meet."""
    works = [work for work in WORKS if work != "bulk"]
    return [(fault, work) for work in works for fault in FAULTS if fault != "memory"] + [("memory", "bulk")]


@asynccontextmanager
async def opening(folder: Path, *, seed: int) -> AsyncIterator[Rounds]:
    """A server of its own with little memory for a transaction."""
    original = launch.settings_text
    little = f"db.memory.transaction.max={TRANSACTION_MEMORY}\n"
    launch.settings_text = lambda ports, **how: original(ports, **how) + little
    rounds = Rounds(folder, seed=seed)
    try:
        await rounds.start()
        yield rounds
    finally:
        launch.settings_text = original
        with contextlib.suppress(AttributeError):
            await rounds.stop()


async def run_rounds(
    folder: Path,
    *,
    rounds: int,
    seed: int,
    least_kills: int = 0,
    seconds: float | None = None,
    faults: Collection[str] = FAULTS,
    at_once: int = 1,
    told: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Run rounds, each kind of fault and work in its turn, and tell what became of them.

    Args:
        folder: An empty one.
        rounds: How many; more when `least_kills` asks for them.
        seed: Of what chance decides.
        least_kills: Go on until so many processes were killed.
        seconds: Begin no round after so long.
        faults: Only these.
        at_once: How many rounds run beside one another; more than one only of faults that leave the server alone, and
            then without migrations, which need the database for themselves.
        told: Called with a line after each round.
    """
    if at_once > 1 and "kill server" in faults:
        raise ValueError("a killed server would meet all rounds that run at once")
    began = time.monotonic()
    count = 0

    async def work(one: Rounds) -> None:
        nonlocal count
        async with Proxy(one.port) as proxy:
            while count < rounds or sum(one.kills.values()) < least_kills:
                if seconds is not None and time.monotonic() - began > seconds:
                    return
                fault, kind = one.next_pair(faults, is_alone=at_once == 1)
                count += 1
                await one.run(proxy, fault, kind)
                tally = one.tallies[fault, kind]
                became = "; ".join(tally.problems[-3:]) or "fine"
                told(f"{time.monotonic() - began:6.0f} s  {sum(one.kills.values()):4} kills  {fault}, {kind}: {became}")

    async with opening(folder, seed=seed) as one:
        async with asyncio.TaskGroup() as workers:
            for _ in range(at_once):
                workers.create_task(work(one))
        return summary(one, seed=seed, done=count, seconds=round(time.monotonic() - began))


def summary(rounds: Rounds, *, seed: int, **more: Any) -> dict[str, Any]:
    """All that was counted, as JSON has it."""
    names = ("rounds", "faults", "acknowledged", "refused", "lost", "half", "doubled", "broken")
    rows = [
        {
            "fault": fault,
            "work": work,
            **{name: getattr(tally, name) for name in names},
            "problems": tally.problems[:20],
        }
        for (fault, work), tally in sorted(rounds.tallies.items())
    ]
    total = {name: sum(int(row[name]) for row in rows) for name in names}
    return {
        "seed": seed,
        **more,
        "kills": dict(rounds.kills),
        "total": total,
        "rows": rows,
        "errors": dict(rounds.errors.most_common(12)),
    }
