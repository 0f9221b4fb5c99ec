"""What the six commands that change a memory share: `--dry-run`, `--json`, `--yes`, and progress on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.records import RecordBatch
from remembrancer.testing.samples import day, direction, entity, fact, sample_id

pytestmark = pytest.mark.neo4j

Run = Callable[..., Any]

COMMANDS = {
    "resolve": ("resolve",),
    "conflicts": ("conflicts", "--policy", "supersede-on-newer"),
    "consolidate": ("consolidate",),
    "forget": ("forget", sample_id("fact", 3)),
    "restore": ("restore", sample_id("fact", 4)),
    "undo": ("undo", "PASS"),
}


@pytest.fixture
def worn(remember: Run, store_batch: Callable[[RecordBatch], None]) -> Run:
    """Runs a command on a namespace where each of them has something to do; `PASS` stands for a pass that closed."""
    facts = [
        fact(1, content="Bob works at Acme in Berlin", entities=[2, 3], embedding=direction(0)),
        fact(2, content="Bob works at Acme in Paris", entities=[2, 3], embedding=direction(1), valid_from=day(9)),
        fact(3, content="It rained", embedding=direction(90)),
        fact(4, content="It snowed", embedding=direction(180)),
    ]
    batch = RecordBatch(
        entities=[entity(n, name=name) for n, name in enumerate(("Acme", "acme", "Bob"), 1)], facts=facts
    )
    store_batch(batch)
    closed = remember("forget", sample_id("fact", 4), "--soft", "--yes", "--json").document["pass_id"]
    return lambda *arguments: remember(*(closed if one == "PASS" else one for one in arguments))


def passes_of(run: Run) -> list[str]:
    return [one["id"] for one in run("passes", "--json").document["passes"]]


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_done_in_a_dry_run_or_unasked_and_all_of_it_with_yes(worn: Run, name: str) -> None:
    command = COMMANDS[name]
    before = passes_of(worn)
    looked = worn(*command, "--dry-run", "--json")
    assert (looked.code, looked.document["applied"]) == (0, False)
    assert worn(*command, "--dry-run").stdout.strip()
    for more in ((), ("--json",)):
        refused = worn(*command, *more)
        assert refused.code == 2
        assert "--yes" in refused.stderr
    assert passes_of(worn) == before
    done = worn(*command, "--yes", "--json")
    assert (done.code, done.document["applied"]) == (0, True)
    assert [done.document["pass_id"], *before] == passes_of(worn)


@pytest.mark.parametrize("name", [*COMMANDS, "history"])
def test_a_terminal_shows_that_something_is_going_on(worn: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = (*COMMANDS[name], "--dry-run") if name in COMMANDS else ("history", sample_id("fact", 4))
    assert "0:00:0" not in worn(*command).stderr
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "0:00:0" in worn(*command).stderr
