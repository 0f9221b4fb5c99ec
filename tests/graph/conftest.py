"""Servers of a test's own, for what must not happen to the one that all tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from remembrancer.server import LocalServer

QUICK = ("-XX:TieredStopAtLevel=1",)  # less compiling: what is tested here is not speed


@pytest.fixture(scope="module")
async def own_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalServer]:
    """An empty Neo4j that only the tests of one module know."""
    folder: Path = tmp_path_factory.mktemp("own-neo4j")
    async with LocalServer.open(folder, linger=0.2, heap="512m", jvm_options=QUICK) as server:
        yield server
