"""`browser --kit`: what it prints, how it ends, and which options go together."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

Run = Callable[..., Any]


@contextmanager
def serving(*arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, as a user would start it, without this run's variables."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    with subprocess.Popen(
        [sys.executable, "-m", "remembrancer.cli", "browser", "--kit", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, **variables},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


def printed_document(process: subprocess.Popen[str]) -> dict[str, str]:
    """The document that is there while the command goes on."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line == "}\n":
            break
    document: dict[str, str] = json.loads("".join(lines))
    return document


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is no signal there")
def test_it_serves_until_ctrl_c() -> None:
    with serving("--json", NEO4J_URI="bolt://db.example.com:7688", NEO4J_USERNAME="ann") as process:
        document = printed_document(process)
        assert "connectURL=bolt%3A%2F%2Fann%40db.example.com%3A7688" in document["browser_url"]
        with urllib.request.urlopen(document["url"] + "/guide.html", timeout=10) as answer:
            assert document["style_command"] in answer.read().decode()
        assert end(process)[:2] == (130, ""), "one document, whatever ends it"
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(document["url"], timeout=10)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is no signal there")
def test_it_prints_what_to_open_and_what_to_type() -> None:
    with serving() as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().split(maxsplit=1) for _ in range(4)]
        told = {words[0]: words[1].strip() for words in lines}
        assert told["Open"].startswith("http://localhost:")
        assert told["Guide"] == f":guide {told['Open']}/guide.html"
        assert told["Style"] == f":style {told['Open']}/style.grass"
        assert told["Queries"].startswith(f"{told['Open']}/queries.zip")
        assert end(process)[0] == 130


def test_a_port_that_is_taken_is_told(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = run("browser", "--kit", "--port", str(port))
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr == f"error: --port: {port} is taken by another program; name another port, or none\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--kit", "--uri", "nonsense"], "--uri: expected an address such as neo4j://localhost:7687"),
        (["--kit", "--port", "70000"], "--port: must be 1 to 65,535"),
        (["--kit", "--path", "somewhere"], "--path: is about the local server"),
        (["--kit", "--show-password"], "--show-password: is about the local server"),
        (["--uri", "neo4j://localhost"], "--uri: goes with --kit"),
        (["--port", "8000"], "--port: goes with --kit"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run: Run, arguments: list[str], problem: str) -> None:
    ran = run("browser", *arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert problem in ran.stderr
