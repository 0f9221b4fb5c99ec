"""The language model: a prompt in, a text or a checked value out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

T = TypeVar("T")


@dataclass(frozen=True)
class ModelUsage:
    """What a model was asked for so far.

    Attributes:
        calls: Requests sent, repeated ones too.
        prompt_tokens: Tokens of what was sent.
        reply_tokens: Tokens of what came back.
        estimated_calls: Calls after which the server did not tell their tokens, so that these are estimates.
    """

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated_calls: int = 0

    @property
    def tokens(self) -> int:
        """All tokens, sent and received."""
        return self.prompt_tokens + self.reply_tokens


@runtime_checkable
class LanguageModel(Protocol):
    """Completes prompts."""

    async def complete(self, prompt: str) -> str:
        """The model's answer, without what it thought aloud before.

        Raises:
            ServerUnavailableError: The model could not be reached.
            ModelAnswerError: It refused, or gave no text.
            BudgetExceededError: Its budget is used up.
        """
        ...


@runtime_checkable
class StructuredModel(LanguageModel, Protocol):
    """A language model that can be held to a form."""

    async def answer(self, prompt: str, *, schema: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """What `read` makes of the model's answer.

        Args:
            prompt: What to do.
            schema: JSON schema of the answer, whose root is an object.
            read: Turns the parsed answer into the result; raises `ValueError`, with what is wrong, for one that does
                not fit. The model is then asked once to mend it.

        Raises:
            ServerUnavailableError: The model could not be reached.
            ModelAnswerError: It refused, or its answer did not fit the second time either.
            BudgetExceededError: Its budget is used up.
        """
        ...


@runtime_checkable
class CountsUsage(Protocol):
    """A model that says how much it was used."""

    @property
    def usage(self) -> ModelUsage:
        """All calls so far."""
        ...
