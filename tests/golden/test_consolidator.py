"""Consolidation, by worked examples."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pytest

from remembrancer.lifecycle import MemoryConsolidator, should_consolidate
from remembrancer.records import QUARANTINE_TAG, EmbeddingSpace, RecordBatch
from remembrancer.testing import IndexedStore, OpenStore
from remembrancer.testing.samples import START, episode, fact

AREA = "cycgraph/consolidator"

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
DIMENSIONS = 16
FACT_FIELDS = ("invalidated_by", "tags", "access_count", "entity_ids", "source_episode_ids")


async def test_the_golden_consolidation(case: Any, golden: Any, open_store: OpenStore) -> None:
    if case.fn == "should_consolidate":
        store = await counted_store(case.input, open_store)
        assert await should_consolidate(store, **golden.snake_case(case.input["thresholds"])) is case.expected
        return
    store = await open_store(space=EmbeddingSpace(model="golden", dimensions=DIMENSIONS), clock=lambda: NOON)
    await store.write(given_records(case, golden))
    consolidator = MemoryConsolidator(
        store, store.index, clock=lambda: NOON, **golden.snake_case(case.input["options"])
    )
    auto = case.input["auto"]
    if auto is None:
        report = await consolidator.consolidate()
    else:
        report = await consolidator.auto_consolidate(**golden.snake_case(auto))
    expected = case.expected
    assert report_as_recorded(report) == as_recorded(expected["report"], golden)
    assert await facts_after(store) == expected["facts_after"]
    assert_same_themes(await themes_after(store), expected["themes_after"], golden)
    assert [one.id for one in await store.list_episodes(limit=1_000)] == expected["episodes_after"]


def given_records(case: Any, golden: Any) -> RecordBatch:
    """The records of a case; where a fact says nothing of uses, it has no count.

    Vectors are padded to one length, since a store has no others. Of a case with several lengths only those stay that
    have the length of the expected means: across lengths nothing is near, and nothing else is averaged.
    """
    given = case.input
    lengths = {len(one["embedding"]) for one in given["facts"] if one.get("embedding")}
    wanted = {len(one["embedding"]) for one in case.expected["themes_after"].values() if one["embedding"]}
    facts = []
    for one in given["facts"]:
        fields = {"access_count": None, **one}
        if len(lengths) > 1 and len(one.get("embedding") or ()) not in wanted:
            fields["embedding"] = None
        facts.append(golden.record("facts", fields))
    themes = [golden.record("themes", one) for one in given["themes"]]
    episodes = [golden.record("episodes", one) for one in given["episodes"]]
    return RecordBatch(facts=facts, themes=themes, episodes=episodes)


async def counted_store(given: Mapping[str, Any], open_store: OpenStore) -> IndexedStore:
    store = await open_store()
    count = given["fact_count"]
    if isinstance(count, str):
        assert count == "3, of which one invalidated and one quarantined"
        facts = [fact(1), fact(2, invalidated_by="x"), fact(3, tags=[QUARANTINE_TAG])]
    else:
        facts = [fact(number) for number in range(count)]
    episodes = [episode(number, started_at=START, ended_at=START) for number in range(given["episode_count"])]
    await store.write(RecordBatch(facts=facts, episodes=episodes))
    return store


def report_as_recorded(report: Any) -> dict[str, Any] | None:
    if report is None:
        return None
    fields = report.model_dump(exclude={"pass_id"})
    if fields["mutation_log"] is None:
        del fields["mutation_log"]
    else:
        fields["mutation_log"] = [dict(one) for one in fields["mutation_log"]]
    return fields


def as_recorded(report: Mapping[str, Any] | None, golden: Any) -> dict[str, Any] | None:
    if report is None:
        return None
    fields: dict[str, Any] = golden.snake_case(report)
    if "mutation_log" in fields:
        fields["mutation_log"] = [
            {"type": next(iter(golden.snake_case({one["type"]: 0}))), "id": one["id"]} for one in fields["mutation_log"]
        ]
    return fields


async def facts_after(store: IndexedStore) -> dict[str, Any]:
    facts = await store.find_facts(include_invalidated=True, limit=1_000)
    return {
        one.id: {name: list(value) if isinstance(value := getattr(one, name), tuple) else value for name in FACT_FIELDS}
        for one in facts
    }


async def themes_after(store: IndexedStore) -> dict[str, Any]:
    return {one.id: {"fact_ids": list(one.fact_ids), "embedding": one.embedding} for one in await store.list_themes()}


def assert_same_themes(found: Mapping[str, Any], expected: Mapping[str, Any], golden: Any) -> None:
    assert found.keys() == expected.keys()
    for theme_id, theme in expected.items():
        assert found[theme_id]["fact_ids"] == theme["fact_ids"]
        if theme["embedding"] is None or not any(theme["embedding"]):
            assert found[theme_id]["embedding"] is None
        else:
            padded = golden.padded(theme["embedding"])
            assert found[theme_id]["embedding"] == pytest.approx(padded, abs=1e-6)
