"""The remote embedder, against a real server: order, batches, lengths, and answers that cannot be used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from remembrancer import Memory
from remembrancer.ports import CountsUsage, Embedder
from remembrancer.providers.openai import Budget, OpenAIEmbedder
from remembrancer.records import (
    BudgetExceededError,
    EmbeddingDimensionMismatchError,
    InvalidInputError,
    ModelAnswerError,
    ServerUnavailableError,
)

KEY = "sk-canary-0123456789"


def vector(text: str) -> list[float]:
    return [float(len(text)), float(sum(map(ord, text)) % 997), 1.0]


@pytest.fixture
async def embedder(server: Any) -> AsyncIterator[Callable[..., OpenAIEmbedder]]:
    made: list[OpenAIEmbedder] = []

    def make(**options: Any) -> OpenAIEmbedder:
        fields = {"model": "e", "base_url": server.address, "api_key": KEY, "dimensions": 3, "timeout_s": 5.0}
        made.append(OpenAIEmbedder(**{**fields, **options}))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


@pytest.fixture
def good(scripted: Any) -> Callable[[Any], Any]:
    """Answers with the vectors in another order, as the interface allows."""

    def answer(request: Any) -> Any:
        texts = request.body["input"]
        data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
        return scripted.Reply({"data": data[::-1], "usage": {"prompt_tokens": 5, "total_tokens": 5}}, delay=0.01)

    return answer


async def test_vectors_come_in_the_order_of_their_texts(server: Any, good: Any, embedder: Any) -> None:
    server.script = good
    one = embedder(batch_size=7, batches_at_once=3)
    assert isinstance(one, Embedder)
    assert isinstance(one, CountsUsage)
    texts = [f"text {'x' * (number % 13)} {number}" for number in range(100)]
    assert await one.embed(texts) == [vector(text) for text in texts]
    assert [len(request.body["input"]) for request in server.requests].count(7) == 14
    assert len(server.requests) == 15
    assert server.most_at_once == 3
    assert (one.usage.calls, one.usage.prompt_tokens, one.usage.estimated_calls) == (15, 75, 0)
    assert server.requests[0].path == "/v1/embeddings"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "dimensions" not in server.requests[0].body


async def test_nothing_is_asked_for_no_texts(server: Any, embedder: Any) -> None:
    assert await embedder().embed([]) == []
    assert server.requests == []


async def test_any_text_can_be_sent(server: Any, good: Any, embedder: Any) -> None:
    server.script = good
    texts = ["", " ", '\x00\n"quotes" \\', "日本語 🎈", "lone \ud800 surrogate", "x" * 1_000_000]
    assert len(await embedder().embed(texts)) == len(texts)
    sent = [text for request in server.requests for text in request.body["input"]]
    assert sorted(sent, key=len)[-1] == texts[-1]
    assert all(sent)


async def test_long_texts_share_no_request(server: Any, good: Any, embedder: Any) -> None:
    server.script = good
    await embedder().embed(["x" * 60_000] * 4)
    assert [len(request.body["input"]) for request in server.requests] == [1] * 4


async def test_another_length_is_refused_and_never_cut(server: Any, good: Any, embedder: Any) -> None:
    server.script = good
    for dimensions in (2, 4):
        with pytest.raises(EmbeddingDimensionMismatchError) as raised:
            await embedder(dimensions=dimensions).embed(["a"])
        assert (raised.value.expected, raised.value.actual) == (dimensions, 3)


async def test_shorter_vectors_are_asked_for_only_when_told_so(server: Any, good: Any, embedder: Any) -> None:
    server.script = good
    await embedder(shorten=True).embed(["a"])
    assert server.requests[0].body["dimensions"] == 3


async def test_the_model_is_asked_for_its_dimensions(server: Any, good: Any) -> None:
    server.script = good
    async with await OpenAIEmbedder.measured(model="e", base_url=server.address) as one:
        assert one.dimensions == 3
        assert await one.embed(["a"]) == [vector("a")]


BROKEN: dict[str, Any] = {
    "no data": {},
    "null": {"data": None},
    "too few": {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]},
    "too many": {"data": [{"index": place, "embedding": [1.0, 2.0, 3.0]} for place in range(3)]},
    "one index twice": {"data": [{"index": 1, "embedding": [1.0, 2.0, 3.0]}] * 2},
    "index out of range": {"data": [{"index": place, "embedding": [1.0, 2.0, 3.0]} for place in (1, 2)]},
    "not an object": {"data": [[1.0, 2.0, 3.0]] * 2},
    "no vector": {"data": [{"index": 0}, {"index": 1}]},
    "text": {"data": [{"index": place, "embedding": "AACAPwAAAEA="} for place in range(2)]},
    "null in it": {"data": [{"index": place, "embedding": [1.0, None, 3.0]} for place in range(2)]},
    "NaN in it": b'{"data": [{"index": 0, "embedding": [1, NaN]}, {"index": 1, "embedding": [1, 2]}]}',
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
async def test_an_answer_without_one_vector_a_text_is_an_error(
    server: Any, scripted: Any, embedder: Any, body: Any
) -> None:
    server.script = [scripted.Reply(body)]
    with pytest.raises(ModelAnswerError):
        await embedder().embed(["a", "b"])


async def test_passing_trouble_is_sat_out(server: Any, scripted: Any, good: Any, embedder: Any) -> None:
    troubles = [
        scripted.Reply("busy", status=429, headers={"retry-after": "0.05"}),
        scripted.Reply(drop=True),
        scripted.Reply("half" * 100, cut=True),
    ]

    def answer(request: Any) -> Any:
        return troubles.pop() if troubles else good(request)

    server.script = answer
    one = embedder()
    assert await one.embed(["a", "b"]) == [vector("a"), vector("b")]
    assert one.usage.calls == 4


async def test_one_failing_batch_ends_the_others(server: Any, scripted: Any, good: Any, embedder: Any) -> None:
    def answer(request: Any) -> Any:
        if "bad" in request.body["input"]:
            return scripted.Reply({"error": {"message": "input too long"}}, status=400)
        return scripted.Reply(good(request).body, delay=30)

    server.script = answer
    with pytest.raises(InvalidInputError, match="input too long") as raised:
        await asyncio.wait_for(embedder(batch_size=1).embed(["a", "bad", "c", "d", "e", "f"]), 5)
    assert raised.value.field == "texts"


async def test_lasting_trouble_and_a_refused_key_are_reported(server: Any, scripted: Any, embedder: Any) -> None:
    server.script = [scripted.Reply("", status=500)]
    with pytest.raises(ServerUnavailableError):
        await embedder(tries=2).embed(["a"])
    server.script = [scripted.Reply({"error": {"message": f"bad key {KEY}"}}, status=401)]
    with pytest.raises(InvalidInputError) as raised:
        await embedder().embed(["a"])
    assert raised.value.field == "api_key"
    assert KEY not in str(raised.value)
    assert KEY not in repr(embedder())


async def test_a_budget_bounds_it(server: Any, good: Any, embedder: Any) -> None:
    server.script = good
    one = embedder(budget=Budget(max_tokens=12), batch_size=1)
    await one.embed(["aaa"])
    with pytest.raises(BudgetExceededError):
        await one.embed(["b" * 60])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"dimensions": 0}, "dimensions"),
        ({"dimensions": 5000}, "dimensions"),
        ({"dimensions": None}, "dimensions"),
        ({"model": " "}, "model"),
        ({"batch_size": 0}, "batch_size"),
        ({"batches_at_once": 0}, "batches_at_once"),
        ({"shorten": 1}, "shorten"),
    ],
)
def test_an_option_out_of_bounds_is_refused_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        OpenAIEmbedder(**{"model": "e", "dimensions": 3, **options})
    assert raised.value.field == field


@pytest.mark.parametrize("texts", ["text", None, 7, ["a", 7]])
async def test_what_is_no_texts_is_refused(embedder: Any, texts: Any) -> None:
    with pytest.raises(InvalidInputError):
        await embedder().embed(texts)


async def test_a_memory_works_with_it(server: Any, good: Any, embedder: Any) -> None:
    server.script = good
    async with Memory.in_memory(embedder=embedder()) as memory:
        await memory.ingest([{"role": "user", "content": "The harbour opens at six.", "timestamp": "2026-01-05"}])
        recall = await memory.recall("When does the harbour open?")
    assert recall.hits[0].text == "The harbour opens at six."


async def test_the_command_line_takes_it_from_the_environment(
    server: Any, good: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from remembrancer.cli.embedders import checked_name, embedder_to_read, embedder_to_write, letting_go_of

    server.script = good
    monkeypatch.setenv("OPENAI_BASE_URL", server.address)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    nothing: Any = None  # a model that is named is not looked up in the database
    for choose in (embedder_to_read, embedder_to_write):
        choice = await choose("openai:nomic-embed-text", nothing, "n")
        assert choice.embedder is not None
        async with letting_go_of(choice.embedder):
            assert (choice.embedder.model, choice.embedder.dimensions) == ("nomic-embed-text", 3)
        assert choice.reason == "vectors by nomic-embed-text, of 3 dimensions, as asked for"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert checked_name("openai:a/b:latest") == "openai:a/b:latest"


@pytest.mark.parametrize("name", ["openai:", "openai: ", "openai", "gpt", ""])
def test_the_command_line_refuses_what_names_no_embedder(name: str) -> None:
    import typer

    from remembrancer.cli.embedders import checked_name

    with pytest.raises(typer.BadParameter, match="openai:MODEL"):
        checked_name(name)
