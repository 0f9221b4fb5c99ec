"""The library's own exports: a file comes back whole or is refused by its line, and nothing is written then."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz_costly, in_time, only_ours
from tests.fuzz.outside import changed, damaged, odd_values, written

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import export_to, import_from
from remembrancer.lifecycle.transfer_import import header_of
from remembrancer.records import InvalidInputError, RecordBatch, RemembranceError, Statement
from remembrancer.testing.samples import SPACE, direction, entity, episode, fact, message, relationship, theme

BATCH = RecordBatch(
    entities=[entity(1, attributes={"a": [1, {"b": None}]}), entity(2, embedding=direction(30))],
    relationships=[relationship(1, 1, 2)],
    episodes=[episode(1, messages=[message(1, metadata={"k": [1]}), message(2)], facts=[1])],
    facts=[fact(1, entities=[1], episodes=[1], embedding=direction(45)), fact(2, statement=Statement(
        subject_id=entity(1).id, predicate="port", value={"a": [1, 2.5]}))],
    themes=[theme(1, facts=[1])],
)  # fmt: skip


async def exported(store: InMemoryStore) -> bytes:
    """An export as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        await export_to(store, Path(folder) / "a")
        return (Path(folder) / "a").read_bytes()


async def taken(raw: bytes) -> InMemoryStore:
    """A new memory with an export in it."""
    store = InMemoryStore("fuzz", space=SPACE)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a").write_bytes(raw)
        try:
            header_of(Path(folder) / "a")
            await import_from(store, Path(folder) / "a")
        except RemembranceError:
            assert not await store.find_facts(limit=1)
            assert not await store.find_entities(limit=1)
            raise
    return store


async def whole() -> bytes:
    """An export with something of most kinds in it."""
    store = InMemoryStore("fuzz", space=SPACE)
    await store.write(BATCH, idempotency_key="key")
    return await exported(store)


def sealed(lines: list[str]) -> bytes:
    """Lines with the end that belongs to them, so that what is wrong in them is looked at."""
    raw = "".join(f"{one}\n" for one in lines).encode("utf-8", "surrogatepass")
    end = {"kind": "end", "lines": len(lines), "sha256": hashlib.sha256(raw).hexdigest()}
    return raw + json.dumps(end).encode() + b"\n"


@fuzz_costly
@given(data=st.data())
async def test_any_damage_is_refused_and_what_is_taken_in_is_exported_alike(data: st.DataObject) -> None:
    raw = data.draw(damaged(await whole()))
    with only_ours():
        assert json.loads((await exported(await taken(raw))).splitlines()[-1])["kind"] == "end"


@fuzz_costly
@given(data=st.data())
async def test_any_change_of_a_line_is_refused_or_comes_back(data: st.DataObject) -> None:
    lines = (await whole()).decode().splitlines()[:-1]
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = written(data.draw(changed(json.loads(lines[place]))))
    with only_ours():
        store = await taken(sealed(lines))
        again = await exported(store)
        assert await exported(await taken(again)) == again


@fuzz_costly
@given(value=odd_values)
async def test_whatever_a_record_may_hold_is_exported_and_comes_back(value: Any) -> None:
    store = InMemoryStore("fuzz", space=SPACE)
    with in_time():
        try:
            held = message(1, metadata={"v": value}, content=value if isinstance(value, str) else "c")
            spoken = fact(1, statement=Statement(subject_id=entity(1).id, predicate="port", value=value))
        except ValueError:
            return
        await store.write(RecordBatch(episodes=[episode(1, messages=[held])], facts=[spoken]))
        assert await exported(await taken(await exported(store))) == await exported(store)


@pytest.mark.parametrize("half", ["\ud800", "a\udfffb"])
async def test_half_a_character_in_an_open_map_is_exported_and_comes_back(half: str) -> None:
    store = InMemoryStore("fuzz", space=SPACE)
    await store.write(RecordBatch(entities=[entity(1, attributes={"a": [half]})]))
    (found,) = await (await taken(await exported(store))).find_entities()
    assert found.attributes == {"a": [half]}
    with pytest.raises(ValueError, match="surrogate"):
        entity(1, attributes={"a": [{half: 1}]})


def test_what_can_be_stored_can_be_compared_and_exported_however_deep_it_is() -> None:
    value: Any = 1
    for _ in range(100):
        value = [value]
    statement = Statement(subject_id=entity(1).id, predicate="port", value=value)
    assert statement.value_key
    assert fact(1, statement=statement).model_dump_json()
    assert message(1, metadata={"a": value[0]}).model_dump(mode="json")
    for build in (
        lambda: Statement(subject_id=entity(1).id, predicate="p", value=[value]),
        lambda: message(1, metadata={"a": value}),
    ):
        with pytest.raises(ValueError, match="nested deeper than 100 levels"):
            build()


@pytest.mark.parametrize("depth", [150, 600, 950, 10_000])
async def test_a_line_that_is_nested_too_deeply_is_refused(depth: int) -> None:
    lines = (await whole()).decode().splitlines()[:-1]
    lines[1] = lines[1].replace('"attributes":{', '"attributes":{"deep":' + "[" * depth + "]" * depth + ",")
    with pytest.raises(InvalidInputError, match=r"^line 2: not JSON: nested"):
        await taken(sealed(lines))
