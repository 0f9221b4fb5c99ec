"""Paths that callers hand in: what can be none is refused by name, whatever takes it, before anything is done."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from remembrancer import Memory, SyncMemory
from remembrancer.bench import read_extraction_set, read_retrieval_set, write_run
from remembrancer.hierarchy.exports import read_export_file
from remembrancer.hierarchy.extraction.spacy import load_pipeline
from remembrancer.lifecycle.transfer_import import header_of
from remembrancer.memory.compaction import compact
from remembrancer.providers.embedding.minilm import MiniLMEmbedder
from remembrancer.records import InvalidInputError
from remembrancer.records.file import require_absolute_path, require_path
from remembrancer.retention.chart import draw_detection_rates
from remembrancer.server import LocalServer, backup, down, install, restore_backup, status, up

NUL = "a\0b"
WRONG: list[Any] = [NUL, Path(NUL), "", "half\ud800", b"bytes", 7, None]


class Named(os.PathLike[str]):
    def __fspath__(self) -> str:
        return "named.txt"


@pytest.mark.parametrize("wrong", WRONG)
def test_what_no_file_can_be_called_is_refused(wrong: Any) -> None:
    for read in (require_path, require_absolute_path):
        with pytest.raises(InvalidInputError) as caught:
            read(wrong, field="where")
        assert caught.value.field == "where"


@pytest.mark.parametrize("right", ["a", Path("a"), Named(), "half of a byte\udcff", "-", "~"])
def test_what_a_file_can_be_called_is_taken(right: Any) -> None:
    assert require_path(right, field="where") == Path(right)
    assert require_absolute_path(right, field="where").is_absolute()


def test_the_home_folder_of_nobody_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="where: ~nobody-of-this-name/a does not lead to a place"):
        require_absolute_path("~nobody-of-this-name/a", field="where")


@pytest.mark.skipif(os.name != "posix", reason="names may be longer there, and links need a privilege")
def test_where_nobody_can_look_is_no_place(tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    for name in ("ring", "n" * 300):
        with pytest.raises(InvalidInputError, match=f"where: .*{name} does not lead to a place: "):
            require_absolute_path(tmp_path / name, field="where")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    assert require_absolute_path(tmp_path / "dangling", field="where") == tmp_path / "dangling"


@pytest.mark.skipif(os.name != "posix", reason="the current folder cannot be removed there")
def test_a_current_folder_that_is_gone_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InvalidInputError, match="where: a does not lead to a place"):
        require_absolute_path("a", field="where")


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: read_export_file(NUL), "path"),
        (lambda: read_retrieval_set(Path(NUL)), "path"),
        (lambda: read_extraction_set(Path(NUL)), "path"),
        (lambda: write_run(Path(NUL), {}), "path"),
        (lambda: header_of(NUL), "path"),
        (lambda: draw_detection_rates([], f"{NUL}.svg"), "path"),
        (lambda: load_pipeline(NUL), "extractor"),
        (lambda: MiniLMEmbedder(model_file=NUL), "model_file"),
        (lambda: MiniLMEmbedder(tokenizer_file=NUL), "tokenizer_file"),
        (lambda: LocalServer.open(NUL), "path"),
        (lambda: SyncMemory.local(NUL).__enter__(), "path"),
    ],
)
def test_every_function_that_takes_a_path_names_the_one_that_is_none(call: Callable[[], Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda _: backup(NUL, "file"), "path"),
        (lambda _: backup("folder", NUL), "file"),
        (lambda _: restore_backup("file", NUL), "path"),
        (lambda _: restore_backup(NUL, "folder"), "file"),
        (lambda _: compact(NUL), "path"),
        (lambda _: status(NUL), "path"),
        (lambda _: up(NUL), "path"),
        (lambda _: down(NUL), "path"),
        (lambda _: install(cache=Path(NUL)), "cache"),
        (lambda _: Memory.local(NUL).__aenter__(), "path"),
        (lambda memory: memory.export_to(NUL), "path"),
        (lambda memory: memory.import_from(NUL), "path"),
        (lambda memory: memory.import_foreign(["good.json", NUL], format="mem0"), "paths.1"),
    ],
)
async def test_every_coroutine_that_takes_a_path_names_the_one_that_is_none(
    call: Callable[[Memory], Awaitable[Any]], field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with Memory.in_memory() as memory:
        with pytest.raises(InvalidInputError) as caught:
            await call(memory)
    assert (caught.value.field, os.listdir(tmp_path)) == (field, []), "nothing was done"
