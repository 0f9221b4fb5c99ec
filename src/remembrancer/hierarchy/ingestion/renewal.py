"""Renewing themes: a name and a place that fit what they have come to hold.

A clusterer lays a theme where its first fact lay, under that fact's words. A theme is renewed when it has grown to 2,
4, 8, 16 ... facts, and when it has absorbed another, and not before: so a theme of a thousand facts is renewed about
ten times in its life, and every other write to it only adds facts. Themes that somebody made or renamed by hand, whose
provenance is not the system's, keep their names and places.
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
        namer: Gives them their names.
    """

    namer: ThemeNamer

    async def of(
        self, clustering: Clustering, near: Mapping[str, Theme], *, absorbed: bool, store: MemoryStore
    ) -> Clustering:
        """The clustering with those themes renewed that have changed materially.

        Args:
            clustering: What a clusterer has just made.
            near: The stored themes it was shown, by id.
            absorbed: Whether it merged some of them away.
            store: Where the facts are that were clustered before.
        """
        due = [theme for theme in clustering.themes if _is_due(theme, near.get(theme.id), absorbed=absorbed)]
        if not due:
            return clustering
        members = await self._members(due, clustering.facts, store)
        placed = [_placed(theme, members[theme.id]) for theme in due]
        groups = [[fact.content for fact in _central_first(theme, members[theme.id])] for theme in placed]
        background = list({fact.content for fact in clustering.facts} | {text for group in groups for text in group})
        names = await self.namer.name(groups, background=background)
        renewed = {
            theme.id: theme.model_copy(update={"label": name.label, "description": name.description})
            for theme, name in zip(placed, names, strict=True)
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


def _is_due(theme: Theme, former: Theme | None, *, absorbed: bool) -> bool:
    if theme.provenance.source != "system" or theme.label == GENERAL_LABEL or len(theme.fact_ids) < 2:
        return False
    if former is None:
        return True
    if absorbed and former.embedding != theme.embedding:
        return True
    return len(theme.fact_ids).bit_length() > len(former.fact_ids).bit_length()


def _sample(ids: Sequence[str]) -> list[str]:
    if len(ids) <= _SAMPLE:
        return list(ids)
    return [ids[place * len(ids) // _SAMPLE] for place in range(_SAMPLE)]


def _placed(theme: Theme, members: Sequence[Fact]) -> Theme:
    """The theme at the mean of its members' directions."""
    vectors = [fact.embedding for fact in members if fact.embedding is not None]
    lengths = {len(vector) for vector in vectors}
    if len(lengths) != 1:
        return theme
    total = [0.0] * lengths.pop()
    for vector in vectors:
        length = math.sqrt(sum(number * number for number in vector))
        if length:
            total = [one + number / length for one, number in zip(total, vector, strict=True)]
    length = math.sqrt(sum(number * number for number in total))
    if length < 1e-6:  # directions that cancel out have no mean
        return theme
    return theme.model_copy(update={"embedding": tuple(number / length for number in total)})


def _central_first(theme: Theme, members: Sequence[Fact]) -> list[Fact]:
    def nearness(fact: Fact) -> float:
        if theme.embedding is None or fact.embedding is None:
            return 0.0
        return cosine(theme.embedding, fact.embedding)

    return sorted(members, key=lambda fact: -nearness(fact)) or []
