"""Clustering in one pass: each fact joins the nearest theme, or begins one."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.hierarchy.clustering.draft import Drafts
from remembrancer.hierarchy.option import require_number, require_records
from remembrancer.ports.stages import Clustering
from remembrancer.records import Clock, Fact, NewId, Provenance, Theme, random_id, system_clock


class SimpleThemeClusterer:
    """Gathers facts under the nearest theme; themes never move, merge or vanish."""

    def __init__(
        self, *, similarity_threshold: float = 0.7, clock: Clock = system_clock, new_id: NewId = random_id
    ) -> None:
        """Make a clusterer.

        Args:
            similarity_threshold: The least cosine, included, at which a fact joins a theme. At -1 or less every fact
                joins one that is not exactly opposite, above 1 none does.
            clock: When new themes were made.
            new_id: Ids of new themes.

        Raises:
            InvalidInputError: The threshold is not a finite number.
        """
        self._threshold = require_number(similarity_threshold, field="similarity_threshold")
        self._clock = clock
        self._new_id = new_id

    async def cluster(self, facts: Sequence[Fact], themes: Sequence[Theme]) -> Clustering:
        """Put each fact into exactly one theme, in the order given.

        A fact joins the theme of greatest cosine, the first of equals, if that reaches the threshold; else it begins a
        theme labelled with its first 80 characters, whose embedding is its own. Facts without embedding share the
        theme labelled `General`. A fact that a theme lists already stays there (in the last that lists it).

        Raises:
            InvalidInputError: Something else than facts or themes was handed in.
        """
        given = require_records(facts, Fact, field="facts")
        existing = require_records(themes, Theme, field="themes")
        drafts = Drafts(existing, provenance=Provenance(source="system", created_at=self._clock()), new_id=self._new_id)
        drafts.assign(given, threshold=self._threshold)
        return drafts.clustering(given)
