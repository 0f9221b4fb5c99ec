"""`up`, `status`, `browser` and `down` on a folder of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remembrancer.graph.migrations import migrations

Run = Callable[..., Any]


def test_a_server_that_does_not_run_is_told_and_not_started(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "nothing"
    status = run("status", "--path", str(folder), "--json")
    assert status.code == 3
    assert status.document["running"] is False
    browser = run("browser", "--path", str(folder))
    assert (browser.code, browser.stdout) == (3, "")
    assert "start it with `remembrancer up`" in browser.stderr
    down = run("down", "--path", str(folder), "--json")
    assert (down.code, down.document) == (0, {"path": str(folder), "was_running": False})
    assert not folder.exists()


@pytest.mark.neo4j
@pytest.mark.long
def test_a_server_runs_from_up_to_down(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    program = [sys.executable, "-m", "remembrancer.cli", "up", "--json", "--heap", "384m", "--path", str(folder)]
    try:
        started = subprocess.run(program, capture_output=True, text=True, timeout=240, check=False)
        assert started.returncode == 0, started.stderr
        up = json.loads(started.stdout)
        assert (up["running"], up["ready"], up["pinned"]) == (True, True, True)

        told = run("status", "--path", str(folder))
        assert told.code == 0
        assert up["bolt_uri"] in told.stdout

        password = json.loads((folder / "credentials.json").read_text())["password"]
        piped = run("browser", "--path", str(folder))
        assert f"{up['http_uri']}/browser/remembrancer/" in piped.stdout
        assert password not in piped.stdout + piped.stderr
        assert "password" not in run("browser", "--path", str(folder), "--json").document
        assert password in run("browser", "--path", str(folder), "--show-password").stdout

        before = run("doctor", "--path", str(folder))
        assert before.code == 1
        assert "the database was never migrated: run `remembrancer migrate`" in before.stdout
        applied = run("migrate", "--path", str(folder), "--json").document["applied"]
        assert applied == [f"{migration.version:03}_{migration.name}" for migration in migrations()]
        assert run("doctor", "--path", str(folder), "--json").document["is_well"]
    finally:
        down = run("down", "--path", str(folder), "--json")
    assert down.document["was_running"]
    assert run("status", "--path", str(folder)).code == 3
