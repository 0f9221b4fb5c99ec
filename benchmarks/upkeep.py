"""Time per fact of the passes that keep a memory true: set-wise inside Neo4j, and plainly from outside, side by side.

Each size is a memory of its own: facts of some nine words, most of them rare, two entities a fact, one entity in twenty
there under a second spelling, one fact in twenty near another one, and one entity that a tenth of all facts mention.
Only the planning is timed, which writes nothing. Plainly means over the same store, but through the ports alone; both
must give one answer. `python benchmarks/upkeep.py --facts 1000 10000`; add 100000 with `--plain-up-to 10000`.

The peak is that of this process, on Linux. A plan is held whole until it is written, so with shares the peak grows with
what is found. `--findings 500` makes so many near facts, and a fifth as many second spellings, whatever the size: then
a peak that grows is one that grows with the memory.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import world

from remembrancer.graph import Neo4jStore
from remembrancer.lifecycle import ConflictDetector, EntityResolver, MemoryConsolidator
from remembrancer.ports import MemoryStore
from remembrancer.records import Entity, Fact, RecordBatch

Look = Callable[[Any, Any], Awaitable[object]]

VOCABULARY = 20_000
HUB = 0


async def resolution(store: Any, index: Any) -> object:
    return (await EntityResolver(store, clock=lambda: world.START).plan()).report


async def conflicts(store: Any, index: Any) -> object:
    found = await ConflictDetector(store, index).detect()
    return [(one.kind, one.a.id, one.b.id) for one in found]


async def dedup(store: Any, index: Any) -> object:
    planned = await MemoryConsolidator(store, index, clock=lambda: world.START).plan()
    return [(one.record_id, one.superseded_by) for one in planned.plan.changes]


PASSES: dict[str, Look] = {"resolution": resolution, "conflicts": conflicts, "dedup": dedup}
"""What is measured, by name: plans on a store with its index, and gives an answer to compare."""


class Plainly:
    """A store with the methods of the port alone, so that nothing is pushed down."""

    _PORT = frozenset(name for name in dir(MemoryStore) if not name.startswith("_"))

    def __init__(self, store: Neo4jStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name not in self._PORT:
            raise AttributeError(name)
        return getattr(self._store, name)


def entities(count: int, findings: int | None = None) -> list[Entity]:
    """Entities of which one in twenty is another one under a second spelling, or a fifth as many as `findings`."""
    made = world.entities(count)
    second = range(19, count, 20)[: None if findings is None else findings // 5]
    return [
        one.model_copy(update={"name": f"The {made[place - 1].name.upper()}."}) if place in second else one
        for place, one in enumerate(made)
    ]


def facts(count: int, known: int, findings: int | None = None) -> Iterator[Fact]:
    """Facts of which one in twenty is near the one before it, or as many as `findings`.

    Words are drawn from so many that only a handful of pairs share enough of them to replace each other.
    """
    rng = np.random.default_rng(5)
    odds = 1 / (np.arange(VOCABULARY) + 30)
    words = rng.choice(VOCABULARY, size=(count, 9), p=odds / odds.sum())
    ends = rng.integers(1, known, size=(count, 2))
    ends[rng.random(count) < 0.1, 1] = HUB
    vectors = world.clustered(count, seed=11)
    near = np.flatnonzero(rng.random(count) < 0.05)
    near = near[near > 0]
    if findings is not None:
        near = np.sort(rng.permutation(np.arange(1, count))[:findings])
    vectors[near] = vectors[near - 1] + 0.3 * vectors[near] / np.linalg.norm(vectors[near], axis=1, keepdims=True)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ends[near] = ends[near - 1]
    for place, one in enumerate(world.facts(vectors)):
        content = " ".join(f"w{word}" for word in words[place]) + (" not" if place % 30 == 0 else "")
        mentioned = tuple(dict.fromkeys(world.record_id("e", int(end)) for end in ends[place]))
        yield one.model_copy(update={"content": content, "entity_ids": mentioned})


async def filled(store: Neo4jStore, count: int, findings: int | None) -> None:
    known = count // 5
    for some in world.portions(entities(known, findings)):
        await store.write(RecordBatch(entities=some))
    edges = np.random.default_rng(3).integers(0, known, size=(count // 2, 2))
    for some in world.portions(world.relationships([(int(a), int(b)) for a, b in edges if a != b])):
        await store.write(RecordBatch(relationships=some))
    made = facts(count, known, findings)
    while some := list(itertools.islice(made, world.PORTION)):  # never all at once, or their memory would be measured
        await store.write(RecordBatch(facts=some))


def fill(address: world.Address, namespace: str, count: int, findings: int | None = None) -> None:
    """Make a memory."""

    async def work() -> None:
        async with (
            address.database() as database,
            Neo4jStore.open(database=database, namespace=namespace, space=world.SPACE) as store,
        ):
            await filled(store, count, findings)

    asyncio.run(work())


async def in_a_process_of_its_own(work: Callable[..., None], *arguments: object) -> None:
    """Do work whose memory must not be measured with what comes after it."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        await asyncio.get_running_loop().run_in_executor(pool, work, *arguments)


async def timed(look: Look, store: Any, index: Any) -> tuple[float, object]:
    began = time.perf_counter()
    answer = await look(store, index)
    return time.perf_counter() - began, answer


async def main() -> None:
    parser = world.parser(__doc__)
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--plain-up-to", type=int, default=10_000, help="no plain run on more facts than this")
    parser.add_argument("--findings", type=int, help="so many near facts whatever the size, not one in twenty")
    parser.add_argument("--only", nargs="+", choices=sorted(PASSES), default=list(PASSES))
    told = parser.parse_args()
    rows: list[dict[str, Any]] = []
    async with world.server() as address, address.database() as database:
        for count in told.facts:
            namespace = world.fresh("upkeep")
            await in_a_process_of_its_own(fill, address, namespace, count, told.findings)
            async with Neo4jStore.open(database=database, namespace=namespace, space=world.SPACE) as store:
                with_plain = count <= told.plain_up_to
                for name in told.only:
                    rows.append(await measured(name, store, count, with_plain=with_plain))
                    print(rows[-1], flush=True)
                await store.clear()
    world.report(rows, told.out)


async def measured(name: str, store: Neo4jStore, count: int, *, with_plain: bool) -> dict[str, Any]:
    look = PASSES[name]
    await timed(look, store, store.index)  # plans its statements, and warms what it reads
    forget_peak()
    pushed, answer = await timed(look, store, store.index)
    row = {
        "pass": name,
        "facts": count,
        "pushed s": pushed,
        "ms a fact": 1000 * pushed / count,
        "peak MB": peak(),
    }
    if isinstance(answer, list):
        row["found"] = len(answer)
    if with_plain:
        plain, same = await timed(look, Plainly(store), store.index)
        again, _ = await timed(look, store, store.index)
        assert same == answer, name
        row |= {"plain s": plain, "plain / pushed": plain / min(pushed, again)}
    return row


def forget_peak() -> None:
    """From now on the most memory is counted anew; Linux only."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak() -> int:
    """The most memory that this process had in use, in MB."""
    told = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) // 1024 for line in told.splitlines() if line.startswith("VmHWM:"))


if __name__ == "__main__":
    world.run(main)
