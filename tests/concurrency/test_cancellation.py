"""A call that is cancelled leaves the memory as it was or has its whole effect, and gives its connection back.

Cut off before a statement is sent, while the database works on it, after its answer, and around each commit. The driver
here has four connections and waits briefly for a free one, so that a few that are not given back are noticed.
"""

from __future__ import annotations

import asyncio
import gc
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import neo4j
import pytest
from tests.isolation.conftest import fill
from tests.surface import EMBEDDER, OURS, called, is_registered, public

from remembrancer import Memory
from remembrancer.graph import connection
from remembrancer.graph.doctor import examine
from remembrancer.graph.namespaces import remove_namespace
from remembrancer.testing import FixedClock
from remembrancer.testing.samples import day

# The driver leaves closing a socket to Python when it is cancelled while it opens or drops a connection.
pytestmark = [pytest.mark.neo4j, pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")]

MOMENTS = ("before", "during", "after")
READING = re.compile(
    "get|find|list|search|nearest|near|count_|active|weakest|theme_ids|mean_|namesakes|fact_ids|relationship_ids|shared"
    "|facts_|similar|pass_|record_entries|history|why|stored|outline|run_reach|decisions|gate_decisions|admit|passes"
    "|served_to|should|subgraph|before|retrieve|recall|lessons|resolve_conflicts|resolve_entities|export|memory_retr"
)
"""What writes nothing to the samples, or uses and servings alone."""

STEPWISE = {
    ("memory", "clear"): "removes in portions",
    ("memory", "restore"): "is called after a forget",
    ("memory", "undo"): "is called after a forget",
    ("store", "clear"): "removes in portions",
    ("store", "forget_all"): "removes in portions",
}
"""What consists of several steps, of which each is whole; the same call again completes it."""

LEFT_OUT = {
    ("memory", "reembed"): "changes the embedding space for good; its own tests interrupt it and go on",
    ("memory", "import_from"): "an import that is cut off is told by the doctor; tests/transfer cut it off and go on",
}

PARTS = ("memory", "store", "ledger", "tiers", "tiered", "turns")
CALLS = [
    (part, name)
    for part in PARTS
    for name in public(part)
    if (part, name) not in LEFT_OUT and is_registered(part, name)  # a test of its own fails for what is not
]
WRITING = [(part, name) for part, name in CALLS if not READING.match(name)]
QUICK = [("store", "write"), ("store", "flush_usage"), ("tiers", "put")]

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EVERYTHING = """
CYPHER 25
MATCH (n) WHERE n.namespace = $namespace
RETURN labels(n) AS kind, properties(n) AS properties,
       COLLECT { MATCH (n)-[edge]->(other) RETURN [type(edge), properties(edge), other.id] } AS edges
"""


class Cut:
    """Cancels a task at one of the statements and commits that it comes to.

    Attributes:
        met: How many it has come to.
    """

    def __init__(self, at: int, moment: str) -> None:
        self.at, self.moment, self.met = at, moment, 0
        self.task: asyncio.Task[Any] | None = None

    async def around(self, send: Callable[[], Any]) -> Any:
        place, self.met = self.met, self.met + 1
        if self.task is None or place != self.at:
            return await send()
        if self.moment == "before":
            self.task.cancel()
        elif self.moment == "during":
            asyncio.get_running_loop().call_later(0.0005, self.task.cancel)
        answer = await send()
        self.task.cancel()
        return answer


@contextmanager
def cutting(cut: Cut, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    doors = ((connection.Database, "read"), (connection.Transaction, "run"), (neo4j.AsyncTransaction, "commit"))

    def watched(original: Any) -> Any:
        async def send(door: Any, *given: Any, **named: Any) -> Any:
            return await cut.around(lambda: original(door, *given, **named))

        return send

    with monkeypatch.context() as patched:
        for owner, name in doors:
            patched.setattr(owner, name, watched(getattr(owner, name)))
        yield


@pytest.fixture(scope="module")
async def memory(neo4j_server: tuple[str, tuple[str, str]]) -> AsyncIterator[Memory]:
    uri, auth = neo4j_server
    async with neo4j.AsyncGraphDatabase.driver(
        uri, auth=auth, max_connection_pool_size=4, connection_acquisition_timeout=5
    ) as driver:
        namespace = f"cut-{uuid.uuid4()}"
        clock = FixedClock(day(10))
        async with Memory.connect(
            driver=driver, namespace=namespace, embedder=EMBEDDER, warm=False, clock=clock
        ) as opened:
            yield opened
            await opened.clear()
            await remove_namespace(opened.store.database, namespace)  # type: ignore[attr-defined]
    gc.collect()


async def state(memory: Memory) -> list[str]:
    """All that is stored, with the ids that chance made left out."""
    await memory.store.flush_usage()
    found = await memory.store.database.read(_EVERYTHING, {"namespace": memory.namespace})  # type: ignore[attr-defined]
    return sorted(map(_told, found))


async def wrong(memory: Memory) -> set[str]:
    """Which of the doctor's checks find something."""
    examined = await examine(memory.store.database, memory.namespace, deep=True)  # type: ignore[attr-defined]
    return {one.check for one in examined.findings if one.is_wrong}


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return str(sorted((key, _told(one)) for key, one in value.items()))
    if isinstance(value, list):
        return str(sorted(map(_told, value)))
    plain = str(value.raw_data.fields if hasattr(value, "raw_data") else value)
    return _UUID.sub(lambda one: one.group() if OURS in one.group() else "<id>", plain)


async def afresh(memory: Memory, name: str) -> None:
    await memory.clear()
    if name != "write":
        await fill(memory, OURS)
    if name == "flush_usage":
        await memory.store.touch_facts([(await memory.store.find_facts())[0].id])


async def cut_off(memory: Memory, part: str, name: str, cut: Cut, monkeypatch: pytest.MonkeyPatch) -> None:
    with cutting(cut, monkeypatch):
        cut.task = asyncio.create_task(called(memory, part, name))
        try:
            async with asyncio.timeout(30):
                await cut.task
        except asyncio.CancelledError:
            pass


async def walked(memory: Memory, part: str, name: str, monkeypatch: pytest.MonkeyPatch, *, few: bool) -> None:
    """Cancel a call at its last commit, and unless it is to be at few, at its first and last two statements."""
    await afresh(memory, name)
    untouched = await state(memory) if name != "flush_usage" else []
    known = await wrong(memory)  # the samples name some that do not name them
    await afresh(memory, name)
    counted = Cut(-1, "")
    await cut_off(memory, part, name, counted, monkeypatch)
    whole = await state(memory)
    known |= await wrong(memory)
    places = sorted({*range(counted.met)[-1 if few else -2 :], *range(counted.met)[: 0 if few else 1]})
    for place in places:
        for moment in MOMENTS:
            await afresh(memory, name)
            await cut_off(memory, part, name, Cut(place, moment), monkeypatch)
            found = await state(memory)
            where = f"{part}.{name} cancelled {moment} statement {place} of {counted.met}"
            if (part, name) in STEPWISE:
                if name.startswith(("clear", "forget_all")):
                    await called(memory, part, name)
                    assert await state(memory) == whole, where
            elif name == "flush_usage":
                assert found == whole, f"{where}: uses are lost or counted twice"
            else:
                assert found in (untouched, whole), f"{where}: {sorted(set(found) ^ set(whole))}"
            assert await wrong(memory) <= known, where


@pytest.mark.parametrize(("part", "name"), QUICK)
async def test_a_cancelled_write_is_whole_or_not_there(
    memory: Memory, part: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await walked(memory, part, name, monkeypatch, few=True)


@pytest.mark.long
@pytest.mark.parametrize(("part", "name"), WRITING)
async def test_any_cancelled_write_is_whole_or_not_there(
    memory: Memory, part: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await walked(memory, part, name, monkeypatch, few=False)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_cancelled_reads_give_their_connections_back(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    await afresh(memory, "")
    before = await state(memory)
    for part, name in CALLS:
        if READING.match(name) and part in ("store", "ledger") and name not in ("recall", "retrieve"):
            await cut_off(memory, part, name, Cut(0, moment), monkeypatch)
    async with asyncio.timeout(30):
        await asyncio.gather(*(memory.store.list_themes() for _ in range(4)))
    assert await state(memory) == before
