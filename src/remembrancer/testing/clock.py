"""A clock that stands still until it is told to move."""

from __future__ import annotations

import datetime as dt

from remembrancer.records.instant import require_instant


class FixedClock:
    """A clock for tests, to be handed in wherever a `Clock` is wanted.

    Args:
        now: What it shows; an aware `datetime` or ISO 8601 text.
    """

    def __init__(self, now: dt.datetime | str) -> None:
        self.now = require_instant(now, field="now")

    def __call__(self) -> dt.datetime:
        """What it shows."""
        return self.now

    def advance(self, by: dt.timedelta) -> dt.datetime:
        """Move it on, and show the new instant."""
        self.now += by
        return self.now
