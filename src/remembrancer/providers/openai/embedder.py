"""An embedder behind `/embeddings`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

import httpx

from remembrancer.ports.llm import ModelUsage
from remembrancer.providers.embedding.texts import checked_texts, encodable
from remembrancer.providers.openai.budget import Budget, Meter, estimated_tokens
from remembrancer.providers.openai.endpoint import Endpoint, RequestRefusedError, translated_refusal
from remembrancer.records.errors import EmbeddingDimensionMismatchError, InvalidInputError, ModelAnswerError
from remembrancer.records.number import is_finite

_BATCH_CHARACTERS = 100_000


class OpenAIEmbedder:
    """An embedding model of OpenAI, vLLM, Ollama, LM Studio, LiteLLM's proxy and the like."""

    def __init__(
        self,
        *,
        model: str,
        dimensions: int,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        shorten: bool = False,
        batch_size: int = 64,
        batches_at_once: int = 4,
        timeout_s: float = 60.0,
        tries: int = 4,
        budget: Budget | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Name a model; nothing connects before the first call.

        Args:
            model: Its name, as the server knows it; with `dimensions` the name of the embedding space.
            dimensions: Length of its vectors, 1 to 4,096. Another length is refused, never cut or filled up;
                `measured` asks the model for it.
            base_url: Up to and including `/v1`.
            api_key: Sent as a bearer token; local servers need none.
            shorten: Ask the server for vectors of `dimensions`, which only some models can give.
            batch_size: The most texts of one request.
            batches_at_once: How many requests of one `embed` run at the same time.
            timeout_s: Seconds that one `embed` may wait for each request, repeated ones included.
            tries: How often a request is sent at most while the server is busy, broken or out of reach, 1 to 100.
            budget: Calls and tokens that it may use.
            transport: Another transport for the HTTP client.

        Raises:
            InvalidInputError: An argument cannot be used; names it.
        """
        if not isinstance(model, str) or not model.strip():
            raise InvalidInputError("model", "must name a model")
        self._dimensions = _whole(dimensions, field="dimensions", most=4096)
        self._batch_size = _whole(batch_size, field="batch_size", most=2048)
        self._batches_at_once = _whole(batches_at_once, field="batches_at_once", most=64)
        if not isinstance(shorten, bool):
            raise InvalidInputError("shorten", f"expected True or False, got {type(shorten).__name__}")
        self._shorten = shorten
        self._model = model
        self._endpoint = Endpoint(base_url, api_key, timeout_s=timeout_s, tries=tries, transport=transport)
        self._meter = Meter(budget)

    @classmethod
    async def measured(
        cls,
        *,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        timeout_s: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> OpenAIEmbedder:
        """An embedder whose dimensions are those of a vector that the model was asked for; errors as for `embed`."""
        probe = cls(
            model=model, dimensions=1, base_url=base_url, api_key=api_key, timeout_s=timeout_s, transport=transport
        )
        async with probe:
            vectors = await probe._vectors(["dimensions"])
        return cls(
            model=model,
            dimensions=len(vectors[0]),
            base_url=base_url,
            api_key=api_key,
            timeout_s=timeout_s,
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"OpenAIEmbedder(model={self._model!r}, base_url={self._endpoint.base_url!r})"

    @property
    def model(self) -> str:
        """Name of the model; with `dimensions` it names the embedding space."""
        return self._model

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        return self._dimensions

    @property
    def usage(self) -> ModelUsage:
        """All calls so far."""
        return self._meter.usage

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order.

        Raises:
            ModelAccessError: The server accepts the key not, or knows no such model.
            InvalidInputError: `texts` is not a sequence of strings, or the server accepts a text not.
            EmbeddingDimensionMismatchError: The model's vectors have another length.
            ServerUnavailableError: Not reachable, overloaded or broken, after all tries or after `timeout_s`.
            ModelAnswerError: The server's answer has not one vector of numbers a text.
            BudgetExceededError: The budget does not cover the call.
        """
        wanted = [encodable(text) or " " for text in checked_texts(texts)]  # servers refuse empty texts
        gate = asyncio.Semaphore(self._batches_at_once)

        async def of(batch: Sequence[str]) -> list[list[float]]:
            async with gate:
                return await self._vectors(batch)

        asked = [asyncio.ensure_future(of(batch)) for batch in _batches(wanted, most=self._batch_size)]
        try:
            answered = await asyncio.gather(*asked)
        finally:
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        vectors = [vector for batch in answered for vector in batch]
        for vector in vectors:
            if len(vector) != self._dimensions:
                raise EmbeddingDimensionMismatchError(
                    self._dimensions, len(vector), f"model {self._model!r} at {self._endpoint.base_url}"
                )
        return vectors

    async def _vectors(self, batch: Sequence[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": list(batch)}
        if self._shorten:
            body["dimensions"] = self._dimensions
        sent = sum(map(estimated_tokens, batch))
        charged = 0

        def charge() -> None:
            nonlocal charged
            self._meter.promise(sent)
            charged += 1

        used: int | None = None
        try:
            async with self._endpoint.deadline() as ends:
                answered = await self._endpoint.post("embeddings", body, ends=ends, charge=charge)
            usage = answered.get("usage")
            told = usage.get("prompt_tokens") if isinstance(usage, dict) else None
            used = told if isinstance(told, int) and not isinstance(told, bool) and told >= 0 else None
        except RequestRefusedError as error:
            raise translated_refusal(error, field="texts", address=self._endpoint.base_url) from error
        finally:
            for number in range(charged):
                known = used if number == charged - 1 else None
                tokens = sent if known is None else known
                self._meter.settle(promised=sent, prompt=tokens, reply=0, is_estimate=known is None)
        return _read(answered, len(batch))

    async def aclose(self) -> None:
        """Let go of the connections that this event loop has opened; the next call opens new ones."""
        await self._endpoint.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _batches(texts: Sequence[str], *, most: int) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == most or size + len(text) > _BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _read(answered: dict[str, Any], count: int) -> list[list[float]]:
    """The vectors in the order of their texts.

    Raises:
        ModelAnswerError: Not one for each text, or not made of numbers.
    """
    data = answered.get("data")
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ModelAnswerError("the server gave no list of vectors")
    places = [item.get("index", place) for place, item in enumerate(data)]
    if sorted(map(str, places)) != sorted(map(str, range(count))):
        raise ModelAnswerError(f"the server gave {len(data)} vectors for {count} texts, or numbered them wrongly")
    vectors: list[list[float]] = [[] for _ in range(count)]
    for place, item in zip(places, data, strict=True):
        vector = item.get("embedding")
        if not isinstance(vector, list) or not all(map(_is_number, vector)):
            raise ModelAnswerError(f"vector {place} is not a list of finite numbers")
        vectors[int(place)] = [float(number) for number in vector]
    return vectors


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _whole(value: object, *, field: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInputError(field, f"must be a whole number from 1 to {most:,}, not {value!r}")
    return value
