"""Whatever upkeep is done to a memory, in whatever order: Neo4j and the twin in memory stay equal, and both whole.

Equal means their exports: records with their stamps, the audit trail, what replaced what. Whole means that the deep
examination finds nothing wrong. Nothing is mapped or left out; only vectors are rounded.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.doctor import examine
from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import ConflictDetector, EntityResolver, MemoryConsolidator, apply_plan, assert_statements
from remembrancer.lifecycle.forgetting import forget
from remembrancer.lifecycle.restoring import plan_restore
from remembrancer.lifecycle.transfer_export import exported_lines, require_transfer
from remembrancer.lifecycle.undo import plan_undo
from remembrancer.records import RecordBatch, RemembranceError
from remembrancer.testing import IndexedStore
from remembrancer.testing.samples import SPACE, day, direction, entity, episode, fact, message, relationship, sample_id
from remembrancer.testing.samples import theme as a_theme

pytestmark = pytest.mark.neo4j

Act = Callable[[IndexedStore, dict[str, Any]], Awaitable[object]]

NAMES = ("Acme", "The ACME.", "Bob", "bob", "Zürich")
WORDS = ("works at Acme in Berlin", "does not work at Acme in Berlin", "works at Acme in Paris", "likes tea")
NUMBERS = st.integers(1, 5)
ANGLES = (0, 4, 9.37, 60)

# Degrees of which none lies in the middle of two others, so that no fact is as near to one as to another: which of two
# equally near ones comes first is a matter of rounding, and the stores round at different places.
_APART = (0, 1, 3, 4, 9, 10, 12, 13, 27, 28, 30, 31, 36, 37, 39)


def by_number(angle: float, number: int) -> list[float]:
    """The vector of a fact that was put under a number."""
    return direction(angle + _APART[number - 1] / 10)


def by_port(subject: int, value: int) -> list[float]:
    """The vector of a stated port."""
    return direction(30 + 0.3 * _APART[3 * (subject - 1) + value - 1])


async def lines_of(store: IndexedStore) -> list[Any]:
    lines = exported_lines(store, require_transfer(store))
    return [_rounded(line.model_dump(mode="json")) async for line in lines]


def _rounded(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _rounded(value) for name, value in told.items()}
    if isinstance(told, list):
        return [_rounded(value) for value in told]
    return round(told, 4) if isinstance(told, float) else told


class Upkeep(RuleBasedStateMachine):
    """Every rule does the same to both stores, at an instant and with ids of its own, then compares them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stores: tuple[Neo4jStore, InMemoryStore, list[dt.datetime]]):
        super().__init__()
        self._loop = loop
        self._store, self._twin, self._now = stores
        self._steps, self._numbers = itertools.count(1), itertools.count(1)
        self._passes: list[str] = []

    def do(self, act: Act) -> None:
        self._loop.run_until_complete(self._done(act))

    async def _done(self, act: Act) -> None:
        step = next(self._steps)
        self._now[0] = day(100 + step)
        told: list[object] = []
        for store in (self._store, self._twin):
            ids = (sample_id("message", 1_000_000 + 1_000 * step + number) for number in itertools.count())
            timed: dict[str, Any] = {"clock": lambda: self._now[0], "new_id": partial(next, ids)}
            try:
                await act(store, timed)
            except RemembranceError as error:
                told.append((type(error), str(error)))
            else:
                told.append("done")
        assert told[0] == told[1]
        assert await lines_of(self._store) == await lines_of(self._twin)
        self._passes = [one.id for one in await self._twin.list_passes(limit=100)]

    def teardown(self) -> None:
        async def looked_deep() -> Any:
            found = await examine(self._store.database, self._store.namespace, deep=True)
            await self._store.clear()
            return [one for one in found.findings if one.is_wrong]

        assert self._loop.run_until_complete(looked_deep()) == []

    @initialize(angles=st.lists(st.sampled_from(ANGLES), min_size=5, max_size=5))
    def memory_is_filled(self, angles: list[float]) -> None:
        said = [message(number) for number in range(11, 14)]
        facts = [
            fact(
                number,
                content=f"Bob {WORDS[number % 4]}",
                embedding=by_number(angle, number),
                entities=[number, number % 3 + 1] if number % 3 + 1 != number else [number],
                episodes=[1],
                source_message_ids=[said[number % 3].id],
                valid_from=day(number),
                theme_id={1: sample_id("theme", 1), 2: sample_id("theme", 1), 4: sample_id("theme", 2)}.get(number),
            )
            for number, angle in enumerate(angles, start=1)
        ]
        batch = RecordBatch(
            entities=[entity(number, name=name, created_at=day(number)) for number, name in enumerate(NAMES, start=1)],
            relationships=[relationship(number, number, number + 1) for number in range(1, 5)],
            episodes=[episode(1, messages=said, facts=range(1, 6))],
            facts=facts,
            themes=[a_theme(1, facts=[1, 2], embedding=direction(0)), a_theme(2, facts=[4], embedding=direction(60))],
        )
        self.do(lambda store, _: store.write(batch))

    @rule(number=NUMBERS, name=st.sampled_from(NAMES), other=NUMBERS)
    def entity_is_put(self, number: int, name: str, other: int) -> None:
        edges = [relationship(number, number, other)] if other != number else []
        batch = RecordBatch(entities=[entity(number, name=name, created_at=day(number))], relationships=edges)
        self.do(lambda store, _: store.write(batch))

    @rule(
        number=NUMBERS,
        angle=st.sampled_from((None, *ANGLES, 64)),
        words=st.sampled_from(WORDS),
        entities=st.lists(NUMBERS, max_size=2, unique=True),
        start=st.integers(0, 9),
        uses=st.sampled_from((None, 1, 3)),
    )
    def fact_is_put(
        self, number: int, angle: float | None, words: str, entities: list[int], start: int, uses: int | None
    ) -> None:
        """A new one, or that number with what it says changed, as long as it is live."""
        stored = self._loop.run_until_complete(self._twin.get_fact(sample_id("fact", number)))
        said: dict[str, Any] = {
            "content": f"Bob {words}",
            "embedding": None if angle is None else by_number(angle, number),
            "valid_from": day(start),
            "access_count": uses,
        }
        new = fact(10 + next(self._numbers), entities=entities, **said)
        one = stored.model_copy(update=said) if stored is not None and stored.is_live else new
        self.do(lambda store, _: store.put_fact(one))

    @rule(subject=NUMBERS, value=st.integers(1, 3), start=st.integers(0, 9))
    def port_is_stated(self, subject: int, value: int, start: int) -> None:
        told = {
            "subject_id": sample_id("entity", subject),
            "predicate": "port",
            "value": value,
            "valid_from": day(start),
            "content": f"port {value}",
            "embedding": by_port(subject, value),
        }
        self.do(lambda store, timed: assert_statements(store, [told], single_valued=["port"], **timed))

    @rule(mode=st.sampled_from(("soft", "soft", "hard")))
    def entities_are_resolved(self, mode: Any) -> None:
        self.do(lambda store, timed: EntityResolver(store, delete_mode=mode, single_valued=["port"], **timed).resolve())

    @rule(policy=st.sampled_from(("supersede-on-newer", "negation-invalidates-positive")))
    def conflicts_are_resolved(self, policy: Any) -> None:
        async def act(store: IndexedStore, timed: dict[str, Any]) -> object:
            detector = ConflictDetector(store, store.index, policy=policy, **timed)
            return await detector.auto_resolve_all(await detector.detect())

        self.do(act)

    @rule(
        mode=st.sampled_from(("soft", "soft", "hard")),
        facts=st.sampled_from((None, 2, 4)),
        episodes=st.sampled_from((None, None, 1)),
    )
    def memory_is_consolidated(self, mode: Any, facts: int | None, episodes: int | None) -> None:
        options: dict[str, Any] = {"delete_mode": mode, "max_facts": facts, "max_episodes": episodes}
        self.do(
            lambda store, timed: MemoryConsolidator(
                store, store.index, dedup_threshold=0.99, **options, **timed
            ).consolidate()
        )

    @rule(kind=st.sampled_from(("fact", "entity", "episode", "theme", "relationship")), number=NUMBERS)
    def record_is_restored(self, kind: Any, number: int) -> None:
        async def act(store: IndexedStore, timed: dict[str, Any]) -> object:
            return await apply_plan(store, await plan_restore(store, sample_id(kind, number), **timed))

        self.do(act)

    @precondition(lambda self: self._passes)
    @rule(place=st.integers(0, 3))
    def pass_is_undone(self, place: int) -> None:
        pass_id = self._passes[min(place, len(self._passes) - 1)]

        async def act(store: IndexedStore, timed: dict[str, Any]) -> object:
            return await apply_plan(store, await plan_undo(store, pass_id, **timed))

        self.do(act)

    @rule(kind=st.sampled_from(("fact", "entity", "episode", "message")), number=NUMBERS, hard=st.booleans())
    def record_is_forgotten(self, kind: Any, number: int, hard: bool) -> None:
        wanted = sample_id(kind, number + 10 if kind == "message" else number)
        self.do(lambda store, timed: forget(store, wanted, hard=hard, **timed))


def play(server: tuple[str, tuple[str, str]], *, examples: int, steps: int) -> None:
    uri, auth = server
    loop = asyncio.new_event_loop()
    database = Database.open(uri, auth=auth)
    opened = loop.run_until_complete(database.__aenter__())
    stores: list[Any] = []

    async def twins() -> tuple[Neo4jStore, InMemoryStore, list[dt.datetime]]:
        now = [day(100)]
        namespace = f"test-{uuid.uuid4()}"
        opening = Neo4jStore.open(database=opened, namespace=namespace, space=SPACE, clock=lambda: now[0])
        stores.append(opening)
        return await opening.__aenter__(), InMemoryStore(namespace, space=SPACE, clock=lambda: now[0]), now

    told = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a failure takes minutes: add Phase.shrink
    )

    class OnNewStores(Upkeep):
        def __init__(self) -> None:
            super().__init__(loop, loop.run_until_complete(twins()))

    try:
        run_state_machine_as_test(OnNewStores, settings=told)
    finally:
        for one in stores:
            loop.run_until_complete(one.__aexit__(None, None, None))
        loop.run_until_complete(database.__aexit__(None, None, None))
        loop.close()


def test_upkeep_leaves_both_stores_equal_and_whole(neo4j_server: tuple[str, tuple[str, str]]) -> None:
    play(neo4j_server, examples=3, steps=12)


@pytest.mark.long
def test_much_upkeep_leaves_both_stores_equal_and_whole(neo4j_server: tuple[str, tuple[str, str]]) -> None:
    play(neo4j_server, examples=15, steps=30)
