"""A breaker: who fails again and again is left in peace for a while."""

from __future__ import annotations

from collections.abc import Callable


class Breaker:
    """Counts failures in a row, and says when to leave the one who fails in peace."""

    def __init__(self, *, limit: int, cooldown_s: float, timer: Callable[[], float]) -> None:
        self.failures = 0
        self._limit = limit
        self._cooldown_s = cooldown_s
        self._timer = timer
        self._tripped_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing is to be asked now."""
        if self._tripped_at is None:
            return False
        # Whole microseconds, so that rounding never keeps it open at the very end of the cool-down.
        return round((self._timer() - self._tripped_at) * 1e6) < round(self._cooldown_s * 1e6)

    def fail(self) -> bool:
        """Count a failure; whether it tripped a breaker that was closed."""
        self.failures += 1
        if self.failures < self._limit:
            return False
        was_closed = self._tripped_at is None
        self._tripped_at = self._timer()
        return was_closed

    def succeed(self) -> None:
        """Forget all failures."""
        self.failures = 0
        self._tripped_at = None
