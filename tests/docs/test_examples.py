"""What the documentation shows, runs; what it names, exists; what exists, is named."""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import os
import re
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.util._once import Once

import remembrancer
from remembrancer import Memory
from remembrancer.ports import tracing
from remembrancer.ports.recall import PARTS
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.retrieval.recall import RecallWeights

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
NOT_RUN = {"local-server.md": "its example starts one more server; tests/server starts plenty"}
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)")


@dataclass(frozen=True)
class Block:
    page: Path
    code: str
    printed: str | None

    @property
    def is_script(self) -> bool:
        return "asyncio.run(" in self.code or "SyncMemory" in self.code

    @property
    def is_test_module(self) -> bool:
        return "import pytest" in self.code


def blocks(page: Path) -> Iterator[Block]:
    """The Python code of a page, each with the text block that follows it at once."""
    found = list(_BLOCK.finditer(page.read_text("utf-8")))
    for place, block in enumerate(found):
        if block[1] == "python":
            after = found[place + 1] if place + 1 < len(found) else None
            shown = (
                after is not None
                and after[1] == "text"
                and not page.read_text("utf-8")[block.end() : after.start()].strip()
            )
            yield Block(page, block[2], after[2] if shown and after is not None else None)


def pages(*, with_scripts: bool) -> list[Path]:
    shown = [page for page in PAGES if page.name not in NOT_RUN]
    return [page for page in shown if any(block.is_script == with_scripts for block in blocks(page))]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.parametrize("page", pages(with_scripts=True), ids=name)
async def test_the_programs_on_a_page_run_and_print_what_it_says(
    page: Path, neo4j_server: tuple[str, tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from remembrancer.server import LocalServer, cache_folder, default_path

    uri, (user, password) = neo4j_server
    monkeypatch.setenv("REMEMBRANCER_CACHE_DIR", str(cache_folder()))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("NEO4J_URI", uri)
    monkeypatch.setenv("NEO4J_USERNAME", user)
    monkeypatch.setenv("NEO4J_PASSWORD", password)
    monkeypatch.setenv("REMEMBRANCER_NAMESPACE", f"test-{uuid.uuid4()}")
    async with LocalServer.open(default_path()):  # so that it starts once, and each program joins it
        for block in blocks(page):
            if block.is_script:
                printed = await asyncio.to_thread(run_program, block.code, tmp_path)
                assert printed == (block.printed or printed)


def run_program(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
async def memory(neo4j_server: tuple[str, tuple[str, str]]) -> AsyncIterator[Memory]:
    """The memory that the fragments on a page use; one a page."""
    uri, auth = neo4j_server
    namespace = f"test-{uuid.uuid4()}"
    async with Memory.connect(uri, auth=auth, namespace=namespace, embedder=HashingEmbedder()) as opened:
        yield opened


@pytest.fixture
def own_tracing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets a page set the tracer provider of the process, which can be set once, and takes it back."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    tracing._tracer.cache_clear()
    yield
    monkeypatch.undo()
    tracing._tracer.cache_clear()


@pytest.mark.neo4j
@pytest.mark.usefixtures("own_tracing")
@pytest.mark.parametrize("page", pages(with_scripts=False), ids=name)
async def test_the_fragments_on_a_page_run_one_after_the_other(page: Path, memory: Memory, tmp_path: Path) -> None:
    names: dict[str, object] = {"memory": memory}
    for place, block in enumerate(blocks(page)):
        if block.is_script:
            continue
        if block.is_test_module:
            await asyncio.to_thread(run_as_tests, block.code, tmp_path / f"test_example_{place}.py")
            continue
        program = compile(block.code, name(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(program, names)
        if inspect.isawaitable(result):
            await result


def run_as_tests(code: str, file: Path) -> None:
    if "store_contract" not in code:
        code += "\n\nasync def test_the_memory_is_open(memory):\n    assert memory.namespace\n"
    file.write_text(code, "utf-8")
    options = ["asyncio_mode=auto", "asyncio_default_fixture_loop_scope=session"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-c", os.devnull, "-p", "no:cacheprovider", str(file)]
    command += [f"--override-ini={option}" for option in options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=file.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def everything_said() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)


def test_every_public_name_is_in_the_documentation() -> None:
    said = everything_said()
    assert [public for public in remembrancer.__all__ if not re.search(rf"`{re.escape(public)}`", said)] == []


def test_every_error_is_in_the_documentation() -> None:
    from remembrancer.records import errors

    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    kinds = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert [kind.__name__ for kind in kinds if f"`{kind.__name__}`" not in page] == []


def test_every_environment_variable_is_in_the_documentation() -> None:
    sources = "\n".join(file.read_text("utf-8") for file in (ROOT / "src").glob("**/*.py"))
    read = set(re.findall(r"\"((?:NEO4J|REMEMBRANCER)_[A-Z0-9_]+)\"", sources))
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    assert "REMEMBRANCER_NAMESPACE" in read
    assert sorted(variable for variable in read if f"`{variable}`" not in page) == []


def test_every_weight_of_recall_is_in_the_documentation_with_its_default() -> None:
    page = (ROOT / "docs" / "recall.md").read_text("utf-8")
    listed = {name: float(number) for name, number in re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", page, re.MULTILINE)}
    assert listed == RecallWeights().model_dump()


def test_every_part_of_a_score_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "recall.md").read_text("utf-8")
    assert [part for part in PARTS if f"`{part}`" not in page] == []


def test_every_command_is_in_the_documentation() -> None:
    application = importlib.import_module("remembrancer.cli.application").application
    commands = {command.name or command.callback.__name__ for command in application.registered_commands}
    said = everything_said()
    assert len(commands) > 5
    assert [command for command in sorted(commands) if f"remembrancer {command}" not in said] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in _LINK.findall(page.read_text("utf-8")):
        assert not link or (page.parent / link).exists(), f"{name(page)} links to {link}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_module_that_is_named_exists(page: Path) -> None:
    for dotted in sorted(set(re.findall(r"`(remembrancer(?:\.\w+)+)`", page.read_text("utf-8")))):
        parts = dotted.split(".")
        try:
            importlib.import_module(dotted)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(".".join(parts[:-1])), parts[-1]), dotted
