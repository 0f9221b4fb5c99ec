from __future__ import annotations

import asyncio

import pytest

from remembrancer.retrieval import batch_get_fallback


async def test_found_records_come_in_the_order_asked_for_each_read_once() -> None:
    asked: list[str] = []

    async def get(record_id: str) -> int | None:
        asked.append(record_id)
        await asyncio.sleep(0.01 if record_id == "b" else 0)
        return {"a": 1, "b": 0}.get(record_id)

    assert list((await batch_get_fallback(["b", "x", "a", "b"], get)).items()) == [("b", 0), ("a", 1)]
    assert sorted(asked) == ["a", "b", "x"]


async def test_reads_run_at_the_same_time() -> None:
    met = asyncio.Barrier(3)

    async def get(record_id: str) -> str:
        async with asyncio.timeout(5):
            await met.wait()
        return record_id

    assert len(await batch_get_fallback("abc", get)) == 3


async def test_a_failing_read_stops_the_others() -> None:
    finished: list[str] = []

    async def get(record_id: str) -> str:
        if record_id == "bad":
            raise LookupError("gone")
        await asyncio.sleep(5)
        finished.append(record_id)
        return record_id

    with pytest.raises(LookupError, match="gone"):
        await batch_get_fallback(["good", "bad"], get)
    await asyncio.sleep(0)
    assert finished == []
