"""Plans whose process or whose server is killed while they are applied: all of it is there, or nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from remembrancer.graph import Neo4jStore, passes
from remembrancer.graph.connection import Transaction
from remembrancer.lifecycle import Change, Plan, apply_plan
from remembrancer.records import RecordBatch, RemembranceError
from remembrancer.server import LocalServer, status
from remembrancer.testing.contract.planning import pass_id
from remembrancer.testing.samples import day, fact

pytestmark = [pytest.mark.neo4j, pytest.mark.long]

QUICK = ("-XX:TieredStopAtLevel=1",)
AT_ONCE, FACTS = 40, 100
"""Rows a statement, and facts: more than one statement takes."""

APPLIER = """
import asyncio, sys
sys.path.insert(0, sys.argv[5])
from remembrancer.graph import Neo4jStore, passes
from remembrancer.graph.connection import Transaction
from remembrancer.lifecycle import apply_plan
from test_killed_plans import AT_ONCE, plan_for

passes.AT_ONCE = AT_ONCE

original = Transaction.run

async def telling(self, text, parameters):
    answer = await original(self, text, parameters)
    print(text.splitlines()[0], flush=True)
    return answer

async def main():
    uri, user, password, namespace = sys.argv[1:5]
    async with Neo4jStore.open(uri, auth=(user, password), namespace=namespace) as store:
        plan = await plan_for(store)
        Transaction.run = telling
        await apply_plan(store, plan)
        print("done", flush=True)

asyncio.run(main())
"""


async def plan_for(store: Any) -> Plan:
    """Closes every fact."""
    facts = await store.find_facts(limit=FACTS)
    changes = [
        Change(before=one, after=one.model_copy(update={"invalidated_by": "decay"}), reason="decay") for one in facts
    ]
    return Plan(pass_id=pass_id(1), kind="consolidation", made_at=day(1), changes=changes)


async def filled(store: Any) -> None:
    await store.write(RecordBatch(facts=[fact(n) for n in range(FACTS)]))


async def is_applied(store: Any) -> bool:
    """Whether all of the plan is there; fails when it is there by halves."""
    live = len(await store.find_facts(limit=FACTS))
    entries = await store.pass_entries(pass_id(1), limit=FACTS)
    done = await store.get_pass(pass_id(1))
    assert (live, len(entries), done is None) in ((FACTS, 0, True), (0, FACTS, False))
    return live == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed-plans-neo4j")


@pytest.fixture(scope="module")
async def server(folder: Path) -> AsyncIterator[LocalServer]:
    async with LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK) as opened:
        yield opened


@pytest.mark.parametrize("after", ["Locks records", "Closes or reopens facts", "Records what a pass did"])
async def test_a_killed_client_leaves_nothing_or_all(server: LocalServer, after: str) -> None:
    namespace, auth = f"test-{uuid.uuid4()}", (server.username, server.password)
    async with Neo4jStore.open(server.bolt_uri, auth=auth, namespace=namespace) as store:
        await filled(store)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", APPLIER, server.bolt_uri, *auth, namespace, str(Path(__file__).parent)),
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        while after not in (line := (await process.stdout.readline()).decode()):
            assert line, "ended before it was killed"
        process.kill()
        rest, _ = await process.communicate()
        # Waits until the locks of the killed transaction are gone, and finds the records as they were.
        again = await plan_for(store)
        if b"done" not in rest:
            assert not await is_applied(store)
            await apply_plan(store, again)
        assert await is_applied(store)


class KilledError(Exception):
    """The server of the transaction was killed."""


async def apply_on(server: LocalServer, namespace: str) -> None:
    auth = (server.username, server.password)
    async with Neo4jStore.open(server.bolt_uri, auth=auth, namespace=namespace) as store:
        await apply_plan(store, await plan_for(store))


@pytest.mark.parametrize("after", ["Records what a pass did"])
async def test_a_killed_server_keeps_nothing_or_all(folder: Path, monkeypatch: pytest.MonkeyPatch, after: str) -> None:
    namespace = f"test-{uuid.uuid4()}"
    original = Transaction.run

    async def killing(self: Transaction, text: str, parameters: Mapping[str, Any]) -> Any:
        answer = await original(self, text, parameters)
        if after in text:
            pid = (await status(folder)).server_pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            raise KilledError
        return answer

    killed = await LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK)
    auth = (killed.username, killed.password)
    async with Neo4jStore.open(killed.bolt_uri, auth=auth, namespace=namespace) as store:
        await filled(store)
    monkeypatch.setattr(passes, "AT_ONCE", AT_ONCE)
    monkeypatch.setattr(Transaction, "run", killing)
    with pytest.raises((KilledError, RemembranceError)):
        await apply_on(killed, namespace)
    monkeypatch.setattr(Transaction, "run", original)
    await killed.aclose()
    for _ in range(200):
        if not (await status(folder)).running:
            break
        await asyncio.sleep(0.05)
    async with LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK) as again:
        auth = (again.username, again.password)
        async with Neo4jStore.open(again.bolt_uri, auth=auth, namespace=namespace) as store:
            assert not await is_applied(store)
            await apply_plan(store, await plan_for(store))
            assert await is_applied(store)
