"""Spans: one for each public operation and each statement, and nothing in them of what the memories say."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from remembrancer import InvalidInputError, Memory, SyncMemory
from remembrancer.ports import tracing
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records.key import random_id

SECRET = "Nora Vik keeps the green key under the boathouse."
MESSAGE = {"role": "user", "content": SECRET, "timestamp": "2026-01-05T09:00Z", "speaker": "Nora Vik"}


class Spans:
    """What was recorded."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def clear(self) -> None:
        self._exporter.clear()

    def all(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> ReadableSpan:
        found = [span for span in self.all() if span.name == name]
        assert len(found) == 1, [span.name for span in self.all()]
        return found[0]

    def below(self, parent: ReadableSpan) -> list[ReadableSpan]:
        return [
            span for span in self.all() if span.parent is not None and span.parent.span_id == parent.context.span_id
        ]


@pytest.fixture
def provider() -> Iterator[TracerProvider]:
    made = TracerProvider()
    yield made
    made.shutdown()


@pytest.fixture
def spans(provider: TracerProvider, monkeypatch: pytest.MonkeyPatch) -> Spans:
    """A provider for one test; that of the process cannot be taken back."""
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", lambda: provider.get_tracer("remembrancer"))
    monkeypatch.delenv("REMEMBRANCER_TRACE_CONTENT", raising=False)
    return Spans(exporter)


@pytest.fixture
async def memory(neo4j_server: tuple[str, tuple[str, str]], spans: Spans) -> AsyncIterator[Memory]:
    uri, auth = neo4j_server
    async with Memory.connect(uri, auth=auth, namespace=f"test-{uuid.uuid4()}", embedder=HashingEmbedder()) as opened:
        await opened.ingest([MESSAGE])
        spans.clear()
        yield opened


@pytest.mark.neo4j
async def test_a_recall_is_one_span_with_its_statement_below(memory: Memory, spans: Spans) -> None:
    await memory.recall("Where is the key?")
    operation = spans.named("remembrancer.recall")
    assert dict(operation.attributes or {})["remembrancer.namespace"] == memory.namespace
    (statement,) = spans.below(operation)
    assert statement.name == "retrieval.recall"
    assert statement.kind is SpanKind.CLIENT
    assert dict(statement.attributes or {}) == {
        "db.system.name": "neo4j",
        "db.query.summary": "retrieval.recall",
        "db.response.returned_rows": 1,
    }


@pytest.mark.neo4j
async def test_a_write_is_a_transaction_with_its_statements_and_attempts(memory: Memory, spans: Spans) -> None:
    await memory.ingest([{**MESSAGE, "content": "The boathouse is painted red.", "timestamp": "2026-01-05T09:01Z"}])
    operation = spans.named("remembrancer.ingest")
    (written,) = (span for span in spans.below(operation) if span.name == "remembrancer.transaction")
    assert dict(written.attributes or {})["remembrancer.attempts"] == 1
    assert {"message.put", "fact.put"} <= {statement.name for statement in spans.below(written)}


@pytest.mark.neo4j
async def test_no_span_says_what_the_memories_say(memory: Memory, spans: Spans) -> None:
    await memory.recall("Where is the green key?")
    await memory.ingest([{**MESSAGE, "timestamp": "2026-01-05T09:02Z"}])
    with pytest.raises(InvalidInputError):
        await memory.get("the green key")
    said = "\n".join(span.to_json() for span in spans.all())
    assert "green key" not in said
    assert "Nora" not in said


async def test_the_arguments_are_recorded_when_asked_for(spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Memory.in_memory() as memory:
        monkeypatch.setenv("REMEMBRANCER_TRACE_CONTENT", "true")
        await memory.recall("Where is the green key?", limit=3)
    attributes = dict(spans.named("remembrancer.recall").attributes or {})
    assert attributes["remembrancer.argument.text"] == "'Where is the green key?'"
    assert attributes["remembrancer.argument.limit"] == "3"


async def test_a_program_may_ask_whatever_the_environment_says(spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_TRACE_CONTENT", "true")
    tracing.record_content(False)
    try:
        async with Memory.in_memory() as memory:
            await memory.recall("Where is the green key?")
    finally:
        tracing.record_content(None)
    assert "green key" not in spans.named("remembrancer.recall").to_json()


async def test_an_error_is_told_by_its_class_alone(spans: Spans) -> None:
    async with Memory.in_memory() as memory:
        with pytest.raises(InvalidInputError):
            await memory.get("no id")
    failed = spans.named("remembrancer.get")
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.status.description is None
    assert dict(failed.attributes or {})["error.type"] == "InvalidInputError"
    assert failed.events == ()


async def test_every_public_coroutine_of_a_memory_is_an_operation(spans: Spans) -> None:
    public = [name for name in dir(Memory) if not name.startswith("_")]
    traced = [name for name in public if hasattr(getattr(Memory, name), "__wrapped__")]
    assert {"ingest", "recall", "retrieve", "subgraph", "get", "clear"} <= set(traced)


def test_the_blocking_twin_keeps_the_callers_span_as_parent(spans: Spans, provider: TracerProvider) -> None:
    with SyncMemory.in_memory() as memory, provider.get_tracer("program").start_as_current_span("step") as step:
        assert memory.get(random_id()) is None
    parent = spans.named("remembrancer.get").parent
    assert parent is not None
    assert parent.span_id == step.get_span_context().span_id


def test_a_span_without_a_provider_costs_nothing_and_harms_nothing() -> None:
    assert trace.get_tracer_provider() is not None
    with tracing.span("step", attributes={"number": 1}) as opened:
        opened.set_attribute("other", 2)


def test_without_the_package_everything_works_and_nothing_is_loaded() -> None:
    code = """
import asyncio, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(f"{name} is blocked", name=name)

sys.meta_path.insert(0, Blocker())
from remembrancer import Memory

async def main():
    async with Memory.in_memory() as memory:
        await memory.ingest([{"role": "user", "content": "Hello there.", "timestamp": "2026-01-01"}])
        print(len((await memory.recall("hello")).hits))

asyncio.run(main())
print(*[name for name in sys.modules if name.startswith("opentelemetry")])
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1"]
