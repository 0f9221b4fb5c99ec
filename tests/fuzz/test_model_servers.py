"""What servers of models answer: any status, header and body gives a result or an error of the library's own."""

from __future__ import annotations

import email.utils
import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz, in_time, only_ours
from tests.fuzz.outside import changed, damaged, documents, odd_texts, odd_values, written

from remembrancer.providers.openai import OpenAIChat, OpenAIEmbedder, endpoint
from remembrancer.providers.openai.endpoint import Endpoint, _wait_asked_for
from remembrancer.records import InvalidInputError, ModelAnswerError

CHAT = {
    "id": "c",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": '{"facts": []}'}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
}
VECTORS = {
    "data": [{"index": 1, "embedding": [0.5, 1]}, {"index": 0, "embedding": [1, -2.5]}],
    "usage": {"prompt_tokens": 3},
}
REFUSAL = {"error": {"message": "no such model", "type": "invalid_request_error", "code": "model_not_found"}}

bodies = (
    documents(CHAT)
    | documents(VECTORS)
    | documents(REFUSAL)
    | st.binary(max_size=40)
    | st.just(b"<html><b>502 Bad Gateway</b>")
)
statuses = st.sampled_from(
    [200, 200, 200, 201, 204, 301, 307, 400, 401, 403, 404, 408, 413, 422, 429, 500, 503, 529, 599]
)
waits = st.one_of(
    st.sampled_from(["0", "-1", "1e400", "nan", "inf", "1_0", "", " ", "soon", "Wed, 21 Oct 2015 07:28:00 GMT",
        "Wed, 21 Oct 99999 07:28:00 GMT",
                     "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Wed, 21 Oct 2015 07:28:00 +9999999999",
                     "Wed, 99 Foo 2015", "0" * 5_000,
                     "Fri, 31 Dec 9999 23:59:59 -1200", "Mon, 1 Jan 1 00:00:00 +2359", "1,2", "21 Oct", ", , ,"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30),
    st.tuples(st.sampled_from(["Wed", ""]), st.integers(-1, 40), st.sampled_from(["Jan", "Oct", "x"]), st.integers(0,
    10**12),
              st.sampled_from(["07:28:00", "7:28", "99:99:99", "072800"]), st.sampled_from(["GMT", "+0000", "-9999",
              "+99999999999", "EST", ""]))
    .map(lambda one: " ".join(map(str, one))),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are short where no server asks for longer ones."""
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.0)
    monkeypatch.setattr(endpoint, "_LONGEST_PAUSE", 0.0)
    monkeypatch.setattr(endpoint, "_JITTER", 0.0)


def answering(status: int, body: bytes, headers: dict[bytes, bytes] | None = None) -> httpx.MockTransport:
    """A server that gives one answer."""
    return httpx.MockTransport(lambda request: httpx.Response(status, content=body, headers=headers))


def facts_of(value: Any) -> list[Any]:
    """What a caller reads from an answer."""
    if not isinstance(value, dict) or not isinstance(value.get("facts"), list):
        raise ValueError("expected facts")
    return value["facts"]  # type: ignore[no-any-return]


@fuzz
@given(
    status=statuses,
    body=bodies,
    wait=waits,
    kind=st.sampled_from(["application/json", "text/html; charset=odd", "", "é"]),
)
async def test_any_answer_of_a_server_is_used_or_told(status: int, body: bytes, wait: str, kind: str) -> None:
    transport = answering(status, body, {b"retry-after": wait.encode(), b"content-type": kind.encode()})
    async with OpenAIChat(model="m", base_url="http://x/v1", tries=1, transport=transport) as chat:
        with only_ours():
            assert await chat.complete("Hello")
        with only_ours():
            assert isinstance(await chat.answer("Hello", schema={}, read=facts_of), list)
        assert f"{chat.usage.prompt_tokens:,} {chat.usage.reply_tokens:,}"
    async with OpenAIEmbedder(
        model="m", dimensions=2, base_url="http://x/v1", tries=1, transport=transport
    ) as embedder:
        with only_ours():
            vectors = await embedder.embed(["a", "b"])
            assert [len(one) for one in vectors] == [2, 2]
        assert f"{embedder.usage.prompt_tokens:,}"
        with only_ours():
            await OpenAIEmbedder.measured(model="m", base_url="http://x/v1", transport=answering(200, body))


@fuzz
@given(wait=waits)
def test_any_wait_that_is_asked_for_is_seconds_or_none(wait: str) -> None:
    with in_time():
        seconds = _wait_asked_for(wait)
    assert seconds is None or 0 <= seconds < float("inf")


@pytest.mark.parametrize(
    "wait", ["Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Wed, 21 Oct 2015 07:28:00 +99999999999999999999"]
)
async def test_a_wait_until_a_day_that_is_none_is_not_waited_for(wait: str) -> None:
    assert _wait_asked_for(wait) is None


@fuzz
@given(seconds=st.integers(0, 4 * 10**9))
def test_an_instant_to_wait_for_is_never_in_the_past(seconds: int) -> None:
    assert (_wait_asked_for(email.utils.formatdate(seconds, usegmt=True)) or 0.0) >= 0


@fuzz
@given(vectors=changed(VECTORS))
async def test_no_vector_gets_the_place_of_another(vectors: Any) -> None:
    body = written(vectors).encode("utf-8", "surrogatepass")
    async with OpenAIEmbedder(
        model="m", dimensions=2, base_url="http://x/v1", tries=1, transport=answering(200, body)
    ) as embedder:
        with only_ours():
            found = await embedder.embed(["a", "b"])
            told = {
                int(item.get("index", place)): item["embedding"] for place, item in enumerate(json.loads(body)["data"])
            }
            assert found == [told[0], told[1]]


async def test_a_number_beyond_every_float_is_no_number_of_a_vector() -> None:
    body = b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b", 1]}]}"
    async with OpenAIEmbedder(
        model="m", dimensions=2, base_url="http://x/v1", tries=1, transport=answering(200, body)
    ) as embedder:
        with pytest.raises(ModelAnswerError, match="finite"):
            await embedder.embed(["a"])


@pytest.mark.parametrize("content", [["Hel", {"text": "lo"}, {"text": None}, 3], [{"type": "text", "text": "Hello"}]])
async def test_the_parts_of_a_text_are_joined_and_nothing_else(content: list[Any]) -> None:
    body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
    async with OpenAIChat(model="m", base_url="http://x/v1", tries=1, transport=answering(200, body)) as chat:
        assert await chat.complete("?") == "Hello"


async def test_a_page_of_opening_brackets_is_told_at_once() -> None:
    address = Endpoint("http://x", None, timeout_s=5, tries=1)
    with in_time(10):
        assert address._told(b"<" * 65_536)
        assert address._told(b"<b>" * 20_000 + b"x") == "x"


@fuzz
@given(value=odd_texts)
def test_any_address_and_key_is_taken_or_refused_by_name(value: str) -> None:
    for options in ({"base_url": value}, {"base_url": f"http://{value}"}, {"api_key": value}, {"model": value}):
        with only_ours():
            OpenAIChat(**{"model": "m", **options})  # type: ignore[arg-type]


@fuzz
@given(value=odd_values)
def test_any_option_is_taken_or_refused_by_name(value: Any) -> None:
    for name in ("timeout_s", "tries", "max_reply_tokens"):
        with only_ours():
            OpenAIChat(**{"model": "m", name: value})
    for name in ("timeout_s", "tries", "dimensions", "batch_size", "shorten"):
        with only_ours():
            OpenAIEmbedder(**{"model": "m", "dimensions": 2, name: value})


def test_a_time_beyond_every_float_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="timeout_s"):
        OpenAIChat(model="m", timeout_s=10**400)


@fuzz
@given(raw=damaged(json.dumps(REFUSAL).encode()))
def test_what_a_server_tells_is_short_and_without_the_key(raw: bytes) -> None:
    told = Endpoint("http://x", "model", timeout_s=5, tries=1)._told(raw)
    assert 0 < len(told) <= 300
    assert "model" not in told
