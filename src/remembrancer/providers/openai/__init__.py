"""Models behind the HTTP interface of OpenAI, which vLLM, Ollama, LM Studio and LiteLLM's proxy speak too.

| class | what it is |
| --- | --- |
| `OpenAIChat` | a language model: texts, and answers held to a JSON schema |
| `OpenAIEmbedder` | an embedder |
| `Budget` | how many calls and tokens they may use |

Nothing connects before the first call. Both may be shared by tasks and event loops; `aclose`, or `async with`, lets go
of the connections.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.providers.openai.budget import Budget
    from remembrancer.providers.openai.chat import OpenAIChat
    from remembrancer.providers.openai.embedder import OpenAIEmbedder

__all__ = ["Budget", "OpenAIChat", "OpenAIEmbedder"]

_HOMES = {"Budget": "budget", "OpenAIChat": "chat", "OpenAIEmbedder": "embedder"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
