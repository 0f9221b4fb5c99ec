"""Static token vectors: a text is the mean of its tokens' vectors, of 256 dimensions each.

The vectors and the tokenizer are two files of the `wordllama` package (MIT), read in place; its code is not imported.
No inference takes place, so this is quick, takes texts of any length in full, and knows nothing of word order.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembrancer.providers.embedding.packaged import MissingPackageError, optional_module, packaged_file
from remembrancer.providers.embedding.texts import checked_texts, encodable

_REMEDY = 'pip install "remembrancer[wordllama]"'
_TENSOR = "embedding.weight"
_DIMENSIONS = 256
_BATCH = 64  # texts that are worked on before a cancelled task is let go


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Any
    table: NDArray[np.float16]


class WordLlamaEmbedder:
    """Means of WordLlama's 256-dimensional token vectors, scaled to length 1.

    A text without tokens (the empty one) gets the vector of the tokenizer's unknown token, so that it is never zero.

    Raises, when it is first used:
        MissingPackageError: `wordllama`, `tokenizers` or `safetensors` is not installed.
    """

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def model(self) -> str:
        """The embedding space, together with `dimensions`."""
        return "wordllama-l2-supercat"

    @property
    def dimensions(self) -> int:
        """The length of every vector: 256."""
        return _DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 per text, in order.

        Raises:
            InvalidInputError: `texts` is not a sequence of strings.
            MissingPackageError: A package of the extra `wordllama` is not installed.
        """
        wanted = checked_texts(texts)
        vectors: list[list[float]] = []
        for start in range(0, len(wanted), _BATCH):
            vectors += await asyncio.to_thread(self._vectors, wanted[start : start + _BATCH])
        return vectors

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load()
            loaded = self._loaded
        return [_vector(loaded, text) for text in texts]


def _vector(loaded: _Loaded, text: str) -> list[float]:
    ids = loaded.tokenizer.encode(encodable(text), add_special_tokens=False).ids or [0]
    # counted first, so that a book costs no more memory than the words it is written in
    tokens, counts = np.unique(np.asarray(ids), return_counts=True)
    total = counts.astype(np.float64) @ loaded.table[tokens].astype(np.float64)
    length = np.linalg.norm(total)
    if length == 0.0:
        total, length = loaded.table[0].astype(np.float64), np.linalg.norm(loaded.table[0].astype(np.float64))
    unit: list[float] = (total / length).astype(np.float32).tolist()
    return unit


def _load() -> _Loaded:
    tokenizers = optional_module("tokenizers", remedy=_REMEDY)
    safetensors = optional_module("safetensors.numpy", remedy=_REMEDY)
    weights = packaged_file("wordllama", "weights", "l2_supercat_256.safetensors")
    vocabulary = packaged_file("wordllama", "tokenizers", "l2_supercat_tokenizer_config.json")
    if weights is None or vocabulary is None:
        raise MissingPackageError("the package 'wordllama' with its 256-dimensional vectors", remedy=_REMEDY)
    tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
    tokenizer.encode_special_tokens = True  # "</s>" in a message is four characters, not an instruction
    return _Loaded(tokenizer, safetensors.load_file(str(weights))[_TENSOR])
