"""Near duplicates become one fact: which of two is kept, and what it takes over from the other.

Everything here is pure. A fact that absorbed others is compared and merged in the state it has reached by then, on
either side, so that no evidence is lost along a chain of merges: the sum of all access counts stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.records import SIMILARITY_TOLERANCE, Fact, cosine
from remembrancer.records.assertion import windows_overlap
from remembrancer.records.fact import MAX_INTEGER
from remembrancer.records.key import without_repeats


class Deduplication:
    """One walk over the facts in listing order, each with its near duplicates.

    Args:
        least: The least cosine of near duplicates, included.
        verified_tag: A fact with it is kept before one without.
        candidate_tag: Taken off a fact that is verified after a merge.

    Attributes:
        merged: Facts that absorbed others and were absorbed by none, as they are to be written.
        lost_to: The fact that absorbed a fact directly, by the absorbed one's id, in the order of absorption.
    """

    def __init__(self, *, least: float, verified_tag: str, candidate_tag: str) -> None:
        self._least = least - SIMILARITY_TOLERANCE
        self._verified_tag = verified_tag
        self._candidate_tag = candidate_tag
        self.merged: dict[str, Fact] = {}
        self.lost_to: dict[str, str] = {}

    def merge(self, current: Fact, near: Iterable[Fact]) -> None:
        """Give a fact its turn: merge it with those near to it, until it is absorbed itself.

        Args:
            current: The fact as it is stored.
            near: Its near duplicates that have not had their turn, as they are stored, nearest first; itself and those
                that were absorbed are passed over.
        """
        state = self.merged.get(current.id, current)
        for stored in near:
            if stored.id == state.id or stored.id in self.lost_to:
                continue
            other = self.merged.get(stored.id, stored)
            # Who told that they are near may have seen one of them before somebody wrote it anew.
            if not say_the_same(state, other) or cosine(current.embedding or (), stored.embedding or ()) < self._least:
                continue
            keeper, loser = (state, other) if self._stands_before(state, other) else (other, state)
            state = self._absorb(keeper, loser)
            if loser.id == current.id:
                return

    def survivor(self, fact_id: str) -> str:
        """The fact that stands for a fact after all merges; itself when nothing absorbed it."""
        while fact_id in self.lost_to:
            fact_id = self.lost_to[fact_id]
        return fact_id

    def _stands_before(self, current: Fact, other: Fact) -> bool:
        return self._rank(current) >= self._rank(other)

    def _rank(self, fact: Fact) -> tuple[object, ...]:
        is_verified = self._verified_tag in fact.tags
        return is_verified, fact.access_count or 0, len(fact.source_episode_ids), fact.valid_from

    def _absorb(self, keeper: Fact, loser: Fact) -> Fact:
        tags = without_repeats([*keeper.tags, *loser.tags])
        if self._verified_tag in tags:
            tags = tuple(tag for tag in tags if tag != self._candidate_tag)
        merged = keeper.model_copy(
            update={
                "entity_ids": without_repeats([*keeper.entity_ids, *loser.entity_ids]),
                "source_episode_ids": without_repeats([*keeper.source_episode_ids, *loser.source_episode_ids]),
                "source_message_ids": without_repeats([*keeper.source_message_ids, *loser.source_message_ids]),
                "tags": tags,
                "access_count": min((keeper.access_count or 0) + (loser.access_count or 0), MAX_INTEGER),
            }
        )
        self.merged.pop(loser.id, None)
        self.merged[keeper.id] = merged
        self.lost_to[loser.id] = keeper.id
        return merged


def say_the_same(one: Fact, other: Fact) -> bool:
    """Whether two facts with near texts may be one.

    Two ports differ in a digit and lie side by side in every embedding space. So a fact that makes a statement meets
    only facts that make the same one, of a common time.
    """
    if one.statement is None and other.statement is None:
        return True
    return one.statement == other.statement and windows_overlap(
        one.valid_from, one.valid_until, other.valid_from, other.valid_until
    )
