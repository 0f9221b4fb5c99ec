"""Days that a question names, absolute or relative to the instant it is asked at.

Each named day, month or year becomes windows of days with weights: people speak of a thing on the day, and in the
week and month after it.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator

from remembrancer.ports.recall import DateWindow

MAX_WINDOWS = 12
"""How many windows a question may bring; the heaviest are kept."""

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
_DAYS_OF_WEEK = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "couple of": 2, "few": 3,
}  # fmt: skip

# (?a:...): otherwise letters of other alphabets count as i, s and k, and "Aprıl" is a month without a number.
_MONTH = "(?P<month>(?a:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r"))\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
_ISO = re.compile(rf"\b{_YEAR}-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_DAY_MONTH = re.compile(rf"\b{_DAY}(?: of)? {_MONTH},?(?: {_YEAR})?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b{_MONTH} {_DAY},?(?: {_YEAR})?", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"\b{_MONTH},?(?: of)? {_YEAR}", re.IGNORECASE)
_LEAD = r"(?:in|of|during|since|late|early|mid|last|this|by|until|before|after)"
_MONTH_ALONE = re.compile(rf"\b{_LEAD} {_MONTH}", re.IGNORECASE)
_YEAR_ALONE = re.compile(rf"\b{_YEAR}\b")
_AGO = re.compile(
    r"\b(?P<count>\d{1,3}|(?a:"
    + "|".join(sorted(_NUMBERS, key=len, reverse=True))
    + r")) (?P<unit>day|week|month|year)s? ago\b",
    re.IGNORECASE,
)
_LAST = re.compile(r"\b(?P<which>last|past|this|previous) (?P<unit>week|weekend|month|year)\b", re.IGNORECASE)
_LAST_DAY = re.compile(r"\b(?:last|this|on|past) (?P<name>(?a:" + "|".join(_DAYS_OF_WEEK) + r"))\b", re.IGNORECASE)
_NEAR_DAY = re.compile(r"\b(?P<word>today|yesterday|tonight|this morning|last night)\b", re.IGNORECASE)

_CALENDAR = (_ISO, _DAY_MONTH, _MONTH_DAY, _MONTH_YEAR, _MONTH_ALONE)

_PAST_YEARS = 5  # a month without a year may be that of any of the last years


_WHEN = re.compile(
    r"^\W*(?:(?:since|until|till|by) )?when\b|\bhow (?:long|old|often)\b"
    r"|\b(?:what|which) (?:date|day|week|month|year|time|season)\b",
    re.IGNORECASE,
)


def asks_when(text: str) -> bool:
    """Whether a question asks for a time (English)."""
    return _WHEN.search(text) is not None


def date_windows(text: str, *, asked_at: dt.datetime) -> tuple[DateWindow, ...]:
    """The windows of days that a text names, heaviest first, at most `MAX_WINDOWS`.

    Args:
        text: A question.
        asked_at: What `yesterday`, `last week` and a month without a year are counted from.
    """
    today = asked_at.date()
    found: dict[DateWindow, None] = {}
    rest = text
    for pattern in (
        _ISO,
        _DAY_MONTH,
        _MONTH_DAY,
        _MONTH_YEAR,
        _MONTH_ALONE,
        _AGO,
        _LAST,
        _LAST_DAY,
        _NEAR_DAY,
        _YEAR_ALONE,
    ):
        for match in pattern.finditer(rest):
            found.update(dict.fromkeys(_read(pattern, match, today)))
        rest = pattern.sub(" ", rest)
    return tuple(sorted(found, key=lambda window: (-window.weight, window)))[:MAX_WINDOWS]


def _read(pattern: re.Pattern[str], match: re.Match[str], today: dt.date) -> Iterator[DateWindow]:
    if pattern in _CALENDAR:
        yield from _calendar(match, today)
    elif pattern is _AGO:
        yield from _ago(match, today)
    elif pattern is _LAST:
        yield from _last(match["which"].lower(), match["unit"].lower(), today)
    elif pattern is _LAST_DAY:
        back = (today.weekday() - _DAYS_OF_WEEK[match["name"].lower()]) % 7 or 7
        yield from _around(_back(today, back))
    elif pattern is _NEAR_DAY:
        yield from _around(_back(today, 0 if match["word"].lower() in ("today", "tonight", "this morning") else 1))
    else:
        yield from _span(dt.date(int(match["year"]), 1, 1), dt.date(int(match["year"]), 12, 31), 0.3)


def _calendar(match: re.Match[str], today: dt.date) -> Iterator[DateWindow]:
    groups = match.groupdict()
    name = groups["month"].lower()
    month = int(name) if name.isdigit() else _MONTHS[name]
    years = [int(groups["year"])] if groups.get("year") else [today.year - back for back in range(_PAST_YEARS)]
    for year in years:
        if not 1 <= month <= 12 or year < 1:
            continue
        last = calendar.monthrange(year, month)[1]
        if groups.get("day"):
            if 1 <= int(groups["day"]) <= last:
                yield from _around(dt.date(year, month, int(groups["day"])))
        else:
            first_day, last_day = dt.date(year, month, 1), dt.date(year, month, last)
            yield from _span(first_day, last_day, 0.8)
            yield from _span(_back(last_day, -1), _back(last_day, -10), 0.4)


def _ago(match: re.Match[str], today: dt.date) -> Iterator[DateWindow]:
    count = int(match["count"]) if match["count"].isdigit() else _NUMBERS[match["count"].lower()]
    unit = match["unit"].lower()
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[unit] * count
    slack = {"day": 1, "week": 3, "month": 10, "year": 60}[unit]
    middle = _back(today, days)
    yield from _span(_back(middle, slack), _back(middle, -slack), 1.0 if unit in ("day", "week") else 0.6)


def _last(which: str, unit: str, today: dt.date) -> Iterator[DateWindow]:
    monday = _back(today, today.weekday())
    if unit == "week":
        first = monday if which == "this" else _back(monday, 7)
        yield from _span(first, _back(first, -6), 0.8)
    elif unit == "weekend":
        saturday = _back(monday, -5) if which == "this" else _back(monday, 2)
        yield from _span(saturday, _back(saturday, -1), 1.0)
    elif unit == "month":
        first = today.replace(day=1)
        if which != "this":
            first = _back(first, 1).replace(day=1)
        yield from _span(first, first.replace(day=calendar.monthrange(first.year, first.month)[1]), 0.8)
    else:
        year = today.year if which == "this" else max(1, today.year - 1)
        yield from _span(dt.date(year, 1, 1), dt.date(year, 12, 31), 0.3)


def _around(day: dt.date) -> Iterator[DateWindow]:
    yield from _span(_back(day, 1), _back(day, -1), 1.0)
    yield from _span(_back(day, -2), _back(day, -7), 0.6)
    yield from _span(_back(day, 3), _back(day, -31), 0.3)


def _span(first: dt.date, last: dt.date, weight: float) -> Iterator[DateWindow]:
    yield DateWindow(first.isoformat(), last.isoformat(), weight)


def _back(day: dt.date, days: int) -> dt.date:
    try:
        return day - dt.timedelta(days=days)
    except OverflowError:
        return dt.date.min if days > 0 else dt.date.max
