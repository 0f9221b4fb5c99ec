"""One ingest of many messages whose process is killed twice and run again, as `benchmarks/killed_ingest.py` does it."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from pathlib import Path

import pytest

pytestmark = [pytest.mark.neo4j, pytest.mark.long]

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "killed_ingest.py"
MESSAGES = 2_000


async def test_a_large_ingest_that_is_killed_twice_ends_with_every_message_once(
    neo4j_server: tuple[str, tuple[str, str]],
) -> None:
    uri, (user, password) = neo4j_server
    at = ["--uri", uri, "--user", user, "--password", password, "--namespace", f"test-{uuid.uuid4()}", "--clear"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(PROGRAM), "--messages", str(MESSAGES), "--kills", "2", *at),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate()
    outcome = json.loads(told.splitlines()[-1])
    assert outcome["right"], outcome
    assert process.returncode == 0
    assert len(outcome["killed_at"]) == 2
    assert outcome["stored"]["message"] == MESSAGES
    first, *_, last = outcome["rss_mib"].values()
    assert last < first + 50, "the memory of the client grows with what has been read"
