"""What holds for every command: help, exit codes, one line an error, pure JSON; and the process as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembrancer.records import ServerUnavailableError

COMMANDS = ["ingest", "recall", "show", "demo", "up", "down", "status", "browser", "migrate", "doctor"]
NOBODY = ["--uri", "bolt://localhost:1"]

Run = Callable[..., Any]


def started(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs Python as a user would, without this run's variables that name a Neo4j."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "REMEMBRANCER"))}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**environment, **variables},
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_explains_the_exit_codes(run: Run, command: str) -> None:
    ran = run(command, "--help")
    assert ran.code == 0
    assert "Exit codes: 0 fine; 1 something failed" in " ".join(ran.stdout.split())


def test_the_help_lists_every_command(run: Run) -> None:
    told = run("--help").stdout
    assert [command for command in COMMANDS if f" {command} " not in told] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["recall"],
        ["recall", "x", "--limit", "many"],
        ["recall", "x", "--embedder", "gpt"],
        ["recall", "x", *NOBODY, "--path", "somewhere"],
        ["recall", "x", *NOBODY, "--valid-at", "yesterday"],
        ["recall", "x", *NOBODY, "--believed-at", "2026-13-01"],
        ["recall", "x", *NOBODY, "--max-tokens", "10"],
        ["recall", "x", *NOBODY, "--prompt", "--max-tokens", "0"],
        ["ingest", "no-such-file.jsonl", *NOBODY],
        ["migrate", "--uri", "nonsense"],
        ["recall", "x", *NOBODY, "--namespace", ""],
        ["show", "x", *NOBODY, "-n", "x" * 5_000],
    ],
)
def test_wrong_usage_ends_with_2(run: Run, arguments: list[str]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("arguments", [["recall", "x"], ["migrate"], ["doctor"]])
def test_a_server_that_does_not_answer_ends_with_3_and_one_line(run: Run, arguments: list[str]) -> None:
    ran = run(*arguments, *NOBODY)
    assert (ran.code, ran.stdout) == (3, "")
    assert ran.stderr.startswith("error: Neo4j at bolt://localhost:1 cannot be reached")
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"OPENAI_BASE_URL": "nonsense"}, "error: OPENAI_BASE_URL: expected an address"),
        ({"OPENAI_BASE_URL": "http://localhost:1/v1", "OPENAI_API_KEY": "a b"}, "error: OPENAI_API_KEY: expected"),
    ],
)
def test_what_is_wrong_with_a_variable_is_told_of_it(
    run: Run, tmp_path: Path, monkeypatch: Any, variables: dict[str, str], named: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = run("reembed", "--embedder", "openai:m", "--path", str(tmp_path / "nothing"))
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(named)


@pytest.mark.parametrize("command", [["migrate"], ["recall", "x"], ["doctor"]])
def test_an_error_about_an_option_of_a_group_names_the_option(run: Run, command: list[str]) -> None:
    assert run(*command, "--uri", "nonsense").stderr.startswith("error: --uri: expected an address")


def test_an_error_under_json_is_a_document_too(run: Run) -> None:
    ran = run("migrate", "--json", *NOBODY)
    assert ran.code == 3
    assert ran.document["error"]["type"] == "ServerUnavailableError"
    assert " ".join(ran.document["error"]["message"].split()) in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", "nonsense"], "--json"),
        (["nonsense", "--json"], "nonsense"),
        (["recall", "--json"], "TEXT"),
        (["--json", "recall", "x"], "--json"),
        (["recall", "x", "--jsonn", "--json"], "--jsonn"),
        (["recall", "x", "--json", "--limit", "many"], "valid integer"),
        (["recall", "x", "--embedder", "gpt", "--json"], "--embedder"),
        (["recall", "x", "y", "--json"], "y"),
        (["gate", "nonsense", "--json"], "nonsense"),
        (["bench", "extraction", "--json"], "--data"),
        (["import", "a", "b", "--json"], "an export is one file"),
        (["backup", "-", "--json"], "standard input"),
        (["recall", "x", "--json", *NOBODY, "--valid-at", "yesterday"], "--valid-at"),
    ],
)
def test_wrong_usage_under_json_is_one_document_too(run: Run, arguments: list[str], message: str) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    error = ran.document["error"]
    assert error["type"] in ("UsageError", "InvalidInputError")
    assert message in error["message"]
    assert ran.stderr


def test_a_text_that_is_spelled_as_the_option_asks_for_no_document(run: Run) -> None:
    ran = run("recall", "--limit", "many", "--", "--json")
    assert (ran.code, ran.stdout) == (2, "")


def test_debug_shows_where_an_error_comes_from(run: Run) -> None:
    with pytest.raises(ServerUnavailableError):
        run("migrate", "--debug", *NOBODY)


def test_a_folder_that_is_named_beats_the_address_in_the_environment(
    run: Run, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "somebody's file").touch()
    monkeypatch.setenv("NEO4J_URI", "bolt://localhost:1")
    ran = run("migrate", "--path", str(tmp_path))
    assert ran.code == 2
    assert "holds something else" in ran.stderr


@pytest.mark.neo4j
def test_a_wrong_password_ends_with_2(run: Run, server: list[str]) -> None:
    ran = run("migrate", *server[:4], "--password", "not the password")
    assert ran.code == 2
    assert ran.stderr.startswith("error: --password: ")
    assert "refused user and password" in ran.stderr


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_its_packages_the_command_line_names_the_extra(package: str) -> None:
    program = f"import sys; sys.modules[{package!r}] = None; from remembrancer.cli import main; main()"
    ran = started("-c", program)
    assert (ran.returncode, ran.stdout) == (1, "")
    told = f"the command line needs the package '{package}': pip install \"remembrancer[cli]\""
    assert ran.stderr.strip() == told
    under_json = started("-c", program, "recall", "x", "--json")
    assert under_json.returncode == 1
    assert json.loads(under_json.stdout) == {"error": {"type": "MissingPackageError", "message": told}}


def test_importing_the_package_of_the_command_line_loads_none_of_its_packages() -> None:
    program = (
        "import sys, remembrancer.cli; print([n for n in ('typer', 'rich', 'neo4j', 'numpy') if n in sys.modules])"
    )
    assert started("-c", program).stdout.strip() == "[]"


def test_the_version_is_told(run: Run) -> None:
    ran = run("--version")
    assert ran.code == 0
    assert ran.stdout.startswith("remembrancer ")


@pytest.mark.neo4j
@pytest.mark.long
def test_a_process_prints_one_document_and_keeps_the_rest_off_stdout(
    server: list[str], namespace: str, lines_file: Path
) -> None:
    variables = {"NEO4J_URI": server[1], "NEO4J_USERNAME": server[3], "NEO4J_PASSWORD": server[5]}
    program = ["-m", "remembrancer.cli"]
    shared = ["--json", "--namespace", namespace, "--debug"]
    ingested = started(*program, "ingest", str(lines_file), *shared, "--embedder", "hashing", **variables)
    assert ingested.returncode == 0
    assert json.loads(ingested.stdout)["counts"]["message"] == 3
    assert "vectors by hashed-words" in ingested.stderr
    recalled = started(*program, "recall", "Where does Priya work?", *shared, **variables)
    assert recalled.returncode == 0
    assert json.loads(recalled.stdout)["hits"]
    missing = started(*program, "show", "a0000000-0000-4000-8000-000000000000", "--namespace", namespace, **variables)
    assert (missing.returncode, missing.stdout) == (4, "")
    assert missing.stderr == (
        f"error: no record with id a0000000-0000-4000-8000-000000000000 in namespace {namespace!r}\n"
    )
