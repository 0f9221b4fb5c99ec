"""The demo with a real model on a real Neo4j."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.cli import demo_findings, demonstration
from remembrancer.cli.demo_findings import Answer, Question, shipped_questions

Run = Callable[..., Any]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """A namespace for this test, lest a server of one's own has a demo that somebody looks at."""
    name = f"test-{uuid.uuid4()}"
    monkeypatch.setattr(demonstration, "NAMESPACE", name)
    return name


@pytest.mark.neo4j
@pytest.mark.long
def test_the_demo_answers_its_questions(run: Run, server: list[str], elsewhere: str) -> None:
    ran = run("demo", *server)
    assert ran.code == 0, ran.stdout
    assert len(ran.stdout.splitlines()) <= 80
    assert f"Clearing namespace '{elsewhere}', and nothing else" in ran.stdout
    assert "vectors by all-MiniLM-L6-v2-int8" in ran.stdout
    assert ran.stdout.count("✓") == len(shipped_questions())
    assert "✗" not in ran.stdout
    assert "as of 15 March 2026" in ran.stdout
    told = run("doctor", *server, "--namespace", elsewhere, "--deep", "--json").document
    assert told["findings"] == []
    assert {one["kind"]: one["stored"] for one in told["counts"]}["message"] == 286


@pytest.mark.neo4j
def test_without_a_model_the_demo_names_what_to_install(
    run: Run, server: list[str], elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none_installed() -> None:
        return None

    monkeypatch.setattr("remembrancer.cli.embedders.first_installed", none_installed)
    ran = run("demo", *server)
    assert (ran.code, ran.stdout) == (1, "")
    assert 'pip install "remembrancer[minilm]"' in ran.stderr


@pytest.mark.neo4j
def test_evidence_that_lacks_a_key_word_is_marked_and_ends_with_1(
    run: Run, server: list[str], elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = demo_findings.shipped_messages()[:5]  # of the beginning, where no later answer can be
    monkeypatch.setattr(demo_findings, "shipped_messages", lambda: some)
    ran = run("demo", *server, "--json")
    assert ran.code == 1
    wrong = [one for one in ran.document["questions"] if not one["is_right"]]
    assert wrong[0]["missing"] == ["Bluefin Systems"]


def an_answer(*evidence: str, key_words: tuple[str, ...] = ("Postgres",), not_yet: tuple[str, ...] = ()) -> Answer:
    asked = shipped_questions()[0]
    return Answer(Question(asked.text, asked.valid_at, False, "", key_words, not_yet), evidence)


def test_evidence_says_a_key_word_in_any_case_and_across_lines() -> None:
    assert an_answer("we use postgres now").is_right
    assert an_answer("it is on 6", "May then", key_words=("6 May",)).is_right


def test_evidence_that_says_what_came_later_is_not_right() -> None:
    answer = an_answer("Postgres, and Kafka", not_yet=("Kafka",))
    assert (answer.is_right, answer.premature) == (False, ["Kafka"])


def test_questions_about_today_are_asked_after_the_last_message() -> None:
    today = [one.valid_at for one in shipped_questions() if not one.is_past]
    assert min(today) > max(message.timestamp for message in demo_findings.shipped_messages())
