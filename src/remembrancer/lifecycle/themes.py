"""What becomes of a theme when facts that it lists are pruned."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from remembrancer.records import Theme
from remembrancer.records.vector import to_float32


def remaining_facts(theme: Theme, pruned: Collection[str]) -> tuple[str, ...]:
    """The facts that a theme still lists without the pruned ones, in its order."""
    return tuple(fact_id for fact_id in theme.fact_ids if fact_id not in pruned)


def centroid(embeddings: Iterable[Sequence[float] | None]) -> tuple[float, ...] | None:
    """The plain mean of the embeddings that have the length of the first one; `None` when there is none.

    Embeddings that cancel each other have no mean direction: `None` as well, since no index could hold it.

    Args:
        embeddings: One for each remaining fact in the theme's order, `None` for a fact without.
    """
    total: list[float] | None = None
    count = 0
    for embedding in embeddings:
        if embedding is None:
            continue
        if total is None:
            total = [0.0] * len(embedding)
        if len(embedding) == len(total):
            total = [so_far + number for so_far, number in zip(total, embedding, strict=True)]
            count += 1
    if total is None:
        return None
    mean = to_float32([number / count for number in total])
    return tuple(mean) if any(mean) else None
