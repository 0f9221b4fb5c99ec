"""`gate simulate` and `gate oc`, which need no server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

GRID = ["--effect", "0", "--effect", "0.3", "--runs", "30", "--rest-after-trials", "6", "--replicates", "40"]


def test_a_simulation_tells_what_became_of_each_lesson(run: Run) -> None:
    ran = run("gate", "simulate", "--lesson", "good=0.3", "--lesson", "bad=-0.3@20", "--rest-after-trials", "8")
    assert ran.code == 0
    good, bad = (line.split() for line in ran.stdout.splitlines()[1:])
    assert good[:4] == ["good", "+0.3", "1", "promoted"]
    assert bad[:5] == ["bad", "-0.3", "20", "evicted", "eval-gate:harmful"]


def test_a_simulation_as_json_has_every_run(run: Run) -> None:
    ran = run("gate", "simulate", "--lesson", "a=b=0.3", "--runs", "12", "--gate-every", "4", "--json")
    assert ran.code == 0
    assert ran.document["lessons"][0]["id"] == "a=b"
    assert len(ran.document["run_scores"]) == 12
    assert [one["after_run"] for one in ran.document["gate_reports"]] == [4, 8, 12]
    assert ran.document["gate_reports"][0]["held"] == [{"id": "a=b", "trials": 4}]


def test_both_engines_tell_the_same(run: Run) -> None:
    told = [run("gate", "oc", *GRID, "--json", *more) for more in ([], ["--engine", "stepwise", "--noise-sd", "0.1"])]
    assert [ran.code for ran in told] == [0, 0]
    assert told[0].document == told[1].document
    assert [row["effect"] for row in told[0].document["rows"]] == [0.0, 0.3]
    assert told[0].document["rows"][1]["promote_rate"] > 0.5


def test_more_lives_than_one_call_has_come_from_further_seeds(run: Run) -> None:
    ran = run("gate", "oc", "--effect", "0", "--runs", "10", "--replicates", "1500", "--holdout", "0.5")
    assert ran.code == 0
    assert ran.stdout.splitlines()[1].split()[:4] == ["0.1", "0", "10", "1500"]


def test_a_chart_is_drawn_where_it_was_asked_for(run: Run, tmp_path: Path) -> None:
    ran = run("gate", "oc", *GRID, "--decision-rule", "anytime", "--chart", str(tmp_path / "chart.svg"))
    assert ran.code == 0
    assert "anytime; rest after 6 trials" in (tmp_path / "chart.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["oc", "--replicates", "0"], "--replicates"),
        (["oc", "--runs", "-5"], "--runs"),
        (["oc", "--noise-sd", "-1"], "--noise-sd"),
        (["oc", "--effect", "nan"], "--effect"),
        (["oc", "--holdout", "1"], "--holdout"),
        (["oc", "--workers", "-1"], "--workers"),
        (["oc", "--gate-every", "0"], "--gate-every"),
        (["oc", "--min-trials", "0"], "--min-trials"),
        (["oc", "--chart", "chart.pdf"], "--chart"),
        (["simulate", "--lesson", "good"], "--lesson"),
        (["simulate", "--lesson", "good=much"], "--lesson"),
        (["simulate", "--lesson", "good=0.1@0"], "--lesson"),
        (["simulate", "--lesson", "good=0.1", "--lesson", "good=0.1"], "--lesson"),
        (["simulate", "--lesson", "good=0.1", "--runs", "-1"], "--runs"),
        (["simulate", "--lesson", "good=0.1", "--noise-sd", "nan"], "--noise-sd"),
    ],
)
def test_a_wrong_option_is_named(run: Run, arguments: list[str], option: str) -> None:
    ran = run("gate", *arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"error: {option}: ")
