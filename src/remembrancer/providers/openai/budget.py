"""What models may use, and what they have used.

A call is promised its tokens before it is sent, so that calls at the same time cannot overrun a budget together; what
it really took replaces the promise.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from remembrancer.ports.llm import ModelUsage
from remembrancer.records.errors import BudgetExceededError, InvalidInputError


class Budget:
    """How many calls and tokens one or several models may use; one that is handed to several is shared."""

    def __init__(self, *, max_calls: int | None = None, max_tokens: int | None = None) -> None:
        """Make a budget of which nothing is used.

        Args:
            max_calls: The most requests, repeated ones included, 0 or more; `None`: no bound.
            max_tokens: The most tokens, sent and received, 0 or more; `None`: no bound. Before a call its prompt is
                counted by an estimate, and its reply at the most that it may have; without a bound on replies, calls
                that run at the end of the budget may overrun it by what they reply.

        Raises:
            InvalidInputError: A negative number, or none.
        """
        self._max_calls = _bound(max_calls, field="max_calls")
        self._max_tokens = _bound(max_tokens, field="max_tokens")
        self._calls = 0
        self._tokens = 0
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """Calls made, and those that still run."""
        return self._calls

    @property
    def tokens(self) -> int:
        """Tokens used, and those promised to calls that still run."""
        return self._tokens

    def promise(self, tokens: int) -> None:
        """Set aside one call and its tokens.

        Raises:
            BudgetExceededError: There are not that many left; nothing is set aside.
        """
        with self._lock:
            if self._max_calls is not None and self._calls >= self._max_calls:
                raise BudgetExceededError("calls", limit=self._max_calls, used=self._calls, needed=1)
            if self._max_tokens is not None and self._tokens + tokens > self._max_tokens:
                raise BudgetExceededError("tokens", limit=self._max_tokens, used=self._tokens, needed=tokens)
            self._calls += 1
            self._tokens += tokens

    def settle(self, *, promised: int, used: int) -> None:
        """Put what a call really used in the place of what it was promised."""
        with self._lock:
            self._tokens += used - promised


class Meter:
    """Counts what one model uses, and asks its budget first."""

    def __init__(self, budget: Budget | None) -> None:
        if budget is not None and not isinstance(budget, Budget):
            raise InvalidInputError("budget", f"expected a Budget, got {type(budget).__name__}")
        self._budget = budget or Budget()
        self._lock = threading.Lock()
        self.usage = ModelUsage()

    def promise(self, tokens: int) -> None:
        """Ask for one call; see `Budget.promise`."""
        self._budget.promise(tokens)
        with self._lock:
            self.usage = replace(self.usage, calls=self.usage.calls + 1)

    def settle(self, *, promised: int, prompt: int, reply: int, is_estimate: bool) -> None:
        """Book what a call used."""
        self._budget.settle(promised=promised, used=prompt + reply)
        with self._lock:
            self.usage = replace(
                self.usage,
                prompt_tokens=self.usage.prompt_tokens + prompt,
                reply_tokens=self.usage.reply_tokens + reply,
                estimated_calls=self.usage.estimated_calls + is_estimate,
            )


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: one for every three bytes of UTF-8, which is rather too many."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def _bound(value: object, *, field: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInputError(field, f"expected a whole number, 0 or more, got {value!r}")
    return value
