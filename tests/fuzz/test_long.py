"""The whole folder once more, with many examples of each property."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.effort import VARIABLE

HERE = Path(__file__).parent


@pytest.mark.long
@pytest.mark.timeout(1_800)
def test_many_examples_find_nothing() -> None:
    environment = {**os.environ, VARIABLE: "150"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(HERE),
        "-m",
        "not long and not neo4j",
        "-p",
        "no:cacheprovider",
        "-x",
    ]
    ran = subprocess.run(command, env=environment, cwd=HERE.parents[1], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-6_000:]
