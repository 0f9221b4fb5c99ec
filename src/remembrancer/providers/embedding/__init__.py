"""Embedders that run on this machine, with no network and no service.

| class | dimensions | needs | good for |
| --- | --- | --- | --- |
| `HashingEmbedder` | 256, or as asked | nothing further | tests, first steps, literal overlap of words and spellings |
| `WordLlamaEmbedder` | 256 | the extra `wordllama` | quick similarity of meaning, any length of text |
| `MiniLMEmbedder` | 384 | the extra `minilm` | the best similarity of meaning of the three, English |

All three give the same vector for the same text, unit length, never zero, whatever the text and whatever it was
embedded with. They load at first use, work in a thread, and may be shared by tasks, threads and event loops.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.providers.embedding.hashing import HashingEmbedder
    from remembrancer.providers.embedding.minilm import MiniLMEmbedder
    from remembrancer.providers.embedding.packaged import MissingPackageError
    from remembrancer.providers.embedding.wordllama import WordLlamaEmbedder

__all__ = ["HashingEmbedder", "MiniLMEmbedder", "MissingPackageError", "WordLlamaEmbedder"]

_HOMES = {
    "HashingEmbedder": "hashing",
    "MiniLMEmbedder": "minilm",
    "MissingPackageError": "packaged",
    "WordLlamaEmbedder": "wordllama",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
