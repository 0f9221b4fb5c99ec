"""Exact ranking by cosine: every vector is compared, in double precision.

Rows are brought to length 1 once, each scaled by its largest component first, since squares of huge numbers overflow
and those of tiny ones vanish. Vectors of another length than the query, empty and zero ones score 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from remembrancer.ports import Hit
from remembrancer.records import SIMILARITY_TOLERANCE

Row = NDArray[np.float64]

_DIGITS = 12
"""To how many digits scores are exact: what lies beyond depends on where in the matrix a row lies, and would part
what ought to tie."""


def unit_row(vector: Sequence[float]) -> Row:
    """The vector at length 1; one of zeros stays as it is."""
    row = np.asarray(vector, dtype=np.float64)
    scale = np.abs(row).max(initial=0.0)
    if scale == 0:
        return row
    row = row / scale
    unit: Row = row / np.sqrt(np.dot(row, row))
    return unit


class VectorTable:
    """Vectors of any lengths under ids, in listing order.

    Args:
        rows: Unit rows by id, in the order in which equal scores are listed.
    """

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self.ids = tuple(rows)
        places: dict[int, list[int]] = {}
        for place, row in enumerate(rows.values()):
            places.setdefault(len(row), []).append(place)
        listed = tuple(rows.values())
        self._matrices = {
            length: (np.array(at), np.stack([listed[place] for place in at])) for length, at in places.items()
        }

    def scores(self, query: Sequence[float]) -> Row:
        """Cosine of each vector with the query, in the order of `ids`."""
        scores = np.zeros(len(self.ids))
        row = unit_row(query)
        if len(row) in self._matrices:
            at, matrix = self._matrices[len(row)]
            scores[at] = np.clip(np.round(matrix @ row, _DIGITS), -1, 1)
        return scores

    def nearest(
        self,
        query: Sequence[float],
        *,
        limit: int,
        min_similarity: float,
        passes: Callable[[str], bool] | None = None,
    ) -> list[Hit]:
        """The best hits that pass, by score descending, ties in the order of `ids`.

        Args:
            query: What to compare with.
            limit: The most hits.
            min_similarity: The least score, included; `SIMILARITY_TOLERANCE` less still passes.
            passes: Whether an id may be a hit; asked before the limit cuts.
        """
        scores = self.scores(query)
        near = np.flatnonzero(scores >= min_similarity - SIMILARITY_TOLERANCE)
        hits: list[Hit] = []
        for place in near[np.argsort(-scores[near], kind="stable")]:
            if len(hits) >= limit:
                break
            if passes is None or passes(self.ids[place]):
                hits.append(Hit(self.ids[place], float(scores[place])))
        return hits


def rank(
    query: Sequence[float],
    vectors: Iterable[tuple[str, Sequence[float]]],
    *,
    limit: int = 20,
    min_similarity: float = 0.5,
) -> list[Hit]:
    """Rank vectors by cosine with a query; any lengths, empty and zero vectors included.

    Args:
        query: What to compare with.
        vectors: Ids and vectors, in the order in which equal scores are listed.
        limit: The most hits.
        min_similarity: The least score, included.
    """
    table = VectorTable({record_id: unit_row(vector) for record_id, vector in vectors})
    return table.nearest(query, limit=limit, min_similarity=min_similarity)
