"""The changes of one consolidation while they are being gathered, in the order in which they are written.

Merged facts come first, then those they absorbed, then the decayed ones, episodes and themes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from remembrancer.lifecycle.consolidation_report import (
    ConsolidationPlan,
    ConsolidationReport,
    Mutation,
    MutationType,
)
from remembrancer.lifecycle.decay import DECAY_REASON
from remembrancer.lifecycle.dedup import Deduplication
from remembrancer.lifecycle.plan import Change, Plan
from remembrancer.records import Episode, Fact, Theme
from remembrancer.records.key import without_repeats

MERGE_REASON = "consolidation:merge"
"""Why a fact is put again that took over what near duplicates had."""

DUPLICATE_REASON = "consolidation:duplicate"
"""Why a fact is closed that is a near duplicate of another."""

EPISODE_REASON = "consolidation:episode"
"""Why an old episode is removed."""

THEME_REASON = "consolidation:theme"
"""Why a theme is changed or removed that lost facts."""


class ConsolidationDraft:
    """Gathers what the phases of a consolidation find, each in its turn.

    Args:
        is_soft: Whether pruned facts are closed and not removed.
        now: The instant of the pass.

    Attributes:
        kept_facts: How many facts were left after merging.
        merged: Facts that took over from others, as they are to be written.
        lost: The fact that stands for each absorbed fact in the end.
    """

    def __init__(self, *, is_soft: bool, now: dt.datetime) -> None:
        self.now = now
        self.kept_facts = 0
        self.merged: dict[str, Fact] = {}
        self.lost: dict[str, str] = {}
        self._is_soft = is_soft
        self._stored: dict[str, Fact] = {}
        self._decayed: dict[str, Fact] = {}
        self._episodes: Sequence[Episode] = ()
        self._listing: list[tuple[Episode, Episode]] = []
        self._themes: list[tuple[Theme, Theme | None]] = []

    @property
    def pruned(self) -> set[str]:
        """Ids of the facts that go."""
        return {*self.lost, *self._decayed}

    @property
    def prunes_by_decay(self) -> bool:
        """Whether facts go because there are too many."""
        return bool(self._decayed)

    def take_merges(self, count: int, stored: Mapping[str, Fact], dedup: Deduplication) -> None:
        """Take what deduplication found among `count` facts; `stored` has all that it merged, as they are stored."""
        self._stored.update(stored)
        self.merged = dedup.merged
        self.lost = {fact_id: dedup.survivor(fact_id) for fact_id in dedup.lost_to}
        self.kept_facts = count - len(self.lost)

    def take_decayed(self, fact_ids: Iterable[str], stored: Mapping[str, Fact]) -> None:
        """Take the facts that decayed; of one that took over from others the merged state is closed, as it was read."""
        for fact_id in fact_ids:
            if fact_id in stored:
                first_read = self._stored.setdefault(fact_id, stored[fact_id])
                self._decayed[fact_id] = self.merged.pop(fact_id, first_read)

    def take_episodes(self, pruned: Sequence[Episode]) -> None:
        """Take the episodes that go, in the order in which they go."""
        self._episodes = pruned

    def taken_over(self) -> dict[str, list[str]]:
        """Facts that now come from further episodes, by the episode; without episodes that go."""
        going = {episode.id for episode in self._episodes}
        found: dict[str, list[str]] = {}
        for fact_id, state in {**self.merged, **(self._decayed if self._is_soft else {})}.items():
            known = {*self._stored[fact_id].source_episode_ids, *going}
            for episode_id in state.source_episode_ids:
                if episode_id not in known:
                    found.setdefault(episode_id, []).append(fact_id)
        return found

    def take_listing(self, episode: Episode, fact_ids: Sequence[str]) -> None:
        """Let an episode that stays list the facts that took over from those read from it."""
        listed = without_repeats([*episode.fact_ids, *fact_ids])
        if listed != episode.fact_ids:
            self._listing.append((episode, episode.model_copy(update={"fact_ids": listed})))

    def take_theme(self, theme: Theme, left: tuple[str, ...], embedding: Sequence[float] | None) -> None:
        """Take a theme that lost facts: those that it still lists, and their mean."""
        after = theme.model_copy(update={"fact_ids": left, "embedding": embedding}) if left else None
        self._themes.append((theme, after))

    def finished(self, pass_id: str, *, debug: bool) -> ConsolidationPlan:
        """The plan of all that was taken, and its report."""
        changes = tuple(self._changes())
        listing = tuple(_change(episode, after, MERGE_REASON) for episode, after in self._listing)
        removed = sum(after is None for _, after in self._themes)
        report = ConsolidationReport(
            facts_deduped=len(self.lost),
            facts_decayed=len(self._decayed),
            episodes_pruned=len(self._episodes),
            themes_cleaned_up=len(self._themes) - removed,
            themes_removed=removed,
            total_reclaimed=len(self.lost) + len(self._decayed) + len(self._episodes) + removed,
            mutation_log=tuple(_mutation(change) for change in changes) if debug else None,
        )
        plan = Plan(
            pass_id=pass_id,
            kind="consolidation",
            made_at=self.now,
            changes=(*changes, *listing),
            is_hard=not self._is_soft,
        )
        return ConsolidationPlan(plan=plan, report=report)

    def _changes(self) -> Iterable[Change]:
        for fact_id, merged in self.merged.items():
            yield _change(self._stored[fact_id], merged, MERGE_REASON)
        for fact_id, survivor in self.lost.items():
            yield self._closing(fact_id, self._stored[fact_id], survivor, DUPLICATE_REASON, superseded_by=survivor)
        for fact_id, state in self._decayed.items():
            yield self._closing(fact_id, state, DECAY_REASON, DECAY_REASON)
        for episode in self._episodes:
            yield _change(episode, None, EPISODE_REASON)
        for theme, after in self._themes:
            yield _change(theme, after, THEME_REASON)

    def _closing(
        self, fact_id: str, state: Fact, closed_by: str, reason: str, *, superseded_by: str | None = None
    ) -> Change:
        stored = self._stored[fact_id]
        if not self._is_soft:
            return _change(stored, None, reason)
        update: dict[str, object] = {"invalidated_by": closed_by}
        if any(theme.id == state.theme_id and fact_id in theme.fact_ids for theme, _ in self._themes):
            update["theme_id"] = None  # the theme no longer lists it, and the two mirror each other
        return _change(stored, state.model_copy(update=update), reason, superseded_by=superseded_by)


def _change(
    before: Fact | Episode | Theme,
    after: Fact | Episode | Theme | None,
    reason: str,
    *,
    superseded_by: str | None = None,
) -> Change:
    return Change(before=before, after=after, reason=reason, superseded_by=superseded_by)


def _mutation(change: Change) -> Mutation:
    verb = "delete" if change.after is None else "put"
    type_: MutationType = f"{verb}_{change.kind}"  # type: ignore[assignment]
    return Mutation(type=type_, id=change.record_id)
