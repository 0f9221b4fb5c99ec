"""`export` and `import` on a real Neo4j."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.neo4j

Run = Callable[..., Any]


def test_a_namespace_goes_through_a_file_into_another(filled: Run, run: Run, server: list[str], tmp_path: Path) -> None:
    file, again, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl", f"test-{uuid.uuid4()}"
    on_other = [*server, "--namespace", other]
    ran = filled("export", str(file))
    assert ran.code == 0
    assert "working tier" in ran.stdout
    report = run("import", str(file), *on_other, "--json").document
    assert (report["namespace"], report["counts"]["episode"] > 0) == (other, True)
    run("export", str(again), *on_other)
    assert again.read_bytes() == file.read_bytes()
    assert run("import", str(file), *on_other).code == 2
    run("forget", "--everything", "--yes", *on_other)


def test_a_file_that_is_no_export_is_refused(filled: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("{}\n")
    ran = filled("import", str(file))
    assert ran.code == 2
    assert "line 1" in ran.stderr
