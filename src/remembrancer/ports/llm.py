"""The language model: a prompt in, a text out."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class LanguageModel(Protocol):
    """Completes prompts."""

    async def complete(self, prompt: str) -> str:
        """The model's answer as it came.

        Raises:
            ServerUnavailableError: The model could not be reached.
        """
        ...
