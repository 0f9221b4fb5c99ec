"""A signal ends a command in order: what is open is closed, one line says what holds, and the exit code names it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pytest

from remembrancer.cli.application import application
from remembrancer.cli.stopping import what_holds
from remembrancer.hierarchy.ingestion.pipeline import PORTION

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows knows no such signals")

Run = Callable[..., Any]

COMMAND = """
import asyncio, signal, sys, time
import typer
from remembrancer.cli.command import as_command
from remembrancer.cli.output import Output
from remembrancer.records import ServerUnavailableError

def say(what):
    print(what, file=sys.stderr, flush=True)

async def ingest(output: Output, how: str) -> None:
    if how == "answered":
        output.document({"answer": 42})
        sys.stdout.flush()
    try:
        say("begun")
        if how == "reads":
            from remembrancer.cli.message_file import messages_in
            with messages_in("-") as messages:
                for _ in messages:
                    pass
        elif how == "asks":
            from remembrancer.cli.asking import agreed
            agreed(output, "Erase?", yes=False)
        elif how == "computes":
            until = time.monotonic() + 0.5
            while time.monotonic() < until:
                pass
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(60 if how == "hangs" else 0.01)
        say("closed")
        if how == "breaks":
            raise ServerUnavailableError("it does not close")

application = typer.Typer()
application.command()(as_command(ingest))
application()
"""
HOLDS = "what was committed stays, and the same command goes on where it was"


@contextmanager
def running(
    *arguments: str, until: bytes = b"begun", told: bytes = b"", **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is told something, once it has said something on stderr; it does not outlive the block."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )
    try:
        if told and process.stdin is not None:
            process.stdin.write(told)
            process.stdin.flush()
        if process.stderr is not None:
            wait_for(process.stderr, until)
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(stream: IO[bytes], word: bytes) -> None:
    while word not in (line := stream.readline()):
        assert line, f"it ended without saying {word!r}"


@pytest.mark.parametrize(
    ("how", "sent", "code"),
    [
        ("waits", signal.SIGTERM, 143),
        ("waits", signal.SIGINT, 130),
        ("reads", signal.SIGTERM, 143),
        ("computes", signal.SIGTERM, 143),
    ],
)
def test_a_signal_cancels_the_work_closes_what_is_open_and_says_what_holds(
    how: str, sent: signal.Signals, code: int
) -> None:
    with running("-c", COMMAND, how) as command:
        command.send_signal(sent)
        # stdin stays open: whoever writes there may never end.
        assert command.wait(30) == code
        assert command.stdout is not None
        assert command.stderr is not None
        assert command.stdout.read() == b""
        assert command.stderr.read().decode().splitlines() == ["closed", f"stopped by {sent.name}: {HOLDS}"]


def test_a_simulation_is_broken_off() -> None:
    program = "import sys; from remembrancer.cli.application import application; "
    program += "print('begun', file=sys.stderr, flush=True); application()"
    with running("-c", program, "gate", "oc", "--engine", "stepwise", "--replicates", "100000") as command:
        time.sleep(4)
        assert command.poll() is None
        command.send_signal(signal.SIGTERM)
        _, told = command.communicate(timeout=60)
    assert (command.returncode, told.decode()) == (143, "stopped by SIGTERM: it only reads, and has changed nothing\n")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_before_a_command_has_begun_ends_it_with_a_word(sent: signal.Signals, code: int) -> None:
    program = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "remembrancer.cli.application":
            print("begun", file=sys.stderr, flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
from remembrancer.cli import main
main()
"""
    with running("-c", program, "recall", "hi", "--json") as command:
        command.send_signal(sent)
        answer, told = command.communicate(timeout=60)
    message = f"stopped by {sent.name}: nothing had begun"
    assert (command.returncode, told.decode()) == (code, f"{message}\n")
    assert json.loads(answer) == {"error": {"type": "Stopped", "message": message}}


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_command_that_nobody_reads_ends_as_its_work_does(options: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as unheard:
        command = subprocess.run(
            [
                sys.executable,
                "-m",
                "remembrancer.cli",
                "gate",
                "simulate",
                "--lesson",
                "a=0.2",
                "--runs",
                "5",
                *options,
            ],
            stdout=unheard,
            stderr=subprocess.PIPE,
            timeout=120,
        )
    assert (command.returncode, command.stderr) == (0, b"")


def test_of_every_command_that_writes_it_is_said_what_holds() -> None:
    groups = [application, *(group.typer_instance for group in application.registered_groups)]
    callbacks = [command.callback for group in groups if group for command in group.registered_commands]
    commands = {callback.__name__ for callback in callbacks if callback}
    reading = {"recall", "show", "history", "why", "passes", "status", "doctor", "report", "simulate", "oc"}
    assert {name for name in commands if what_holds(name) == what_holds("")} == reading


def test_one_signal_ends_a_question() -> None:
    controller, terminal = os.openpty()
    command = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "asks"], stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    shown = b""
    while b"Erase?" not in shown:
        shown += os.read(controller, 1000)
    time.sleep(0.5)  # to be sure that it waits for the answer
    command.send_signal(signal.SIGTERM)
    with suppress(OSError):  # the terminal is gone with its last user
        while told := os.read(controller, 1000):
            shown += told
    assert command.wait(30) == 143
    os.close(controller)
    assert b"closed" in shown
    assert b"stopped by SIGTERM: nothing was changed" in shown


def test_as_json_there_is_one_document() -> None:
    with running("-c", COMMAND, "waits", "--json") as command:
        command.send_signal(signal.SIGTERM)
        told, _ = command.communicate(timeout=30)
    assert json.loads(told) == {"error": {"type": "Stopped", "message": f"stopped by SIGTERM: {HOLDS}"}}
    with running("-c", COMMAND, "answered", "--json") as command:
        command.send_signal(signal.SIGTERM)
        told, _ = command.communicate(timeout=30)
    assert (command.returncode, json.loads(told)) == (143, {"answer": 42})


def test_a_second_signal_ends_it_at_once() -> None:
    with running("-c", COMMAND, "hangs") as command:
        command.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert command.poll() is None
        command.send_signal(signal.SIGTERM)
        assert command.wait(10) == -signal.SIGTERM  # 143 to a shell


def test_what_goes_wrong_while_closing_is_told() -> None:
    with running("-c", COMMAND, "breaks") as command:
        command.send_signal(signal.SIGTERM)
        _, told = command.communicate(timeout=30)
    assert command.returncode == 143
    assert told.decode().splitlines() == ["closed", "error: it does not close"]


def test_a_signal_that_a_shell_has_switched_off_stays_so() -> None:
    ignoring = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{COMMAND}"
    with running("-c", ignoring, "waits") as command:
        command.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert command.poll() is None
        command.send_signal(signal.SIGTERM)
        assert command.wait(30) == 143


@pytest.mark.neo4j
def test_a_stopped_ingest_keeps_what_it_committed_and_goes_on(remember: Run, server: list[str], namespace: str) -> None:
    def line(number: int) -> bytes:
        said = {"role": "user", "content": f"Number {number} was told.", "timestamp": f"2026-01-{1 + number // 24:02}"}
        return json.dumps({**said, "conversation": "one"}).encode() + b"\n"

    lines = [line(number) for number in range(PORTION + 50)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    program = ["-m", "remembrancer.cli", "ingest", "-", "--embedder", "none", "--format", "jsonl", *server]
    program += ["--namespace", namespace]
    with running(*program, told=lines[0], until=b"without vectors", env=environment) as command:
        assert command.stdin is not None
        command.stdin.writelines(lines[1:])
        command.stdin.flush()
        deadline = time.monotonic() + 60
        while stored(remember) == 0:
            assert time.monotonic() < deadline
        command.send_signal(signal.SIGTERM)
        assert command.wait(30) == 143
        assert command.stderr is not None
        assert command.stderr.read().decode() == f"stopped by SIGTERM: {HOLDS}\n"
    assert stored(remember) == PORTION
    again = remember("ingest", "-", "--embedder", "none", "--format", "jsonl", "--json", stdin=b"".join(lines))
    assert (again.code, again.document["counts"]["message"]) == (0, 50)
    assert remember("doctor", "--deep").code == 0


def stored(remember: Run) -> int:
    counts = remember("doctor", "--json").document["counts"]
    return next(int(one["stored"]) for one in counts if one["kind"] == "message")


PINNED = ["--heap", "384m"]


@pytest.fixture
def pinned(run: Run, tmp_path: Path, lines_file: Path) -> Iterator[Path]:
    """The folder of a server that runs until `down`, with three messages."""
    folder = tmp_path / "memory"
    ended = subprocess.run(
        [sys.executable, "-m", "remembrancer.cli", "up", *PINNED, "--path", str(folder)],
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    try:
        assert run("ingest", str(lines_file), "--embedder", "none", "--path", str(folder)).code == 0
        yield folder
    finally:
        run("down", "--path", str(folder))


def at_work_on_store(folder: Path) -> int:
    """Wait until Neo4j's own administration has the store's files open; the id of its process."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError, ValueError):
            process = json.loads((folder / "work.json").read_text())["process"]
            if process is not None:
                return int(process)
        time.sleep(0.02)
    raise AssertionError("no work on the store was begun")


def group_lives(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


def is_pinned(run: Run, folder: Path) -> bool:
    found = run("status", "--json", "--path", str(folder)).document
    return bool(found["running"] and found["pinned"])


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("command", ["backup", "restore-backup"])
def test_a_pinned_server_outlives_what_is_done_to_its_store_at_rest(
    run: Run, pinned: Path, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "memory.backup"
    arguments = [command, str(file), "--path", str(pinned), "--force"]
    if command == "restore-backup":
        assert run("backup", str(file), "--path", str(pinned)).code == 0
    with running("-m", "remembrancer.cli", *arguments, stderr=None) as stopped:
        leader = at_work_on_store(pinned)
        stopped.send_signal(signal.SIGTERM)
        assert stopped.wait(120) == 143
    assert is_pinned(run, pinned)
    assert not group_lives(leader)
    assert file.exists() == (command == "restore-backup")
    assert leftovers(pinned, tmp_path) == []

    with running("-m", "remembrancer.cli", *arguments, stderr=None) as killed:
        leader = at_work_on_store(pinned)
        killed.kill()
        killed.wait(30)
    told = run("status", "--path", str(pinned))
    assert told.code == 3
    assert f"A {command.partition('-')[0]} has stopped it and did not end yet" in told.stdout
    # Any use of the folder mends it: what was left at work is ended, and the server stays.
    counted = run("doctor", "--json", "--path", str(pinned)).document["counts"]
    assert {one["kind"]: one["stored"] for one in counted}["message"] == 3
    assert not group_lives(leader)
    assert is_pinned(run, pinned)
    assert run(*arguments).code == 0
    assert is_pinned(run, pinned)
    assert leftovers(pinned, tmp_path) == []


def leftovers(folder: Path, beside: Path) -> list[str]:
    return [one.name for one in (folder / "compact", folder / "work.json", *beside.glob(".backup-*")) if one.exists()]


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_pinned_server_outlives_a_compaction(run: Run, pinned: Path) -> None:
    program = ["-m", "remembrancer.cli", "compact", "--path", str(pinned)]
    with running(*program, until=b"importing namespace") as stopped:
        stopped.send_signal(signal.SIGTERM)
        assert stopped.wait(120) == 143
    assert is_pinned(run, pinned)
    assert leftovers(pinned, pinned) == []
    with running(*program, until=b"importing namespace") as killed:
        killed.kill()
        killed.wait(30)
    assert run("status", "--path", str(pinned)).code == 3
    assert run("up", "--path", str(pinned)).code == 0
    assert leftovers(pinned, pinned) == []
    counted = run("doctor", "--json", "--path", str(pinned)).document["counts"]
    assert {one["kind"]: one["stored"] for one in counted}["message"] == 3
