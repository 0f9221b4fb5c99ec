"""A language model behind `/chat/completions`.

An answer that must have a form is asked for in the strictest way that the server knows: by JSON schema, else as any
JSON object, else in words alone. What a server refused once it is not asked for again. Whatever it promises, the answer
is parsed and checked here, and the model is asked once to mend one that does not fit.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from remembrancer.ports.llm import ModelUsage
from remembrancer.providers.openai.budget import Budget, Meter, estimated_tokens
from remembrancer.providers.openai.endpoint import Endpoint, RequestRefusedError, translated_refusal
from remembrancer.providers.openai.spoken_json import read_json, without_thoughts
from remembrancer.records.errors import InvalidInputError, ModelAnswerError

logger = logging.getLogger(__name__)

T = TypeVar("T")
Turn = dict[str, str]

_SCHEMA, _OBJECT, _WORDS = "json_schema", "json_object", "words"
_WAYS = (_SCHEMA, _OBJECT, _WORDS)
_REFUSALS_OF_A_WAY = frozenset({400, 415, 422, 501})
_ECHOED = 8_000  # characters of a broken answer that are shown to the model again
_MOST_TOKENS = 2**53  # what a server tells beyond that is no count
_RESERVED = frozenset({"model", "messages", "stream", "n", "response_format", "max_tokens", "max_completion_tokens"})


class OpenAIChat:
    """A chat model of OpenAI, vLLM, Ollama, LM Studio, LiteLLM's proxy, or of whatever else speaks their interface."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        timeout_s: float = 60.0,
        tries: int = 4,
        max_reply_tokens: int | None = None,
        options: Mapping[str, Any] | None = None,
        budget: Budget | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Name a model; nothing connects before the first call.

        Args:
            model: Its name, as the server knows it.
            base_url: Up to and including `/v1`, for example `http://localhost:11434/v1` for Ollama.
            api_key: Sent as a bearer token; local servers need none.
            timeout_s: Seconds that one `complete` or `answer` may take, repeated requests included.
            tries: How often a request is sent at most while the server is busy, broken or out of reach, 1 to 100.
            max_reply_tokens: The most tokens of one reply; `None`: what the server allows.
            options: Further fields of each request, for example `{"temperature": 0}`.
            budget: Calls and tokens that it may use; share one to bound several models together.
            transport: Another transport for the HTTP client, for proxies of your own and for tests.

        Raises:
            InvalidInputError: An argument cannot be used; names it.
        """
        if not isinstance(model, str) or not model.strip():
            raise InvalidInputError("model", "must name a model")
        if max_reply_tokens is not None and (
            isinstance(max_reply_tokens, bool) or not isinstance(max_reply_tokens, int) or max_reply_tokens < 1
        ):
            raise InvalidInputError("max_reply_tokens", f"expected a positive whole number, got {max_reply_tokens!r}")
        self._options = dict(options or {})
        if reserved := _RESERVED.intersection(self._options):
            raise InvalidInputError("options", f"{', '.join(sorted(reserved))} cannot be set here")
        self._model = model
        self._endpoint = Endpoint(base_url, api_key, timeout_s=timeout_s, tries=tries, transport=transport)
        self._max_reply_tokens = max_reply_tokens
        self._meter = Meter(budget)
        self._way = _SCHEMA
        self._bound_name = "max_tokens"

    def __repr__(self) -> str:
        return f"OpenAIChat(model={self._model!r}, base_url={self._endpoint.base_url!r})"

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    @property
    def usage(self) -> ModelUsage:
        """All calls so far."""
        return self._meter.usage

    async def complete(self, prompt: str) -> str:
        """The model's answer, without what it thought aloud before.

        Raises:
            ServerUnavailableError: Not reachable, overloaded or broken, after all tries or after `timeout_s`.
            ModelAnswerError: It refused, was cut short, or gave no text.
            BudgetExceededError: The budget does not cover the call.
            ModelAccessError: The server accepts the key not, or knows no such model.
            InvalidInputError: It accepts the prompt not.
        """
        turns = [_turn("user", _checked_prompt(prompt))]
        async with self._endpoint.deadline() as ends:
            try:
                answer = await self._ask(turns, {}, ends)
            except RequestRefusedError as error:
                raise translated_refusal(error, field="prompt", address=self._endpoint.base_url) from error
        text = without_thoughts(answer)
        if not text:
            raise ModelAnswerError("it is empty")
        return text

    async def answer(self, prompt: str, *, schema: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """What `read` makes of the model's answer, after one request to mend it if need be.

        Errors as for `complete`; `ModelAnswerError` also when the answer does not fit the second time either.
        """
        turns = [_turn("user", _checked_prompt(prompt))]
        async with self._endpoint.deadline() as ends:
            said = ""
            try:
                said = await self._ask_in_form(turns, schema, ends)
                return read(read_json(said))
            except (ValueError, _CutShortError) as error:
                if isinstance(error, InvalidInputError):
                    raise
                problem = str(error)
            logger.debug("asking %s to mend its answer: %s", self._model, problem)
            turns += [
                _turn("assistant", said[:_ECHOED] or "(nothing)"),
                _turn("user", f"That cannot be used: {problem[:500]}. Answer again, with the JSON alone."),
            ]
            try:
                return read(read_json(await self._ask_in_form(turns, schema, ends)))
            except ValueError as error:
                if isinstance(error, InvalidInputError):
                    raise
                raise ModelAnswerError(f"{problem}; and asked again: {error}") from error

    async def _ask_in_form(self, turns: Sequence[Turn], schema: Mapping[str, Any], ends: float) -> str:
        first_refusal: RequestRefusedError | None = None
        for way in _WAYS[_WAYS.index(self._way) :]:
            try:
                said = await self._ask(_in_words(turns, schema, way), _response_format(schema, way), ends)
            except RequestRefusedError as error:
                if error.status not in _REFUSALS_OF_A_WAY or way == _WORDS:
                    refusal = first_refusal or error
                    raise translated_refusal(refusal, field="prompt", address=self._endpoint.base_url) from error
                first_refusal = first_refusal or error
                continue
            if way != self._way:
                logger.info("%s answers by %s; it refused %s", self._model, way, self._way)
                self._way = way
            return said
        raise AssertionError("the last way returns or raises")

    async def _ask(self, turns: Sequence[Turn], fields: Mapping[str, Any], ends: float) -> str:
        try:
            return await self._ask_once(turns, fields, ends)
        except RequestRefusedError as error:
            # Newer models of OpenAI's know the bound of replies by another name than everybody else.
            if self._max_reply_tokens is None or "max_completion_tokens" not in error.told:
                raise
            self._bound_name = "max_completion_tokens"
            return await self._ask_once(turns, fields, ends)

    async def _ask_once(self, turns: Sequence[Turn], fields: Mapping[str, Any], ends: float) -> str:
        body = {**self._options, "model": self._model, "messages": list(turns), "stream": False, **fields}
        if self._max_reply_tokens is not None:
            body[self._bound_name] = self._max_reply_tokens
        sent = sum(estimated_tokens(turn["content"]) for turn in turns)
        promised = sent + (self._max_reply_tokens or 0)
        requests = 0

        def charge() -> None:
            nonlocal requests
            if requests:  # the one before brought nothing, and nobody tells what it cost
                self._meter.settle(promised=promised, prompt=sent, reply=0, is_estimate=True)
                requests = 0
            self._meter.promise(promised)
            requests = 1

        answered: dict[str, Any] | None = None
        try:
            answered = await self._endpoint.post("chat/completions", body, ends=ends, charge=charge)
        finally:
            if requests:
                self._settle(answered, promised=promised, sent=sent)
        return _said(answered)

    def _settle(self, answered: Mapping[str, Any] | None, *, promised: int, sent: int) -> None:
        usage = answered.get("usage") if answered is not None else None
        told = usage if isinstance(usage, Mapping) else {}
        prompt, reply = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
        if prompt is None or reply is None:
            reply = estimated_tokens(json.dumps(answered.get("choices"))) if answered is not None else 0
            self._meter.settle(promised=promised, prompt=sent, reply=reply, is_estimate=True)
        else:
            self._meter.settle(promised=promised, prompt=prompt, reply=reply, is_estimate=False)

    async def aclose(self) -> None:
        """Let go of the connections that this event loop has opened; the next call opens new ones."""
        await self._endpoint.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _CutShortError(ModelAnswerError):
    """The reply ended at a bound; asked again the model may be shorter."""


def _turn(role: str, content: str) -> Turn:
    return {"role": role, "content": content}


def _checked_prompt(prompt: object) -> str:
    if not isinstance(prompt, str) or not prompt:
        raise InvalidInputError("prompt", f"expected a text that is not empty, got {type(prompt).__name__}")
    return prompt


def _in_words(turns: Sequence[Turn], schema: Mapping[str, Any], way: str) -> list[Turn]:
    """The turns with the schema in words, where the server is not told it otherwise."""
    if way == _SCHEMA:
        return list(turns)
    asked = f"{turns[0]['content']}\n\nAnswer with JSON alone, an instance of this schema:\n{json.dumps(schema)}"
    return [_turn("user", asked), *turns[1:]]


def _response_format(schema: Mapping[str, Any], way: str) -> dict[str, Any]:
    if way == _WORDS:
        return {}
    if way == _OBJECT:
        return {"response_format": {"type": _OBJECT}}
    named = {"name": "answer", "schema": schema, "strict": True}
    return {"response_format": {"type": _SCHEMA, "json_schema": named}}


def _said(answered: Mapping[str, Any]) -> str:
    """The text of the first choice.

    Raises:
        ModelAnswerError: There is none: refused, filtered, cut short, or no answer of a chat model at all.
    """
    choices = answered.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ModelAnswerError("the server gave no choice with a message")
    if message.get("refusal"):
        raise ModelAnswerError(f"the model refused: {str(message['refusal'])[:200]}")
    if choice.get("finish_reason") == "content_filter":
        raise ModelAnswerError("the server's filter held it back")
    if choice.get("finish_reason") == "length":
        raise _CutShortError("it was cut short at the most tokens that a reply may have")
    content = message.get("content")
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str):
        raise ModelAnswerError("the message has no text")
    return content


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None
