"""What is told of a record's past: what was done to it, what replaced what, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.records.audit import Action, PassKind
from remembrancer.records.base import Listed, Record
from remembrancer.records.episode import Episode
from remembrancer.records.fact import Fact
from remembrancer.records.instant import Instant
from remembrancer.records.kind import AnyRecord, RecordKind
from remembrancer.records.message import Message
from remembrancer.records.provenance import Provenance


class Step(Record):
    """Something that a pass did to a record.

    Attributes:
        pass_id: The pass.
        pass_kind: What the pass was for.
        at: When.
        record_kind: Kind of the record.
        action: What became of it.
        reason: Why.
        fields: Names of the fields that changed.
        superseded_by: What replaced it.
        undone_by: The pass that took it back, if one did.
    """

    pass_id: str
    pass_kind: PassKind
    at: Instant
    record_kind: RecordKind
    action: Action
    reason: str
    fields: Listed[str] = ()
    superseded_by: str | None = None
    undone_by: str | None = None


class Replacement(Record):
    """One record that took the place of another.

    Attributes:
        record_kind: Kind of both.
        newer_id: What holds now.
        older_id: What it replaced.
        at: When; `None`: not recorded.
        reason: Why; empty when the older record merely names the newer one as what closed it.
        pass_id: The pass that did it; `None`: it was done by hand.
        undone_by: The pass that took it back, if one did.
    """

    record_kind: RecordKind
    newer_id: str
    older_id: str
    at: Instant | None = None
    reason: str = ""
    pass_id: str | None = None
    undone_by: str | None = None


class History(Record):
    """The past of a record.

    Attributes:
        record_id: The record.
        stored_as: Kinds under which it is stored now, closed or not; empty: it was removed.
        closed_by: What closed it, when it is closed: an id or a reason.
        closed_at: When.
        steps: What passes did to it, oldest first.
        replaced_by: What took its place, what took the place of that, and so on, oldest first.
        replaces: What it took the place of, and so on backwards, oldest first.
    """

    record_id: str
    stored_as: Listed[RecordKind] = ()
    closed_by: str | None = None
    closed_at: Instant | None = None
    steps: Listed[Step] = ()
    replaced_by: Listed[Replacement] = ()
    replaces: Listed[Replacement] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known of the id."""
        return not (self.stored_as or self.steps or self.replaced_by or self.replaces)


class Evidence(Record):
    """What a record rests on.

    Attributes:
        record_id: The record.
        record_kind: Its kind.
        record: The record itself, without its embedding.
        provenance: Who or what made it.
        messages: What was said: the messages it cites, or all of its episodes' when it cites none; oldest first.
        episodes: The episodes it was read from, without their messages and embeddings; oldest first.
        facts: For an entity or a theme the facts that speak of it, for a relationship those that mention both ends;
            newest first, closed ones too, without embeddings; at most as many as were asked for.
        fact_count: How many such facts there are.
        replaces: What the record took the place of, oldest first.
    """

    record_id: str
    record_kind: RecordKind
    record: AnyRecord
    provenance: Provenance | None = None
    messages: Listed[Message] = ()
    episodes: Listed[Episode] = ()
    facts: Listed[Fact] = ()
    fact_count: int = 0
    replaces: Listed[Replacement] = ()


class Mark(Record):
    """Under which kind an id is stored, and what closed the record.

    Attributes:
        kind: The kind.
        closed_by: What closed it, if anything did.
        closed_at: When.
        names_record: Whether `closed_by` is a stored record of the same kind.
    """

    kind: RecordKind
    closed_by: str | None = None
    closed_at: Instant | None = None
    names_record: bool = False


def history_of(
    record_id: str,
    *,
    marks: Sequence[Mark],
    steps: Sequence[Step],
    newer: Sequence[Replacement],
    older: Sequence[Replacement],
) -> History:
    """Put together what a store found out about an id.

    A record that names another one as what closed it, though no pass did that, was replaced by hand: that is a
    replacement like the others.
    """
    told = {(one.older_id, one.newer_id) for one in newer if one.undone_by is None}
    by_hand = [
        Replacement(record_kind=mark.kind, newer_id=mark.closed_by, older_id=record_id, at=mark.closed_at)
        for mark in marks
        if mark.closed_by is not None and mark.names_record and (record_id, mark.closed_by) not in told
    ]
    closed = next((mark for mark in marks if mark.closed_by is not None or mark.closed_at is not None), None)
    return History(
        record_id=record_id,
        stored_as=[mark.kind for mark in marks],
        closed_by=None if closed is None else closed.closed_by,
        closed_at=None if closed is None else closed.closed_at,
        steps=steps,
        replaced_by=[*by_hand, *newer],
        replaces=older,
    )
