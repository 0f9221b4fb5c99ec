"""Kind 10: what is deleted is gone, and only that."""

from __future__ import annotations

import datetime as dt
import logging
from pathlib import Path

import pytest
from tests.pains.conftest import OpenMemory, said

from remembrancer import Memory
from remembrancer.graph import Database
from remembrancer.records import RecordBatch
from remembrancer.testing import FixedClock
from remembrancer.testing.samples import day, episode, fact, message, sample_id

pytestmark = pytest.mark.neo4j

CANARY = "Zanzibar4711"
_ALL = "MATCH (n {namespace: $namespace}) OPTIONAL MATCH (n)-[r]-() RETURN properties(n) AS node, properties(r) AS edge"


async def test_soft_forgetting_hides_at_once_and_is_undone(memory: Memory) -> None:
    await memory.store.put_fact(fact(1, content="the harbour is open"))
    report = await memory.forget(sample_id("fact", 1), hard=False)
    assert (await memory.recall("harbour")).hits == ()
    assert await memory.store.find_facts() == []
    await memory.undo(str(report.pass_id))
    assert [hit.id for hit in (await memory.recall("harbour")).hits] == [sample_id("fact", 1)]
    await memory.forget(sample_id("fact", 1), hard=False)
    await memory.restore(sample_id("fact", 1))
    assert len((await memory.recall("harbour")).hits) == 1


async def test_erased_words_are_nowhere(
    memory: Memory, neo4j_database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="remembrancer")
    report = await memory.ingest([said(f"Ada Berg lives in {CANARY} now."), said("Bob Stone works at Acme Corp.", 1)])
    caplog.clear()
    done = await memory.forget(report.created["message"][0])
    assert done.counts["message"] == 1
    assert sum(done.counts.values()) == sum(map(len, done.erased.values()))
    found = await neo4j_database.read(_ALL, {"namespace": memory.namespace})
    assert found
    assert CANARY.lower() not in str(found).lower()
    await memory.export_to(tmp_path / "export")
    assert CANARY.lower() not in (tmp_path / "export").read_text("utf-8").lower()
    assert CANARY.lower() not in str((await memory.recall(CANARY)).hits).lower()
    logged = [one.getMessage() for one in caplog.records if one.name.startswith("remembrancer")]
    assert CANARY.lower() not in str(logged).lower()
    assert "Acme" in str(found)


async def test_a_fact_of_two_messages_survives_the_loss_of_one(memory: Memory) -> None:
    sources = [sample_id("message", n) for n in (1, 2)]
    await memory.store.write(
        RecordBatch(
            episodes=[episode(1, messages=[message(1), message(2)], facts=[1])],
            facts=[fact(1, episodes=[1], source_message_ids=sources)],
        )
    )
    await memory.forget(sources[0])
    kept = await memory.store.get_fact(sample_id("fact", 1))
    assert kept is not None
    assert kept.source_message_ids == (sources[1],)


async def test_themes_of_erased_facts_are_made_anew_without_a_model(memory: Memory) -> None:
    report = await memory.ingest([said(f"The boat {CANARY} is blue.", n) for n in range(1)])
    await memory.forget(report.created["message"][0])
    assert await memory.store.list_themes() == []
    assert await memory.store.list_episodes() == []


async def test_a_name_can_be_used_again(memory: Memory) -> None:
    text = "Ada Berg works at Acme Corp."
    report = await memory.ingest([said(text)])
    await memory.forget(report.created["message"][0])
    again = await memory.ingest([said(text)])
    assert again.created["message"]
    assert (await memory.recall("Where does Ada Berg work?")).hits


async def test_everything_of_a_namespace_goes_and_is_counted(open_memory: OpenMemory, neo4j_database: Database) -> None:
    memory = await open_memory()
    await memory.ingest([said("Ada Berg works at Acme Corp.")])
    done = await memory.forget(everything=True)
    assert done.counts["message"] == 1
    assert done.counts["fact"] >= 1
    left = await neo4j_database.read(_ALL, {"namespace": memory.namespace})
    assert "Ada" not in str(left)


async def test_what_has_expired_is_not_told_though_nothing_swept(open_memory: OpenMemory) -> None:
    clock = FixedClock(day(1))
    memory = await open_memory(clock=clock)
    await memory.store.put_fact(fact(1, content="the harbour is open", valid_until=day(2)))
    assert len((await memory.recall("harbour")).hits) == 1
    clock.advance(dt.timedelta(days=1))
    assert (await memory.recall("harbour")).hits == ()
    assert await memory.store.get_fact(sample_id("fact", 1)) is not None
