"""Command lines: any word as any argument ends in an answer or in an error that names it, never in a traceback."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, get_args

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz, fuzz_costly, in_time, only_ours
from tests.fuzz.outside import odd_texts
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.testing import CliRunner

from remembrancer import Memory
from remembrancer.cli import connection
from remembrancer.cli.application import application
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.gate_simulation import _lesson
from remembrancer.cli.gating import _chance
from remembrancer.cli.recalling import _BECAUSE
from remembrancer.graph import Database
from remembrancer.records import InvalidInputError, RecordBatch
from remembrancer.retrieval.recall.answer import EmptyBecause
from remembrancer.testing.samples import entity, fact, sample_id

PROGRAM = typer.main.get_command(application)
COMMANDS = [
    "recall", "show", "history", "why", "passes", "conflicts", "resolve", "consolidate", "restore", "undo", "forget",
    "ingest", "retry-extraction", "ledger record", "gate run", "gate report",
]  # fmt: skip
LEFT_OUT = {
    "path",
    "uri",
    "username",
    "password",
    "database",
    "embedder",
    "extractor",
    "llm_model",
    "llm_url",
    "help",
    "compact",
    "debug",
}
"""Options that reach for a server or a model."""

words = st.one_of(
    odd_texts.filter(lambda one: "\x00" not in one and len(one) < 2_000),
    st.sampled_from([sample_id("fact", 1), sample_id("entity", 2), "2025-01-01", "2025-01-01T00:00Z", "0", "1", "-1",
        "0.5", "1e400", "nan",
                     "99999999999999999999", "--", "-x", "--limit", "soft", "promoted", "held", "a=0.5",
                     f"{sample_id('fact', 1)}=nan",
                     "/nowhere/a.json", "tea", "\udcff", "[red]x[/red]", "[/]"]),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands work on a memory in this process, with something in it."""

    @asynccontextmanager
    async def reach(*_: Any, **__: Any) -> AsyncIterator[connection.Address]:
        yield connection.Address("bolt://nowhere", None, None)

    @asynccontextmanager
    async def memory_at(*_: Any, **__: Any) -> AsyncIterator[Memory]:
        async with Memory.in_memory() as memory:
            odd = entity(2, attributes={"half": "\ud800", "markup": "[/red]"})
            await memory.store.write(RecordBatch(entities=[odd], facts=[fact(1, content="Tea is hot.")]))
            yield memory

    async def chosen(*_: Any, **__: Any) -> None:
        return None

    monkeypatch.setattr(connection.Server, "reach", reach)
    monkeypatch.setattr(connection, "memory_at", memory_at)
    monkeypatch.setattr(connection, "_chosen", chosen)
    monkeypatch.delenv("REMEMBRANCER_LLM_MODEL", raising=False)


def run(arguments: list[str]) -> Any:
    """A command as it is run from a shell."""
    with in_time():
        result = CliRunner().invoke(application, arguments, input="")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in set(ExitCode)
    if "--json" in arguments and result.stdout and result.exit_code != ExitCode.USAGE:
        assert isinstance(json.loads(result.stdout), dict)
    return result


def parameters(name: str) -> Iterator[TyperArgument | TyperOption]:
    """What a command takes."""
    command: Any = PROGRAM
    for word in name.split():
        command = command.commands[word]
    return (one for one in command.params if one.name not in LEFT_OUT)


@st.composite
def command_lines(draw: st.DrawFn, name: str) -> list[str]:
    """A command with options and arguments of all kinds."""
    given_in = name.split()
    for one in parameters(name):
        if isinstance(one, TyperArgument):
            given_in += draw(
                st.lists(words, min_size=0 if draw(st.integers(0, 9)) == 0 else 1, max_size=1 if one.nargs == 1 else 2)
            )
        elif draw(st.booleans()):
            given_in += [one.opts[0]] if one.is_flag else [one.opts[0], draw(words)]
    return [*given_in, *draw(st.sampled_from([[], ["--json"], ["--yes"]]))]


@pytest.mark.parametrize("name", COMMANDS)
@fuzz_costly
@given(data=st.data())
def test_any_command_line_ends_with_a_code_that_is_documented(name: str, data: st.DataObject) -> None:
    run(data.draw(command_lines(name)))


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_question_is_answered(text: str) -> None:
    result = run(["recall", text])
    assert result.exit_code == 0
    assert "Nothing found: the text is empty." in result.stdout
    assert set(_BECAUSE) == set(get_args(EmptyBecause))


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_half_a_character_can_be_shown(how: list[str]) -> None:
    result = run(["show", sample_id("entity", 2), *how])
    assert result.exit_code == 0
    if how:
        assert json.loads(result.stdout)["record"]["attributes"]["half"] == "\ud800"


@fuzz
@given(
    text=words
    | st.lists(words, min_size=2, max_size=3).map("=".join)
    | st.lists(words, min_size=2, max_size=3).map("@".join)
)
def test_any_lesson_and_chance_is_read_or_refused(text: str) -> None:
    with only_ours():
        lesson = _lesson(text)
        assert math.isfinite(lesson.true_effect)
    with only_ours():
        _chance(text)


@pytest.mark.parametrize(
    "address",
    ["", "localhost", "http://localhost", "bolt://[::1", "neo4j://[", "bolt://localhost:x", "bolt://localhost:-1",
     "bolt://localhost:1:2", f"bolt://localhost:{'9' * 5_000}", f"bolt://{'a' * 300}:1", "bolt://..:1", "bolt://\ud800:1",
     "bolt://localhost:1?x=1", "bolt://user:secret@localhost:1"],
)  # fmt: skip
async def test_an_address_that_is_none_is_refused_by_name(address: str) -> None:
    with in_time(), pytest.raises(InvalidInputError, match=r"^uri: "):
        async with Database.open(address, auth=("neo4j", "p")):
            pass


def test_each_command_with_a_namespace_is_tried() -> None:
    def named(group: Any, *above: str) -> Iterator[str]:
        for name, command in group.commands.items():
            if isinstance(command, TyperGroup):
                yield from named(command, *above, name)
            elif any(one.name == "namespace" for one in command.params):
                yield " ".join([*above, name])

    assert set(named(PROGRAM)) - set(COMMANDS) <= {"export", "import", "reembed", "migrate", "doctor"}
