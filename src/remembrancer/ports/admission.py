"""Admission: what looks at new facts before they are written, and turns some of them away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from remembrancer.records import Fact
from remembrancer.records.base import Record
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
    """

    id: Id
    content: str
    reason: AdmissionReason
    matched_id: Id
    similarity: float


@runtime_checkable
class Gatekeeper(Protocol):
    """Judges new facts."""

    async def refuse(self, facts: Sequence[Fact]) -> list[RefusedFact]:
        """Those of the facts that are not to be written, in their order; one may be refused for one before it."""
        ...
