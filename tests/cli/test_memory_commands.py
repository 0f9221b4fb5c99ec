"""`ingest`, `recall` and `show` on a real Neo4j."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembrancer.hierarchy.ingestion import FailedExtraction, IngestReport
from remembrancer.memory import Memory

pytestmark = pytest.mark.neo4j

Run = Callable[..., Any]

NO_SUCH_ID = "a0000000-0000-4000-8000-000000000000"


def lines_of(*messages: dict[str, Any]) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)


def said(content: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, "timestamp": "2026-03-02T09:00:00Z", **fields}


def test_ingest_reports_what_it_made(remember: Run, lines_file: Path) -> None:
    ran = remember("ingest", str(lines_file), "--embedder", "hashing")
    assert ran.code == 0
    assert "3 messages read, 0 of them stored before." in ran.stdout
    assert ["message", "3", "0", "0"] in [line.split() for line in ran.stdout.splitlines()]
    assert "vectors by" in ran.stderr


def test_what_is_stored_already_changes_nothing(filled: Run, lines_file: Path) -> None:
    ran = filled("ingest", str(lines_file), "--json")
    assert ran.code == 0
    assert ran.document["counts"] == {"duplicate": 3, "failed": 0}
    assert ran.document["embedder"].startswith("hashed-words")


def test_an_idempotency_key_replays_the_first_write(remember: Run, lines_file: Path) -> None:
    arguments = ["ingest", str(lines_file), "--embedder", "none", "--idempotency-key", "week 10", "--json"]
    assert remember(*arguments).document["replayed_batches"] == 0
    assert remember(*arguments).document["replayed_batches"] == 1


def test_messages_come_from_stdin(remember: Run) -> None:
    ran = remember("ingest", "-", "--embedder", "none", "--json", stdin=lines_of(said("One."), said("Two.")))
    assert ran.document["counts"]["message"] == 2


def test_a_bad_message_in_a_list_stops_before_anything_is_written(remember: Run) -> None:
    ran = remember("ingest", "-", "--embedder", "none", stdin=json.dumps([said("One."), said("Two.", role="boss")]))
    assert (ran.code, ran.stdout) == (2, "")
    assert "messages.1.role" in ran.stderr
    counts = remember("doctor", "--json").document["counts"]
    assert {one["kind"]: one["stored"] for one in counts}["message"] == 0


def test_a_bad_line_stops_a_stream_and_what_came_before_is_told(remember: Run) -> None:
    good = [said(f"Number {number}.") for number in range(200)]
    ran = remember("ingest", "-", "--embedder", "none", stdin=lines_of(*good) + "{\n")
    assert ran.code == 2
    assert "line 201: not JSON" in ran.stderr
    assert "the first 200 messages are stored" in ran.stderr
    again = remember("ingest", "-", "--embedder", "none", "--json", stdin=lines_of(*good))
    assert again.document["counts"]["duplicate"] == 200


def test_episodes_from_which_nothing_was_read_are_named_and_end_with_1(
    remember: Run, lines_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ingest(*_: Any, **__: Any) -> IngestReport:
        return IngestReport(messages_read=3, failed=[FailedExtraction(episode_id=NO_SUCH_ID, reason="no answer")])

    monkeypatch.setattr(Memory, "ingest", ingest)
    ran = remember("ingest", str(lines_file), "--embedder", "none")
    assert ran.code == 1
    assert f"{NO_SUCH_ID}  no answer" in ran.stdout


def test_a_namespace_keeps_its_model(filled: Run, lines_file: Path) -> None:
    ran = filled("ingest", str(lines_file), "--embedder", "wordllama")
    assert (ran.code, ran.stdout) == (2, "")
    assert "holds embeddings of 'hashed-words" in ran.stderr
    assert "opened with 'wordllama" in ran.stderr


def test_a_namespace_that_was_stored_without_vectors_stays_without(remember: Run, lines_file: Path) -> None:
    remember("ingest", str(lines_file), "--embedder", "none")
    ran = remember("ingest", "-", "--json", stdin=lines_of(said("Another.")))
    assert ran.document["embedder"] is None
    assert "without vectors" in ran.stderr


def test_recall_shows_evidence_and_why_it_was_found(filled: Run) -> None:
    ran = filled("recall", "Where does Priya Raman work?")
    assert ran.code == 0
    assert "Priya Raman works at Bluefin Systems." in ran.stdout
    assert "similarity" in ran.stdout
    assert "2026-04-13 09:00" in ran.stdout


def test_recall_goes_back_in_time(filled: Run) -> None:
    ran = filled("recall", "Where does Priya Raman work?", "--valid-at", "2026-03-15", "--json")
    texts = [hit["text"] for hit in ran.document["hits"]]
    assert ran.document["valid_at"] == "2026-03-15T00:00:00Z"
    assert "Priya Raman works at Northwind Labs." in texts
    assert "Priya Raman works at Bluefin Systems." not in texts


def test_an_instant_in_another_zone_is_that_instant(filled: Run) -> None:
    ran = filled("recall", "Priya", "--valid-at", "2026-03-15T01:00:00+02:00", "--json")
    assert ran.document["valid_at"] == "2026-03-14T23:00:00Z"


def test_a_prompt_is_the_evidence_and_nothing_else(filled: Run) -> None:
    ran = filled("recall", "Where does Priya Raman work?", "--prompt")
    assert ran.stdout.startswith("[2 Mar 2026] Mara Lindqvist: ")
    both = filled("recall", "Where does Priya Raman work?", "--prompt", "--max-tokens", "20", "--json")
    assert 0 < len(both.document["prompt"]) < len(ran.stdout)


def test_what_is_left_out_is_told(filled: Run) -> None:
    told = filled("recall", "Priya Raman", "--limit", "1").stdout
    assert re.search(r"^Left out: \d below the limit\.$", told, re.MULTILINE)


def test_an_empty_answer_says_why(remember: Run, filled: Run, run: Run, server: list[str], namespace: str) -> None:
    before = filled("recall", "Priya", "--valid-at", "2020-01-01")
    assert before.code == 0
    assert "Nothing found: " in before.stdout
    nobody = run("recall", "Priya", *server, "--namespace", f"{namespace}-empty")
    assert "Nothing found: the namespace holds no messages and no facts." in nobody.stdout
    prompt = run("recall", "Priya", *server, "--namespace", f"{namespace}-empty", "--prompt")
    assert prompt.stdout.strip() == ""
    assert "Nothing found: " in prompt.stderr


def test_what_others_wrote_cannot_steer_the_terminal(remember: Run) -> None:
    remember("ingest", "-", "--embedder", "none", stdin=lines_of(said("Priya \x1b[2J[red]works[/red]\x9b\u202e here.")))
    for ran in (remember("recall", "Priya"), remember("recall", "Priya", "--prompt")):
        assert "\x1b" not in ran.stdout
        assert "\x9b" not in ran.stdout
        assert "\u202e" not in ran.stdout
        assert "[red]works[/red]" in ran.stdout


def shown(filled: Run, record_id: str) -> dict[str, Any]:
    as_text = filled("show", record_id)
    assert as_text.code == 0
    assert record_id in as_text.stdout
    document: dict[str, Any] = filled("show", record_id, "--json").document
    assert "embedding" not in json.dumps(document)
    return document


def test_show_leads_from_a_message_to_all_that_came_of_it(filled: Run) -> None:
    hits = filled("recall", "Where does Priya Raman work?", "--json").document["hits"]
    message = shown(filled, next(hit["id"] for hit in hits if "Bluefin" in hit["text"]))
    assert message["kind"] == "message"
    (episode_id,) = [one["id"] for one in message["neighbours"]["episode"]]
    episode = shown(filled, episode_id)
    assert [one["id"] for one in episode["neighbours"]["messages"]] == [message["record"]["id"]]
    fact = shown(filled, episode["neighbours"]["facts"][0]["id"])
    assert [one["id"] for one in fact["neighbours"]["messages"]] == [message["record"]["id"]]
    assert [one["id"] for one in fact["neighbours"]["episodes"]] == [episode_id]
    assert [one["id"] for one in fact["neighbours"]["theme"]] == [fact["record"]["theme_id"]]
    theme = shown(filled, fact["record"]["theme_id"])
    assert fact["record"]["id"] in [one["id"] for one in theme["neighbours"]["facts"]]
    priya = next(one for one in fact["neighbours"]["entities"] if one["name"] == "Priya Raman")
    entity = shown(filled, priya["id"])
    assert fact["record"]["id"] in [one["id"] for one in entity["neighbours"]["facts"]]
    edge = shown(filled, entity["neighbours"]["relationships"][0]["id"])
    assert priya["id"] in [one["id"] for one in edge["neighbours"]["between"]]


def test_a_record_that_is_not_there_ends_with_4(remember: Run) -> None:
    ran = remember("show", NO_SUCH_ID)
    assert (ran.code, ran.stdout) == (4, "")
    assert f"no record with id {NO_SUCH_ID}" in ran.stderr


def test_what_is_no_id_ends_with_2(remember: Run) -> None:
    assert remember("show", "Priya").code == 2


def test_another_namespace_does_not_show_the_record(filled: Run, run: Run, server: list[str], namespace: str) -> None:
    record_id = filled("recall", "Priya", "--json").document["hits"][0]["id"]
    assert run("show", record_id, *server, "--namespace", f"{namespace}-other").code == 4


def test_a_namespace_that_holds_nothing_is_said_to(remember: Run, lines_file: Path) -> None:
    holds_nothing = "holds no messages and no facts"
    assert holds_nothing in remember("recall", "Anna?").stderr
    assert holds_nothing not in remember("ingest", str(lines_file), "--embedder", "hashing").stderr
    assert holds_nothing not in remember("recall", "Anna?").stderr
