"""Consolidation: near duplicates are merged, what decayed most is pruned, old episodes go, themes follow.

Everything is planned first and written in one transaction; nothing that a plan closes is gone unless the delete mode
is `hard`, but pruned episodes always are. Their messages stay, and facts keep their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from remembrancer.lifecycle.consolidation_draft import ConsolidationDraft
from remembrancer.lifecycle.consolidation_report import ConsolidationPlan, ConsolidationReport
from remembrancer.lifecycle.decay import require_half_life
from remembrancer.lifecycle.dedup import Deduplication
from remembrancer.lifecycle.plan import plan_and_apply
from remembrancer.lifecycle.survey import Survey, survey_of
from remembrancer.lifecycle.themes import remaining_facts
from remembrancer.ports import MemoryIndex, MemoryStore
from remembrancer.ports.arguments import flag, similarity, whole_number
from remembrancer.records import (
    CANDIDATE_TAG,
    VERIFIED_TAG,
    Clock,
    Episode,
    Fact,
    InvalidInputError,
    NewId,
    random_id,
    system_clock,
)
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_key
from remembrancer.records.packed import PackedIds

DeleteMode = Literal["soft", "hard"]
Progress = Callable[[int, int], None]
"""Told how many facts have been looked at, and how many there are."""

_LOOKS = 3


class MemoryConsolidator:
    """Keeps a memory small: plans four phases over one look at the store, then writes them at once."""

    def __init__(
        self,
        store: MemoryStore,
        index: MemoryIndex,
        *,
        max_facts: int | None = None,
        max_episodes: int | None = None,
        decay_half_life_days: float = 30,
        dedup_threshold: float = 0.9,
        delete_mode: DeleteMode = "soft",
        debug: bool = False,
        batch_size: int = 1_000,
        verified_tag: str = VERIFIED_TAG,
        candidate_tag: str = CANDIDATE_TAG,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
    ) -> None:
        """Make a consolidator.

        Args:
            store: The memory.
            index: Similarity search over it.
            max_facts: The most live facts that are to stay, 0 or more; `None`: no fact is pruned by decay.
            max_episodes: The most episodes that are to stay, 0 or more; `None`: none is pruned.
            decay_half_life_days: After how many days without use a fact counts half; above 0.
            dedup_threshold: The least cosine, included, at which two facts are near duplicates; -1 to 1.
            delete_mode: `soft` closes pruned facts, `hard` removes them for good.
            debug: List every write in the report.
            batch_size: How many records are read at once, 1 or more.
            verified_tag: A fact with it is kept before one without.
            candidate_tag: Taken off a fact that is verified after a merge.
            clock: Tells at which instant ages are taken.
            new_id: Ids of passes.

        Raises:
            InvalidInputError: An option is out of its bounds; names it.
        """
        self._store = store
        self._index = index
        self._max_facts = _most(max_facts, field="max_facts")
        self._max_episodes = _most(max_episodes, field="max_episodes")
        self._half_life = require_half_life(decay_half_life_days)
        self._threshold = similarity(dedup_threshold, field="dedup_threshold")
        if delete_mode not in ("soft", "hard"):
            raise InvalidInputError("delete_mode", f"expected 'soft' or 'hard', got {delete_mode!r}")
        self._is_soft = delete_mode == "soft"
        self._debug = flag(debug, field="debug")
        self._batch_size = whole_number(batch_size, field="batch_size", least=1)
        self._verified_tag = require_key(verified_tag, field="verified_tag")
        self._candidate_tag = require_key(candidate_tag, field="candidate_tag")
        self._clock = clock
        self._new_id = new_id

    async def plan(self, *, progress: Progress | None = None) -> ConsolidationPlan:
        """Look, and say what would be done; writes nothing but the usage counted so far.

        How many facts are too many depends on all of them: when somebody closes some of them during the look, it is
        taken anew, three times in all. After that the last one stands, and may prune as many more as were closed.

        Raises:
            ServerUnavailableError: The database could not be reached.
        """
        await self._store.flush_usage()
        looks = 0
        while True:
            survey = survey_of(self._store, self._index, page=self._batch_size)
            draft = await self._look(survey, progress)
            looks += 1
            if looks == _LOOKS or not draft.prunes_by_decay or draft.pruned.issuperset(await survey.gone()):
                return draft.finished(self._new_id(), debug=self._debug)

    async def _look(self, survey: Survey, progress: Progress | None) -> ConsolidationDraft:
        draft = ConsolidationDraft(is_soft=self._is_soft, now=require_instant(self._clock(), field="clock"))
        await self._dedup(survey, draft, progress)
        await self._decay(survey, draft)
        await self._prune_episodes(draft)
        await self._list_merged(draft)
        await self._clean_themes(survey, draft)
        return draft

    async def consolidate(self, *, dry_run: bool = False, progress: Progress | None = None) -> ConsolidationReport:
        """Consolidate in one transaction; when a record changed meanwhile, look again, three times in all.

        Args:
            dry_run: Only say what would be done.
            progress: Told how many facts have been looked at.

        Raises:
            PlanOutdatedError: Others kept changing the same records. Nothing was written.
            ServerUnavailableError: The database could not be reached.
        """
        flag(dry_run, field="dry_run")
        if dry_run:
            return (await self.plan(progress=progress)).report
        planned = await plan_and_apply(self._store, lambda: self.plan(progress=progress), lambda made: made.plan)
        pass_id = None if planned.plan.is_empty else planned.plan.pass_id
        return planned.report.model_copy(update={"pass_id": pass_id})

    async def auto_consolidate(
        self, *, max_facts: int | None = None, max_episodes: int | None = None, dry_run: bool = False
    ) -> ConsolidationReport | None:
        """Consolidate when the memory has grown beyond a threshold; `None` when it has not.

        Args:
            max_facts: As for `should_consolidate`; independent of the limit that facts are pruned down to.
            max_episodes: As for `should_consolidate`, likewise.
            dry_run: Only say what would be done.
        """
        if await should_consolidate(self._store, max_facts=max_facts, max_episodes=max_episodes):
            return await self.consolidate(dry_run=dry_run)
        return None

    async def _dedup(self, survey: Survey, draft: ConsolidationDraft, progress: Progress | None) -> None:
        dedup = Deduplication(least=self._threshold, verified_tag=self._verified_tag, candidate_tag=self._candidate_tag)
        fact_ids = await survey.fact_ids()
        stored: dict[str, Fact] = {}
        step = survey.searched_at_once
        for start in range(0, len(fact_ids), step):
            open_ids = [one for one in fact_ids[start : start + step] if one not in dedup.lost_to]
            near = await survey.near(open_ids, min_similarity=self._threshold)
            met = {one: _to_come(one, hits, fact_ids) for one, hits in near.items()}
            wanted = {one for fact_id, hits in met.items() if hits for one in (fact_id, *hits)}
            found = await survey.facts(sorted(wanted - dedup.lost_to.keys()))
            for fact_id in open_ids:
                if fact_id in met and fact_id in found and fact_id not in dedup.lost_to:
                    dedup.merge(found[fact_id], [found[one] for one in met[fact_id] if one in found])
            for one in found:
                if one in dedup.merged or one in dedup.lost_to:
                    stored.setdefault(one, found[one])  # read again, it may be another one than was merged
            if progress is not None:
                progress(min(start + step, len(fact_ids)), len(fact_ids))
        draft.take_merges(len(fact_ids), stored, dedup)

    async def _decay(self, survey: Survey, draft: ConsolidationDraft) -> None:
        if self._max_facts is None or draft.kept_facts <= self._max_facts:
            return
        weakest = await survey.weakest(
            draft.kept_facts - self._max_facts,
            merged=draft.merged,
            without=draft.lost,
            now=draft.now,
            half_life_days=self._half_life,
        )
        draft.take_decayed(weakest, await survey.facts(weakest))

    async def _prune_episodes(self, draft: ConsolidationDraft) -> None:
        if self._max_episodes is None:
            return
        pruned: list[Episode] = []
        while True:
            offset = self._max_episodes + len(pruned)
            page = await self._store.list_episodes(limit=self._batch_size, offset=offset)
            pruned += page
            if len(page) < self._batch_size:
                break
        draft.take_episodes(pruned[::-1])

    async def _list_merged(self, draft: ConsolidationDraft) -> None:
        taken_over = draft.taken_over()
        wanted = sorted(taken_over)
        for start in range(0, len(wanted), self._batch_size):
            found = await self._store.get_episodes(wanted[start : start + self._batch_size])
            for episode_id, episode in found.items():
                draft.take_listing(episode, taken_over[episode_id])

    async def _clean_themes(self, survey: Survey, draft: ConsolidationDraft) -> None:
        pruned = draft.pruned
        if not pruned:
            return
        for theme in await survey.themes_naming(pruned):
            left = remaining_facts(theme, pruned)
            embedding = await survey.centroid(left) if left else None
            draft.take_theme(theme, left, embedding)


async def should_consolidate(
    store: MemoryStore, *, max_facts: int | None = None, max_episodes: int | None = None
) -> bool:
    """Whether a memory holds more than one of two thresholds; at most one record of each kind is read.

    Args:
        store: The memory.
        max_facts: Live facts, quarantined ones among them; `None`: facts do not count.
        max_episodes: Episodes; `None`: episodes do not count.

    Raises:
        InvalidInputError: A threshold is not an integer of at least 0.
        ServerUnavailableError: The database could not be reached.
    """
    facts = _most(max_facts, field="max_facts")
    episodes = _most(max_episodes, field="max_episodes")
    if facts is not None and await store.find_facts(limit=1, offset=facts):
        return True
    return episodes is not None and bool(await store.list_episodes(limit=1, offset=episodes))


def _to_come(fact_id: str, near: Iterable[str], fact_ids: PackedIds) -> list[str]:
    """Those near to a fact that are listed after it: the others have had their turn, and nobody need remember that."""
    own = fact_ids.place(fact_id)
    places = ((one, fact_ids.place(one)) for one in near)
    return [one for one, place in places if own is not None and place is not None and place > own]


def _most(value: object, *, field: str) -> int | None:
    return None if value is None else whole_number(value, field=field)
