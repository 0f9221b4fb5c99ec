"""Instants: what is read, what is refused, and that one instant has one form."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.records import InvalidInputError, system_clock
from remembrancer.records.instant import parse_instant, require_instant

BERLIN = ZoneInfo("Europe/Berlin")


class Nanoseconds(dt.datetime):
    """As data frames have them: a datetime with more digits than a datetime has."""

    nanosecond = 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-01-01", dt.datetime(2025, 1, 1, tzinfo=dt.UTC)),
        ("20250101", dt.datetime(2025, 1, 1, tzinfo=dt.UTC)),
        ("2025-01-01T12:30", dt.datetime(2025, 1, 1, 12, 30, tzinfo=dt.UTC)),
        ("2025-01-01 12:30:15", dt.datetime(2025, 1, 1, 12, 30, 15, tzinfo=dt.UTC)),
        ("2025-01-01T12:30:15.5Z", dt.datetime(2025, 1, 1, 12, 30, 15, 500_000, tzinfo=dt.UTC)),
        ("2025-01-01T12:30:15.123456Z", dt.datetime(2025, 1, 1, 12, 30, 15, 123_456, tzinfo=dt.UTC)),
        ("2025-01-01T12:30:15.123456000Z", dt.datetime(2025, 1, 1, 12, 30, 15, 123_456, tzinfo=dt.UTC)),
        ("2025-01-01T00:30:00+02:00", dt.datetime(2024, 12, 31, 22, 30, tzinfo=dt.UTC)),
        ("  2025-01-01  ", dt.datetime(2025, 1, 1, tzinfo=dt.UTC)),
        ("0001-01-01T00:00:00Z", dt.datetime(1, 1, 1, tzinfo=dt.UTC)),
        ("9999-12-31T23:59:59.999999Z", dt.datetime.max.replace(tzinfo=dt.UTC)),
    ],
)
def test_iso_text_without_an_offset_is_utc_and_a_date_alone_is_midnight(text: str, expected: dt.datetime) -> None:
    assert parse_instant(text) == expected


@pytest.mark.parametrize(
    "value",
    [
        "",
        "nonsense",
        "2025-02-30",
        "2025-13-01",
        "2025-01-01T00:00:00.1234567Z",
        "2025-01-01T00:00:00.0000001",
        "0000-01-01",
        "10000-01-01",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        None,
        True,
        [],
        dt.date(2025, 1, 1),
        float("nan"),
        float("inf"),
        -float("inf"),
        10**30,
        -(10**17),
        Nanoseconds(2025, 1, 1, tzinfo=dt.UTC),
    ],
)
def test_what_is_no_instant_to_the_microsecond_within_years_1_to_9999_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_instant(value)


def test_a_naive_datetime_is_refused_with_what_to_do_about_it() -> None:
    with pytest.raises(ValueError, match="time zone"):
        parse_instant(dt.datetime(2025, 1, 1))  # noqa: DTZ001


def test_milliseconds_since_1970_are_read_before_and_after_it() -> None:
    assert parse_instant(0) == dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert parse_instant(-1) == dt.datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=dt.UTC)
    assert parse_instant(1_735_689_600_000.5) == dt.datetime(2025, 1, 1, 0, 0, 0, 500, tzinfo=dt.UTC)


def test_the_two_half_past_twos_of_the_autumn_night_are_an_hour_apart() -> None:
    first = dt.datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN)
    assert parse_instant(first) == dt.datetime(2025, 10, 26, 0, 30, tzinfo=dt.UTC)
    assert parse_instant(first.replace(fold=1)) == dt.datetime(2025, 10, 26, 1, 30, tzinfo=dt.UTC)


def test_every_zone_becomes_the_one_utc_object_that_the_driver_sends_as_utc() -> None:
    for zone in (BERLIN, ZoneInfo("UTC"), dt.timezone(dt.timedelta(hours=-3))):
        parsed = parse_instant(dt.datetime(2025, 6, 1, 12, tzinfo=zone))
        assert parsed.tzinfo is dt.UTC
        assert type(parsed) is dt.datetime


def test_what_callers_hand_in_is_refused_by_the_name_of_the_argument() -> None:
    with pytest.raises(InvalidInputError, match="valid_at: not an ISO 8601") as caught:
        require_instant("yesterday", field="valid_at")
    assert caught.value.field == "valid_at"


def test_the_system_clock_is_aware() -> None:
    assert system_clock().tzinfo is dt.UTC


offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
moments = st.datetimes(min_value=dt.datetime(1, 1, 3), max_value=dt.datetime(9999, 12, 29), timezones=offsets)  # noqa: DTZ001


@given(moments)
def test_an_instant_survives_its_own_text_in_any_zone(moment: dt.datetime) -> None:
    assert parse_instant(moment) == parse_instant(moment.isoformat()) == moment


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_whole_milliseconds_are_exact(milliseconds: int) -> None:
    elapsed = parse_instant(milliseconds) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert elapsed // dt.timedelta(milliseconds=1) == milliseconds
    assert elapsed % dt.timedelta(milliseconds=1) == dt.timedelta(0)
