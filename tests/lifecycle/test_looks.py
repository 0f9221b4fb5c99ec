"""What a consolidation read first is what it expects: who changes a record during its look makes its plan outdated."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from remembrancer.graph import Database, Neo4jStore
from remembrancer.lifecycle import MemoryConsolidator, apply_plan
from remembrancer.lifecycle.survey import PushedSurvey
from remembrancer.records import Fact, PlanOutdatedError, RecordBatch
from remembrancer.testing.consolidation_contract import LEAST
from remembrancer.testing.samples import SPACE, day, direction, fact, sample_id

pytestmark = pytest.mark.neo4j

KEPT = fact(2, embedding=direction(0), entities=[1], access_count=9, valid_from=day(2))
CHANGED = KEPT.model_copy(update={"content": "changed meanwhile"})
DUPLICATES = [fact(n, embedding=direction(0), entities=[n], access_count=1, valid_from=day(n)) for n in (1, 3)]


class Interrupted(Neo4jStore):
    """A store in which somebody else writes during a look.

    Attributes:
        before_reading: Written before so many readings of facts, by how many were left by then.
        before_weighing: Written before facts are weighed.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.before_reading: list[Fact | None] = []
        self.before_weighing: Fact | None = None

    async def get_facts(self, ids: Sequence[str]) -> dict[str, Fact]:
        if self.before_reading and (other := self.before_reading.pop(0)) is not None:
            await self.put_fact(other)
        return await super().get_facts(ids)

    async def weakest_facts(self, *given: Any, **named: Any) -> list[str]:
        if self.before_weighing is not None:
            await self.put_fact(self.before_weighing)
        return await super().weakest_facts(*given, **named)


@pytest.fixture
async def store(neo4j_database: Database) -> AsyncIterator[Interrupted]:
    name = f"test-{uuid.uuid4()}"
    async with Interrupted.open(database=neo4j_database, namespace=name, space=SPACE) as opened:
        assert isinstance(opened, Interrupted)
        await opened.write(RecordBatch(facts=[KEPT, *DUPLICATES]))
        yield opened


async def assert_outdated(store: Interrupted, most: int | None) -> None:
    consolidator = MemoryConsolidator(store, store.index, max_facts=most, dedup_threshold=LEAST, clock=lambda: day(60))
    planned = await consolidator.plan()
    assert {change.record_id for change in planned.plan.changes} == {KEPT.id, *(one.id for one in DUPLICATES)}
    with pytest.raises(PlanOutdatedError) as caught:
        await apply_plan(store, planned.plan)
    assert caught.value.changed == (KEPT.id,)
    stored = await store.get_fact(KEPT.id)
    assert stored is not None
    assert (stored.content, stored.is_live) == (CHANGED.content, True)


async def test_a_fact_that_took_over_from_others_and_decays_is_expected_as_it_was_merged(store: Interrupted) -> None:
    store.before_weighing = CHANGED
    await assert_outdated(store, 0)


async def test_a_fact_that_is_merged_in_two_steps_is_expected_as_in_the_first(
    store: Interrupted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PushedSurvey, "searched_at_once", 1)
    store.before_reading = [None, CHANGED]
    await assert_outdated(store, None)
    assert store.before_reading == []
    assert (await store.get_facts([sample_id("fact", 1)]))[sample_id("fact", 1)].is_live


async def test_a_fact_that_says_something_else_by_the_time_it_is_read_is_no_duplicate(store: Interrupted) -> None:
    other = KEPT.model_copy(update={"content": "something else", "embedding": direction(90)})
    store.before_reading = [other]
    consolidator = MemoryConsolidator(store, store.index, dedup_threshold=LEAST, clock=lambda: day(60))
    planned = await consolidator.plan()
    assert {change.record_id for change in planned.plan.changes} == {one.id for one in DUPLICATES}
    await apply_plan(store, planned.plan)
    stored = await store.get_fact(KEPT.id)
    assert stored is not None
    assert (stored.content, stored.is_live) == (other.content, True)
