"""Kind 11: importing is cheap and quiet. Wheels are installed in tests/packaging."""

from __future__ import annotations

import logging
import subprocess
import sys
import uuid

import pytest
from tests.pains.conftest import said

from remembrancer import Memory

OPTIONAL = ("neo4j", "numpy", "httpx", "onnxruntime", "spacy", "typer", "langgraph", "langchain_core", "opentelemetry")

_PROGRAM = f"""
import asyncio, socket, sys

def refused(*given, **named):
    raise SystemExit("something was connected to")

socket.socket.connect = refused
import remembrancer

early = [name for name in {OPTIONAL!r} if name in sys.modules]
from remembrancer import Memory, Message, Fact, InvalidInputError

async def main():
    async with Memory.in_memory() as memory:
        await memory.ingest([{{"role": "user", "content": "Ada works.", "timestamp": "2025-01-01T00:00Z"}}])
        await memory.recall("Ada")

asyncio.run(main())
late = [name for name in ("neo4j", "httpx", "spacy", "typer", "langgraph") if name in sys.modules]
print(early + late)
"""


def test_nothing_optional_is_loaded_and_nothing_connected_to() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


@pytest.mark.neo4j
async def test_no_notification_of_the_server_reaches_the_log(
    neo4j_server: tuple[str, tuple[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    uri, auth = neo4j_server
    for _ in range(2):  # what exists already is not worth a word either
        async with Memory.connect(uri, auth=auth, namespace=f"pain-{uuid.uuid4()}") as memory:
            await memory.ingest([said("Ada Berg works at Acme Corp.")])
            await memory.recall("Ada Berg")
            await memory.clear()
    assert [one.getMessage() for one in caplog.records if one.name.startswith("neo4j")] == []
