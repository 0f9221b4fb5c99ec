"""Merging themes pair by pair, always the pair that a full scan of all pairs would find next.

For each theme the pair that a rule picks among the later themes is remembered, and only what a merge may have changed
is looked at again: the definition scans all pairs anew after every merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from remembrancer.hierarchy.clustering.directions import Directions, FirstAtLeast, Greatest, Pick, Rule
from remembrancer.hierarchy.clustering.draft import Draft, Drafts


def merge_similar(drafts: Drafts, *, threshold: float) -> None:
    """Merge the first two themes, in their order, whose cosine reaches the threshold, until no two do."""
    pairs = _Pairs(drafts.directions, FirstAtLeast(threshold))
    while (pair := pairs.next()) is not None:
        pairs.update(*_merge(drafts, *pair))


def merge_down_to(drafts: Drafts, *, most: int) -> None:
    """Merge the two most similar themes, the first of equals, while there are more than `most`.

    Stops earlier when the remaining ones have no embedding or are exactly opposite.
    """
    excess = sum(not draft.is_absorbed for draft in drafts.drafts) - most
    if excess <= 0:
        return
    pairs = _Pairs(drafts.directions, Greatest())
    for _ in range(excess):
        pair = pairs.next()
        if pair is None:
            return
        pairs.update(*_merge(drafts, *pair))


class _Pairs:
    """For each slot, what a rule picks among the slots beyond it."""

    def __init__(self, directions: Directions, rule: Rule) -> None:
        self._directions = directions
        self._rule = rule
        self._picks = directions.pick_after_each(rule)

    def next(self) -> tuple[int, int] | None:
        """The pair that the rule picks among all pairs, in the order of their slots."""
        picked = [(slot, pick) for slot, pick in enumerate(self._picks) if pick is not None]
        place = self._rule.pick(np.array([pick.cosine for _, pick in picked]))
        return None if place is None else (picked[place][0], picked[place][1].slot)

    def update(self, survivor: int, absorbed: int) -> None:
        """Look again at what changed: one slot was emptied, another got a new vector."""
        self._picks[absorbed] = None
        self._picks[survivor] = self._directions.pick_after(survivor, self._rule)
        cosines = self._directions.cosines(survivor)
        for slot, pick in enumerate(self._picks):
            if slot == survivor:
                continue
            if pick is not None and pick.slot in (survivor, absorbed):
                self._picks[slot] = self._directions.pick_after(slot, self._rule)
            elif slot < survivor:
                self._picks[slot] = self._better(pick, Pick(survivor, float(cosines[slot])))

    def _better(self, pick: Pick | None, other: Pick) -> Pick | None:
        offered = sorted((pick, other)) if pick is not None else [other]
        place = self._rule.pick(np.array([one.cosine for one in offered]))
        return None if place is None else offered[place]


def _merge(drafts: Drafts, slot: int, other: int) -> tuple[int, int]:
    """Merge two themes; gives the slot that survives and the one that was absorbed."""
    earlier, later = drafts.drafts[slot], drafts.drafts[other]
    if len(later.members) > len(earlier.members):
        slot, other = other, slot
    survivor, absorbed = drafts.drafts[slot], drafts.drafts[other]
    survivor.embedding = _mean(survivor, absorbed)
    survivor.members |= absorbed.members
    absorbed.is_absorbed = True
    drafts.directions.replace(slot, survivor.embedding)
    drafts.directions.replace(other, None)
    return slot, other


def _mean(survivor: Draft, absorbed: Draft) -> Sequence[float]:
    kept, given = survivor.embedding, absorbed.embedding
    assert kept is not None  # noqa: S101 - only themes with embeddings are picked
    assert given is not None  # noqa: S101
    if len(kept) != len(given):
        return max(kept, given, key=len)
    weight, other_weight = _weights(len(survivor.members), len(absorbed.members))
    mean = tuple(weight * one + other_weight * another for one, another in zip(kept, given, strict=True))
    # Vectors that rounding alone keeps from being opposite can cancel out, and zeros could never be found again.
    return mean if any(mean) or not any(kept) else kept


def _weights(count: int, other: int) -> Iterable[float]:
    total = count + other
    return (count / total, other / total) if total else (0.5, 0.5)
