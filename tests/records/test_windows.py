"""Windows of validity."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.records import filter_valid, is_changed_since, is_valid_at

START = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
instants = st.integers(0, 8).map(lambda days: START + dt.timedelta(days=days))


@dataclass(frozen=True)
class Window:
    valid_from: dt.datetime
    valid_until: dt.datetime | None
    invalidated_by: str | None = None


windows = st.builds(Window, instants, st.none() | instants, st.sampled_from([None, "", "a fact"]))


def at(day: int) -> dt.datetime:
    return START + dt.timedelta(days=day)


def test_a_window_holds_the_instant_it_opens_and_excludes_the_one_it_closes() -> None:
    window = Window(at(1), at(3))
    assert [is_valid_at(window, at(day)) for day in range(5)] == [False, True, True, False, False]


def test_a_window_without_end_holds_for_good() -> None:
    assert is_valid_at(Window(at(1), None), dt.datetime.max.replace(tzinfo=dt.UTC))


def test_change_is_strictly_after() -> None:
    assert not is_changed_since(Window(at(1), None), at(1))
    assert is_changed_since(Window(at(1), at(3)), at(2))
    assert not is_changed_since(Window(at(1), at(3)), at(3))


@given(windows, instants)
def test_an_empty_or_inverted_window_holds_at_no_instant(window: Window, instant: dt.datetime) -> None:
    if window.valid_until is not None and window.valid_until <= window.valid_from:
        assert not is_valid_at(window, instant)


@given(instants, instants, instants, instants)
def test_successors_that_touch_never_both_hold(
    begin: dt.datetime, change: dt.datetime, end: dt.datetime, instant: dt.datetime
) -> None:
    earlier, later = Window(begin, change), Window(change, end)
    assert not (is_valid_at(earlier, instant) and is_valid_at(later, instant))


@given(st.lists(windows), st.none() | instants, st.none() | instants, st.booleans())
def test_a_filter_keeps_what_passes_each_test_in_order(
    records: list[Window], valid_at: dt.datetime | None, changed_since: dt.datetime | None, include: bool
) -> None:
    kept = filter_valid(records, valid_at=valid_at, changed_since=changed_since, include_invalidated=include)
    expected = list(records)
    if not include:
        expected = [record for record in expected if not record.invalidated_by]
    if valid_at is not None:
        expected = [record for record in expected if is_valid_at(record, valid_at)]
    if changed_since is not None:
        expected = [record for record in expected if is_changed_since(record, changed_since)]
    assert kept == expected


def test_an_empty_mark_counts_as_none() -> None:
    assert filter_valid([Window(at(0), None, "")]) == [Window(at(0), None, "")]
