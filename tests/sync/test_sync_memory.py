"""The blocking twin: equal in names and signatures, usable from anywhere, and never left hanging."""

from __future__ import annotations

import asyncio
import inspect
import re
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from remembrancer import InvalidInputError, Memory, MemoryQuery, Message, RemembranceError, SyncMemory
from remembrancer.inmemory import InMemoryStore
from remembrancer.sync import MemoryClosedError

MESSAGES = [
    Message(role="user", speaker="Ada", content="Alice works at Acme Corp now.", timestamp="2026-01-01T09:00:00Z"),
    Message(role="user", speaker="Ben", content="The harbour opens at six.", timestamp="2026-01-01T09:00:30Z"),
]


@pytest.fixture
def memory() -> Iterator[SyncMemory]:
    with SyncMemory.in_memory() as opened:
        yield opened


def public(kind: type) -> dict[str, Any]:
    """What a class and its bases offer, as it is defined."""
    return {name: inspect.getattr_static(kind, name) for name in (*dir(kind), "__init__") if is_public(name)}


def is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__init__"


def unbound(value: Any) -> Any:
    return value.__func__ if isinstance(value, classmethod) else value


def drift(waiting: type, blocking: type) -> dict[str, str]:
    """What the blocking class lacks or has otherwise, by name."""
    twins, found = public(blocking), {}
    for name, value in public(waiting).items():
        twin = twins.get(name)
        if twin is None:
            found[name] = "missing"
        elif isinstance(value, property):
            if not isinstance(twin, property):
                found[name] = "no property"
        elif type(value) is not type(twin):
            found[name] = f"{type(twin).__name__} instead of {type(value).__name__}"
        elif signature(unbound(value)) != str(inspect.signature(unbound(twin))):
            found[name] = f"{inspect.signature(unbound(twin))} instead of {inspect.signature(unbound(value))}"
        elif inspect.iscoroutinefunction(unbound(twin)) or inspect.isasyncgenfunction(unbound(twin)):
            found[name] = "waits"
    return found


def signature(function: Callable[..., Any]) -> str:
    """The signature that the blocking twin must have: its own name, and iterators that do not wait."""
    text = re.sub(r"\b(Tiered|Turn)?Memory\b", r"Sync\1Memory", str(inspect.signature(function)))
    head, arrow, answer = text.rpartition(" -> ")
    return head + arrow + re.sub(r"\bAsync(?=Iterator|Generator)|\bAbstractAsync(?=ContextManager)", "", answer)


class TestTwins:
    def test_every_method_has_a_blocking_twin_of_the_same_signature(self) -> None:
        assert drift(Memory, SyncMemory) == {}

    def test_a_method_that_the_twin_lacks_is_noticed(self) -> None:
        class Grown(Memory):
            async def unheard_of(self, record_id: str) -> bool:
                return bool(record_id)

        assert drift(Grown, SyncMemory) == {"unheard_of": "missing"}

    def test_a_parameter_that_the_twin_lacks_is_noticed(self) -> None:
        class Changed(Memory):
            async def get(self, record_id: str, *, bare: bool = False) -> None:  # type: ignore[override]
                """With one parameter more."""

        assert set(drift(Changed, SyncMemory)) == {"get"}

    def test_the_instances_have_the_same_public_attributes(self, memory: SyncMemory) -> None:
        async def names() -> set[str]:
            async with Memory.in_memory() as other:
                return {name for name in dir(other) if not name.startswith("_")}

        assert asyncio.run(names()) <= set(dir(memory))


class TestUse:
    def test_what_is_taken_in_is_recalled(self, memory: SyncMemory) -> None:
        report = memory.ingest(MESSAGES)
        assert report.counts["message"] == 2
        assert memory.recall("Where does Alice work?").hits[0].id == MESSAGES[0].id
        assert memory.get(MESSAGES[0].id) == MESSAGES[0]
        assert memory.run(memory.store.get_message, MESSAGES[1].id) == MESSAGES[1]
        assert memory.retrieve(MemoryQuery(tags=["none"])).facts == ()
        assert memory.subgraph([]).entities == ()
        memory.clear()
        assert memory.get(MESSAGES[0].id) is None

    def test_errors_come_out_as_they_are(self, memory: SyncMemory) -> None:
        with pytest.raises(InvalidInputError) as caught:
            memory.recall("?", limit=0)
        assert caught.value.field == "limit"

    def test_an_error_while_opening_leaves_no_thread_behind(self) -> None:
        before = threading.active_count()
        with pytest.raises(InvalidInputError), SyncMemory.in_memory(namespace=""):
            pass
        with pytest.raises(InvalidInputError), SyncMemory.connect("neo4j://localhost:1", namespace=""):
            pass
        assert threading.active_count() == before

    def test_no_thread_is_left_behind(self) -> None:
        before = threading.active_count()
        with SyncMemory.in_memory() as opened:
            opened.ingest(MESSAGES)
            assert threading.active_count() == before + 1
        assert threading.active_count() == before

    def test_it_may_be_wired_by_hand_over_a_store(self) -> None:
        store = InMemoryStore("mine")
        with SyncMemory(store, store.index) as opened:
            assert (opened.namespace, opened.store, opened.index) == ("mine", store, store.index)
            assert opened.ingest(MESSAGES).counts["message"] == 2

    async def test_it_works_where_an_event_loop_runs_already(self) -> None:
        with SyncMemory.in_memory() as opened:
            opened.ingest(MESSAGES)
            assert opened.get(MESSAGES[0].id) == MESSAGES[0]

    def test_many_threads_may_share_it(self, memory: SyncMemory) -> None:
        def take_in(number: int) -> int:
            message = Message(
                role="user",
                content=f"Note number {number} is kept.",
                timestamp="2026-01-01T09:00:00Z",
                conversation=str(number),
            )
            return memory.ingest([message]).counts["message"]

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(take_in, range(40))) == 40
        assert len(memory.run(memory.store.list_episodes)) == 40

    @pytest.mark.neo4j
    def test_it_connects_to_a_database(self, neo4j_server: tuple[str, tuple[str, str]]) -> None:
        uri, auth = neo4j_server
        namespace = f"test-sync-{time.time_ns()}"
        with SyncMemory.connect(uri, auth=auth, namespace=namespace) as opened:
            opened.ingest(MESSAGES)
        with SyncMemory.connect(uri, auth=auth, namespace=namespace) as opened:
            assert opened.recall("Where does Alice work?").hits[0].id == MESSAGES[0].id
            opened.clear()

    @pytest.mark.neo4j
    @pytest.mark.long
    def test_it_starts_a_database_of_its_own(self, tmp_path: Path) -> None:
        with SyncMemory.local(tmp_path / "memory") as opened:
            opened.ingest(MESSAGES)
            assert opened.recall("harbour").hits


class TestClosing:
    def test_a_call_after_closing_says_so(self, memory: SyncMemory) -> None:
        memory.close()
        with pytest.raises(MemoryClosedError, match="open it again") as caught:
            memory.recall("anything")
        assert isinstance(caught.value, RemembranceError)
        assert isinstance(caught.value, RuntimeError)

    def test_closing_twice_is_fine(self, memory: SyncMemory) -> None:
        memory.close()
        memory.close()

    @pytest.mark.timeout(30)
    def test_closing_ends_a_call_that_runs(self, memory: SyncMemory) -> None:
        began, cut_off, errors = threading.Event(), threading.Event(), []

        async def forever() -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                cut_off.set()

        def caller() -> None:
            try:
                memory.run(forever)
            except MemoryClosedError as error:
                errors.append(str(error))

        threads = [threading.Thread(target=caller) for _ in range(4)]
        for thread in threads:
            thread.start()
        began.wait()
        time.sleep(0.1)
        memory.close()
        for thread in threads:
            thread.join()
        assert cut_off.is_set()
        assert errors == ["the memory was closed while this call ran"] * 4

    @pytest.mark.timeout(30)
    def test_a_call_that_will_not_stop_does_not_keep_closing(
        self, memory: SyncMemory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("remembrancer.sync.background._PATIENCE", 0.2)
        began, let_go = threading.Event(), asyncio.Event()

        async def stubborn() -> None:
            began.set()
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    loop.call_later(0.5, let_go.set)

        async def current() -> asyncio.AbstractEventLoop:
            return asyncio.get_running_loop()

        loop = memory.run(current)
        failed: list[BaseException] = []

        def caller() -> None:
            try:
                memory.run(stubborn)
            except MemoryClosedError as error:
                failed.append(error)

        thread = threading.Thread(target=caller)
        thread.start()
        began.wait()
        memory.close()
        thread.join()
        assert len(failed) == 1

    @pytest.mark.timeout(30)
    def test_a_call_from_its_own_loop_is_refused(self, memory: SyncMemory) -> None:
        def progress(_: int) -> None:
            memory.recall("anything")

        with pytest.raises(RemembranceError, match="wait for itself"):
            memory.ingest(MESSAGES, progress=progress)

    @pytest.mark.timeout(30)
    def test_an_interrupt_of_the_waiting_thread_ends_the_call(self, memory: SyncMemory) -> None:
        cut_off = threading.Event()
        main = threading.main_thread().ident
        assert main is not None
        # A process started in the background of a shell ignores interrupts.
        former = signal.signal(signal.SIGINT, signal.default_int_handler)

        async def forever() -> None:
            threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
            try:
                await asyncio.Event().wait()
            finally:
                cut_off.set()

        try:
            with pytest.raises(KeyboardInterrupt):
                memory.run(forever)
        finally:
            signal.signal(signal.SIGINT, former)
        assert cut_off.wait(10)
        assert memory.get(MESSAGES[0].id) is None

    @pytest.mark.timeout(30)
    def test_an_error_while_closing_is_raised(self, monkeypatch: pytest.MonkeyPatch) -> None:
        @asynccontextmanager
        async def failing(**_: object) -> AsyncIterator[Memory]:
            store = InMemoryStore("mine")
            yield Memory(store, store.index)
            raise RemembranceError("the counts could not be written")

        monkeypatch.setattr(Memory, "in_memory", failing)
        with pytest.raises(RemembranceError, match="could not be written"), SyncMemory.in_memory() as opened:
            opened.ingest(MESSAGES)
