"""`consolidate` on a real Neo4j: a look, a question, a write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.records import RecordBatch
from remembrancer.testing.samples import direction, episode, fact, sample_id, theme

pytestmark = pytest.mark.neo4j

Run = Callable[..., Any]


@pytest.fixture
def repetitive(remember: Run, store_batch: Callable[[RecordBatch], None]) -> Run:
    """Runs a command on a namespace with a fact that is there twice, one that has faded, and two episodes."""
    facts = [
        fact(1, content="The launch is in May", embedding=direction(0), access_count=5),
        fact(2, content="The launch will be in May", embedding=direction(1)),
        fact(3, content="It rained", embedding=direction(90), theme_id=sample_id("theme", 1)),
    ]
    batch = RecordBatch(facts=facts, episodes=[episode(1), episode(2)], themes=[theme(1, facts=[3])])
    store_batch(batch)
    return remember


def test_a_look_changes_nothing(repetitive: Run) -> None:
    ran = repetitive("consolidate", "--max-facts", "1", "--max-episodes", "1", "--dry-run")
    assert ran.code == 0
    assert "The launch will be in May" in ran.stdout
    assert f"part of {sample_id('fact', 1)}" in " ".join(ran.stdout.split())
    assert "1 near duplicates, 1 faded facts, 1 episodes" in ran.stdout
    document = repetitive("consolidate", "--max-facts", "1", "--dry-run", "--json").document
    assert (document["applied"], document["pass_id"], document["total_reclaimed"]) == (False, None, 3)
    becomes = {change["id"]: change["becomes"] for change in document["changes"]}
    assert becomes == {
        sample_id("fact", 1): "changed",
        sample_id("fact", 2): "closed",
        sample_id("fact", 3): "closed",
        sample_id("theme", 1): "removed",
    }


def test_without_a_terminal_nothing_is_pruned_unless_one_says_yes(repetitive: Run) -> None:
    refused = repetitive("consolidate")
    assert refused.code == 2
    assert "--yes" in refused.stderr
    done = repetitive("consolidate", "--yes")
    assert done.code == 0
    assert "Done: pass " in done.stdout
    again = repetitive("consolidate")
    assert (again.code, again.stdout.strip()) == (0, "Nothing to consolidate.")


def test_a_wrong_option_is_refused(repetitive: Run) -> None:
    ran = repetitive("consolidate", "--half-life", "0")
    assert (ran.code, ran.stdout) == (2, "")
    assert "decay_half_life_days" in ran.stderr
