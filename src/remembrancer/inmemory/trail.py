"""The audit trail in memory: passes, what each did, and which record took the place of which."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

from remembrancer.records import Audit, AuditEntry, Pass, RecordKind, Scrub
from remembrancer.records.history import Replacement, Step

_REPLACING: tuple[RecordKind, ...] = ("fact", "entity")

_LAST = dt.datetime.max.replace(tzinfo=dt.UTC)

_ERASED = "erased"
_EMPTY = {"reason": _ERASED, "before": None, "embedding": None, "refers_to": ()}

Edge = tuple[RecordKind, str, str, str]
"""Kind, newer id, older id and pass of a replacement."""


class Trail:
    """Everything that passes left behind in one namespace."""

    def __init__(self) -> None:
        self.passes: dict[str, Pass] = {}
        self.entries: dict[str, list[AuditEntry]] = {}
        self.replacements: dict[Edge, Replacement] = {}
        self._touched_by: dict[str, list[str]] = {}
        self._to_newer: dict[tuple[RecordKind, str], list[Edge]] = {}
        self._to_older: dict[tuple[RecordKind, str], list[Edge]] = {}

    def record(self, audit: Audit) -> None:
        """Keep what a pass did; who names an undone pass has checked that it is there."""
        self.passes[audit.pass_id] = Pass(
            id=audit.pass_id,
            kind=audit.kind,
            at=audit.at,
            changes=len(audit.entries),
            is_hard=audit.is_hard,
            undoes=audit.undoes,
        )
        self.entries[audit.pass_id] = list(audit.entries)
        for entry in audit.entries:
            passes = self._touched_by.setdefault(entry.record_id, [])
            if audit.pass_id not in passes:
                passes.append(audit.pass_id)
            if entry.superseded_by is not None and entry.record_kind in _REPLACING:
                self._replace(entry, entry.superseded_by, audit)
        if audit.undoes is not None:
            self._mark_undone(audit.undoes, audit.pass_id)

    def put_pass(self, one: Pass) -> None:
        """Keep a pass as it is, in place of what is known of it."""
        self.passes[one.id] = one
        self.entries.setdefault(one.id, [])

    def put_entries(self, pass_id: str, entries: Sequence[AuditEntry], *, start: int) -> None:
        """Keep what a pass did, from a place in its plan on, in place of what is known of it."""
        self.entries.setdefault(pass_id, [])[start : start + len(entries)] = entries
        for entry in entries:
            passes = self._touched_by.setdefault(entry.record_id, [])
            if pass_id not in passes:
                passes.append(pass_id)

    def put_replacement(self, one: Replacement) -> None:
        """Keep an audit edge as it is, in place of what is known of it."""
        edge: Edge = (one.record_kind, one.newer_id, one.older_id, one.pass_id or "")
        if edge not in self.replacements:
            self._to_newer.setdefault((one.record_kind, one.older_id), []).append(edge)
            self._to_older.setdefault((one.record_kind, one.newer_id), []).append(edge)
        self.replacements[edge] = one

    def _replace(self, entry: AuditEntry, newer_id: str, audit: Audit) -> None:
        edge: Edge = (entry.record_kind, newer_id, entry.record_id, audit.pass_id)
        self.replacements[edge] = Replacement(
            record_kind=entry.record_kind,
            newer_id=newer_id,
            older_id=entry.record_id,
            at=audit.at,
            reason=entry.reason,
            pass_id=audit.pass_id,
        )
        self._to_newer.setdefault((entry.record_kind, entry.record_id), []).append(edge)
        self._to_older.setdefault((entry.record_kind, newer_id), []).append(edge)

    def _mark_undone(self, pass_id: str, undone_by: str) -> None:
        mark = {"undone_by": undone_by}
        self.passes[pass_id] = self.passes[pass_id].model_copy(update=mark)
        for key, replacement in self.replacements.items():
            if replacement.pass_id == pass_id:
                self.replacements[key] = replacement.model_copy(update=mark)

    def scrub(self, scrub: Scrub) -> None:
        """Empty the entries of erased and touched records of texts, and take audit edges at erased ones away."""
        erased, touched = set(scrub.erased), set(scrub.touched)
        for edge, replacement in list(self.replacements.items()):
            _, newer_id, older_id, _ = edge
            if newer_id in erased or older_id in erased:
                del self.replacements[edge]
                _drop(self._to_newer, (edge[0], older_id), edge)
                _drop(self._to_older, (edge[0], newer_id), edge)
            elif newer_id in touched or older_id in touched:
                self.replacements[edge] = replacement.model_copy(update={"reason": _ERASED})
        for pass_id, entries in self.entries.items():
            for place, entry in enumerate(entries):
                if (
                    entry.record_id in touched
                    or entry.superseded_by in erased
                    or not erased.isdisjoint(entry.refers_to)
                ):
                    entries[place] = entry.model_copy(update=_EMPTY)
                    self.passes[pass_id] = self.passes[pass_id].model_copy(update={"is_erased": True})

    def latest(self) -> list[Pass]:
        """Passes, latest first, then by id."""
        return sorted(self.passes.values(), key=lambda one: (_LAST - one.at, one.id))

    def names(self, kind: RecordKind, record_id: str) -> bool:
        """Whether an audit edge begins or ends at a record."""
        return (kind, record_id) in self._to_newer or (kind, record_id) in self._to_older

    def of_record(self, record_id: str) -> list[tuple[Pass, AuditEntry]]:
        """What passes did to a record, oldest first."""
        passes = sorted(
            (self.passes[pass_id] for pass_id in self._touched_by.get(record_id, ())), key=lambda one: (one.at, one.id)
        )
        return [(one, entry) for one in passes for entry in self.entries[one.id] if entry.record_id == record_id]

    def steps(self, record_id: str) -> list[Step]:
        """The same as it is told."""
        return [
            Step(
                pass_id=one.id,
                pass_kind=one.kind,
                at=one.at,
                record_kind=entry.record_kind,
                action=entry.action,
                reason=entry.reason,
                fields=entry.fields,
                superseded_by=entry.superseded_by,
                undone_by=one.undone_by,
            )
            for one, entry in self.of_record(record_id)
        ]

    def newer(self, record_id: str) -> list[Replacement]:
        """What took the place of a record, and so on, oldest first."""
        return self._chain(record_id, self._to_newer, end=1)

    def older(self, record_id: str) -> list[Replacement]:
        """What a record took the place of, and so on, oldest first."""
        return self._chain(record_id, self._to_older, end=2)

    def _chain(
        self, record_id: str, edges: Mapping[tuple[RecordKind, str], list[Edge]], *, end: int
    ) -> list[Replacement]:
        found: dict[Edge, Replacement] = {}
        pending = [(kind, record_id) for kind in _REPLACING]
        seen = set(pending)
        while pending:
            for edge in edges.get(pending.pop(), ()):
                found[edge] = self.replacements[edge]
                reached = (edge[0], edge[1] if end == 1 else edge[2])
                if reached not in seen:
                    seen.add(reached)
                    pending.append(reached)
        return sorted(found.values(), key=lambda one: (one.at, one.newer_id, one.older_id, one.pass_id))


def _drop(edges: dict[tuple[RecordKind, str], list[Edge]], end: tuple[RecordKind, str], edge: Edge) -> None:
    edges[end].remove(edge)
    if not edges[end]:
        del edges[end]
