"""Clustering that tidies up: themes that have come to mean the same are merged, and their number can be bounded."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.hierarchy.clustering.draft import Drafts
from remembrancer.hierarchy.clustering.merging import merge_down_to, merge_similar
from remembrancer.hierarchy.option import require_integer, require_number, require_records
from remembrancer.ports.stages import Clustering
from remembrancer.records import Clock, Fact, NewId, Provenance, Theme, random_id, system_clock


class ConsolidatingThemeClusterer:
    """Assigns facts as `SimpleThemeClusterer` does, then merges themes; only merging moves a theme's embedding."""

    def __init__(
        self,
        *,
        assignment_threshold: float = 0.7,
        merge_threshold: float = 0.85,
        max_themes: int | None = None,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
    ) -> None:
        """Make a clusterer.

        Args:
            assignment_threshold: The least cosine, included, at which a fact joins a theme.
            merge_threshold: The least cosine, included, at which two themes merge; above 1: none do.
            max_themes: The most themes that are to remain, 0 or more; `None`: no bound. A theme without embedding
                counts but cannot be merged, so more may remain.
            clock: When new themes were made.
            new_id: Ids of new themes.

        Raises:
            InvalidInputError: An option is out of its bounds.
        """
        self._assignment_threshold = require_number(assignment_threshold, field="assignment_threshold")
        self._merge_threshold = require_number(merge_threshold, field="merge_threshold")
        self._max_themes = None if max_themes is None else require_integer(max_themes, field="max_themes")
        self._clock = clock
        self._new_id = new_id

    async def cluster(self, facts: Sequence[Fact], themes: Sequence[Theme]) -> Clustering:
        """Put each fact into exactly one theme, then merge.

        Two themes become one where their cosine reaches `merge_threshold`, then, while there are more than
        `max_themes`, the two most similar ones, whatever their cosine. The theme with more facts survives, the earlier
        of equals, with its id, label and place; its embedding becomes the mean of both, weighted by the number of
        facts. Facts that are not passed in but belong to an absorbed theme keep a stale `theme_id`: whoever writes the
        result re-points them and deletes the themes that it no longer lists.

        A batch of facts without any embedding is only assigned: nothing is merged.

        Raises:
            InvalidInputError: Something else than facts or themes was handed in.
        """
        given = require_records(facts, Fact, field="facts")
        existing = require_records(themes, Theme, field="themes")
        drafts = Drafts(existing, provenance=Provenance(source="system", created_at=self._clock()), new_id=self._new_id)
        drafts.assign(given, threshold=self._assignment_threshold)
        if not given or any(fact.embedding is not None for fact in given):
            merge_similar(drafts, threshold=self._merge_threshold)
            if self._max_themes is not None:
                merge_down_to(drafts, most=self._max_themes)
        return drafts.clustering(given)
