"""Whatever a command tells of a namespace, it is as if that had the database to itself."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from tests.isolation.conftest import fill, without_names
from tests.surface import EMBEDDER, OURS, SAID, THEIRS, in_family
from typer.testing import CliRunner

from remembrancer import Memory
from remembrancer.cli.application import application
from remembrancer.ports import Embedder
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.testing import FixedClock
from remembrancer.testing.samples import day, sample_id

pytestmark = pytest.mark.neo4j

FACT = sample_id("fact", 1)

COMMANDS: dict[str, list[str]] = {
    "recall": ["entity", "--embedder", "none"],
    "show": [FACT],
    "history": [sample_id("entity", 7)],
    "why": [FACT],
    "passes": [],
    "doctor": ["--deep"],
    "gate report": [],
    "export": ["{file}"],
    "conflicts": [],
    "ledger record": ["run", "0.5", FACT],
    "gate run": ["--candidate-tag", "a"],
    "resolve": ["--yes"],
    "consolidate": ["--max-facts", "1", "--yes"],
    "restore": [sample_id("entity", 7), "--yes"],
    "undo": [FACT, "--yes"],
    "ingest": ["-", "--embedder", "none"],
    "retry-extraction": ["--extractor", "rules", "--embedder", "none"],
    "forget": [sample_id("message", 1), "--yes"],
    "import": ["{file}"],
    "reembed": ["--embedder", "hashing"],
}
"""Arguments of every command that has a namespace, in the order in which they are run."""

REFUSED = {"import", "undo"}
"""Of a file that is not there, and of an id that is no pass."""

_CREATED = re.compile(r"\b20(?!25-01)\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?")
_SUM = re.compile(r"\b[0-9a-f]{64}\b")


def commands(group: Any, *above: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *above, name)
        else:
            yield " ".join((*above, name)), command


NAMESPACED = [
    name
    for name, command in commands(typer.main.get_command(application))
    if any(one.name == "namespace" for one in command.params)
]


@pytest.fixture(scope="module")
def told(neo4j_server: tuple[str, tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What every command told: of a namespace that is alone, and of one beside another; each of own and foreign ids."""
    uri, (username, password) = neo4j_server
    alone, ours, theirs, moved = (f"test-{uuid.uuid4()}" for _ in range(4))

    async def prepare(namespace: str, family: str | None, embedder: Embedder | None = EMBEDDER) -> None:
        connecting = Memory.connect(
            uri,
            auth=(username, password),
            namespace=namespace,
            embedder=embedder,
            warm=False,
            clock=FixedClock(day(10)),
        )
        async with connecting as memory:
            await memory.clear()
            if family is not None:
                await fill(memory, family)

    def run(namespace: str, name: str, family: str) -> str:
        at = ["--uri", uri, "--username", username, "--password", password, "--namespace", namespace, "--json"]
        file = tmp_path_factory.mktemp("export") / "memory.jsonl"
        given = [one.format(file=file) for one in in_family(COMMANDS[name], family)]
        ran = CliRunner(env={"NEO4J_URI": "", "NEO4J_PASSWORD": "", "COLUMNS": "120"}).invoke(
            application,
            [*name.split(), *given, *at],
            input=json.dumps(in_family(SAID, family)),
        )
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        text = without_names(f"{ran.exit_code}\n{ran.stdout}\n{ran.stderr}", namespace)
        return _CREATED.sub("<now>", _SUM.sub("<sum>", text.replace(str(file), "<file>")))

    def walk(namespace: str) -> dict[str, list[str]]:
        asyncio.run(prepare(namespace, OURS))
        return {
            name: [run(namespace, name, family) for family in (OURS, THEIRS)] for name in COMMANDS if name in NAMESPACED
        }

    # All namespaces share what models there are: the one that a command moves to must be there for both walks.
    asyncio.run(prepare(moved, None, HashingEmbedder()))
    by_itself = walk(alone)
    asyncio.run(prepare(alone, None, None))
    asyncio.run(prepare(theirs, THEIRS))
    beside = walk(ours)
    for namespace in (ours, theirs):
        asyncio.run(prepare(namespace, None, None))
    return {name: [*by_itself[name], *beside[name]] for name in by_itself}


def test_every_command_with_a_namespace_is_run() -> None:
    assert set(NAMESPACED) - set(COMMANDS) == set(), "say in COMMANDS how to call it"


@pytest.mark.long
@pytest.mark.parametrize("name", NAMESPACED)
def test_a_command_tells_what_it_tells_of_a_namespace_by_itself(told: dict[str, list[str]], name: str) -> None:
    alone, alone_of_foreign, beside, beside_of_foreign = told[name]
    assert beside == alone
    assert beside_of_foreign == alone_of_foreign
    assert THEIRS not in beside
    assert beside.startswith(("0", "1")) or name in REFUSED, beside
