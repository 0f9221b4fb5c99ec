"""`migrate` and `doctor`: a memory that is well, and each thing that may be wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.neo4j

Run = Callable[..., Any]


def test_migrating_twice_changes_nothing(run: Run, server: list[str]) -> None:
    assert run("migrate", *server).code == 0
    again = run("migrate", *server, "--json")
    assert again.document["applied"] == []
    assert again.document["known"][0] == "001_records"


def test_a_memory_that_was_filled_by_ingest_is_well(filled: Run) -> None:
    ran = filled("doctor", "--deep")
    assert ran.code == 0
    assert "All is well." in ran.stdout
    assert "vectors by hashed-words" in ran.stdout
    document = filled("doctor", "--deep", "--json").document
    assert document["findings"] == []
    assert {one["kind"]: one["stored"] for one in document["counts"]}["message"] == 3
    assert document["usage"]["is_counted"]


def test_the_doctor_changes_nothing(run: Run, server: list[str], namespace: str) -> None:
    first = run("doctor", *server, "--namespace", namespace, "--json").document
    assert first["space"] is None
    assert run("doctor", *server, "--namespace", namespace, "--json").document == first


def test_what_is_wrong_is_told_with_examples_and_ends_with_1(filled: Run, change: Callable[[str], None]) -> None:
    change("MATCH (f:Fact {namespace: $namespace}) SET f.live = false")
    assert filled("doctor").code == 0, "without --deep records are not compared"
    ran = filled("doctor", "--deep")
    assert ran.code == 1
    assert "copies for the indexes differ" in ran.stdout
    assert "has live false, should be true" in ran.stdout
    assert "All is well" not in ran.stdout


def test_records_without_vectors_are_worth_knowing(filled: Run) -> None:
    message = '{"role": "user", "content": "Another.", "timestamp": "2026-05-01"}'
    assert filled("ingest", "-", "--embedder", "none", stdin=message).code == 0
    document = filled("doctor", "--json").document
    assert ("records of kind message have no vector", 1) in [
        (finding["summary"], finding["total"]) for finding in document["findings"]
    ]
    assert document["is_well"]
