"""Serving lessons, over both stores: what is served, counted, drawn and refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from remembrancer.ports import KeepsLedger, MemoryStore
from remembrancer.records import Fact, InvalidInputError, RecordBatch, RunOutcome
from remembrancer.retention import lessons as module
from remembrancer.retention import retrieve_gated_lessons
from remembrancer.testing import OpenStore
from remembrancer.testing.samples import SPACE, day, direction, fact, sample_id


def lesson(number: int, *tags: str, **fields: Any) -> Fact:
    return fact(number, tags=["lesson", *tags], valid_from=day(number), **fields)


def numbers(found: Any) -> list[int]:
    return [int(one.id[-12:], 16) for one in found]


async def uses(store: MemoryStore) -> dict[int, int | None]:
    await store.flush_usage()
    return {number: one.access_count for one in await store.find_facts() for number in numbers([one])}


async def test_lessons_beyond_the_first_page_are_served(open_store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE", 3)
    store = await open_store()
    assert isinstance(store, KeepsLedger)
    others = [fact(number, tags=["candidate"], valid_from=day(number)) for number in range(50, 57)]
    mine = [lesson(number, "candidate") for number in range(1, 9)]
    await store.write(RecordBatch(facts=[*others, *mine]))
    await store.ledger.record_outcome(RunOutcome(run_id="r", score=1, fact_ids=[sample_id("fact", 2)]))
    assert numbers(await retrieve_gated_lessons(store, tags=["lesson"], candidate_slots=3)) == [8, 7, 6]
    by_trials = await retrieve_gated_lessons(store, tags=["lesson"], candidate_slots=3, ledger=store.ledger)
    assert numbers(by_trials) == [2, 1, 3]


async def test_lessons_carry_no_vectors(open_store: OpenStore) -> None:
    store = await open_store(space=SPACE)
    await store.write(
        RecordBatch(facts=[lesson(1, embedding=direction(1)), lesson(2, "candidate", embedding=direction(2))])
    )
    served = await retrieve_gated_lessons(store, tags=["lesson"])
    assert numbers(served) == [1, 2]
    assert [one.embedding for one in served] == [None, None]
    assert served.fact_ids == (sample_id("fact", 1), sample_id("fact", 2))


class Draws:
    """Numbers to draw, in their order."""

    def __init__(self, *numbers: float) -> None:
        self.left: Iterator[float] = iter(numbers)

    def __call__(self) -> float:
        return next(self.left)


async def test_a_withheld_candidate_leaves_its_slot_empty_and_is_not_counted(open_store: OpenStore) -> None:
    store = await open_store()
    facts = [lesson(number, "candidate") for number in (1, 2, 3)] + [lesson(number) for number in (11, 12, 13)]
    await store.write(RecordBatch(facts=facts))
    served = await retrieve_gated_lessons(
        store, tags=["lesson"], max_facts=4, candidate_slots=2, holdout=0.25, rng=Draws(0.24, 0.25)
    )
    assert numbers(served) == [13, 12, 2]
    assert served.holdout == {sample_id("fact", 3): 0.25, sample_id("fact", 2): 0.25}
    assert served.withheld == (sample_id("fact", 3),)
    assert await uses(store) == {1: 0, 2: 1, 3: 0, 11: 0, 12: 1, 13: 1}


async def test_without_a_holdout_nothing_is_drawn(open_store: OpenStore) -> None:
    store = await open_store()
    await store.write(RecordBatch(facts=[lesson(1, "candidate")]))
    served = await retrieve_gated_lessons(store, tags=["lesson"], rng=Draws())
    assert (numbers(served), served.holdout) == ([1], {})


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("tags", "lesson"),
        ("tags", [3]),
        ("candidate_tag", ""),
        ("max_facts", -1),
        ("candidate_slots", -1),
        ("candidate_slots", True),
        ("rest_after_trials", -1),
        ("holdout", 1),
        ("holdout", -0.1),
        ("holdout", math.nan),
        ("holdout", "half"),
    ],
)
async def test_bad_input_is_refused_and_nothing_counted(open_store: OpenStore, field: str, wrong: Any) -> None:
    store = await open_store()
    await store.write(RecordBatch(facts=[lesson(1)]))
    with pytest.raises(InvalidInputError) as refused:
        await retrieve_gated_lessons(store, **{"tags": ["lesson"], field: wrong})
    assert refused.value.field.split(".")[0] == field
    assert await uses(store) == {1: 0}
