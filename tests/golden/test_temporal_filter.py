"""Windows of validity, by worked examples."""

from __future__ import annotations

from typing import Any

from remembrancer.records import Fact, Provenance, filter_valid, is_changed_since, is_valid_at
from remembrancer.records.instant import parse_instant

AREA = "cycgraph/temporal_filter"

OPTIONS = {"validAt": "valid_at", "changedSince": "changed_since", "includeInvalidated": "include_invalidated"}


def record(given: dict[str, Any]) -> Fact:
    return Fact(
        id="f0000000-0000-4000-8000-000000000001",
        content="A fact.",
        provenance=Provenance(source="agent", created_at="2025-01-01"),
        **given,
    )


def valid_at(given: dict[str, Any]) -> bool:
    return is_valid_at(record(given["record"]), parse_instant(given["date"]))


def changed_since(given: dict[str, Any]) -> bool:
    return is_changed_since(record(given["record"]), parse_instant(given["date"]))


def kept(given: dict[str, Any]) -> list[int]:
    records = [record(one) for one in given["records"]]
    options = {
        OPTIONS[name]: value if isinstance(value, bool) else parse_instant(value)
        for name, value in given.get("options", {}).items()
        if value is not None
    }
    passed = filter_valid(records, **options)
    return [place for place, one in enumerate(records) if any(one is other for other in passed)]


ANSWERS = {"is_valid_at": valid_at, "is_changed_since": changed_since, "filter_valid": kept}


def test_the_answer_is_the_worked_one(case: Any) -> None:
    assert ANSWERS[case.fn](case.input) == case.expected
