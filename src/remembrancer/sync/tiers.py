"""The four small memories, blocking: the twin of `remembrancer.memory.tiers`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from remembrancer.records.tier import Tier, TierHit
from remembrancer.sync.base import SyncMemoryBase
from remembrancer.tiers import EpisodicTier, OpenTurn, ProceduralTier, TieredMemory, TurnMemory, WorkingTier
from remembrancer.tiers.memory import Entries
from remembrancer.tiers.turn import Scope

Run = Callable[..., Any]


class SyncTurnMemory:
    """Recall before a turn, remember after it, as `TurnMemory`; made by `SyncTieredMemory.turns`."""

    def __init__(self, turns: TurnMemory, run: Run) -> None:
        self._turns = turns
        self._run = run
        self.inject_key = turns.inject_key

    def scope_of(self, session_id: str) -> str | None:
        """The scope of a session; `None`: without one."""
        return self._turns.scope_of(session_id)

    def before(
        self, turn_input: object, *, session_id: str, context: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """The context with what is known of a turn's input, as `TurnMemory.before`."""
        told: Mapping[str, Any] = self._run(self._turns.before, turn_input, session_id=session_id, context=context)
        return told

    def after(self, turn_input: object, outcome: str, *, session_id: str) -> None:
        """Remember a settled turn, as `TurnMemory.after`."""
        self._run(self._turns.after, turn_input, outcome, session_id=session_id)

    @contextmanager
    def turn(
        self, turn_input: object, *, session_id: str, context: Mapping[str, Any] | None = None
    ) -> Iterator[OpenTurn]:
        """A turn as a block, as `TurnMemory.turn`."""
        opened = OpenTurn(self.before(turn_input, session_id=session_id, context=context))
        yield opened
        if opened.outcome is not None:
            self.after(turn_input, opened.outcome, session_id=session_id)


class SyncTieredMemory:
    """The tiers with methods that block, as `TieredMemory`; made by `SyncMemory.tiered`."""

    def __init__(self, tiered: TieredMemory, run: Run) -> None:
        self._tiered = tiered
        self._run = run
        self.name = tiered.name
        self.namespace = tiered.namespace
        self.tiers = tiered.tiers

    def remember(self, items: Entries) -> tuple[str, ...]:
        """Remember one entry or several, as `TieredMemory.remember`."""
        ids: tuple[str, ...] = self._run(self._tiered.remember, items)
        return ids

    def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        tier: Tier | Sequence[Tier] | None = None,
        threshold: float | None = None,
        scope: str | None = None,
    ) -> list[TierHit]:
        """The best hits of all asked tiers, as `TieredMemory.recall`."""
        hits: list[TierHit] = self._run(self._tiered.recall, query, k=k, tier=tier, threshold=threshold, scope=scope)
        return hits

    def clear(self, tier: Tier | None = None) -> None:
        """Remove all items of a tier, or of all that are on, as `TieredMemory.clear`."""
        self._run(self._tiered.clear, tier)

    def turns(
        self,
        *,
        k: int | None = None,
        threshold: float | None = None,
        tier: Tier | Sequence[Tier] | None = None,
        remember: bool = True,
        remember_tier: Tier | None = None,
        scope: Scope = "session",
        inject_key: str = "memories",
    ) -> SyncTurnMemory:
        """This memory around the turns of an agent, as `TieredMemory.turns`."""
        turns = self._tiered.turns(
            k=k,
            threshold=threshold,
            tier=tier,
            remember=remember,
            remember_tier=remember_tier,
            scope=scope,
            inject_key=inject_key,
        )
        return SyncTurnMemory(turns, self._run)


class SyncTiers(SyncMemoryBase):
    """The method of `SyncMemory` that sets tiers up."""

    def tiered(
        self,
        *,
        name: str = "memory",
        working: bool | WorkingTier | Mapping[str, object] = True,
        semantic: bool = False,
        episodic: bool | EpisodicTier | Mapping[str, object] = False,
        procedural: bool | ProceduralTier | Mapping[str, object] = False,
        default_tier: Tier = "working",
        k: int = 5,
        threshold: float = 0.7,
    ) -> SyncTieredMemory:
        """Set up working, semantic, episodic and procedural memory, as `Memory.tiered`."""
        tiered = self._memory.tiered(
            name=name,
            working=working,
            semantic=semantic,
            episodic=episodic,
            procedural=procedural,
            default_tier=default_tier,
            k=k,
            threshold=threshold,
        )
        return SyncTieredMemory(tiered, self.run)
