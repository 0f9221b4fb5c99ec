"""An export holds everything, and importing it gives an equal export: over both stores, and from one to the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import TransferReport, export_to, import_from, transfer_import
from remembrancer.lifecycle.transfer_lines import LINES, NOT_CARRIED
from remembrancer.ports import KeepsLedger
from remembrancer.ports.audit import AuditTrail
from remembrancer.ports.serving import TracksRuns
from remembrancer.ports.tiers import KeepsTiers
from remembrancer.records import (
    Audit,
    EmbeddingDimensionMismatchError,
    EmbeddingSpace,
    EmbeddingSpaceMismatchError,
    GateDecision,
    GatePass,
    InvalidInputError,
    RecordBatch,
    RetentionPolicy,
    RunOutcome,
    Statement,
)
from remembrancer.records.audit import audit_entry
from remembrancer.records.stated import stated_relationship_id
from remembrancer.records.tier import TierItem
from remembrancer.testing import IndexedStore, OpenStore
from remembrancer.testing.clock import FixedClock
from remembrancer.testing.samples import (
    SPACE,
    START,
    day,
    direction,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)
from remembrancer.testing.worlds import batches

Store = IndexedStore | InMemoryStore

POINTING = Statement(subject_id=sample_id("entity", 1), predicate="use", object_id=sample_id("entity", 2))
NAMED = "Zoë \N{SNOWMAN} \u2028 \U0001f600"

BATCH = RecordBatch(
    entities=[entity(1, name=NAMED, attributes={"b": {"x": None}, "a": 2**70}), entity(2, embedding=direction(30))],
    relationships=[relationship(1, 1, 2, weight=0.25), relationship(2, 1, 9, valid_until=day(3))],
    episodes=[
        episode(1, messages=[message(2, speaker="Ada"), message(1, metadata={"k": [1]})], facts=[1, 8]),
        episode(2, messages=[message(3, embedding=direction(15))], unread_message_ids=[sample_id("message", 3)]),
    ],
    facts=[
        fact(
            1, entities=[1, 1, 9], episodes=[1], tags=["b", "candidate", "a"], embedding=direction(45), access_count=4
        ),
        fact(2, statement=POINTING, recorded_at=day(1), invalidated_by="reason", closed_at=day(2)),
        fact(3, statement=POINTING, access_count=None, last_accessed_at=day(5)),
        fact(4, source_message_ids=[sample_id("message", 2)], valid_until=day(9)),
    ],
    themes=[theme(1, facts=[1, 7, 1], embedding=direction(60))],
    derivations={sample_id("fact", 4): [sample_id("fact", 2), sample_id("fact", 1)]},
)


async def fill(store: Store, batch: RecordBatch = BATCH) -> None:
    """A memory with something of each kind in it."""
    assert isinstance(store, AuditTrail)
    assert isinstance(store, KeepsLedger)
    assert isinstance(store, KeepsTiers)
    assert isinstance(store, TracksRuns)
    await store.write(batch, idempotency_key=NAMED)
    await store.write(RecordBatch(episodes=[episode(9, messages=[message(90)])]))
    removals: dict[Any, Any] = {
        "episode": [sample_id("episode", 9)],
        "relationship": [stated_relationship_id(sample_id("fact", 3))],
    }
    await store.write(RecordBatch(removals=removals))
    older, newer = fact(41, content="was", embedding=direction(10)), fact(42, content="is", tags=["candidate"])
    await store.write(RecordBatch(facts=[older, newer]))
    closed = older.model_copy(update={"invalidated_by": newer.id, "embedding": direction(20)})
    entries = [audit_entry(older, closed, reason="newer", superseded_by=newer.id), audit_entry(newer, newer, reason="")]
    audit = Audit(pass_id=sample_id("theme", 70), kind="conflicts", at=day(4), entries=entries)
    await store.write(RecordBatch(facts=[closed], audit=audit))
    undo = Audit(pass_id=sample_id("theme", 71), kind="undo", at=day(5), undoes=sample_id("theme", 70))
    await store.write(RecordBatch(facts=[fact(43)], audit=undo))
    evidence: dict[str, bool | int | float | str] = {
        "z": float("inf"),
        "lift": 1.0,
        "a": 1,
        "b": True,
        "rule": "margin",
    }
    for number, verdict in ((72, "held"), (71, "promoted")):
        decision = GateDecision(fact_id=newer.id, verdict=verdict, trials=3, evidence=evidence)
        passed = GatePass(id=sample_id("theme", number), policy=RetentionPolicy(), decisions=[decision])
        await store.write(RecordBatch(gate_passes=[passed]))
    await store.ledger.record_outcomes(
        [
            RunOutcome(run_id="z", score=0.5, fact_ids=["free", newer.id, "free"], holdout={newer.id: 0.5, "b": 0.25}),
            RunOutcome(run_id="a", score=1, recorded_at=day(3)),
        ]
    )
    await store.serve_run("z", [newer.id], holdout={older.id: 0.125})
    await store.serve_run("a", [])
    items: list[Any] = [("semantic", None, "i"), ("semantic", "s", "a"), ("episodic", NAMED, "i")]
    for tier, scope, item_id in items * 2:
        item = TierItem(tier=tier, scope=scope, id=item_id, text="t", embedding=direction(5), remembered_at=day(6))
        await store.tiers.put([item.model_copy(update={"metadata": {"k": 1}}) if scope else item])


async def exported(store: Store, path: Path) -> bytes:
    await export_to(store, path)
    return path.read_bytes()  # noqa: ASYNC240 - nothing else runs meanwhile


async def there(open_store: OpenStore, path: Path) -> IndexedStore:
    """A new store with an export in it."""
    store = await open_store(space=SPACE, clock=FixedClock(day(100)))
    await import_from(store, path)
    return store


async def test_an_import_exports_to_the_same_file(open_store: OpenStore, tmp_path: Path) -> None:
    source = await open_store(space=SPACE, clock=FixedClock(day(50)))
    await fill(source)
    told: list[int] = []
    report = await export_to(source, tmp_path / "a", progress=told.append)
    assert set(report.counts) == set(LINES)
    written = (tmp_path / "a").read_bytes()
    assert told[-1] == written.count(b"\n")
    assert all(one in written.decode() for one in NOT_CARRIED)
    assert await exported(await there(open_store, tmp_path / "a"), tmp_path / "b") == written


async def test_an_export_goes_from_one_kind_of_store_to_the_other(open_store: OpenStore, tmp_path: Path) -> None:
    source = InMemoryStore("source", space=SPACE, clock=FixedClock(day(50)))
    await fill(source)
    written = await exported(source, tmp_path / "a")
    middle = await there(open_store, tmp_path / "a")
    assert await exported(middle, tmp_path / "b") == written
    end = InMemoryStore("end", space=SPACE, clock=FixedClock(day(200)))
    await import_from(end, tmp_path / "b")
    assert await exported(end, tmp_path / "c") == written


async def test_both_stores_export_one_memory_alike(open_store: OpenStore, tmp_path: Path) -> None:
    twin = InMemoryStore("twin", space=SPACE, clock=FixedClock(day(50)))
    store = await open_store(space=SPACE, clock=FixedClock(day(50)))
    await fill(twin)
    await fill(store)
    assert await exported(store, tmp_path / "a") == await exported(twin, tmp_path / "b")


@settings(max_examples=6)
@given(batch=batches())
async def test_any_memory_comes_back_as_it_was(
    open_shared_store: OpenStore, tmp_path_factory: pytest.TempPathFactory, batch: RecordBatch
) -> None:
    folder = tmp_path_factory.mktemp("exports")
    source = InMemoryStore("source", space=SPACE, clock=FixedClock(day(50)))
    await fill(source, batch)
    written = await exported(source, folder / "a")
    middle = await there(open_shared_store, folder / "a")
    assert await exported(middle, folder / "b") == written


async def test_what_was_imported_goes_on_like_the_memory_that_it_was(open_store: OpenStore, tmp_path: Path) -> None:
    source = await open_store(space=SPACE, clock=FixedClock(day(50)))
    await fill(source)
    await exported(source, tmp_path / "a")
    store: Any = await there(open_store, tmp_path / "a")
    assert (await store.write(BATCH, idempotency_key=NAMED)).replayed
    assert await store.history(sample_id("fact", 41)) == await source.history(sample_id("fact", 41))  # type: ignore[attr-defined]
    more = GatePass(id=sample_id("theme", 80), policy=RetentionPolicy(), decisions=[])
    await store.write(RecordBatch(gate_passes=[more]))
    await store.ledger.record_outcomes([RunOutcome(run_id="later", score=0.0)])
    assert (await store.ledger.get_run_scores([])).scores == (0.5, 1.0, 0.0)
    hits = await store.index.search_facts(direction(45), limit=1)
    assert [hit.id for hit in hits] == [sample_id("fact", 1)]


@pytest.mark.parametrize("at", [1, 4, 7, 9, 12])
async def test_an_import_that_was_cut_off_is_run_again(
    open_store: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    source = InMemoryStore("source", space=SPACE, clock=FixedClock(day(50)))
    await fill(source)
    written = await exported(source, tmp_path / "a")
    store = await open_store(space=SPACE, clock=FixedClock(day(60)))
    whole = transfer_import._Importer._write
    calls = 0

    async def cut_off(self: Any, batch: Any) -> None:
        nonlocal calls
        await whole(self, batch)
        calls += 1
        if calls == at:
            raise ConnectionAbortedError

    monkeypatch.setattr(transfer_import._Importer, "_write", cut_off)
    with pytest.raises(InvalidInputError):
        await import_from(store, tmp_path / "a")
    other = tmp_path / "other"
    await fill(twin := InMemoryStore("twin", space=SPACE, clock=FixedClock(day(51))))
    await exported(twin, other)
    with pytest.raises(InvalidInputError, match="not empty"):
        await import_from(store, other)
    await import_from(store, tmp_path / "a")
    assert await exported(store, tmp_path / "b") == written


async def test_only_an_empty_namespace_takes_an_import(open_store: OpenStore, tmp_path: Path) -> None:
    store = await open_store(space=SPACE)
    await export_to(store, tmp_path / "empty")
    await import_from(store, tmp_path / "empty")
    await store.write(RecordBatch(entities=[entity(1)]))
    with pytest.raises(InvalidInputError, match="not empty"):
        await import_from(store, tmp_path / "empty")
    await store.clear()
    await import_from(store, tmp_path / "empty")
    with pytest.raises(InvalidInputError, match="exists already"):
        await export_to(store, tmp_path / "empty")


def _cut(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1][:-5]]


def _changed(lines: list[bytes], place: int, **fields: Any) -> list[bytes]:
    document = {**json.loads(lines[place]), **fields}
    return [*lines[:place], json.dumps(document).encode() + b"\n", *lines[place + 1 :]]


DAMAGES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "no file": (lambda _: [], "path: .* is empty"),
    "another file": (lambda _: [b"{}\n"], "line 1"),
    "a foreign version": (lambda lines: _changed(lines, 0, remembrancer_export=2), "line 1: .*version 2"),
    "a byte more": (lambda lines: [*lines[:2], b"x" + lines[2], *lines[3:]], "line 3: not JSON"),
    "an unknown kind": (lambda lines: _changed(lines, 1, kind="other"), "line 2"),
    "an unknown field": (lambda lines: _changed(lines, 1, other=1), "line 2"),
    "an unknown field of the record": (
        lambda lines: _changed(lines, 1, record={**json.loads(lines[1])["record"], "other": 1}),
        "line 2: unknown fields: other",
    ),
    "a wrong value": (
        lambda lines: _changed(lines, 1, record={**json.loads(lines[1])["record"], "name": 3}),
        r"line 2\.record\.name",
    ),
    "a short vector": (
        lambda lines: _changed(lines, 2, record={**json.loads(lines[2])["record"], "embedding": [1.0]}),
        "line 3",
    ),
    "two lines that changed places": (lambda lines: [lines[0], lines[3], lines[1], lines[2], *lines[4:]], "line 3"),
    "a line that is missing": (lambda lines: [*lines[:1], *lines[2:]], "line [0-9]+: the lines before it"),
    "an end that is missing": (lambda lines: lines[:-1], "cut off"),
    "half a line": (_cut, "cut off"),
    "more behind the end": (lambda lines: [*lines, b"{}\n"], "more behind the end"),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_file_is_refused_by_its_line_and_nothing_is_written(tmp_path: Path, damage: str) -> None:
    source = InMemoryStore(space=SPACE)
    await fill(source)
    lines = (await exported(source, tmp_path / "a")).splitlines(keepends=True)
    harm, problem = DAMAGES[damage]
    (tmp_path / "b").write_bytes(b"".join(harm(lines)))
    store = InMemoryStore(space=SPACE)
    with pytest.raises((InvalidInputError, EmbeddingDimensionMismatchError), match=problem):
        await import_from(store, tmp_path / "b")
    assert (await export_to(store, tmp_path / "c")).counts == {}


async def test_another_embedding_space_is_refused(open_store: OpenStore, tmp_path: Path) -> None:
    await export_to(InMemoryStore(space=SPACE), tmp_path / "a")
    other = await open_store(space=EmbeddingSpace(model="another", dimensions=4))
    with pytest.raises(EmbeddingSpaceMismatchError):
        await import_from(other, tmp_path / "a")
    with pytest.raises(InvalidInputError, match="open the memory with that model"):
        await import_from(InMemoryStore(), tmp_path / "a")
    await export_to(InMemoryStore(), tmp_path / "b")
    with pytest.raises(InvalidInputError, match="without an embedder"):
        await import_from(other, tmp_path / "b")


async def test_a_report_counts_the_lines(tmp_path: Path) -> None:
    store = InMemoryStore(clock=FixedClock(START))
    await store.write(RecordBatch(entities=[entity(1), entity(2)]))
    report = await export_to(store, tmp_path / "a")
    assert isinstance(report, TransferReport)
    assert report.counts == {"entity": 2}
    assert report == await import_from(InMemoryStore(), tmp_path / "a")
    assert len((tmp_path / "a").read_bytes().splitlines()) == 4
