"""Kind 1: nothing is lost without a word."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.pains.conftest import ADA, OpenMemory, said

from remembrancer import InvalidInputError, Memory
from remembrancer.records import RecordBatch
from remembrancer.testing.samples import fact, relationship, sample_id

pytestmark = pytest.mark.neo4j


async def test_a_receipt_names_what_is_then_there(memory: Memory) -> None:
    report = await memory.ingest([said("Ada Berg works at Acme Corp."), said("She likes the sea very much.", 1)])
    assert report.messages_read == 2
    assert len(report.created["message"]) == 2
    assert report.created["fact"]
    for ids in report.created.values():
        for one in ids:
            assert await memory.get(one) is not None


async def test_the_same_twice_loses_nothing_and_doubles_nothing(memory: Memory) -> None:
    first = await memory.ingest([said("Ada Berg works at Acme Corp.")])
    second = await memory.ingest([said("Ada Berg works at Acme Corp.")])
    assert second.created == {}
    assert second.duplicates == first.created["message"]
    assert len(await memory.store.find_facts()) == len(first.created["fact"])


async def test_a_retry_with_the_same_key_writes_once(memory: Memory) -> None:
    await memory.ingest([said("Ada Berg works at Acme Corp.")], idempotency_key="monday")
    again = await memory.ingest([said("Ada Berg works at Acme Corp.")], idempotency_key="monday")
    assert again.replayed_batches == 1
    assert len(await memory.store.list_episodes()) == 1


async def test_a_write_that_is_cut_off_is_whole_or_not_there_and_can_be_repeated(memory: Memory) -> None:
    batch = RecordBatch(facts=[fact(n, entities=[n]) for n in range(50)])
    writing = asyncio.create_task(memory.store.write(batch, idempotency_key="k"))
    await asyncio.sleep(0.004)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    assert len(await memory.store.find_facts()) in (0, 50)
    await memory.store.write(batch, idempotency_key="k")
    assert len(await memory.store.find_facts()) == 50


VALUES: dict[str, tuple[Any, Any]] = {
    "invoice state": ("paid", "unpaid"),
    "port": (8080, 8081),
    "date": ("2025-03-01", "2025-03-02"),
    "phone number": ("+49 30 1234567", "+49 30 1234568"),
    "amount": (19.99, 19.98),
    "version": ("1.10.0", "1.10.1"),
    "flag": (True, False),
    "nothing": ("something", None),
}


@pytest.mark.parametrize("predicate", VALUES)
async def test_a_new_value_is_current_and_the_old_one_is_history(memory: Memory, predicate: str) -> None:
    old, new = VALUES[predicate]
    for value, day in ((old, 1), (new, 2)):
        await memory.assert_statements(
            [{"subject_id": ADA, "predicate": predicate, "value": value, "valid_from": f"2025-01-0{day}T00:00:00Z"}],
            single_valued=[predicate],
        )
    facts = await memory.store.find_statements([(ADA, predicate)])
    held = {day: [one.statement.value for one in facts if _holds(one, day)] for day in (1, 2, 3)}  # type: ignore[union-attr]
    assert held == {1: [old], 2: [new], 3: [new]}


async def test_an_end_that_is_not_stored_is_told(memory: Memory) -> None:
    receipt = await memory.store.put_relationship(relationship(1, 1, 2))
    assert receipt.created == {"relationship": (sample_id("relationship", 1),)}
    assert receipt.placeholders == {"entity": (sample_id("entity", 1), sample_id("entity", 2))}


async def test_clearing_one_namespace_leaves_another_to_the_byte(open_memory: OpenMemory, tmp_path: Any) -> None:
    ours, theirs = await open_memory(), await open_memory()
    for one in (ours, theirs):
        await one.ingest([said("Ada Berg works at Acme Corp.")])
    await theirs.export_to(tmp_path / "before")
    await ours.forget(everything=True)
    await theirs.export_to(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    assert await ours.store.find_facts(include_invalidated=True) == []


async def test_what_could_not_be_read_is_told_and_can_be_read_again(open_memory: OpenMemory) -> None:
    class Down:
        is_down = True

        async def complete(self, prompt: str) -> str:
            if self.is_down:
                raise RuntimeError("down")
            return '[{"content": "The boat is blue."}]'

    model = Down()
    memory = await open_memory(llm=model)
    report = await memory.ingest([said("The boat is blue.")])
    assert [one.reason for one in report.fell_back] == ["RuntimeError: down"]
    assert len(report.created["message"]) == 1
    model.is_down = False
    assert (await memory.retry_extraction()).messages_read == 1
    assert (await memory.retry_extraction()).messages_read == 0


async def test_a_bad_message_stops_all_and_is_named(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match=r"messages\.1"):
        await memory.ingest([said("Ada works."), {"role": "user"}])
    assert await memory.store.list_episodes() == []


def _holds(one: Any, day: int) -> bool:
    at = f"2025-01-0{day}T00:00:00"
    until = one.valid_until
    return bool(one.valid_from.isoformat() <= at + "+00:00" and (until is None or until.isoformat() > at + "+00:00"))
