"""`resolve` and `conflicts` on a real Neo4j."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.records import RecordBatch
from remembrancer.testing.samples import day, entity, fact, relationship, sample_id

pytestmark = pytest.mark.neo4j

Run = Callable[..., Any]


@pytest.fixture
def messy(remember: Run, store_batch: Callable[[RecordBatch], None]) -> Run:
    """Runs a command on a namespace with an entity that is there twice and a fact that another one replaces."""
    batch = RecordBatch(
        entities=[entity(1, name="Acme"), entity(2, name="The ACME."), entity(3, name="Bob")],
        relationships=[relationship(1, 3, 1), relationship(2, 3, 2)],
        facts=[
            fact(1, content="Bob works at Acme in Berlin", entities=[3, 2]),
            fact(2, content="Bob works at Acme in Paris", entities=[3, 1], valid_from=day(9)),
        ],
    )
    store_batch(batch)
    return remember


def test_a_look_at_doubled_entities_changes_nothing(messy: Run) -> None:
    ran = messy("resolve", "--dry-run")
    assert ran.code == 0
    assert "The ACME. (concept)" in ran.stdout
    assert "1 names, 1 entities absorbed" in ran.stdout
    document = messy("resolve", "--dry-run", "--json").document
    assert (document["applied"], document["pass_id"], document["entities_absorbed"]) == (False, None, 1)


def test_without_a_terminal_nothing_is_merged_unless_one_says_yes(messy: Run) -> None:
    refused = messy("resolve")
    assert refused.code == 2
    assert "--yes" in refused.stderr
    done = messy("resolve", "--yes", "--json").document
    assert done["applied"]
    assert done["pass_id"]
    assert {"kind": "entity", "becomes": "closed"}.items() <= next(
        change for change in done["changes"] if change["id"] == sample_id("entity", 2)
    ).items()
    again = messy("resolve", "--yes")
    assert (again.code, again.stdout.strip()) == (0, "No two entities have one name and one type.")


def test_conflicts_are_shown_and_left_alone_unless_a_policy_is_named(messy: Run) -> None:
    messy("resolve", "--yes")
    ran = messy("conflicts")
    assert ran.code == 0
    assert "supersession" in ran.stdout
    assert "1 conflicts: 0 to resolve, 1 left alone." in ran.stdout
    resolved = messy("conflicts", "--policy", "supersede-on-newer", "--yes", "--json").document
    assert (resolved["applied"], resolved["resolved"]) == (True, 1)
    assert [change["id"] for change in resolved["changes"]] == [sample_id("fact", 1)]
    assert messy("conflicts").stdout.strip() == "No conflicts."


def test_a_wrong_threshold_is_refused(messy: Run) -> None:
    ran = messy("conflicts", "--embedding-threshold", "2")
    assert (ran.code, ran.stdout) == (2, "")
    assert "error: --embedding-threshold: " in ran.stderr
