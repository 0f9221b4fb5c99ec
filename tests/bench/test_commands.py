"""`bench` as a user runs it: files, tables, one document, nothing left in the database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from remembrancer.bench import BASELINES
from remembrancer.cli.application import application
from remembrancer.graph import Database

ROOT = Path(__file__).resolve().parents[2]
NOBODY = ["--uri", "bolt://localhost:1"]

Data = dict[str, Any]
Write = Callable[[Data], Path]


class Ran(NamedTuple):
    code: int
    stdout: str
    stderr: str


def run(*arguments: object) -> Ran:
    result = CliRunner(env={"NEO4J_URI": "", "NEO4J_PASSWORD": "", "COLUMNS": "140"}).invoke(
        application, ["bench", *map(str, arguments)]
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def server(neo4j_server: tuple[str, tuple[str, str]]) -> list[str]:
    uri, (username, password) = neo4j_server
    return ["--uri", uri, "--username", username, "--password", password]


@pytest.fixture
def bench_nodes(neo4j_server: tuple[str, tuple[str, str]]) -> Callable[[], int]:
    """Counts what lies in namespaces of benchmarks, and such namespaces."""
    uri, auth = neo4j_server
    statement = (
        "MATCH (n) WHERE n.namespace STARTS WITH 'bench-' OR (n:Namespace AND n.name STARTS WITH 'bench-') "
        "RETURN count(*) AS number"
    )

    async def count() -> int:
        async def work(transaction: Any) -> int:
            rows = await transaction.run(statement, {})
            return int(rows[0]["number"])

        async with Database.open(uri, auth=auth) as database:
            return await database.write(work)

    return lambda: asyncio.run(count())


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.neo4j
def test_a_run_leaves_files_and_nothing_in_the_database(
    server: list[str], write: Write, conversations: Data, tmp_path: Path, bench_nodes: Callable[[], int]
) -> None:
    out = tmp_path / "new" / "out"
    before = bench_nodes()
    ran = run("retrieval", "--data", write(conversations), "--out", out, "--embedder", "hashing", *server)
    assert ran.code == 0
    assert "remembrancer" in ran.stdout
    assert "hybrid" in ran.stdout
    assert "single-hop" in ran.stdout
    assert [file.name for file in out.glob("*.jsonl")] == ["remembrancer.jsonl"]
    assert sorted(file.stem for file in (out / "baselines").glob("*.jsonl")) == sorted(BASELINES)
    rows = lines(out / "remembrancer.jsonl")
    assert [row["question_id"] for row in rows] == ["7/Q1", "7/Q2", "8/Q1"]
    assert rows[0]["retrieved"][0]["source_ids"] == ["7/1:1"]
    assert bench_nodes() == before


@pytest.mark.neo4j
def test_json_is_one_document_the_same_as_in_the_report(
    server: list[str], write: Write, paragraphs: Data, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for _ in range(2):  # a second run into the same folder takes the first one's place
        ran = run("retrieval", "--data", write(paragraphs), "--out", out, "--embedder", "hashing", "--json", *server)
        assert ran.code == 0
    document = json.loads(ran.stdout)
    assert document == json.loads((out / "report.json").read_text("utf-8"))
    assert (document["facts"], document["embedder"]) == ("rules", "hashed-words-1")
    assert document["scores"]["remembrancer"]["isles"]["recall"]["5"] == 1.0


def test_extraction_needs_no_server(write: Write, cases: Data, tmp_path: Path) -> None:
    ran = run("extraction", "--data", write(cases), "--out", tmp_path / "out", "--json")
    assert ran.code == 0
    assert json.loads(ran.stdout)["overall"]["safe cases"] == {"hits": 1, "of": 1}
    rows = lines(tmp_path / "out" / "remembrancer.jsonl")
    assert rows[0]["relationships"] == [{"source": "Nora Vik", "type": "manage", "target": "Tide Project"}]
    assert {"name": "Nora Vik", "type": "person"} in rows[0]["entities"]


def test_the_table_of_extraction_has_every_category(write: Write, cases: Data, tmp_path: Path) -> None:
    told = run("extraction", "--data", write(cases), "--out", tmp_path / "out").stdout
    assert "standard" in told
    assert "100.0 (1/1)" in told


def test_a_folder_with_another_run_is_refused_before_anything_is_done(
    write: Write, conversations: Data, tmp_path: Path
) -> None:
    (tmp_path / "other.jsonl").touch()
    ran = run("retrieval", "--data", write(conversations), "--out", tmp_path, "--embedder", "hashing", *NOBODY)
    assert ran.code == 2
    assert "holds another run, other.jsonl" in ran.stderr


@pytest.mark.parametrize("command", ["retrieval", "extraction"])
def test_data_that_is_not_there_and_a_file_as_folder_end_with_2(
    write: Write, conversations: Data, cases: Data, tmp_path: Path, command: str
) -> None:
    assert run(command, "--data", tmp_path / "none.json", "--out", tmp_path).code == 2
    file = write(conversations if command == "retrieval" else cases)
    ran = run(command, "--data", file, "--out", file)
    assert ran.code == 2
    assert "--out" in ran.stderr


def test_a_server_that_does_not_answer_ends_with_3(write: Write, conversations: Data, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = run("retrieval", "--data", write(conversations), "--out", out, "--embedder", "hashing", *NOBODY)
    assert (ran.code, ran.stdout) == (3, "")


@pytest.mark.parametrize("command", ["retrieval", "extraction"])
def test_both_commands_have_help_and_are_in_the_documentation(command: str) -> None:
    told = run(command, "--help")
    assert told.code == 0
    assert "Exit codes: 0 fine" in " ".join(told.stdout.split())
    for page in ("README.md", "docs/benchmarks.md"):
        assert f"remembrancer bench {command}" in (ROOT / page).read_text("utf-8")
