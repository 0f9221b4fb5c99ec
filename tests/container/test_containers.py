"""The suite against Neo4j in a container: one started by testcontainers, and the one of the compose file."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from testcontainers.community.neo4j import Neo4jContainer

pytestmark = [pytest.mark.container, pytest.mark.timeout(600)]

# One worker takes the container of testcontainers, the other that of compose.
of_compose = pytest.mark.xdist_group("compose")

ROOT = Path(__file__).parents[2]
IMAGE = os.environ.get("NEO4J_IMAGE", "neo4j:2026.08.1-community")
SUITE = ("tests/contract/test_store.py", "tests/contract/test_ledger.py")


def run_suite(uri: str, password: str, *parts: str) -> None:
    """Run parts of the suite against a server; their output is shown when they fail."""
    environment = {**os.environ, "NEO4J_URI": uri, "NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": password}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "neo4j and not long", *parts]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]


def test_the_contracts_hold_in_a_container_of_testcontainers() -> None:
    password = secrets.token_urlsafe(12)
    with Neo4jContainer(IMAGE, password=password) as container:
        run_suite(container.get_connection_url(), password, *SUITE)


class Composed:
    """The services of the compose file, under a project name and ports of their own."""

    def __init__(self) -> None:
        self.project = f"remembrancer-{secrets.token_hex(4)}"
        self.password = secrets.token_urlsafe(12)
        self.bolt, self.http = free_port(), free_port()

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.bolt}"

    def run(self, *arguments: str) -> str:
        ports = {"NEO4J_BOLT_PORT": str(self.bolt), "NEO4J_HTTP_PORT": str(self.http), "NEO4J_HEAP": "512m"}
        ran = subprocess.run(
            ["docker", "compose", "--project-name", self.project, *arguments],
            cwd=ROOT,
            env={**os.environ, **ports, "NEO4J_IMAGE": IMAGE, "NEO4J_PASSWORD": self.password},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.fixture(scope="module")
def composed() -> Iterator[Composed]:
    project = Composed()
    try:
        project.run("up", "--detach", "--wait")
        yield project
    finally:
        project.run("down", "--volumes")


@of_compose
def test_the_contracts_hold_with_compose(composed: Composed) -> None:
    run_suite(composed.uri, composed.password, SUITE[0])


@of_compose
def test_browser_answers(composed: Composed) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{composed.http}/browser/", timeout=10) as answer:
        assert answer.status == 200
        assert b"<html" in answer.read().lower()


@of_compose
def test_data_survives_a_restart(composed: Composed) -> None:
    auth = ("neo4j", composed.password)
    with GraphDatabase.driver(composed.uri, auth=auth) as driver:
        driver.execute_query("CREATE (:Kept {value: 42})")
    composed.run("restart")
    composed.run("up", "--detach", "--wait")
    with GraphDatabase.driver(composed.uri, auth=auth) as driver:
        rows, _, _ = driver.execute_query("MATCH (kept:Kept) WITH kept, kept.value AS value DELETE kept RETURN value")
    assert [row["value"] for row in rows] == [42]
