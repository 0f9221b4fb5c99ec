"""The working tier: the newest items of each scope, in this process and nowhere else."""

from __future__ import annotations

import copy

from remembrancer.records.tier import TierEntry, TierHit
from remembrancer.tiers.scoring import working_score


class WorkingShelf:
    """Items by scope and id, in the order in which they were put in first."""

    def __init__(self) -> None:
        self._items: dict[tuple[str | None, str], TierEntry] = {}

    def __len__(self) -> int:
        """How many items there are, of all scopes."""
        return len(self._items)

    def put(self, item_id: str, entry: TierEntry, *, most: int) -> None:
        """Put an item in; one that is there keeps its place, and beyond `most` those put in first go."""
        self._items[entry.scope, item_id] = entry
        while len(self._items) > most:
            del self._items[next(iter(self._items))]

    def newest(self, scope: str | None, *, limit: int) -> list[TierHit]:
        """The newest items of one scope, the newest first."""
        found: list[tuple[str, TierEntry]] = []
        for (whose, item_id), entry in reversed(self._items.items()):
            if len(found) >= limit:
                break
            if whose == scope:
                found.append((item_id, entry))
        return [
            TierHit(
                id=item_id,
                text=entry.text,
                tier="working",
                score=working_score(place, len(found)),
                metadata=copy.deepcopy(entry.metadata),
            )
            for place, (item_id, entry) in enumerate(found)
        ]

    def clear(self) -> None:
        """Remove everything, whatever its scope."""
        self._items.clear()
