"""`gate run`, `gate report` and `ledger record` on a real Neo4j."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.cli.policy import PolicyOptions
from remembrancer.graph import Neo4jStore
from remembrancer.records import RecordBatch, RetentionPolicy, RunOutcome
from remembrancer.testing.samples import fact, sample_id

Run = Callable[..., Any]

GOOD, BAD = sample_id("fact", 1), sample_id("fact", 2)
MARGIN = ["--decision-rule", "margin", "--min-trials", "2"]


@pytest.fixture
def judged(remember: Run, neo4j_server: tuple[str, tuple[str, str]], namespace: str) -> Run:
    """Runs a command on a namespace with a good, a bad and some new lessons on trial, and five scored runs."""
    uri, auth = neo4j_server

    async def fill() -> None:
        async with Neo4jStore.open(uri, auth=auth, namespace=namespace) as store:
            facts = [fact(number, content=f"Lesson {number}.", tags=["candidate"]) for number in range(1, 25)]
            await store.write(RecordBatch(facts=facts))
            scores = [(0.9, [GOOD]), (0.9, [GOOD]), (0.1, [BAD]), (0.1, [BAD]), (0.5, [])]
            runs = [RunOutcome(run_id=str(n), score=score, fact_ids=ids) for n, (score, ids) in enumerate(scores)]
            await store.ledger.record_outcomes(runs)

    asyncio.run(fill())
    return remember


@pytest.mark.parametrize("arguments", [["gate", "run"], ["gate", "report"], ["ledger", "record"]])
def test_the_help_explains_the_exit_codes(run: Run, arguments: list[str]) -> None:
    ran = run(*arguments, "--help")
    assert ran.code == 0
    assert "Exit codes: 0 fine" in " ".join(ran.stdout.split())


def test_options_left_out_are_as_the_policy_has_them() -> None:
    assert PolicyOptions().policy() == RetentionPolicy()
    assert PolicyOptions(max_trials=5, baseline="holdout").policy() == RetentionPolicy(max_trials=5, baseline="holdout")


def test_every_field_of_the_policy_has_an_option() -> None:
    assert set(PolicyOptions.__dataclass_fields__) == set(RetentionPolicy.model_fields)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["gate", "run", "--max-trials", "2"], "--max-trials: must not be below min_trials"),
        (["gate", "run", "--decision-rule", "vote"], "--decision-rule: "),
        (["gate", "run", "--promote-confidence", "1"], "--promote-confidence: "),
        (["gate", "report", "--since", "soon"], "--since: "),
        (["ledger", "record", "r", "0.5", "--holdout", "half"], "--holdout: expected FACT=PROBABILITY"),
    ],
)
def test_wrong_options_are_named_before_a_server_is_looked_for(run: Run, arguments: list[str], named: str) -> None:
    ran = run(*arguments, "--uri", "bolt://localhost:1")
    assert (ran.code, ran.stdout) == (2, "")
    assert named in ran.stderr


@pytest.mark.neo4j
class TestGate:
    def test_a_dry_run_shows_what_would_be_decided(self, judged: Run) -> None:
        ran = judged("gate", "run", "--dry-run", *MARGIN)
        assert ran.code == 0
        assert "Would be: 1 promoted, 1 evicted, 22 held." in ran.stdout
        assert "Lesson 1." in ran.stdout
        assert "eval-gate:harmful" in ran.stdout
        assert "and 2 more held" in ran.stdout
        assert "No verdicts." in judged("gate", "report").stdout

    def test_a_pass_is_told_and_can_be_read_afterwards(self, judged: Run) -> None:
        passed = judged("gate", "run", "--json", *MARGIN).document
        assert [verdict["fact_id"] for verdict in passed["promoted"]] == [GOOD]
        assert [(verdict["fact_id"], verdict["reason"]) for verdict in passed["evicted"]] == [
            (BAD, "eval-gate:harmful")
        ]
        assert (len(passed["held"]), passed["left_alone"], passed["dry_run"]) == (22, [], False)
        assert passed["policy"]["decision_rule"] == "margin"
        listed = judged("gate", "report", "--verdict", "evicted", "--json").document["decisions"]
        assert [(one["fact_id"], one["pass_id"]) for one in listed] == [(BAD, passed["pass_id"])]
        assert GOOD in judged("gate", "report", "--fact", GOOD).stdout
        assert len(judged("gate", "report", "--json", "--limit", "5").document["decisions"]) == 5

    def test_numbers_without_end_are_told_in_proper_json(self, judged: Run) -> None:
        for run_id in ("2", "3"):
            judged("ledger", "record", run_id, "0.5")
        passed = judged("gate", "run", "--json", "--min-trials", "2", "--noise-floor-sd", "0").document
        assert [verdict["evidence"]["df"] for verdict in passed["promoted"]] == ["Infinity"]
        assert [verdict["evidence"]["se"] for verdict in passed["promoted"]] == [0]

    def test_a_wrong_filter_ends_with_2(self, judged: Run) -> None:
        ran = judged("gate", "report", "--verdict", "kept")
        assert ran.code == 2
        assert "verdict: expected one of promoted, evicted, held" in ran.stderr


@pytest.mark.neo4j
class TestLedger:
    def test_a_run_is_recorded_and_what_is_not_stored_is_told(self, remember: Run) -> None:
        ran = remember("ledger", "record", "run 1", "0.75", GOOD, BAD, "--holdout", f"{GOOD}=0.25")
        assert (ran.code, ran.stdout) == (0, "Run run 1 is recorded.\n")
        assert f"not stored: {GOOD}, {BAD}" in ran.stderr
        again = remember("ledger", "record", "run 1", "0.5", "--json")
        assert again.document["replaced"] is True
        assert again.document["unstored"] == []

    @pytest.mark.parametrize("arguments", [["", "0.5"], ["run", "1.5"], ["run", "nan"]])
    def test_a_wrong_run_ends_with_2(self, remember: Run, arguments: list[str]) -> None:
        ran = remember("ledger", "record", *arguments)
        assert (ran.code, ran.stdout) == (2, "")
