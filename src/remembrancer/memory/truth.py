"""Keeping a memory true: entities of one name become one, conflicts are found and resolved, doubles stay out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from remembrancer.lifecycle import (
    Admission,
    Conflict,
    ConflictDetector,
    ConflictReport,
    EntityResolver,
    ResolutionReport,
    check_fact_admission,
)
from remembrancer.lifecycle.conflict import ConflictPolicy, Preference
from remembrancer.lifecycle.conflicts import Progress
from remembrancer.memory.base import MemoryBase


class Truth(MemoryBase):
    """The methods of `Memory` that merge entities, find conflicts and judge what wants to come in."""

    async def resolve_entities(
        self,
        *,
        delete_mode: Literal["soft", "hard"] = "soft",
        single_valued: Collection[str] = (),
        dry_run: bool = False,
    ) -> ResolutionReport:
        """Merge entities that have one name and one type, with their facts and relationships, in one transaction.

        Names meet when they are equal but for case, a leading article, punctuation, white space and compatible
        characters. A soft resolution can be undone by its `pass_id`.

        Args:
            delete_mode: `soft` closes absorbed entities and marks doubled relationships; `hard` removes them for good.
            single_valued: Predicates that hold one value at a time, as for `assert_statements`: what was said of two
                entities gets the windows that it would have had, had it been said of one.
            dry_run: Only say what would be done.

        Raises:
            InvalidInputError: An argument is out of its bounds; names it.
            PlanOutdatedError: Others kept changing the same records. Nothing was written.
            ServerUnavailableError: The database could not be reached.
        """
        resolver = EntityResolver(self.store, delete_mode=delete_mode, single_valued=single_valued, clock=self._clock)
        return await resolver.resolve(dry_run=dry_run)

    async def find_conflicts(
        self,
        *,
        embedding_threshold: float = 0.8,
        semantic_overlap_threshold: float = 0.3,
        supersession_day_threshold: float = 1,
        progress: Progress | None = None,
    ) -> list[Conflict]:
        """Find facts that deny, replace or contradict each other; writes nothing. Resolve entities first.

        Args:
            embedding_threshold: The least cosine, included, at which two facts are about the same; -1 to 1.
            semantic_overlap_threshold: Below this word overlap such facts contradict each other; 0 or more.
            supersession_day_threshold: More than so many days must lie between two facts of which one replaces the
                other; 0 or more.
            progress: Told now and then how many groups and facts have been looked at.

        Raises:
            InvalidInputError: An argument is out of its bounds; names it.
            ServerUnavailableError: The database could not be reached.
        """
        detector = ConflictDetector(
            self.store,
            self.index,
            embedding_threshold=embedding_threshold,
            semantic_overlap_threshold=semantic_overlap_threshold,
            supersession_day_threshold=supersession_day_threshold,
            clock=self._clock,
        )
        return await detector.detect(progress=progress)

    async def resolve_conflicts(
        self,
        policy: ConflictPolicy,
        *,
        conflicts: Sequence[Conflict] | None = None,
        prefer: Preference = "newer",
        dry_run: bool = False,
    ) -> ConflictReport:
        """Close the facts that lose a conflict by a policy, in one transaction; it can be undone by its `pass_id`.

        Args:
            policy: `supersede-on-newer` keeps the newer of two facts; `negation-invalidates-positive` does so where
                one denies or replaces the other, and leaves contradictions to you; `manual-review` closes nothing.
            conflicts: Those to resolve, as `find_conflicts` gave them; `None`: all that it finds now.
            prefer: `negation`: of a negation the policy `negation-invalidates-positive` keeps the negated fact always.
            dry_run: Only say what would be done.

        Raises:
            InvalidInputError: An argument is wrong; names it.
            PlanOutdatedError: Others kept changing the same facts. Nothing was written.
            ServerUnavailableError: The database could not be reached.
        """
        detector = ConflictDetector(self.store, self.index, policy=policy, prefer=prefer, clock=self._clock)
        found = await detector.detect() if conflicts is None else conflicts
        return await detector.auto_resolve_all(found, dry_run=dry_run)

    async def admit(
        self, content: str, *, threshold: float | None = None, tags: Sequence[str] = (), limit: int = 1_000
    ) -> Admission:
        """Whether a text says something new; writes nothing. See `remembrancer.lifecycle.check_fact_admission`.

        Args:
            content: What wants to become a fact.
            threshold: From which similarity on it is refused; by default 0.85 with an embedder, else 0.6.
            tags: Only facts with at least one of these count; empty: all.
            limit: How many facts are looked at, newest first; 0 or more.

        Raises:
            InvalidInputError: An argument is wrong; names it.
            ServerUnavailableError: The database or the embedder could not be reached.
        """
        return await check_fact_admission(
            self.store, content, threshold=threshold, tags=tags, limit=limit, embedder=self.embedder
        )
