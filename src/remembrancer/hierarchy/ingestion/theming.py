"""Gathering new facts under themes: only the themes near them are read, and of those only what changes is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from remembrancer.hierarchy.clustering import GENERAL_LABEL
from remembrancer.hierarchy.ingestion.renewal import Renewal
from remembrancer.ports import Clusterer, Clustering, MemoryIndex, MemoryStore, OutlinesThemes
from remembrancer.records import Fact, Theme, ThemeAddition
from remembrancer.records.key import derived_id

_NEAREST = 5
"""How many themes near a fact the clusterer is shown."""

_NAMED_FACTS = 1_000
"""How many facts of a stored theme the clusterer is shown: a larger one counts as this large when themes merge."""


class Outline(NamedTuple):
    """A stored theme with some of its facts, and how many it lists."""

    theme: Theme
    size: int


@dataclass(frozen=True)
class Theming:
    """What clustering changes.

    Attributes:
        facts: The new facts with their theme, and stored facts whose theme was absorbed by another.
        themes: Themes to put whole: new ones, and those whose label, description or place changed.
        additions: Facts that join themes which are otherwise as they were.
        absorbed: Ids of themes that are no more.
        expected: How many facts the themes listed that are put whole or removed, 0 for new ones: where another writer
            has added to one meanwhile, its fact would be lost.
    """

    facts: tuple[Fact, ...]
    themes: tuple[Theme, ...] = ()
    additions: tuple[ThemeAddition, ...] = ()
    absorbed: tuple[str, ...] = ()
    expected: dict[str, int] = field(default_factory=dict)


async def gather_under_themes(
    facts: Sequence[Fact],
    *,
    store: MemoryStore,
    index: MemoryIndex,
    clusterer: Clusterer,
    renewal: Renewal | None = None,
) -> Theming:
    """Cluster new facts together with the stored themes nearest to them, and renew what has changed materially."""
    if not facts:
        return Theming(())
    outlines = await _near_themes(facts, store=store, index=index)
    near = {theme_id: one.theme for theme_id, one in outlines.items()}
    clustering = await _named(await clusterer.cluster(facts, list(near.values())), near, store=store)
    remaining = {theme.id: theme for theme in clustering.themes}
    absorbed = tuple(theme_id for theme_id in near if theme_id not in remaining)
    if renewal is not None:
        sizes = {theme_id: one.size for theme_id, one in outlines.items()}
        clustering = await renewal.of(clustering, near, sizes, absorbed=bool(absorbed), store=store)
        remaining = {theme.id: theme for theme in clustering.themes}
    changed: list[Theme] = []
    additions: list[ThemeAddition] = []
    for theme in remaining.values():
        former = near.get(theme.id)
        if former is not None and _only_grew(former, theme):
            joined = tuple(theme.fact_ids)[len(former.fact_ids) :]
            if joined:
                additions.append(ThemeAddition(theme_id=theme.id, fact_ids=joined))
        else:
            changed.append(theme)
    whole, members = await _whole(changed, outlines, store=store)
    moved = await _moved_facts(clustering.facts, whole, members, store=store) if absorbed else ()
    replaced = [*(theme.id for theme in whole), *absorbed]
    expected = {one: outlines[one].size if one in outlines else 0 for one in replaced}
    return Theming((*clustering.facts, *moved), tuple(whole), tuple(additions), absorbed, expected)


async def _whole(
    changed: Sequence[Theme], outlines: Mapping[str, Outline], *, store: MemoryStore
) -> tuple[list[Theme], dict[str, Sequence[str]]]:
    """Changed themes with all their facts, where only some were named; and all facts of the themes they were before."""
    parts = {theme.id: _parts(theme, outlines) for theme in changed}
    cut = {part for ids in parts.values() for part in ids if outlines[part].size > len(outlines[part].theme.fact_ids)}
    stored = await store.get_themes(sorted(cut)) if cut else {}
    members = {theme_id: one.theme.fact_ids for theme_id, one in outlines.items()}
    members |= {theme_id: theme.fact_ids for theme_id, theme in stored.items()}
    whole = []
    for theme in changed:
        if cut.isdisjoint(parts[theme.id]):
            whole.append(theme)
        else:
            listed = dict.fromkeys([*(i for part in parts[theme.id] for i in members[part]), *theme.fact_ids])
            whole.append(theme.model_copy(update={"fact_ids": tuple(listed)}))
    return whole, members


def _parts(theme: Theme, outlines: Mapping[str, Outline]) -> list[str]:
    """Ids of the stored themes that went into this one, itself first."""
    held = set(theme.fact_ids)
    others = [one.theme for one in outlines.values() if one.theme.id != theme.id and one.theme.fact_ids]
    gone = [other.id for other in others if other.fact_ids[0] in held]
    return [*([theme.id] if theme.id in outlines else []), *gone]


async def _named(clustering: Clustering, near: dict[str, Theme], *, store: MemoryStore) -> Clustering:
    """The clustering with one id for the general theme in every plan, so that two writers never make two of it."""
    new = [theme for theme in clustering.themes if theme.label == GENERAL_LABEL and theme.id not in near]
    general_id = derived_id("theme", GENERAL_LABEL)
    if len(new) != 1 or new[0].embedding is not None:
        return clustering
    taken = await store.get_theme(general_id)
    if taken is not None and taken.label != GENERAL_LABEL:
        return clustering  # somebody has given that theme another name
    return Clustering(
        themes=tuple(
            theme.model_copy(update={"id": general_id}) if theme is new[0] else theme for theme in clustering.themes
        ),
        facts=tuple(
            fact.model_copy(update={"theme_id": general_id}) if fact.theme_id == new[0].id else fact
            for fact in clustering.facts
        ),
    )


async def _near_themes(facts: Sequence[Fact], *, store: MemoryStore, index: MemoryIndex) -> dict[str, Outline]:
    vectors = [fact.embedding for fact in facts if fact.embedding is not None]
    hits = await index.nearest_themes(vectors, limit=_NEAREST) if vectors else []
    ids = sorted({hit.id for found in hits for hit in found})
    label = GENERAL_LABEL if len(vectors) < len(facts) else None
    if isinstance(store, OutlinesThemes):
        outlines = await store.outline_themes(ids, label=label, most=_NAMED_FACTS)
        return {theme.id: Outline(theme, size) for theme, size in outlines}
    themes = await store.get_themes(ids)
    if label is not None:
        themes |= {theme.id: theme for theme in await store.find_themes_labelled(label)}
    return {theme_id: Outline(theme, len(set(theme.fact_ids))) for theme_id, theme in themes.items()}


def _only_grew(former: Theme, theme: Theme) -> bool:
    same = former.model_copy(update={"fact_ids": theme.fact_ids}) == theme
    return same and tuple(theme.fact_ids)[: len(former.fact_ids)] == tuple(former.fact_ids)


async def _moved_facts(
    given: Sequence[Fact], whole: Sequence[Theme], members: Mapping[str, Sequence[str]], *, store: MemoryStore
) -> tuple[Fact, ...]:
    fresh = {fact.id for fact in given}
    theme_of: dict[str, str] = {}
    for theme in whole:
        before = set(members.get(theme.id, ()))
        theme_of.update((fact_id, theme.id) for fact_id in theme.fact_ids if fact_id not in before | fresh)
    stored = await store.get_facts(list(theme_of))
    return tuple(fact.model_copy(update={"theme_id": theme_of[fact.id]}) for fact in stored.values())
