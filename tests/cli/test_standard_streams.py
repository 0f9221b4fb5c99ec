"""`-` is standard input or output where a command works with them, and no file anywhere; and empty files by all."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from remembrancer.cli.application import application
from remembrancer.cli.output import Output
from remembrancer.lifecycle.transfer_lines import Header, encoded

NOBODY = ["--uri", "bolt://localhost:1"]
MEMORY = {"id": "1", "memory": "Ada sings.", "created_at": "2026-01-01"}

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("content", ["", " \n\n", "\ufeff"])
@pytest.mark.parametrize(
    "command",
    [
        ["ingest", "a.jsonl"],
        ["ingest", "a.json"],
        ["ingest", "a"],
        ["ingest", "a.json", "--format", "chatgpt"],
        ["import", "a.jsonl"],
        ["import", "a.json", "--format", "mem0"],
        ["import", "a.jsonl", "--format", "graphiti"],
    ],
)
def test_an_empty_file_is_told_in_the_same_words_by_every_command(
    run: Run, here: Path, command: list[str], content: str
) -> None:
    file = command[1]
    (here / file).write_text(content, encoding="utf-8")
    ran = run(*command, *NOBODY)
    assert (ran.code, ran.stdout, ran.stderr) == (2, "", f"error: FILE: {file} is empty\n")


@pytest.mark.parametrize(
    "command",
    [["ingest", "-"], ["ingest", "-", "--format", "jsonl"], ["import", "-"], ["import", "-", "--format", "mem0"]],
)
@pytest.mark.parametrize("content", ["", " \n\n"])
def test_so_is_standard_input(run: Run, command: list[str], content: str) -> None:
    ran = run(*command, *NOBODY, stdin=content)
    assert (ran.code, ran.stdout, ran.stderr) == (2, "", "error: FILE: standard input is empty\n")


def test_an_empty_backup_is_one_more(run: Run, here: Path) -> None:
    (here / "a").touch()
    ran = run("restore-backup", "a", "--path", "memory")
    assert (ran.code, ran.stderr) == (2, f"error: FILE: {here / 'a'} is empty\n")
    assert os.listdir(here) == ["a"]


def test_empty_data_of_a_benchmark_are_one_more(run: Run, here: Path) -> None:
    (here / "a").touch()
    ran = run("bench", "extraction", "--data", "a", "--out", "out")
    assert (ran.code, ran.stderr) == (2, "error: --data: a is empty\n")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["backup", "-"], "FILE"),
        (["restore-backup", "-"], "FILE"),
        (["bench", "extraction", "--data", "-", "--out", "out"], "--data"),
        (["bench", "extraction", "--data", "data", "--out", "-"], "--out"),
        (["status", "--path", "-"], "--path"),
        (["up", "--path", "-"], "--path"),
        (["ingest", "a", "--path", "-"], "--path"),
        (["gate", "oc", "--chart", "-"], "--chart"),
    ],
)
def test_a_command_that_needs_a_name_refuses_the_sign_for_none(
    run: Run, here: Path, command: list[str], name: str
) -> None:
    ran = run(*command)
    assert (ran.code, ran.stdout, os.listdir(here)) == (2, "", [])
    assert name in ran.stderr


def _commands(group: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, *names, name)
        else:
            yield (*names, name), command


_NAMED = [
    (words, parameter)
    for words, command in _commands(typer.main.get_command(application))
    for parameter in command.params
    if parameter.name in ("path", "file", "files") or parameter.metavar in ("PATH", "FILE", "FILE...", "FOLDER")
]


@pytest.mark.parametrize(("words", "parameter"), _NAMED, ids=[" ".join(one[0]) for one in _NAMED])
def test_an_empty_name_is_not_the_current_folder(run: Run, here: Path, words: tuple[str, ...], parameter: Any) -> None:
    named = parameter.opts[0].startswith("-")
    ran = run(*words, *([parameter.opts[0], ""] if named else [""]), "--json")
    assert (ran.code, os.listdir(here)) == (2, [])
    message = ran.document["error"]["message"]
    assert "expected a path, got an empty text" in message
    assert (parameter.opts[0] if named else "FILE") in message


def test_every_command_with_a_file_or_a_folder_is_asked_for_an_empty_one() -> None:
    asked = {" ".join(words) for words, _ in _NAMED}
    assert {"export", "import", "ingest", "backup", "restore-backup", "up", "recall", "bench retrieval"} <= asked


def test_records_and_a_document_cannot_both_be_on_stdout(run: Run, here: Path) -> None:
    ran = run("export", "-", "--json", *NOBODY)
    assert (ran.code, ran.document["error"]["type"], os.listdir(here)) == (2, "InvalidInputError", [])
    assert ran.document["error"]["message"].startswith("--json: with - as the file the records are on stdout")


def test_standard_input_is_read_once(run: Run) -> None:
    ran = run("import", "-", "-", "--format", "mem0", *NOBODY, stdin="{}")
    assert (ran.code, ran.stderr) == (2, "error: FILE: - is there twice, and standard input can be read once\n")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="open files have no names there")
@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        (json.dumps(MEMORY).encode(), 3, "Neo4j at bolt://localhost:1 cannot be reached"),
        (b"text", 2, "{number}, line 1: expected a list or an object in JSON"),
        (b"", 2, "FILE: /dev/fd/{number} is empty"),
    ],
)
def test_a_pipe_that_has_a_name_is_read_as_a_file(run: Run, content: bytes, code: int, told: str) -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
        os.close(writing)
        ran = run("import", f"/dev/fd/{reading}", "--format", "mem0", *NOBODY)
    finally:
        os.close(reading)
    assert ran.code == code
    assert ran.stderr.startswith("error: " + told.format(number=reading))


def test_a_name_that_is_too_long_is_told_of_an_import(run: Run) -> None:
    ran = run("import", "n" * 300, *NOBODY)
    assert (ran.code, ran.stderr.startswith("error: FILE: cannot read nnn")) == (2, True)


def test_a_wrong_line_of_standard_input_is_named(run: Run) -> None:
    ran = run("import", "-", *NOBODY, stdin="{}\n")
    assert ran.code == 2
    assert ran.stderr.startswith("error: standard input, line 1: not the header of an export")


_LATER = json.dumps({"role": "user", "content": "One.", "timestamp": "2026-03-02"})


@pytest.mark.parametrize(
    ("arguments", "content", "told"),
    [
        (["import", "a.json", "--format", "mem0"], [MEMORY, {"id": "2"}], "a.json, line 1, element 2: "),
        (["import", "a.json", "--format", "graphiti"], [MEMORY], "a.json, line 1, element 1: "),
        (["import", "a.json", "--format", "mem0", "--vectors-by", ""], [MEMORY], "--vectors-by: "),
        (["import", "a.json"], [MEMORY], "a.json, line 1: not the header of an export: expected an object with "),
        (["import", "a.json", "--format", "mem0"], "text", "a.json, line 1: expected a list or an object in JSON"),
        (["ingest", "a.json"], [json.loads(_LATER), {"role": "user"}], "messages.1.content: "),
        (["ingest", "a.json", "--idempotency-key", ""], [], "--idempotency-key: "),
        (["ingest", "-", "--format", "jsonl"], {"role": "user"}, "line 1.content: "),
        (["ingest", "-"], {"role": "user"}, "line 1.content: "),
    ],
)
def test_a_memory_is_opened_for_input_that_can_be_read(
    run: Run, here: Path, arguments: list[str], content: object, told: str
) -> None:
    (here / "a.json").write_text(json.dumps(content), encoding="utf-8")
    ran = run(*arguments, *NOBODY, stdin=json.dumps(content))  # to open it would end with 3
    assert (ran.code, ran.stderr[: len(told) + 7]) == (2, f"error: {told}")


def test_so_it_is_for_an_export_that_is_whole(run: Run, here: Path) -> None:
    (here / "a").write_bytes(encoded(Header(remembrancer_export=1, space=None)))
    ran = run("import", "a", *NOBODY)
    assert (ran.code, ran.stderr) == (2, "error: a, line 1: the export is cut off: the line that ends it is missing\n")


@pytest.mark.neo4j
def test_a_namespace_goes_through_a_pipe_into_another(filled: Run, run: Run, server: list[str], here: Path) -> None:
    assert filled("export", "a.jsonl").code == 0
    there = [*server, "--namespace", f"test-{uuid.uuid4()}"]
    piped = filled("export", "-")
    assert (piped.code, piped.stdout) == (0, (here / "a.jsonl").read_text(encoding="utf-8"))
    assert "Not carried:" in piped.stderr
    taken = run("import", "-", *there, "--json", stdin=piped.stdout)
    assert (taken.code, taken.document["counts"]["episode"] > 0) == (0, True)
    assert run("export", "-", *there).stdout == piped.stdout
    assert os.listdir(here) == ["a.jsonl"]
    run("forget", "--everything", "--yes", *there)


@pytest.mark.neo4j
def test_a_dump_of_another_memory_comes_by_standard_input(remember: Run) -> None:
    lines = f"{json.dumps(MEMORY)}\n{json.dumps({'id': '2'})}\n"
    arguments = ["import", "-", "--format", "mem0", "--embedder", "none"]
    refused = remember(*arguments, stdin=lines)
    assert (refused.code, refused.stderr.splitlines()[-1][:31]) == (2, "error: standard input, line 2: ")
    taken = remember(*arguments, "--skip-bad", "--json", stdin=lines).document
    assert (taken["created"]["fact"], [one["file"] for one in taken["problems"]]) == (1, ["-"])


@pytest.mark.neo4j
@pytest.mark.skipif(os.name != "posix", reason="a pipe is closed in another way there")
def test_an_export_that_nobody_reads_to_its_end_says_so(filled: Run, server: list[str], namespace: str) -> None:
    command = [sys.executable, "-m", "remembrancer.cli", "export", "-", "--namespace", namespace, *server]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        told = process.stderr.read().splitlines()
        assert (process.wait(60), told) == (2, ["error: FILE: cannot write to standard output: Broken pipe"])


def _shell(line: str, *, nowhere: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of the shell, where `$R` is the command line and `$NOWHERE` a folder without a server."""
    program = f"{shlex.quote(sys.executable)} -m remembrancer.cli"
    variables = {"NOWHERE": str(nowhere), "NEO4J_URI": ""}
    return subprocess.run(
        ["/bin/sh", "-c", line.replace("$R", program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **variables},
    )


@pytest.mark.skipif(os.name != "posix", reason="there is no such shell")
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("$R import - <&-", 2, "error: FILE: standard input is closed\n"),
        ("$R ingest - <&-", 2, "error: FILE: standard input is closed\n"),
        ("$R export - >&-", 2, "error: standard output is closed, and nothing was done; > /dev/null if nobody"),
        ("$R status --path $NOWHERE --json 2>&-", 3, ""),
    ],
)
def test_a_closed_stream_is_told_of(tmp_path: Path, line: str, code: int, told: str) -> None:
    ran = _shell(line, nowhere=tmp_path / "nowhere")
    assert ran.returncode == code
    assert ran.stderr.startswith(told)
    assert len(ran.stderr.splitlines()) == bool(told)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@pytest.mark.parametrize(("options", "code"), [("status --path $NOWHERE --json", 3), ("status -h", 1)])
def test_an_answer_that_cannot_be_written_is_told_of(tmp_path: Path, options: str, code: int) -> None:
    ran = _shell(f"$R {options} >/dev/full", nowhere=tmp_path / "nowhere")
    assert ran.returncode == code
    assert ran.stderr == "error: cannot write to standard output: No space left on device\n"


def test_a_command_whose_answer_is_lost_has_failed() -> None:
    output = Output()
    output.lost.append(OSError(errno.ENOSPC, "full"))
    assert [output.ended(code) for code in (0, 3)] == [1, 3]
    assert Output().ended(0) == 0
