"""What a consolidation looks at, and two ways to look: fact by fact from outside, or set-wise inside the store.

The plain way is the reference. Where the store offers `SurveysFacts`, only facts that have a near duplicate or are
pruned ever reach this process, and the vectors of none but those.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from remembrancer.lifecycle.decay import weakest
from remembrancer.lifecycle.themes import centroid
from remembrancer.ports import MemoryIndex, MemoryStore
from remembrancer.ports.pushdown import NearDuplicates, SurveysFacts
from remembrancer.records import QUARANTINE_TAG, Fact, Theme
from remembrancer.records.packed import PackedIds

NEAR_AT_MOST = 100
"""How many near duplicates a fact has at most, itself among them."""


class Survey(Protocol):
    """One look at the live, unquarantined facts of a store and at its themes.

    The facts are those there were when `fact_ids` was asked for: what others add later belongs to a later look.
    """

    searched_at_once: int
    """For how many facts near duplicates are best asked at once."""

    async def fact_ids(self) -> PackedIds:
        """All of them, in listing order."""
        ...

    async def gone(self) -> Collection[str]:
        """Those that somebody has closed, quarantined or removed since."""
        ...

    async def near(self, fact_ids: Sequence[str], *, min_similarity: float) -> Mapping[str, Sequence[str]]:
        """Near duplicates among the facts by fact, nearest first; facts that have none may be left out."""
        ...

    async def facts(self, fact_ids: Sequence[str]) -> Mapping[str, Fact]:
        """Those facts of these that belong to the survey."""
        ...

    async def weakest(
        self,
        count: int,
        *,
        merged: Mapping[str, Fact],
        without: Collection[str],
        now: dt.datetime,
        half_life_days: float,
    ) -> Sequence[str]:
        """Ids of the facts that count least, least first, scored in their merged state."""
        ...

    async def themes_naming(self, fact_ids: Collection[str]) -> Sequence[Theme]:
        """Themes that list one of these facts, by id."""
        ...

    async def centroid(self, fact_ids: Sequence[str]) -> Sequence[float] | None:
        """The mean of the stored embeddings of these facts, closed and quarantined ones too."""
        ...


class PlainSurvey:
    """Reads every fact and asks the index once for each."""

    searched_at_once = 1

    def __init__(self, store: MemoryStore, index: MemoryIndex, *, page: int) -> None:
        self._store = store
        self._index = index
        self._page = page
        self._facts: dict[str, Fact] = {}

    async def fact_ids(self) -> PackedIds:
        """All of them, in listing order."""
        async for facts in self._pages():
            self._facts.update((fact.id, fact) for fact in facts)
        return PackedIds(self._facts)

    async def gone(self) -> Collection[str]:
        """Those that are no longer listed."""
        left = {fact.id async for facts in self._pages() for fact in facts}
        return self._facts.keys() - left

    async def _pages(self) -> AsyncIterator[list[Fact]]:
        offset = 0
        while True:
            facts = await self._store.find_facts(exclude_tags=[QUARANTINE_TAG], limit=self._page, offset=offset)
            yield facts
            if len(facts) < self._page:
                return
            offset += len(facts)

    async def near(self, fact_ids: Sequence[str], *, min_similarity: float) -> Mapping[str, Sequence[str]]:
        """Near duplicates of each fact that has an embedding."""
        found = {}
        for fact_id in fact_ids:
            embedding = self._facts[fact_id].embedding
            if embedding is not None:
                hits = await self._index.search_facts(
                    embedding,
                    limit=NEAR_AT_MOST,
                    min_similarity=min_similarity,
                    include_invalidated=False,
                    include_quarantined=False,
                )
                found[fact_id] = [hit.id for hit in hits if hit.id != fact_id]
        return found

    async def facts(self, fact_ids: Sequence[str]) -> Mapping[str, Fact]:
        """Those of these that were listed."""
        return {fact_id: self._facts[fact_id] for fact_id in fact_ids if fact_id in self._facts}

    async def weakest(
        self,
        count: int,
        *,
        merged: Mapping[str, Fact],
        without: Collection[str],
        now: dt.datetime,
        half_life_days: float,
    ) -> Sequence[str]:
        """Ids of the facts that count least."""
        kept = (merged.get(fact_id, fact) for fact_id, fact in self._facts.items() if fact_id not in without)
        return weakest(kept, count, now=now, half_life_days=half_life_days)

    async def themes_naming(self, fact_ids: Collection[str]) -> Sequence[Theme]:
        """Themes that list one of these facts."""
        wanted = set(fact_ids)
        return [theme for theme in await self._store.list_themes() if not wanted.isdisjoint(theme.fact_ids)]

    async def centroid(self, fact_ids: Sequence[str]) -> Sequence[float] | None:
        """The mean of the stored embeddings."""
        facts = await self._store.get_facts(fact_ids)
        return centroid(fact.embedding for fact in facts.values())


class PushedSurvey:
    """Lets the store look by itself."""

    searched_at_once = 1_000

    def __init__(self, store: MemoryStore, surveyor: SurveysFacts, *, page: int) -> None:
        self._store = store
        self._surveyor = surveyor
        self._page = page
        self._known = PackedIds()
        self._compared: tuple[float, NearDuplicates] | None = None

    async def fact_ids(self) -> PackedIds:
        """All of them, in listing order."""
        self._known, self._compared = await self._surveyor.active_fact_ids(), None
        return self._known

    async def gone(self) -> Collection[str]:
        """Those that are no longer live and unquarantined."""
        return self._known.without(await self._surveyor.active_fact_ids())

    async def near(self, fact_ids: Sequence[str], *, min_similarity: float) -> Mapping[str, Sequence[str]]:
        """Near duplicates of each fact that has any; the first call compares all facts, others look it up."""
        if self._compared is None or self._compared[0] != min_similarity:
            among = await self._surveyor.duplicates_among(
                self._known, min_similarity=min_similarity, limit=NEAR_AT_MOST
            )
            self._compared = min_similarity, among
        _, (near, unclear) = self._compared
        searched = await self._surveyor.near_duplicates(
            [one for one in fact_ids if one in unclear], min_similarity=min_similarity, limit=NEAR_AT_MOST
        )
        found = {fact_id: searched.get(fact_id) or near.get(fact_id) for fact_id in fact_ids}
        return {fact_id: [hit.id for hit in hits] for fact_id, hits in found.items() if hits}

    async def facts(self, fact_ids: Sequence[str]) -> Mapping[str, Fact]:
        """Those of these that are still live and not quarantined."""
        wanted = [fact_id for fact_id in fact_ids if fact_id in self._known]
        found: dict[str, Fact] = {}
        for start in range(0, len(wanted), self._page):
            facts = await self._store.get_facts(wanted[start : start + self._page])
            found.update((fact.id, fact) for fact in facts.values() if fact.is_live and not fact.is_quarantined)
        return found

    async def weakest(
        self,
        count: int,
        *,
        merged: Mapping[str, Fact],
        without: Collection[str],
        now: dt.datetime,
        half_life_days: float,
    ) -> Sequence[str]:
        """Ids of the facts that count least."""
        uses = {fact_id: fact.access_count or 0 for fact_id, fact in merged.items()}
        passed_over = set(without)
        while True:
            found = await self._surveyor.weakest_facts(
                count, uses=uses, without=passed_over, now=now, half_life_days=half_life_days
            )
            if not (newer := [fact_id for fact_id in found if fact_id not in self._known]):
                return found
            passed_over.update(newer)

    async def themes_naming(self, fact_ids: Collection[str]) -> Sequence[Theme]:
        """Themes that list one of these facts."""
        theme_ids = await self._surveyor.theme_ids_naming(fact_ids)
        return list((await self._store.get_themes(theme_ids)).values())

    async def centroid(self, fact_ids: Sequence[str]) -> Sequence[float] | None:
        """The mean of the stored embeddings."""
        return await self._surveyor.mean_embedding(fact_ids)


def survey_of(store: MemoryStore, index: MemoryIndex, *, page: int) -> Survey:
    """The better of the two ways: set-wise where the store can and the index is its own."""
    if isinstance(store, SurveysFacts) and index.serves(store):
        return PushedSurvey(store, store, page=page)
    return PlainSurvey(store, index, page=page)
