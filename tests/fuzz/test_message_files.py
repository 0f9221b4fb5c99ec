"""Files of messages: JSON, JSON Lines and archives, whatever is in them."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz, in_time, only_ours
from tests.fuzz.outside import changed, damaged, documents, lines, odd_texts, written

from remembrancer.cli.message_file import messages_in
from remembrancer.hierarchy.exports import read_export_file
from remembrancer.hierarchy.ingestion import as_message
from remembrancer.records import InvalidInputError, Message

ONE = {
    "role": "user",
    "content": "The harbour opens at six.",
    "timestamp": "2026-03-02T09:00:00Z",
    "speaker": "Mara",
    "conversation": "standup",
    "metadata": {"mood": ["calm", {"sea": 1.5}]},
}
TWO = {"role": "assistant", "content": "Noted.", "timestamp": 1_772_442_060_000}
CLAUDE = [
    {
        "uuid": "k1",
        "created_at": "2026-02-02T02:40:00Z",
        "chat_messages": [{"uuid": "m1", "sender": "human", "text": "Hello.", "created_at": "2026-02-02T02:40:01Z"}],
    }
]


def taken(name: str, content: bytes) -> list[Message]:
    """The messages of a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        with messages_in(str(file)) as found:
            return [as_message(one, field=f"messages.{place}") for place, one in enumerate(found)]


@fuzz
@given(raw=lines([ONE, TWO]) | documents([ONE, TWO]) | documents({"messages": [ONE, TWO]}) | st.binary(max_size=50))
def test_any_file_gives_messages_or_an_error_that_names_the_place(raw: bytes) -> None:
    for name in ("a.jsonl", "a.json", "a"):
        with only_ours():
            taken(name, raw)


@fuzz
@given(
    said=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=5),
    end=st.sampled_from(["\n", "\r\n", "\n\n", "\n \r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
    is_ascii=st.booleans(),
    ends_open=st.booleans(),
)
def test_each_line_is_a_message(said: list[str], end: str, mark: str, is_ascii: bool, ends_open: bool) -> None:
    records = [json.dumps({**ONE, "content": one}, ensure_ascii=is_ascii) for one in said]
    text = mark + end.join(records) + ("" if ends_open else end)
    with in_time():
        found = taken("a.jsonl", text.encode())
    assert [one.content for one in found] == said


@fuzz
@given(records=changed([ONE, TWO]))
def test_no_field_of_a_message_is_lost(records: Any) -> None:
    text = written(records)
    with only_ours():
        found = taken("a.json", text.encode("utf-8", "surrogatepass"))
        given_in = json.loads(text)
        listed = given_in["messages"] if isinstance(given_in, dict) else given_in
        assert len(found) == len(listed)
        for message, record in zip(found, listed, strict=True):
            assert message.content == record["content"]
            assert message.metadata == record.get("metadata", {})


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_key_given_twice_is_refused(name: str) -> None:
    line = f'{{"content": "The pier is open.", {json.dumps(ONE)[1:]}'
    with pytest.raises(InvalidInputError, match="'content' is given twice"):
        taken(name, line.encode() if name == "a.jsonl" else f"[{line}]".encode())


@pytest.mark.parametrize("depth", [150, 600, 950, 10_000])
def test_what_is_nested_too_deeply_is_refused(depth: int) -> None:
    line = json.dumps({**ONE, "metadata": {"a": "@"}}).replace('"@"', "[" * depth + "]" * depth)
    with pytest.raises(InvalidInputError, match=r"^line 1: not JSON: nested"):
        taken("a.jsonl", line.encode())


def archived(members: list[tuple[str, bytes]], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", compression) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
    return kept.getvalue()


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """A ZIP archive of an assistant, good or not."""
    names = st.sampled_from(["conversations.json", "data/conversations-001.json", "MyActivity.json", "user.json"])
    content = documents(CLAUDE) | st.just(json.dumps(CLAUDE).encode())
    members = draw(st.lists(st.tuples(names, content), max_size=3, unique_by=lambda one: one[0]))
    packed = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
    raw = archived(members, compression=packed)
    for _ in range(draw(st.integers(0, 3))):
        raw = draw(damaged(raw))
    return raw


@fuzz
@given(raw=archives())
def test_any_archive_gives_an_export_or_an_error(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "export.zip"
        file.write_bytes(raw)
        for read in (read_export_file, lambda one: taken_of_archive(str(one))):
            with only_ours():
                read(file)


def taken_of_archive(name: str) -> int:
    with messages_in(name) as found:
        return len(list(found))


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_is_damaged_inside_is_refused(tmp_path: Path, packed: int) -> None:
    good = archived([("conversations.json", json.dumps(CLAUDE).encode() * 50)], compression=packed)
    start = good.index(b"conversations.json") + len("conversations.json")
    for place in range(start, start + 40):
        (tmp_path / "a.zip").write_bytes(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        with pytest.raises(InvalidInputError, match=r"a\.zip"):
            read_export_file(tmp_path / "a.zip")


@fuzz
@given(name=odd_texts)
def test_any_name_of_a_file_is_read_or_refused(name: str) -> None:
    if name not in ("-", "/dev/null", "../.."):
        with only_ours():
            taken_of_archive(f"/nowhere/{name}")
