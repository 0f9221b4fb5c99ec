"""Batches and receipts."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from remembrancer.records import Receipt, RecordBatch, Refusal, ThemeAddition
from remembrancer.records.batch import ids_by_kind

AN_ID = "f0000000-0000-4000-8000-000000000001"


def test_a_batch_is_empty_when_it_would_write_nothing() -> None:
    assert RecordBatch().is_empty
    assert RecordBatch(expected_messages={AN_ID: 3}).is_empty
    assert not RecordBatch(removals={"fact": [AN_ID]}).is_empty
    assert not RecordBatch(theme_additions=[ThemeAddition(theme_id=AN_ID, fact_ids=[AN_ID])]).is_empty


@pytest.mark.parametrize("wrong", [{"removals": {"person": [AN_ID]}}, {"removals": {"fact": ["x"]}}, {"facts": [{}]}])
def test_a_batch_holds_only_what_can_be_written(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RecordBatch.model_validate(wrong)


def test_a_receipt_counts_over_all_kinds() -> None:
    receipt = Receipt(
        created={"fact": (AN_ID, AN_ID), "entity": (AN_ID,)},
        removed={"theme": (AN_ID,)},
        refused=[Refusal(kind="fact", id=AN_ID, reason="a reason")],
    )
    assert receipt.counts == {
        "created": 3,
        "changed": 0,
        "superseded": 0,
        "removed": 1,
        "placeholders": 0,
        "placeholders_removed": 0,
        "refused": 1,
    }


def test_a_receipt_survives_json() -> None:
    receipt = Receipt(created={"fact": (AN_ID,)}, claimed={"a": "b"}, replayed=True)
    assert Receipt.model_validate_json(receipt.model_dump_json()) == receipt


def test_ids_gather_by_kind_and_kinds_without_any_are_left_out() -> None:
    assert ids_by_kind([("fact", ["a"]), ("theme", []), ("fact", iter(["b"]))]) == {"fact": ("a", "b")}
