"""What an ingest did."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from remembrancer.ports import ModelUsage
from remembrancer.ports.admission import RefusedFact
from remembrancer.records import IdsByKind, Receipt, RecordKind
from remembrancer.records.base import Listed, Record

if TYPE_CHECKING:
    from remembrancer.hierarchy.ingestion.reading import Reading

logger = logging.getLogger(__name__)

REREAD = "extraction:reread"
"""What closes a fact of a simpler extractor when its messages were read again."""


class FailedExtraction(Record):
    """An episode whose messages are stored but from which nothing could be read.

    Attributes:
        episode_id: Which.
        reason: Why, in words; of an error its type and what it says.
    """

    episode_id: str
    reason: str


class DroppedParts(Record):
    """Parts of what an extractor was answered about an episode that were not taken, all for one reason."""

    episode_id: str
    part: str
    reason: str
    count: int


class IngestReport(Record):
    """What an ingest did, gathered over its batches.

    Attributes:
        messages_read: Messages handed in.
        duplicates: Ids of messages that were stored before, or were handed in twice; they changed nothing.
        conflicting: Of these, ids under which another text was stored or handed in before; that one stays.
        created: Ids that were not stored before, by kind.
        changed: Ids that were stored before and changed, by kind.
        removed: Ids that are no longer stored (themes that were absorbed), by kind.
        claimed_entities: How many mentions found an entity that was stored already.
        merged_relationships: How many relationships said what a stored one says already.
        failed: Episodes from which nothing could be read, and why; their messages are stored, to be read again.
        fell_back: Episodes that a simpler extractor read than the one asked for, and why; to be read again likewise.
            Also those that were cut at silences since the segmenter failed; these are not listed to be read again.
        dropped: What extractors were answered and did not take, and why.
        echoes: Sentences from which nothing was read, since they had come out of a recall.
        refused: Facts that were read and not written, since they say what a stored one says or said; only with
            `admission`.
        model_calls: Requests to the memory's language model, where it counts them.
        model_tokens: Tokens of these, sent and received.
        batches: Transactions committed.
        replayed_batches: Of these, batches that an earlier call with the same idempotency key had committed.
    """

    messages_read: int = 0
    duplicates: Listed[str] = ()
    conflicting: Listed[str] = ()
    created: IdsByKind = {}
    changed: IdsByKind = {}
    removed: IdsByKind = {}
    claimed_entities: int = 0
    merged_relationships: int = 0
    failed: Listed[FailedExtraction] = ()
    fell_back: Listed[FailedExtraction] = ()
    dropped: Listed[DroppedParts] = ()
    echoes: int = 0
    refused: Listed[RefusedFact] = ()
    model_calls: int = 0
    model_tokens: int = 0
    batches: int = 0
    replayed_batches: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many records of each kind were created, and how many messages were duplicates."""
        return {
            **{kind: len(ids) for kind, ids in self.created.items()},
            "duplicate": len(self.duplicates),
            "failed": len(self.failed),
        }


class ReportDraft:
    """A report while it is being gathered."""

    def __init__(self) -> None:
        self.messages_read = 0
        self.duplicates: list[str] = []
        self.conflicting: list[str] = []
        self.failed: list[FailedExtraction] = []
        self.fell_back: list[FailedExtraction] = []
        self.dropped: list[DroppedParts] = []
        self.echoes = 0
        self.refused: list[RefusedFact] = []
        self.model_calls = 0
        self.model_tokens = 0
        self._created: dict[RecordKind, dict[str, None]] = {}
        self._changed: dict[RecordKind, dict[str, None]] = {}
        self._removed: dict[RecordKind, dict[str, None]] = {}
        self._claimed = 0
        self._merged = 0
        self._batches = 0
        self._replayed = 0

    def add(self, receipt: Receipt) -> None:
        """Take in what one batch did."""
        self._batches += 1
        self._replayed += receipt.replayed
        self._claimed += sum(own != other for own, other in receipt.claimed.items())
        self._merged += len(receipt.merged)
        for gathered, by_kind in (
            (self._created, receipt.created),
            (self._changed, receipt.changed),
            (self._removed, receipt.removed),
        ):
            for kind, ids in by_kind.items():
                gathered.setdefault(kind, {}).update(dict.fromkeys(ids))

    def add_reading(self, reading: Reading) -> None:
        """Take in what could not be read as it was asked, and tell the log of it."""
        self.failed += reading.failed
        self.fell_back += reading.fell_back
        self.dropped += reading.dropped
        for failed in reading.failed:
            logger.warning("nothing could be read from episode %s: %s", failed.episode_id, failed.reason)
        for lost in reading.dropped:
            logger.warning("of episode %s, %d %s dropped: %s", lost.episode_id, lost.count, lost.part, lost.reason)

    def add_usage(self, before: ModelUsage, after: ModelUsage) -> None:
        """Take in what a model was used for meanwhile."""
        self.model_calls += after.calls - before.calls
        self.model_tokens += after.tokens - before.tokens

    def finished(self) -> IngestReport:
        """The report."""
        return IngestReport(
            messages_read=self.messages_read,
            duplicates=self.duplicates,
            conflicting=self.conflicting,
            created=_listed(self._created),
            changed=_listed(self._changed, but=self._created),
            removed=_listed(self._removed),
            claimed_entities=self._claimed,
            merged_relationships=self._merged,
            failed=self.failed,
            fell_back=self.fell_back,
            dropped=self.dropped,
            echoes=self.echoes,
            refused=self.refused,
            model_calls=self.model_calls,
            model_tokens=self.model_tokens,
            batches=self._batches,
            replayed_batches=self._replayed,
        )


def _listed(
    gathered: dict[RecordKind, dict[str, None]], *, but: dict[RecordKind, dict[str, None]] | None = None
) -> IdsByKind:
    taken = {kind: set(ids) for kind, ids in (but or {}).items()}
    kept = {kind: tuple(i for i in ids if i not in taken.get(kind, ())) for kind, ids in gathered.items()}
    return {kind: ids for kind, ids in kept.items() if ids}
