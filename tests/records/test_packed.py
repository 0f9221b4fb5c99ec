"""Packed ids: a list that can be asked where an id is."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.records.packed import PackedIds

IDS = st.lists(st.uuids().map(str) | st.uuids().map(lambda one: str(one).upper()), max_size=30)


@given(ids=IDS, start=st.integers(-40, 40), stop=st.integers(-40, 40), step=st.sampled_from((-2, -1, 1, 3)))
def test_they_are_read_as_they_were_put_in(ids: list[str], start: int, stop: int, step: int) -> None:
    packed = PackedIds(ids)
    assert (list(packed), len(packed)) == (ids, len(ids))
    assert packed[start:stop:step] == ids[start:stop:step]
    assert [packed[place - len(ids)] for place in range(len(ids))] == ids


@given(ids=IDS, others=IDS)
def test_the_first_place_of_each_is_found_and_no_other_id(ids: list[str], others: list[str]) -> None:
    packed = PackedIds([*ids, *ids])
    for one in {*ids, *others}:
        assert packed.place(one) == (ids.index(one) if one in ids else None)
        assert (one in packed) == (one in ids)
    assert 3 not in packed


@given(ids=IDS, others=IDS)
def test_what_others_lack_is_told_in_order(ids: list[str], others: list[str]) -> None:
    assert PackedIds([*ids, *others]).without(PackedIds(others)) == [one for one in ids if one not in others]


def test_ids_may_be_added_after_one_was_looked_for() -> None:
    first, second = str(uuid.UUID(int=2)), str(uuid.UUID(int=1))
    packed = PackedIds([first])
    assert packed.place(second) is None
    packed.append(second)
    assert (packed.place(first), packed.place(second)) == (0, 1)


def test_what_is_equal_reads_alike() -> None:
    ids = [str(uuid.uuid4()) for _ in range(3)]
    assert PackedIds(ids) == PackedIds(ids)
    assert PackedIds(ids) != PackedIds(ids[:2])
    assert repr(PackedIds(ids)) == f"PackedIds({ids!r})"
