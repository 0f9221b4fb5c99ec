"""Themes while they are being gathered: members as a set in order, positions as slots, records only at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from remembrancer.hierarchy.clustering.directions import Directions, Greatest
from remembrancer.ports.stages import Clustering
from remembrancer.records import Fact, NewId, Provenance, Theme

GENERAL_LABEL = "General"
"""Label of the theme that holds facts without embeddings."""

_GENERAL_DESCRIPTION = "Default theme for facts without embeddings"
_LABEL_LENGTH = 80
_GREATEST = Greatest()


@dataclass
class Draft:
    """A theme in the making."""

    theme: Theme
    members: dict[str, None]
    embedding: Sequence[float] | None
    is_absorbed: bool = False

    def record(self) -> Theme:
        """The theme as it is now; the one it began as when nothing changed."""
        if self.embedding is self.theme.embedding and tuple(self.members) == tuple(self.theme.fact_ids):
            return self.theme
        return self.theme.model_copy(update={"fact_ids": tuple(self.members), "embedding": self.embedding})


class Drafts:
    """The themes of one clustering, in their order; a draft's slot is its place in `drafts`."""

    def __init__(self, themes: Iterable[Theme], *, provenance: Provenance, new_id: NewId) -> None:
        """Begin with the existing themes.

        Args:
            themes: Existing themes; they are not changed.
            provenance: Of new themes.
            new_id: Ids of new themes.
        """
        self.drafts = [Draft(theme, dict.fromkeys(theme.fact_ids), theme.embedding) for theme in themes]
        self.directions = Directions(draft.embedding for draft in self.drafts)
        self._provenance = provenance
        self._new_id = new_id
        # A fact listed in several themes is taken to be in the last.
        self._slots = {fact_id: slot for slot, draft in enumerate(self.drafts) for fact_id in draft.members}

    def assign(self, facts: Iterable[Fact], *, threshold: float) -> None:
        """Put each fact into one theme, in order; new themes take part at once, and no theme's embedding moves.

        A fact that is in a theme stays there, so that clustering again changes nothing; but one that was in the
        general theme for want of an embedding leaves it when it has one.
        """
        for fact in facts:
            slot = self._slot_for(fact, threshold)
            if fact.id in self._slots:
                for draft in self.drafts:
                    if draft is not self.drafts[slot]:
                        draft.members.pop(fact.id, None)
            self.drafts[slot].members[fact.id] = None
            self._slots[fact.id] = slot

    def clustering(self, facts: Sequence[Fact]) -> Clustering:
        """The themes that remain, and the facts with the theme that each is in."""
        remaining = [draft for draft in self.drafts if not draft.is_absorbed]
        theme_ids = {fact_id: draft.theme.id for draft in remaining for fact_id in draft.members}
        return Clustering(
            themes=tuple(draft.record() for draft in remaining),
            facts=tuple(fact.model_copy(update={"theme_id": theme_ids[fact.id]}) for fact in facts),
        )

    def _slot_for(self, fact: Fact, threshold: float) -> int:
        present = self._slots.get(fact.id)
        if present is not None and not (fact.embedding is not None and self._is_general(present)):
            return present
        if fact.embedding is None:
            return self._general_slot()
        best = self.directions.pick(fact.embedding, _GREATEST)
        if best is not None and best.cosine >= threshold:
            return best.slot
        return self._add(fact.content[:_LABEL_LENGTH], embedding=fact.embedding)

    def _is_general(self, slot: int) -> bool:
        return self.drafts[slot].theme.label == GENERAL_LABEL and self.drafts[slot].embedding is None

    def _general_slot(self) -> int:
        for slot, draft in enumerate(self.drafts):
            if draft.theme.label == GENERAL_LABEL:
                return slot
        return self._add(GENERAL_LABEL, description=_GENERAL_DESCRIPTION)

    def _add(self, label: str, *, description: str = "", embedding: Sequence[float] | None = None) -> int:
        theme = Theme(
            id=self._new_id(), label=label, description=description, embedding=embedding, provenance=self._provenance
        )
        self.drafts.append(Draft(theme, {}, theme.embedding))
        self.directions.append(embedding)
        return len(self.drafts) - 1
