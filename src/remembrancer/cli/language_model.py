"""The language model of `--llm-model`: at which address, with which key, and whether it answers."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from remembrancer.cli.output import Output
from remembrancer.cli.spelling import hinted, named, renamed
from remembrancer.records import (
    BudgetExceededError,
    InvalidInputError,
    ModelAccessError,
    ModelAnswerError,
    ServerUnavailableError,
)

if TYPE_CHECKING:
    from remembrancer.providers.openai import OpenAIChat

MODEL: Final = "--llm-model"
ADDRESS: Final = "--llm-url"
KEY: Final = "REMEMBRANCER_LLM_API_KEY"
OPENAI: Final = "https://api.openai.com/v1"
_QUESTION: Final = "Answer with the one word yes."
_REPLY_TOKENS: Final = 16


@dataclass(frozen=True)
class ModelAccess:
    """How a model is reached, and what the user said that by.

    Attributes:
        model: Its name.
        model_name: The option or variable that it comes from.
        address: Up to `/v1`.
        address_name: The option or variable that the address comes from, or would come from.
        key: What is sent; `None`: nothing.
        key_name: The variable that the key comes from, or would come from.
        timeout_s: Seconds that one answer may take.
    """

    model: str
    model_name: str
    address: str
    address_name: str
    key: str | None = field(repr=False)
    key_name: str
    timeout_s: float

    @classmethod
    def of(cls, model: str | None, *, url: str | None, timeout_s: float) -> Self:
        """Find out from the options and the environment.

        Raises:
            InvalidInputError: No model is named.
        """
        if model is None:
            raise InvalidInputError(MODEL, "say which model is to read")
        key, key_name = os.environ.get(KEY) or None, KEY
        address, address_name = url, _origin(ADDRESS, "REMEMBRANCER_LLM_URL", url)
        if not address:
            # The key of OpenAI goes to no other address than the one that belongs to it.
            if key is None and os.environ.get("OPENAI_API_KEY"):
                key, key_name = os.environ["OPENAI_API_KEY"], "OPENAI_API_KEY"
            address = os.environ.get("OPENAI_BASE_URL")
            address_name = "OPENAI_BASE_URL" if address else ADDRESS
        model_name = _origin(MODEL, "REMEMBRANCER_LLM_MODEL", model)
        return cls(model, model_name, address or OPENAI, address_name, key, key_name, timeout_s)

    def chat(
        self, *, calls: int | None, tokens: int | None, reply_tokens: int | None = None, tries: int = 4
    ) -> OpenAIChat:
        """The model, with a budget of calls and tokens. Nothing connects before the first call."""
        from remembrancer.providers.openai import Budget, OpenAIChat

        return OpenAIChat(
            model=self.model,
            base_url=self.address,
            api_key=self.key,
            timeout_s=self.timeout_s,
            tries=tries,
            max_reply_tokens=reply_tokens,
            budget=Budget(max_calls=calls, max_tokens=tokens),
        )

    def named(self) -> AbstractContextManager[None]:
        """A block whose errors about the model name the option or variable that is to be mended."""
        return named(**self._names)

    @property
    def _names(self) -> dict[str, str]:
        timeout = "--llm-timeout"
        return {
            "model": self.model_name,
            "base_url": self.address_name,
            "api_key": self.key_name,
            "timeout_s": timeout,
            "timeout_ms": timeout,
        }

    async def try_out(self, output: Output, *, calls: int | None, tokens: int | None) -> None:
        """Ask for one word, once, unless the budget does not cover even that.

        Raises:
            ModelAccessError: The server refuses the key, knows no such model, or is elsewhere: that will not pass.
        """
        once = None if calls is None else min(calls, 1)
        async with self.chat(calls=once, tokens=tokens, reply_tokens=_REPLY_TOKENS, tries=1) as model:
            try:
                await model.complete(_QUESTION)
            except ModelAccessError as error:
                name = self._names.get(error.field, error.field)
                raise renamed(hinted(error, self.address_name), name) from error
            except (BudgetExceededError, ModelAnswerError):
                return  # it will be asked nothing; or it answers, if with more than one word
            except (ServerUnavailableError, InvalidInputError) as error:
                if isinstance(error, InvalidInputError):
                    said = f"refuses what it is asked: {error.problem}"
                else:
                    said = f"does not answer now: {error}"
                output.note(
                    f"warning: {self.model} {said}. What it does not read, rules do, and "
                    "retry-extraction reads it again"
                )


def _origin(option: str, variable: str, value: str | None) -> str:
    """Which of the two a value comes from; an option of the same value as the variable need not be told from it."""
    return variable if value and os.environ.get(variable) == value else option
