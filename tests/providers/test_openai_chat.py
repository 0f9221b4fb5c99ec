"""The chat model, against a real server that misbehaves as local and hosted ones do."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from remembrancer.ports import CountsUsage, LanguageModel, StructuredModel
from remembrancer.providers.openai import Budget, OpenAIChat
from remembrancer.records import (
    BudgetExceededError,
    InvalidInputError,
    ModelAccessError,
    ModelAnswerError,
    RemembranceError,
    ServerUnavailableError,
)

KEY = "sk-canary-0123456789"
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
GOOD = '{"facts": ["a"]}'


def read(value: Any) -> list[Any]:
    if not isinstance(value, dict) or not isinstance(value.get("facts"), list):
        raise ValueError("expected an object with a list as facts")
    return list(value["facts"])


@pytest.fixture
async def chat(server: Any) -> AsyncIterator[Callable[..., OpenAIChat]]:
    made: list[OpenAIChat] = []

    def make(**options: Any) -> OpenAIChat:
        made.append(
            OpenAIChat(**{"model": "m", "base_url": server.address, "api_key": KEY, "timeout_s": 5.0, **options})
        )
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


async def test_a_prompt_goes_out_and_the_text_comes_back(server: Any, scripted: Any, chat: Any) -> None:
    server.script = [scripted.Reply(scripted.said("Hello.", usage={"prompt_tokens": 7, "completion_tokens": 2}))]
    model = chat(options={"temperature": 0})
    assert isinstance(model, LanguageModel)
    assert isinstance(model, StructuredModel)
    assert isinstance(model, CountsUsage)
    assert await model.complete("Say hello.") == "Hello."
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Say hello."}],
        "stream": False,
        "temperature": 0,
    }
    usage = model.usage
    assert (usage.calls, usage.prompt_tokens, usage.reply_tokens, usage.estimated_calls) == (1, 7, 2, 0)


async def test_without_a_key_no_header_is_sent(server: Any, scripted: Any, chat: Any) -> None:
    server.script = [scripted.Reply(scripted.said("x"))]
    assert await chat(api_key=None).complete("p") == "x"
    assert "authorization" not in server.requests[0].headers


SPOKEN = {
    "bare": GOOD,
    "white space": f"\n\n  {GOOD}\n",
    "byte order mark": f"\ufeff{GOOD}",
    "fence": f"```json\n{GOOD}\n```",
    "fence without a name": f"```\n{GOOD}\n```",
    "fence in capitals": f"```JSON\n{GOOD}```",
    "fence in prose": f"Here you are:\n\n```json\n{GOOD}\n```\nAnything else?",
    "fence left open": f"```json\n{GOOD}",
    "two fences": f"```python\nprint(1)\n```\n```json\n{GOOD}\n```",
    "thoughts": f'<think>The user wants {{}} or [1, 2]. {{"facts": 3}}</think>\n{GOOD}',
    "thoughts opened by the template": f"I should list facts.\n</think>\n\n{GOOD}",
    "thoughts in capitals": f"<THINKING>hm</THINKING>{GOOD}",
    "thoughts and fence": f"<think>\nhm ```x```\n</think>\n```json\n{GOOD}\n```",
    "prose before": f"Sure! The facts are: {GOOD}",
    "prose after": f"{GOOD}\n\nI hope that helps.",
    "prose with brackets": f"As of [1], see: {GOOD} (source [2])",
    "trailing comma": '{"facts": ["a",],}',
    "trailing comma and line break": '{"facts": ["a"\n,\n]\n}',
    "single quotes": "{'facts': ['a']}",
    "python literals": "{'facts': ['a'], 'more': None, 'sure': True}",
    "extra keys": '{"facts": ["a"], "confidence": 0.5, "notes": {"deep": [{"er": null}]}}',
    "parts": None,
}


@pytest.mark.parametrize("content", SPOKEN.values(), ids=SPOKEN)
async def test_json_is_read_however_the_model_speaks_it(
    server: Any, scripted: Any, chat: Any, content: str | None
) -> None:
    parts: Any = [{"type": "text", "text": GOOD[:5]}, {"type": "text", "text": GOOD[5:]}]
    server.script = [scripted.Reply(scripted.said(parts if content is None else content))]
    assert await chat().answer("p", schema=SCHEMA, read=read) == ["a"]
    assert len(server.requests) == 1


async def test_what_stands_inside_strings_is_left_alone(server: Any, scripted: Any, chat: Any) -> None:
    facts = ["a <think>tag</think>", "a ```fence```", 'a comma, ] and "quotes",}', "\u2028"]
    server.script = [scripted.Reply(scripted.said(json.dumps({"facts": facts})))]
    assert await chat().answer("p", schema=SCHEMA, read=read) == facts


BROKEN = {
    "empty": "",
    "blank": "   \n",
    "prose": "I could not find any facts.",
    "thoughts without end": "<think>Let me see... {",
    "truncated": '{"facts": ["a", "b',
    "truncated list": '{"facts": ["a", ',
    "a list for an object": "[1, 2]",
    "null": "null",
    "null for a list": '{"facts": null}',
    "an object for a list": '{"facts": {"a": 1}}',
    "a number": "42",
    "wrong case": '{"Facts": ["a"]}',
    "NaN": '{"facts": [NaN]}',
    "infinity": '{"facts": [-Infinity]}',
    "a key given twice": '{"facts": ["a"], "facts": []}',
    "echoed schema": json.dumps(SCHEMA),
    "echoed schema in a fence": f"```json\n{json.dumps({'$schema': 'x', **SCHEMA})}\n```",
    "html": "<html><body>502</body></html>",
    "a megabyte": "lorem ipsum " * 90_000,
    "deeply nested": "[" * 100_000,
    "deeply nested quotes": "{'a':" * 20_000,
    "control characters": '{"facts": ["a\nb"]}',
    "unquoted keys": "{facts: [a]}",
    "comments": '{"facts": ["a"] // the first\n}',
    "code": "print({'facts'})",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
async def test_a_broken_answer_is_mended_by_one_further_request(
    server: Any, scripted: Any, chat: Any, content: str
) -> None:
    server.script = [scripted.Reply(scripted.said(content)), scripted.Reply(scripted.said(GOOD))]
    model = chat()
    assert await model.answer("p", schema=SCHEMA, read=read) == ["a"]
    first, second = server.requests
    assert first.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert first.body["response_format"]["json_schema"]["strict"] is True
    roles = [turn["role"] for turn in second.body["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert second.body["messages"][2]["content"].startswith("That cannot be used: ")
    assert model.usage.calls == 2
    assert model.usage.estimated_calls == 2


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
async def test_an_answer_that_is_broken_twice_is_an_error_and_no_third_request(
    server: Any, scripted: Any, chat: Any, content: str
) -> None:
    server.script = [scripted.Reply(scripted.said(content))]
    with pytest.raises(ModelAnswerError) as raised:
        await chat().answer("p", schema=SCHEMA, read=read)
    assert len(server.requests) == 2
    assert len(str(raised.value)) < 2_000


REFUSED = [
    pytest.param({"content": None, "refusal": "I cannot help with that."}, "refused", id="refusal"),
    pytest.param({"content": "", "finish": "content_filter"}, "filter", id="filter"),
    pytest.param({"content": None}, "no text", id="no text"),
    pytest.param({"content": None, "tool_calls": [{"id": "1"}]}, "no text", id="tool call"),
    pytest.param({"content": 7}, "no text", id="a number"),
]


@pytest.mark.parametrize(("message", "told"), REFUSED)
async def test_a_refusal_is_an_error_at_once(
    server: Any, scripted: Any, chat: Any, message: dict[str, Any], told: str
) -> None:
    server.script = [scripted.Reply(scripted.said(**message))]
    with pytest.raises(ModelAnswerError, match=told):
        await chat().answer("p", schema=SCHEMA, read=read)
    with pytest.raises(ModelAnswerError):
        await chat().complete("p")
    assert len(server.requests) == 2


async def test_a_reply_that_was_cut_short_is_asked_for_again(server: Any, scripted: Any, chat: Any) -> None:
    cut = scripted.Reply(scripted.said('{"facts": ["a', finish="length"))
    server.script = [cut, scripted.Reply(scripted.said(GOOD))]
    assert await chat().answer("p", schema=SCHEMA, read=read) == ["a"]
    assert "cut short" in server.requests[1].body["messages"][2]["content"]


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [None]}, {"choices": [{"message": None}]}])
async def test_an_object_without_a_choice_is_an_error(server: Any, scripted: Any, chat: Any, body: Any) -> None:
    server.script = [scripted.Reply(body)]
    with pytest.raises(ModelAnswerError, match="no choice"):
        await chat().complete("p")


class TestWays:
    """Servers differ in what they know of structured output."""

    @staticmethod
    def knows(scripted: Any, *known: str, status: int = 400) -> Callable[[Any], Any]:
        def answer(request: Any) -> Any:
            asked = request.body.get("response_format", {}).get("type", "words")
            if asked in known:
                return scripted.Reply(scripted.said(GOOD))
            told = {"error": {"message": f"'response_format.type' {asked} is not supported"}}
            return scripted.Reply(told, status=status)

        return answer

    @pytest.mark.parametrize(
        ("known", "first", "later"),
        [
            (["json_schema"], 1, 1),
            (["json_object"], 2, 1),
            (["words"], 3, 1),
            (["json_schema", "json_object", "words"], 1, 1),
        ],
    )
    @pytest.mark.parametrize("status", [400, 422, 501])
    async def test_the_strictest_that_the_server_knows_is_used_and_remembered(
        self, server: Any, scripted: Any, chat: Any, known: list[str], first: int, later: int, status: int
    ) -> None:
        server.script = self.knows(scripted, *known, status=status)
        model = chat()
        assert await model.answer("p", schema=SCHEMA, read=read) == ["a"]
        assert len(server.requests) == first
        assert await model.answer("p", schema=SCHEMA, read=read) == ["a"]
        assert len(server.requests) == first + later
        if known != ["json_schema"] and "json_schema" not in known:
            assert json.dumps(SCHEMA) in server.requests[-1].body["messages"][0]["content"]

    async def test_a_prompt_that_is_refused_in_every_way_is_an_input_error_and_changes_nothing(
        self, server: Any, scripted: Any, chat: Any
    ) -> None:
        server.script = [scripted.Reply({"error": {"message": "maximum context length is 8192"}}, status=400)]
        model = chat()
        with pytest.raises(InvalidInputError, match="maximum context length") as raised:
            await model.answer("p", schema=SCHEMA, read=read)
        assert raised.value.field == "prompt"
        server.script = self.knows(scripted, "json_schema")
        assert await model.answer("p", schema=SCHEMA, read=read) == ["a"]

    async def test_the_bound_of_replies_goes_by_the_name_that_the_server_knows(
        self, server: Any, scripted: Any, chat: Any
    ) -> None:
        def answer(request: Any) -> Any:
            if "max_tokens" in request.body:
                told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
                return scripted.Reply({"error": {"message": told}}, status=400)
            return scripted.Reply(scripted.said(GOOD))

        server.script = answer
        model = chat(max_reply_tokens=50)
        assert await model.complete("p") == GOOD
        assert await model.answer("p", schema=SCHEMA, read=read) == ["a"]
        assert server.requests[-1].body["max_completion_tokens"] == 50
        assert len(server.requests) == 3


class TestTrouble:
    async def test_too_many_requests_wait_as_long_as_the_server_asks(
        self, server: Any, scripted: Any, chat: Any
    ) -> None:
        busy = scripted.Reply({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "0.4"})
        server.script = [busy, scripted.Reply(scripted.said("x"))]
        began = time.monotonic()
        assert await chat().complete("p") == "x"
        assert time.monotonic() - began >= 0.4

    async def test_a_date_to_wait_for_is_understood(self, server: Any, scripted: Any, chat: Any) -> None:
        at = email.utils.formatdate(time.time() + 1.5, usegmt=True)
        server.script = [
            scripted.Reply("busy", status=503, headers={"retry-after": at}),
            scripted.Reply(scripted.said("x")),
        ]
        assert await chat().complete("p") == "x"

    async def test_a_wait_beyond_the_deadline_is_not_begun(self, server: Any, scripted: Any, chat: Any) -> None:
        server.script = [scripted.Reply("busy", status=429, headers={"retry-after": "3600"})]
        began = time.monotonic()
        with pytest.raises(ServerUnavailableError, match="asks to wait 3600 s"):
            await chat().complete("p")
        assert time.monotonic() - began < 2
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        "trouble",
        [
            {"status": 500, "body": "Internal Server Error", "content_type": "text/plain"},
            {"status": 502, "body": "<html><h1>Bad Gateway</h1></html>", "content_type": "text/html"},
            {"status": 503, "body": {"detail": "loading model"}},
            {"status": 429, "body": b"\xff\xfe"},
            {"status": 429, "body": "", "headers": {"retry-after": "soon"}},
            {"body": "<html>please log in</html>", "content_type": "text/html"},
            {"body": b"{", "content_type": "application/json"},
            {"body": b""},
            {"body": b'"just a string"'},
            {"body": {"error": {"message": "model crashed"}}},
            {"drop": True},
            {"body": {"choices": ["x" * 1000]}, "cut": True},
        ],
        ids=lambda trouble: "-".join(map(str, trouble))[:40],
    )
    async def test_passing_trouble_is_sat_out_and_lasting_trouble_reported(
        self, server: Any, scripted: Any, chat: Any, trouble: dict[str, Any]
    ) -> None:
        reply = scripted.Reply(**trouble)
        server.script = [reply, reply, scripted.Reply(scripted.said("x"))]
        model = chat()
        assert await model.complete("p") == "x"
        assert model.usage.calls == 3
        server.script = [reply]
        before = len(server.requests)
        with pytest.raises(ServerUnavailableError) as raised:
            await model.complete("p")
        assert raised.value.address == server.address
        assert len(server.requests) - before == 4

    async def test_json_under_another_content_type_is_read(self, server: Any, scripted: Any, chat: Any) -> None:
        server.script = [scripted.Reply(scripted.said("x"), content_type="text/plain")]
        assert await chat().complete("p") == "x"

    @pytest.mark.parametrize("trouble", [{"delay": 30}, {"drip": 0.05}])
    async def test_a_slow_answer_ends_at_the_deadline(
        self, server: Any, scripted: Any, chat: Any, trouble: dict[str, Any]
    ) -> None:
        server.script = [scripted.Reply(scripted.said("x" * 200), **trouble)]
        began = time.monotonic()
        with pytest.raises(ServerUnavailableError, match=r"within 0\.5 s"):
            await chat(timeout_s=0.5).complete("p")
        assert time.monotonic() - began < 2

    async def test_the_deadline_spans_all_tries(self, server: Any, scripted: Any, chat: Any) -> None:
        server.script = [scripted.Reply("", status=500, delay=0.2)]
        began = time.monotonic()
        with pytest.raises(ServerUnavailableError):
            await chat(timeout_s=0.5, tries=100).complete("p")
        assert time.monotonic() - began < 2

    async def test_nobody_listening_is_reported(self, chat: Any) -> None:
        with pytest.raises(ServerUnavailableError, match="could not be reached"):
            await chat(base_url="http://127.0.0.1:9/v1", tries=2).complete("p")

    @pytest.mark.parametrize(
        ("status", "field"), [(401, "api_key"), (403, "api_key"), (404, "model"), (302, "base_url"), (413, "prompt")]
    )
    async def test_what_trying_again_cannot_mend_is_not_tried_again(
        self, server: Any, scripted: Any, chat: Any, status: int, field: str
    ) -> None:
        server.script = [scripted.Reply({"error": {"message": "no"}}, status=status)]
        with pytest.raises(InvalidInputError) as raised:
            await chat().complete("p")
        assert raised.value.field == field
        assert isinstance(raised.value, ModelAccessError) == (field != "prompt")
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        ("told", "field"),
        [
            ({"error": {"message": "no", "code": "model_not_found"}}, "model"),
            ({"error": {"message": "Invalid model name passed in model=m. Call /v1/models"}}, "model"),
            ({"detail": "The model `m` does not exist."}, "model"),
            ({"error": 'model "m" not found, try pulling it first'}, "model"),
            ({"error": {"message": "This model does not support images. The file was not found."}}, "prompt"),
        ],
    )
    async def test_an_unknown_model_is_told_from_a_bad_request(
        self, server: Any, scripted: Any, chat: Any, told: Any, field: str
    ) -> None:
        server.script = [scripted.Reply(told, status=400)]
        with pytest.raises(InvalidInputError) as raised:
            await chat().complete("p")
        assert (raised.value.field, isinstance(raised.value, ModelAccessError)) == (field, field == "model")

    async def test_a_missing_key_is_told_as_missing(self, server: Any, scripted: Any, chat: Any) -> None:
        server.script = [scripted.Reply({"error": {"message": "no"}}, status=401)]
        with pytest.raises(ModelAccessError, match="none is given"):
            await chat(api_key=None).complete("p")

    async def test_an_empty_account_is_not_waited_for(self, server: Any, scripted: Any, chat: Any) -> None:
        told = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
        server.script = [scripted.Reply(told, status=429)]
        with pytest.raises(ServerUnavailableError, match="quota"):
            await chat().complete("p")
        assert len(server.requests) == 1

    async def test_cancelling_is_not_swallowed(self, server: Any, scripted: Any, chat: Any) -> None:
        server.script = [scripted.Reply(delay=30)]
        task = asyncio.ensure_future(chat().complete("p"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


class TestSecrets:
    @pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 429, 500])
    async def test_the_key_is_in_no_error_and_no_log(
        self, server: Any, scripted: Any, chat: Any, status: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        told = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
        headers = {"location": f"https://elsewhere.example/?key={KEY}"} if status == 302 else {}
        server.script = [scripted.Reply(told, status=status, headers=headers)]
        model = chat(tries=2)
        with pytest.raises(RemembranceError) as raised:
            await model.answer("p", schema=SCHEMA, read=read)
        error: BaseException | None = raised.value
        while error is not None:
            assert KEY not in f"{error!s} {error!r} {error.args} {vars(error)}"
            error = error.__cause__ or error.__context__
        assert KEY not in repr(model)
        # At debug level the HTTP library itself logs what headers the server sent.
        ours = [record for record in caplog.records if status != 302 or not record.name.startswith("httpcore")]
        assert ours
        assert KEY not in "\n".join(record.getMessage() for record in ours)

    @pytest.mark.parametrize("key", ["sk-secret\n", "sk secret", "sk-\x00secret", "sk-sécret"])
    def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(self, key: str) -> None:
        with pytest.raises(InvalidInputError) as raised:
            OpenAIChat(model="m", api_key=key)
        assert raised.value.field == "api_key"
        assert "secret" not in str(raised.value)

    def test_a_key_inside_the_address_is_refused_without_being_shown(self) -> None:
        for address in ("https://user:sk-secret@host/v1", "https://host/v1?key=sk-secret", "https://host/v1#sk-secret"):
            with pytest.raises(InvalidInputError) as raised:
                OpenAIChat(model="m", base_url=address)
            assert "secret" not in str(raised.value)


class TestBudget:
    async def test_calls_are_bounded_and_the_refused_one_is_not_made(
        self, server: Any, scripted: Any, chat: Any
    ) -> None:
        server.script = [scripted.Reply(scripted.said("x"))]
        model = chat(budget=Budget(max_calls=2))
        await model.complete("p")
        await model.complete("p")
        with pytest.raises(BudgetExceededError) as raised:
            await model.complete("p")
        assert (raised.value.resource, raised.value.limit, raised.value.used) == ("calls", 2, 2)
        assert len(server.requests) == 2

    async def test_tokens_are_bounded_by_what_the_server_counts(self, server: Any, scripted: Any, chat: Any) -> None:
        usage = {"prompt_tokens": 60, "completion_tokens": 40}
        server.script = [scripted.Reply(scripted.said("x", usage=usage))]
        budget = Budget(max_tokens=250)
        model = chat(budget=budget, max_reply_tokens=40)
        await model.complete("p")
        await model.complete("p")
        assert budget.tokens == 200
        await model.complete("p")
        with pytest.raises(BudgetExceededError, match="250 tokens"):
            await model.complete("p")
        assert model.usage.tokens == 300

    async def test_tries_again_cost_calls(self, server: Any, scripted: Any, chat: Any) -> None:
        server.script = [scripted.Reply("", status=500)]
        with pytest.raises(BudgetExceededError):
            await chat(budget=Budget(max_calls=2)).complete("p")
        assert len(server.requests) == 2

    async def test_calls_at_the_same_time_cannot_overrun_it_together(
        self, server: Any, scripted: Any, chat: Any
    ) -> None:
        server.script = [scripted.Reply(scripted.said("x"), delay=0.05)]
        model = chat(budget=Budget(max_tokens=100), max_reply_tokens=30)
        results = await asyncio.gather(*(model.complete("p") for _ in range(10)), return_exceptions=True)
        assert sum(isinstance(result, BudgetExceededError) for result in results) == 7
        assert len(server.requests) == 3

    async def test_one_budget_bounds_two_models(self, server: Any, scripted: Any, chat: Any) -> None:
        server.script = [scripted.Reply(scripted.said("x"))]
        budget = Budget(max_calls=1)
        await chat(budget=budget).complete("p")
        with pytest.raises(BudgetExceededError):
            await chat(budget=budget).complete("p")

    async def test_a_failed_call_gives_back_the_reply_that_never_came(
        self, server: Any, scripted: Any, chat: Any
    ) -> None:
        server.script = [scripted.Reply({}, status=400)]
        budget = Budget(max_tokens=1_000)
        with pytest.raises(InvalidInputError):
            await chat(budget=budget, max_reply_tokens=900).complete("p")
        assert budget.tokens < 10

    @pytest.mark.parametrize("bad", [-1, 1.5, True, "9"])
    def test_a_bound_that_is_none_is_refused(self, bad: Any) -> None:
        with pytest.raises(InvalidInputError):
            Budget(max_calls=bad)
        with pytest.raises(InvalidInputError):
            Budget(max_tokens=bad)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"model": ""}, "model"),
        ({"model": None}, "model"),
        ({"base_url": "localhost:11434"}, "base_url"),
        ({"base_url": "ftp://host"}, "base_url"),
        ({"base_url": 7}, "base_url"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"timeout_s": float("inf")}, "timeout_s"),
        ({"tries": 0}, "tries"),
        ({"max_reply_tokens": 0}, "max_reply_tokens"),
        ({"options": {"messages": []}}, "options"),
        ({"budget": 7}, "budget"),
    ],
)
def test_an_option_out_of_bounds_is_refused_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        OpenAIChat(**{"model": "m", **options})
    assert raised.value.field == field


async def test_one_model_serves_several_event_loops(server: Any, scripted: Any, chat: Any) -> None:
    server.script = [scripted.Reply(scripted.said("x"))]
    model = chat()
    assert await model.complete("p") == "x"

    async def elsewhere() -> str:
        async with model:
            return await model.complete("p")

    assert await asyncio.to_thread(lambda: asyncio.run(elsewhere())) == "x"
    assert await model.complete("p") == "x"
