"""Dumps of mem0 and Graphiti: each record is taken in, known, or told as bad; and what is left of it is told."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz, fuzz_costly, in_time, only_ours
from tests.fuzz.outside import documents, lines

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle.foreign_import import ForeignReport, import_foreign
from remembrancer.lifecycle.foreign_reading import _CHUNK, pieces
from remembrancer.records import EmbeddingSpace, InvalidInputError

DATA = Path(__file__).parents[1] / "foreign" / "data"
MEM0 = json.loads((DATA / "mem0.json").read_text())
GRAPHITI = [json.loads(line) for line in (DATA / "graphiti.jsonl").read_text().splitlines() if line]
SPACE = EmbeddingSpace(model="given", dimensions=2)
GRAPHITI[0]["name_embedding"] = [0.5, 1]


async def taken(name: str, raw: bytes, whose: str, *, lenient: bool) -> ForeignReport:
    """What an import into a new memory tells."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(raw)
        store = InMemoryStore("fuzz", space=SPACE)
        try:
            return await import_foreign(store, [file], format=whose, skip_bad=lenient, vectors_by="given")
        except InvalidInputError:
            assert not await store.find_facts(limit=1)  # nothing is written when anything is wrong
            raise


@fuzz
@given(
    raw=st.one_of(
        documents(MEM0), documents(GRAPHITI), documents({"nodes": GRAPHITI}), lines(GRAPHITI), lines(MEM0["results"])
    ),
    name=st.sampled_from(["a.json", "a.jsonl"]),
    whose=st.sampled_from(["mem0", "graphiti"]),
    lenient=st.booleans(),
)
async def test_any_dump_is_taken_in_or_refused(raw: bytes, name: str, whose: str, lenient: bool) -> None:
    with only_ours():
        report = await taken(name, raw, whose, lenient=lenient)
        assert lenient or not report.bad
        assert len(report.problems) == min(report.bad, 100)
        told = sum(report.created.values()) + sum(report.known.values()) + sum(report.left.values()) + report.bad
        assert told or not report.read


@fuzz_costly
@given(
    before=st.integers(_CHUNK - 60, _CHUNK + 20),
    blank=st.sampled_from(["", " ", "\n" * 3, " \r\n\t"]),
    number=st.sampled_from([12, -1.5, 1.5e300, 2e-7, True, None, "text"]),
    records=st.lists(st.fixed_dictionaries({"id": st.text(max_size=3), "n": st.floats(allow_nan=False)}), max_size=3),
)
def test_no_record_is_lost_where_the_file_is_cut_into_chunks(
    before: int, blank: str, number: Any, records: list[dict[str, Any]]
) -> None:
    text = f'{{"pad": "{"x" * max(0, before - 30)}", "next":{blank}{json.dumps(number)}{blank}, "results":{blank}['
    text += blank + f"{blank},{blank}".join(map(json.dumps, records)) + f"{blank}]{blank}}}"
    with tempfile.TemporaryDirectory() as folder, in_time():
        (Path(folder) / "a.json").write_text(text)
        found = list(pieces(Path(folder) / "a.json"))
    if records:
        assert [one.value for one in found] == records
    else:
        assert found[0].value["next"] == number
        assert found[0].value["results"] == []


@pytest.mark.parametrize("shift", range(-24, 8))
def test_a_list_of_records_may_begin_where_a_chunk_ends(tmp_path: Path, shift: int) -> None:
    head = '{"pad": "' + "x" * (_CHUNK - 40 + shift) + '", "results": [   \n    '
    (tmp_path / "a.json").write_text(head + '{"id": "1"}, {"id": "2"}]}')
    assert [one.value for one in pieces(tmp_path / "a.json")] == [{"id": "1"}, {"id": "2"}]


@pytest.mark.parametrize("shift", range(12))
def test_a_number_may_go_on_in_the_next_chunk(tmp_path: Path, shift: int) -> None:
    head = '{"pad": "' + "x" * (_CHUNK - 30 - shift) + '", "next": '
    (tmp_path / "a.json").write_text(head + '-12.5e-10, "results": [{"id": "1"}]}')
    assert [one.value for one in pieces(tmp_path / "a.json")] == [{"id": "1"}]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
async def test_a_key_given_twice_is_refused(name: str) -> None:
    record = b'{"id": "1", "memory": "Ada sings.", "memory": "Ada hums.", "created_at": "2026-01-01"}'
    with pytest.raises(InvalidInputError, match="'memory' is given twice"):
        await taken(name, record, "mem0", lenient=False)


@pytest.mark.parametrize("depth", [150, 600, 950, 10_000])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
async def test_what_is_nested_too_deeply_is_refused(name: str, depth: int) -> None:
    record = '{"id": "1", "memory": "Ada sings.", "created_at": "2026-01-01", "metadata": {"a": @}}'
    with pytest.raises(InvalidInputError, match="nested"):
        await taken(name, record.replace("@", "[" * depth + "]" * depth).encode(), "mem0", lenient=False)


async def test_a_second_text_of_a_memory_is_told_as_left() -> None:
    record = {"id": "1", "memory": "Ada sings.", "text": "Ada hums.", "data": "Ada sings.", "created_at": "2026-01-01"}
    report = await taken("a.json", json.dumps([record]).encode(), "mem0", lenient=False)
    assert report.left == {"text": 1}
    edge = {"source": "a", "relationship": "b", "relation": "c", "target": "d", "destination": "e"}
    report = await taken("a.json", json.dumps([edge]).encode(), "mem0", lenient=False)
    assert report.left == {"relation": 1, "destination": 1}
