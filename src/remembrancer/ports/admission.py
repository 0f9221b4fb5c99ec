"""Admission: what looks at new facts before they are written, and turns some of them away."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, Protocol, runtime_checkable

from remembrancer.records import Fact
from remembrancer.records.base import Listed, Record
from remembrancer.records.key import Id

AdmissionReason = Literal["duplicate", "evicted_reentry"]
"""Why something was refused: a live fact says it, or one that was closed for a reason did."""


class RefusedFact(Record):
    """A fact that was not written.

    Attributes:
        id: The id that it would have had.
        content: What it says.
        reason: Why it was refused.
        matched_id: The fact that says it, or said it.
        similarity: How similar the two are: a cosine, or a share of common words.
        message_ids: Messages that said it, as far as is known.
        is_cited: Whether they have become sources of the fact that says it.
    """

    id: Id
    content: str
    reason: AdmissionReason
    matched_id: Id
    similarity: float
    message_ids: Listed[Id] = ()
    is_cited: bool = False


@runtime_checkable
class Gatekeeper(Protocol):
    """Judges new facts."""

    async def refuse(self, facts: Sequence[Fact], *, leaving: Collection[str] = ()) -> list[RefusedFact]:
        """Those of the facts that are not to be written, in their order; one may be refused for one before it.

        Args:
            facts: With their vectors.
            leaving: Ids of stored facts for which none is refused, since they are about to be closed.
        """
        ...
