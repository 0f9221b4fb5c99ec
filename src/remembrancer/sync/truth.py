"""Keeping a memory true, blocking: the twin of `remembrancer.memory.truth`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from remembrancer.lifecycle import Admission, Conflict, ConflictReport, ResolutionReport
from remembrancer.lifecycle.conflict import ConflictPolicy, Preference
from remembrancer.lifecycle.conflicts import Progress
from remembrancer.sync.base import SyncMemoryBase


class SyncTruth(SyncMemoryBase):
    """The methods of `SyncMemory` that merge entities, find conflicts and judge what wants to come in."""

    def resolve_entities(
        self,
        *,
        delete_mode: Literal["soft", "hard"] = "soft",
        single_valued: Collection[str] = (),
        dry_run: bool = False,
    ) -> ResolutionReport:
        """Merge entities that have one name and one type, as `Memory.resolve_entities`."""
        return self.run(
            self._memory.resolve_entities, delete_mode=delete_mode, single_valued=single_valued, dry_run=dry_run
        )

    def find_conflicts(
        self,
        *,
        embedding_threshold: float = 0.8,
        semantic_overlap_threshold: float = 0.3,
        supersession_day_threshold: float = 1,
        progress: Progress | None = None,
    ) -> list[Conflict]:
        """Find facts in conflict, as `Memory.find_conflicts`; `progress` is called in the background thread."""
        return self.run(
            self._memory.find_conflicts,
            embedding_threshold=embedding_threshold,
            semantic_overlap_threshold=semantic_overlap_threshold,
            supersession_day_threshold=supersession_day_threshold,
            progress=progress,
        )

    def resolve_conflicts(
        self,
        policy: ConflictPolicy,
        *,
        conflicts: Sequence[Conflict] | None = None,
        prefer: Preference = "newer",
        dry_run: bool = False,
    ) -> ConflictReport:
        """Close the facts that lose a conflict, as `Memory.resolve_conflicts`."""
        return self.run(self._memory.resolve_conflicts, policy, conflicts=conflicts, prefer=prefer, dry_run=dry_run)

    def admit(
        self, content: str, *, threshold: float | None = None, tags: Sequence[str] = (), limit: int = 1_000
    ) -> Admission:
        """Whether a text says something new, as `Memory.admit`."""
        return self.run(self._memory.admit, content, threshold=threshold, tags=tags, limit=limit)
