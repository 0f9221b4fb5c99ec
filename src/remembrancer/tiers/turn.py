"""A tiered memory around the turns of an agent: recall before, remember after.

    turns = memory.tiered(semantic=True, default_tier="semantic").turns()
    async with turns.turn("What about my order?", session_id="s1") as turn:
        answer = await agent(turn.context)      # the hits are under `memories`
        turn.settle(answer)

Prompts are the agent's affair: hits are only put into its context. A turn that is cancelled, fails or is never settled
leaves nothing behind.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol

from remembrancer.ports.arguments import flag, similarity, whole_number
from remembrancer.records import InvalidInputError
from remembrancer.records.key import require_key
from remembrancer.records.tier import Tier, TierEntry, TierHit, require_tier

Scope = Literal["session", "shared"] | Callable[[str], str | None]
"""`session`: each session its own; `shared`: no scope; a function tells the scope of a session."""


class Remembering(Protocol):
    """What turns need of a memory."""

    async def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        tier: Tier | Sequence[Tier] | None = None,
        threshold: float | None = None,
        scope: str | None = None,
    ) -> list[TierHit]:
        """The best hits."""
        ...

    async def remember(self, items: TierEntry) -> Any:
        """Remember one entry."""
        ...


class OpenTurn:
    """A turn that is under way.

    Attributes:
        context: What the agent is given; a copy, with the hits in it where there are any.
    """

    def __init__(self, context: Mapping[str, Any]) -> None:
        self.context = context
        self.outcome: str | None = None

    def settle(self, data: object = None, *, outputs: Mapping[str, object] | None = None) -> None:
        """Say how the turn came out, so that it is remembered at its end; arguments as of `outcome_text`."""
        self.outcome = outcome_text(data, outputs=outputs)

    def cancel(self) -> None:
        """Say that the turn came to nothing: it is not remembered."""
        self.outcome = None


class TurnMemory:
    """Recall before a turn, remember after it."""

    def __init__(
        self,
        memory: Remembering,
        *,
        k: int | None = None,
        threshold: float | None = None,
        tier: Tier | Sequence[Tier] | None = None,
        remember: bool = True,
        remember_tier: Tier | None = None,
        scope: Scope = "session",
        inject_key: str = "memories",
    ) -> None:
        """Put a memory around turns.

        Args:
            memory: A `TieredMemory`.
            k: The most hits; 0: nothing is recalled. By default as the memory is set up.
            threshold: As of `TieredMemory.recall`.
            tier: As of `TieredMemory.recall`.
            remember: Whether settled turns are remembered; without, the memory is only read.
            remember_tier: Where to; by default the memory's default tier.
            scope: `session`, `shared`, or a function from a session's id to its scope.
            inject_key: Under which key of the context the hits go.

        Raises:
            InvalidInputError: An argument is wrong; names it.
        """
        if not callable(scope) and scope not in ("session", "shared"):
            raise InvalidInputError("scope", f"expected session, shared or a function, got {scope!r}")
        self.inject_key = require_key(inject_key, field="inject_key")
        self._memory = memory
        self._scope = scope
        self._remembers = flag(remember, field="remember")
        self._tier = None if remember_tier is None else require_tier(remember_tier, field="remember_tier")
        self._options: dict[str, Any] = {}
        if k is not None:
            self._options["k"] = whole_number(k, field="k")
        if threshold is not None:
            self._options["threshold"] = similarity(threshold, field="threshold")
        if tier is not None:
            self._options["tier"] = tier

    def scope_of(self, session_id: str) -> str | None:
        """The scope of a session; `None`: without one.

        Raises:
            InvalidInputError: The session's id, or what the function tells of it, is no key.
        """
        session = require_key(session_id, field="session_id")
        if self._scope == "shared":
            return None
        told = self._scope(session) if callable(self._scope) else f"session:{session}"
        return None if told is None else require_key(told, field="scope")

    async def before(
        self, turn_input: object, *, session_id: str, context: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """The context with what is known of a turn's input; the very same one when nothing is.

        Args:
            turn_input: Text, or anything that is JSON. Nothing is recalled for a blank one.
            session_id: Whose turn.
            context: What the agent is given; it is not changed.

        Raises:
            InvalidInputError: An argument is wrong; names it.
            ServerUnavailableError: The memory could not be reached.
        """
        given: Mapping[str, Any] = {} if context is None else context
        scope = self.scope_of(session_id)
        query = as_text(turn_input, field="turn_input")
        if not query.strip() or self._options.get("k") == 0:
            return given
        hits = await self._memory.recall(query, **self._options, **_scoped(scope))
        return {**given, self.inject_key: hits} if hits else given

    async def after(self, turn_input: object, outcome: str, *, session_id: str) -> None:
        """Remember a settled turn: its input and its outcome, each where it is not blank.

        Args:
            turn_input: Text, or anything that is JSON.
            outcome: How it came out, as `outcome_text` makes it.
            session_id: Whose turn.

        Raises:
            InvalidInputError: An argument is wrong; names it.
            ServerUnavailableError: The memory could not be reached.
        """
        scope = self.scope_of(session_id)
        parts = (as_text(turn_input, field="turn_input").strip(), as_text(outcome, field="outcome").strip())
        said = "\n".join(part for part in parts if part)
        if self._remembers and said:
            await self._memory.remember(TierEntry(text=said, tier=self._tier, scope=scope))

    @asynccontextmanager
    async def turn(
        self, turn_input: object, *, session_id: str, context: Mapping[str, Any] | None = None
    ) -> AsyncIterator[OpenTurn]:
        """A turn as a block; remembered at its end when it was settled and no error left the block.

        Args:
            turn_input: As of `before`.
            session_id: As of `before`.
            context: As of `before`.
        """
        opened = OpenTurn(await self.before(turn_input, session_id=session_id, context=context))
        yield opened
        if opened.outcome is not None:
            await self.after(turn_input, opened.outcome, session_id=session_id)


def outcome_text(data: object = None, *, outputs: Mapping[str, object] | None = None) -> str:
    """How a turn came out, as text: its data, else what its branches gave, a line each; empty when there is neither.

    Args:
        data: Text, or anything that is JSON.
        outputs: What each branch gave, by its name, likewise; blank ones are left out.

    Raises:
        InvalidInputError: A value is neither; names it.
    """
    said = as_text(data, field="data").strip()
    if said or not outputs:
        return said
    texts = (as_text(output, field=f"outputs.{name}").strip() for name, output in outputs.items())
    return "\n".join(told for told in texts if told)


def as_text(value: object, *, field: str) -> str:
    """A text as it is, nothing as an empty one, all else as compact JSON.

    Raises:
        InvalidInputError: It cannot be written as JSON; names `field`.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(field, f"neither text nor JSON: {error}") from error


def _scoped(scope: str | None) -> dict[str, Any]:
    return {} if scope is None else {"scope": scope}
