"""Renewing themes: a name that fits what they have come to hold.

A clusterer names a theme by its first fact. A theme is named anew when it has grown to 2, 4, 8, 16 ... facts, and when
it has absorbed another, and not before: so a theme of a thousand facts is renamed about ten times in its life, and
every other write to it only adds facts. Themes that somebody made or renamed by hand, whose provenance is not the
system's, keep their names.

A theme's place stays where the clusterer laid it. Moved to the mean of its facts, a large theme would lie near to all
that facts have in common, and draw in ever more of them: measured, two hundred topics ended in one theme.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.hierarchy.clustering import GENERAL_LABEL, ThemeNamer
from remembrancer.ports import Clustering, MemoryStore
from remembrancer.records import Fact, Theme, cosine

_SAMPLE = 128  # members that are looked at; of a larger theme, evenly spaced ones


@dataclass(frozen=True)
class Renewal:
    """How themes are renewed.

    Attributes:
        namer: Gives them their labels and descriptions.
    """

    namer: ThemeNamer

    async def of(
        self,
        clustering: Clustering,
        near: Mapping[str, Theme],
        sizes: Mapping[str, int],
        *,
        absorbed: bool,
        store: MemoryStore,
    ) -> Clustering:
        """The clustering with those themes renewed that have changed materially.

        Args:
            clustering: What a clusterer has just made.
            near: The stored themes it was shown, by id; large ones name some of their facts only.
            sizes: How many facts each of them lists.
            absorbed: Whether it merged some of them away.
            store: Where the facts are that were clustered before.
        """
        due = [
            theme
            for theme in clustering.themes
            if _is_due(theme, near.get(theme.id), size=sizes.get(theme.id, 0), absorbed=absorbed)
        ]
        if not due:
            return clustering
        members = await self._members(due, clustering.facts, store)
        groups = [[fact.content for fact in _central_first(members[theme.id])] for theme in due]
        background = list({fact.content for fact in clustering.facts} | {text for group in groups for text in group})
        names = await self.namer.name(groups, background=background)
        renewed = {
            theme.id: theme.model_copy(update={"label": name.label, "description": name.description})
            for theme, name in zip(due, names, strict=True)
        }
        return replace(clustering, themes=tuple(renewed.get(theme.id, theme) for theme in clustering.themes))

    async def _members(
        self, themes: Sequence[Theme], fresh: Sequence[Fact], store: MemoryStore
    ) -> dict[str, list[Fact]]:
        known = {fact.id: fact for fact in fresh}
        sampled = {theme.id: _sample(theme.fact_ids) for theme in themes}
        wanted = [fact_id for ids in sampled.values() for fact_id in ids if fact_id not in known]
        known |= await store.get_facts(wanted)
        return {theme_id: [known[i] for i in ids if i in known] for theme_id, ids in sampled.items()}


def _is_due(theme: Theme, former: Theme | None, *, size: int, absorbed: bool) -> bool:
    if theme.provenance.source != "system" or theme.label == GENERAL_LABEL or len(theme.fact_ids) < 2:
        return False
    if former is None:
        return True
    if absorbed and former.embedding != theme.embedding:
        return True
    grown = size + len(theme.fact_ids) - len(former.fact_ids)
    return grown.bit_length() > size.bit_length()


def _sample(ids: Sequence[str]) -> list[str]:
    if len(ids) <= _SAMPLE:
        return list(ids)
    return [ids[place * len(ids) // _SAMPLE] for place in range(_SAMPLE)]


def _central_first(members: Sequence[Fact]) -> list[Fact]:
    """The facts by how near they lie to the mean of all their directions."""
    vectors = [fact.embedding for fact in members if fact.embedding is not None]
    lengths = {len(vector) for vector in vectors}
    if len(lengths) != 1:
        return list(members)
    mean = [0.0] * lengths.pop()
    for vector in vectors:
        length = math.sqrt(sum(number * number for number in vector)) or 1.0
        mean = [one + number / length for one, number in zip(mean, vector, strict=True)]
    return sorted(members, key=lambda fact: -cosine(mean, fact.embedding) if fact.embedding is not None else 1.0)
