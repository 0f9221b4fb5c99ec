"""A receipt while it is being gathered from the answers of several statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from remembrancer.records import Receipt, RecordKind, Refusal
from remembrancer.records.batch import ids_by_kind

_KIND_OF_LABEL: dict[str, RecordKind] = {
    "Message": "message",
    "Episode": "episode",
    "Fact": "fact",
    "Theme": "theme",
    "Entity": "entity",
}


class ReceiptDraft:
    """Gathers what the statements of one transaction did."""

    def __init__(self) -> None:
        self._created: dict[tuple[RecordKind, str], None] = {}
        self._changed: dict[tuple[RecordKind, str], None] = {}
        self._removed: dict[tuple[RecordKind, str], None] = {}
        self._placeholders: dict[tuple[RecordKind, str], None] = {}
        self._gone: dict[tuple[RecordKind, str], None] = {}
        self._merged: dict[str, str] = {}
        self._superseded: dict[tuple[RecordKind, str], None] = {}
        self._refused: list[Refusal] = []

    def created(self, kind: RecordKind, ids: Iterable[str]) -> None:
        """Records that were not stored before; one that an earlier statement named as a placeholder is none now."""
        for record_id in ids:
            self._created[kind, record_id] = None
            self._placeholders.pop((kind, record_id), None)

    def changed(self, kind: RecordKind, ids: Iterable[str]) -> None:
        """Records that were put again."""
        self._changed.update(((kind, record_id), None) for record_id in ids if (kind, record_id) not in self._created)

    def removed(self, kind: RecordKind, ids: Iterable[str]) -> None:
        """Records that are no longer stored."""
        self._removed.update(((kind, record_id), None) for record_id in ids)

    def placeholders_made(self, kind: RecordKind, ids: Iterable[str]) -> None:
        """Ids that are named but not stored."""
        self._placeholders.update(((kind, record_id), None) for record_id in ids)

    def placeholders_gone(self, keys: Iterable[Sequence[str]]) -> None:
        """Placeholders, and tags, that nothing names any more; tags are no records and are left out."""
        for label, record_id in keys:
            if kind := _KIND_OF_LABEL.get(label):
                self._gone[kind, record_id] = None
                self._placeholders.pop((kind, record_id), None)

    def refused(self, kind: RecordKind, ids: Iterable[str], reason: str) -> None:
        """Records that were left as they are, and why."""
        self._refused.extend(Refusal(kind=kind, id=record_id, reason=reason) for record_id in ids)

    def merged(self, ids: Mapping[str, str]) -> None:
        """Assertions that met a stored relationship."""
        self._merged.update(ids)

    def superseded(self, keys: Iterable[tuple[RecordKind, str]]) -> None:
        """Records that others replace."""
        self._superseded.update(dict.fromkeys(keys))

    def not_created(self, kind: RecordKind, ids: Iterable[str]) -> list[str]:
        """Those of the ids that were stored before they were put."""
        return [record_id for record_id in ids if (kind, record_id) not in self._created]

    def finished(self, *, claimed: Mapping[str, str]) -> Receipt:
        """The receipt; ids by kind, in order of id. What was removed and put again is changed."""
        again = self._created.keys() & self._removed.keys()
        return Receipt(
            created=_gathered(self._created.keys() - again),
            changed=_gathered({**self._changed, **dict.fromkeys(again)}),
            superseded=_gathered(self._superseded),
            removed=_gathered(self._removed.keys() - again),
            refused=self._refused,
            placeholders=_gathered(self._placeholders),
            placeholders_removed=_gathered(self._gone),
            claimed=dict(claimed),
            merged=self._merged,
        )


def _gathered(keys: Iterable[tuple[RecordKind, str]]) -> dict[RecordKind, tuple[str, ...]]:
    return ids_by_kind((kind, [record_id]) for kind, record_id in sorted(keys))
