"""`export` and `import` on a real Neo4j."""

from __future__ import annotations

import json
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


def test_what_is_wrong_with_the_file_is_told_of_the_argument(remember: Run, run: Run, tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.touch()
    assert remember("export", str(there)).stderr.endswith(f"error: FILE: {there} exists already\n")
    assert remember("export", str(tmp_path / "no" / "a.jsonl")).stderr.splitlines()[-1].startswith("error: FILE: ")
    assert remember("import", str(tmp_path / "none")).stderr.startswith("error: FILE: cannot read ")
    ran = remember("import", str(tmp_path / "none.json"), "--format", "mem0", "--embedder", "none")
    assert ran.stderr.splitlines()[-1].startswith("error: FILE: cannot read ")
    (tmp_path / "else").touch()
    assert run("migrate", "--path", str(tmp_path)).stderr.startswith("error: --path: ")


def test_a_wrong_element_of_one_long_line_is_named(remember: Run, tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    good = {"id": "1", "memory": "Ada sings.", "created_at": "2026-01-01"}
    file.write_text(json.dumps({"results": [good, {"id": "2"}, {**good, "id": "3", "memory": 3}]}))
    arguments = ["import", str(file), "--format", "mem0", "--embedder", "none"]
    assert "error: all.json, line 1, element 2 of results: " in remember(*arguments).stderr
    told = remember(*arguments, "--skip-bad")
    assert (told.code, f"{file}, line 1, element 3 of results: " in told.stdout) == (0, True)
    (bad, _) = remember(*arguments, "--skip-bad", "--json").document["problems"]
    assert (bad["line"], bad["element"], bad["group"]) == (1, 2, "results")
