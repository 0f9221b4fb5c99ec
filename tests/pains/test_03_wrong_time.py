"""Kind 3: what held when, and what was known when."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.pains.conftest import ADA, OpenMemory, said

from remembrancer import InvalidInputError, Memory
from remembrancer.records import RecordBatch
from remembrancer.testing import FixedClock
from remembrancer.testing.samples import day, fact, relationship, sample_id

pytestmark = pytest.mark.neo4j

BERLIN = ZoneInfo("Europe/Berlin")


async def test_a_naive_instant_is_refused_by_name(memory: Memory) -> None:
    naive = dt.datetime(2025, 1, 1)  # noqa: DTZ001
    with pytest.raises(InvalidInputError, match=r"messages\.0\.timestamp"):
        await memory.ingest([{**said("Ada works."), "timestamp": naive}])
    with pytest.raises(InvalidInputError, match="valid_at"):
        await memory.recall("Ada", valid_at=naive)
    assert issubclass(InvalidInputError, ValueError)


@pytest.mark.parametrize(
    "instant",
    [
        dt.datetime(2025, 3, 30, 1, 59, 59, 999_999, BERLIN),
        dt.datetime(2025, 10, 26, 2, 30, 0, 1, BERLIN, fold=1),
        dt.datetime(1, 1, 1, tzinfo=dt.UTC),
        dt.datetime.max.replace(tzinfo=dt.UTC),
    ],
)
async def test_an_instant_comes_back_to_the_microsecond(memory: Memory, instant: dt.datetime) -> None:
    await memory.store.put_fact(fact(1, valid_from=instant))
    stored = await memory.store.get_fact(sample_id("fact", 1))
    assert stored is not None
    assert stored.valid_from == instant.astimezone(dt.UTC)
    assert stored.valid_from.utcoffset() == dt.timedelta(0)


async def test_history_that_is_told_late_has_its_own_time(memory: Memory) -> None:
    await memory.ingest([{**said("Ada Berg works at Acme Corp."), "timestamp": "2019-05-04T10:00:00Z"}])
    (one,) = await memory.store.find_facts()
    assert one.valid_from == dt.datetime(2019, 5, 4, 10, tzinfo=dt.UTC)
    assert one.recorded_at is not None
    assert one.recorded_at.year > 2019


def port(value: int, at: int) -> dict[str, Any]:
    return {"subject_id": ADA, "predicate": "port", "value": value, "valid_from": day(at)}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
async def test_the_order_of_arrival_changes_no_window(memory: Memory, order: tuple[int, ...]) -> None:
    for number in order:
        await memory.assert_statements([port(8080 + number, 2 * number)], single_valued=["port"])
    facts = await memory.store.find_statements([(ADA, "port")])
    windows = {one.statement.value: (one.valid_from, one.valid_until) for one in facts if one.statement}
    assert windows == {8080: (day(0), day(2)), 8081: (day(2), day(4)), 8082: (day(4), None)}


async def test_what_held_twice_has_two_windows_and_what_overlaps_one(memory: Memory) -> None:
    windows = [(0, 2), (5, 7), (6, 8)]
    for number, (start, end) in enumerate(windows):
        edge = relationship(number, 1, 2, valid_from=day(start), valid_until=day(end))
        await memory.store.write(RecordBatch(assertions=[edge]))
    edges = await memory.store.get_relationships_for_entity(sample_id("entity", 1))
    assert sorted((edge.valid_from - day(0)).days for edge in edges) == [0, 5]


async def test_then_now_and_what_was_known(open_memory: OpenMemory) -> None:
    clock = FixedClock(day(1))
    memory = await open_memory(clock=clock)
    await memory.store.put_fact(fact(1, content="the harbour is open", valid_until=day(3)))
    clock.advance(dt.timedelta(days=3))
    await memory.store.put_fact(fact(2, content="the harbour is closed", valid_from=day(3)))

    async def told(**when: Any) -> set[str]:
        return {hit.id[-1] for hit in (await memory.recall("harbour", **when)).hits}

    assert await told() == {"2"}
    assert await told(valid_at=day(2)) == {"1"}
    assert await told(valid_at=day(3)) == {"2"}
    assert await told(valid_at=day(2), believed_at=day(2)) == {"1"}
    assert await told(valid_at=day(5), believed_at=day(2)) == set()


async def test_a_new_value_closes_nothing_of_another_subject(memory: Memory) -> None:
    other = {"subject_id": sample_id("entity", 9), "predicate": "port", "value": 8080, "valid_from": day(0)}
    await memory.assert_statements([other, {**other, "predicate": "size"}], single_valued=["port"])
    await memory.assert_statements([port(8080, 0)], single_valued=["port"])
    report = await memory.assert_statements([port(9090, 1)], single_valued=["port"])
    assert len(report.superseded) == 1
    subject = sample_id("entity", 9)
    untouched = await memory.store.find_statements([(subject, "port"), (subject, "size")])
    assert [one.valid_until for one in untouched] == [None, None]


async def test_how_many_were_hidden_is_told(memory: Memory) -> None:
    closed = [fact(n, content=f"harbour {n}", invalidated_by="told so") for n in range(1, 5)]
    await memory.store.write(RecordBatch(facts=[*closed, fact(9, content="harbour 9")]))
    answer = await memory.recall("harbour")
    assert [hit.id for hit in answer.hits] == [sample_id("fact", 9)]
    assert answer.left_out.superseded == 4


async def test_at_the_instant_of_change_one_of_two_holds(memory: Memory) -> None:
    for number, at in ((1, 0), (2, 5)):
        await memory.assert_statements([port(number, at)], single_valued=["port"])
    for at, value in ((day(5) - dt.timedelta(microseconds=1), 1), (day(5), 2)):
        answer = await memory.recall("port", valid_at=at)
        assert len(answer.hits) == 1
        found = await memory.store.get_fact(answer.hits[0].id)
        assert found is not None
        assert found.statement is not None
        assert found.statement.value == value
