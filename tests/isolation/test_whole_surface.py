"""Whatever is asked of a memory, the answer is as if it had the database to itself.

Every public coroutine is called twice: in a namespace that is alone with its texts, and in one beside another that
holds the same names, texts, tags, runs and vectors under other ids. Both answers must be equal, which walls in counts,
scores, ranks and errors too; and nothing of the other may be told or changed.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import pytest
from tests.isolation.conftest import OpenMemory, answer_of, everything, fill
from tests.surface import OURS, PARTS, THEIRS, called, is_registered, public

from remembrancer import Memory
from remembrancer.graph import Database
from remembrancer.records import NotFoundError

pytestmark = [pytest.mark.neo4j, pytest.mark.timeout(900)]  # the first test of all waits for both walks

OPENING = {"connect", "in_memory", "local"}
TIERED = {"tiered"}

_READING = ("get", "find", "list", "search", "nearest", "near", "count_", "active", "weakest", "theme_ids", "mean_",
            "namesakes", "fact_ids", "relationship_ids", "shared", "facts_", "similar", "pass_", "record_entries",
            "history", "why", "stored", "outline", "run_reach", "decisions", "gate_decisions", "admit", "passes",
            "served_to", "should", "subgraph", "before")  # fmt: skip


def is_reading(name: str) -> bool:
    return name.startswith(_READING)


_AFRESH = ("assert_statements", "clear", "consolidate", "export", "forget", "import", "ingest", "memory_writer",
           "quarantine_run", "reflect", "resolve", "restore", "retry", "undo", "write")  # fmt: skip
"""Called in a memory that was filled anew; these make records with ids of chance, remove what is there, or need it."""

CALLS = sorted(
    ((part, name) for part in PARTS for name in public(part)),
    key=lambda one: (one[1] == "reembed", not is_reading(one[1]), one[1].startswith(_AFRESH), one),
)
"""All that there is to call; first what only reads, last what leaves the embedding space of all the others."""

MADE_BY = (("memory", "ingest"), ("memory", "memory_writer"), ("memory", "reflect"), ("tiered", "remember"))
"""What the other memory has been through, besides being filled."""


@dataclass
class Walked:
    """What one call came to.

    Attributes:
        own: What it answered of its own ids.
        foreign: What it answered of ids that only another memory has.
    """

    own: str
    foreign: str


@dataclass
class Walks:
    """Both walks.

    Attributes:
        alone: In a memory that is alone with its texts.
        beside: In one beside the other.
        before: All of the other one before the second walk.
        after: All of the other one after it.
    """

    alone: dict[tuple[str, str], Walked]
    beside: dict[tuple[str, str], Walked]
    before: list[str]
    after: list[str]


async def walk(memory: Memory) -> dict[tuple[str, str], Walked]:
    walked = {}
    await fill(memory, OURS)
    was_afresh = False
    for part, name in CALLS:
        if not is_registered(part, name):
            continue  # a test of its own fails for it
        is_afresh = name.startswith(_AFRESH)
        if is_afresh or was_afresh:
            await memory.clear()
            if name != "write":  # which writes all of it
                await fill(memory, OURS)
        was_afresh = is_afresh
        own = await answer_of(memory, part, name, OURS)
        walked[part, name] = Walked(own, await answer_of(memory, part, name, THEIRS))
    await memory.clear()
    return walked


@pytest.fixture(scope="module")
async def walks(open_memory: OpenMemory, neo4j_database: Database) -> Walks:
    alone = await walk(await open_memory())
    theirs = await open_memory()
    await fill(theirs, THEIRS)
    for part, name in MADE_BY:
        await called(theirs, part, name, family=THEIRS)
    await theirs.store.flush_usage()
    before = await everything(neo4j_database, theirs.namespace)
    beside = await walk(await open_memory())
    await theirs.store.flush_usage()
    return Walks(alone, beside, before, await everything(neo4j_database, theirs.namespace))


@pytest.mark.parametrize(("part", "name"), CALLS)
def test_every_public_coroutine_is_registered(part: str, name: str) -> None:
    assert is_registered(part, name), f"register {part}.{name} in tests/surface.py"


def test_nothing_else_of_a_memory_is_called() -> None:
    plain = {
        name
        for name, _ in inspect.getmembers(Memory, callable)
        if not name.startswith("_") and name not in public("memory")
    }
    assert plain == OPENING | TIERED


@pytest.mark.long
@pytest.mark.parametrize(("part", "name"), CALLS)
def test_an_answer_is_that_of_a_memory_by_itself(walks: Walks, part: str, name: str) -> None:
    alone, beside = walks.alone[part, name], walks.beside[part, name]
    assert beside.own == alone.own
    assert beside.foreign == alone.foreign


@pytest.mark.long
@pytest.mark.parametrize(("part", "name"), CALLS)
def test_no_id_of_another_memory_is_told(walks: Walks, part: str, name: str) -> None:
    own = walks.beside[part, name].own
    assert THEIRS not in own
    assert '"error"' not in own, own


@pytest.mark.long
def test_nothing_of_another_memory_is_changed(walks: Walks) -> None:
    assert any(THEIRS in one for one in walks.before)
    changed = sorted(set(walks.before) ^ set(walks.after))
    assert not changed, "\n".join(changed)


async def test_a_pass_of_another_memory_is_not_there(open_memory: OpenMemory) -> None:
    ours, theirs = await open_memory(), await open_memory()
    await fill(ours, OURS)
    await fill(theirs, THEIRS)
    (done,) = await theirs.passes()
    store: Any = ours.store
    assert await store.get_pass(done.id) is None
    assert await store.pass_entries(done.id) == []
    assert done.id not in [one.id for one in await ours.passes()]
    with pytest.raises(NotFoundError):
        await ours.undo(done.id)
    assert [one.id for one in await theirs.passes()] == [done.id]
