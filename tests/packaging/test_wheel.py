"""The built wheel: complete, importable where nothing else is installed, and able to run the README's first program."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

RunPython = Callable[..., str]

IMPORT_ALL = """
import importlib, json, pkgutil, sys
import remembrancer
found = {}
for module in pkgutil.walk_packages(remembrancer.__path__, "remembrancer."):
    if "._" not in module.name and not module.name.startswith(("remembrancer.testing.", "remembrancer.integrations.")):
        importlib.import_module(module.name)
        found[module.name] = True
print(json.dumps(sorted(found)))
"""

LOAD_ALL = """
import json
from remembrancer.graph import queries
def names(folder, prefix=""):
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from names(entry, prefix + entry.name + ".")
        elif entry.name.endswith(".cypher"):
            yield prefix + entry.name.removesuffix(".cypher")
print(json.dumps({name: len(queries.load(name)) for name in names(queries.folder())}))
"""


def in_checkout(folder: str, pattern: str) -> set[str]:
    return {str(file.relative_to(ROOT / folder)) for file in (ROOT / folder).glob(pattern) if file.is_file()}


def first_program() -> tuple[str, str]:
    """The README's first program, and what it says that it prints."""
    found = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1], found[2]


class TestContent:
    def test_it_holds_every_file_of_the_package_and_every_query(self, wheel: Path) -> None:
        held = set(zipfile.ZipFile(wheel).namelist())
        package = {
            f"remembrancer/{file}" for file in in_checkout("src/remembrancer", "**/*") if "__pycache__" not in file
        }
        cypher = {f"remembrancer/cypher/{file}" for file in in_checkout("cypher", "**/*")}
        assert package | cypher == {name for name in held if ".dist-info/" not in name}

    @pytest.mark.parametrize(
        "name",
        [
            "py.typed",
            "cypher/retrieval/recall.cypher",
            "cypher/migrations/001_records.cypher",
            "cypher/browser/style.grass",
            "cypher/browser/guide.html",
            "demo/conversation.jsonl",
            "demo/questions.json",
            "server/neo4j-2026.08.1.lock",
        ],
    )
    def test_it_holds_what_is_no_code(self, wheel: Path, name: str) -> None:
        assert zipfile.ZipFile(wheel).getinfo(f"remembrancer/{name}").file_size > 0 or name == "py.typed"

    def test_it_says_what_it_needs_and_under_which_licence(self, wheel: Path) -> None:
        archive = zipfile.ZipFile(wheel)
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        metadata = archive.read(name).decode("utf-8")
        assert "License-Expression: Apache-2.0" in metadata
        assert "Requires-Python: >=3.11" in metadata
        assert "# remembrancer" in metadata
        extras = "all charts cli fast langchain langgraph local minilm otel spacy testing wordllama"
        for extra in extras.split():
            assert f"Provides-Extra: {extra}\n" in metadata


@pytest.mark.long
class TestInstalled:
    def test_it_does_not_come_from_the_checkout(self, run_installed: RunPython) -> None:
        where = Path(run_installed("import remembrancer; print(remembrancer.__file__)").strip())
        assert not where.is_relative_to(ROOT)

    def test_every_module_can_be_imported(self, run_installed: RunPython) -> None:
        imported = json.loads(run_installed(IMPORT_ALL))
        assert {"remembrancer.memory", "remembrancer.sync", "remembrancer.graph.store", "remembrancer.testing"} <= set(
            imported
        )

    def test_every_query_is_loaded_by_name(self, run_installed: RunPython) -> None:
        loaded = json.loads(run_installed(LOAD_ALL))
        expected = {file.removesuffix(".cypher").replace("/", ".") for file in in_checkout("cypher", "**/*.cypher")}
        assert set(loaded) == expected
        assert all(loaded.values())

    def test_the_command_line_answers(self, run_installed: RunPython) -> None:
        code = """
import subprocess, sys
from pathlib import Path
command = Path(sys.executable).with_name("remembrancer")
print(subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout)
"""
        assert "demo" in run_installed(code)

    def test_the_first_program_of_the_readme_runs(self, run_installed: RunPython, tmp_path: Path) -> None:
        from remembrancer.server import cache_folder

        program, printed = first_program()
        home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
        assert run_installed(program, REMEMBRANCER_CACHE_DIR=str(cache_folder()), **home) == printed
