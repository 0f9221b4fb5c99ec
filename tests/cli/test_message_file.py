"""Files of messages: what is read, how the format is told, and what an error names."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from remembrancer.cli.message_file import FileFormat, messages_in
from remembrancer.records import InvalidInputError

ONE = {"role": "user", "content": "One.", "timestamp": "2026-03-02"}
TWO = {"role": "user", "content": "Two.", "timestamp": "2026-03-03"}
LINES = f"{json.dumps(ONE)}\n{json.dumps(TWO)}\n"

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> str:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(file)

    return write_file


def contents(name: str, *, file_format: FileFormat = FileFormat.AUTO) -> list[str]:
    with messages_in(name, file_format=file_format) as messages:
        return [one.content for one in messages]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", LINES),
        ("a.ndjson", LINES),
        ("upper.JSONL", LINES),
        ("blank-lines.jsonl", f"\n{LINES}\n  \n"),
        ("windows.jsonl", LINES.replace("\n", "\r\n")),
        ("mark.jsonl", b"\xef\xbb\xbf" + LINES.encode()),
        ("list.json", json.dumps([ONE, TWO])),
        ("object.json", json.dumps({"messages": [ONE, TWO], "about": "a week"}, indent=2)),
        ("lines-without-ending", "\n" + LINES),
        ("list-without-ending", json.dumps([ONE, TWO], indent=2)),
        ("object-without-ending", json.dumps({"messages": [ONE, TWO]})),
    ],
)
def test_messages_are_read_whatever_the_file_looks_like(write: Write, name: str, content: str | bytes) -> None:
    assert contents(write(name, content)) == ["One.", "Two."]


def test_a_format_that_is_named_decides_where_the_ending_says_nothing(write: Write) -> None:
    assert contents(write("a.txt", LINES), file_format=FileFormat.JSONL) == ["One.", "Two."]


def test_a_format_that_is_named_beats_the_ending(write: Write) -> None:
    assert contents(write("a.json", LINES), file_format=FileFormat.JSONL) == ["One.", "Two."]


def test_lines_are_checked_to_the_end_before_the_first_is_given(write: Write) -> None:
    with (
        pytest.raises(InvalidInputError, match="line 3: not JSON"),
        messages_in(write("a.jsonl", LINES + "not JSON\n")),
    ):
        pytest.fail("nothing may be taken in")


def test_lines_are_read_one_by_one(write: Write) -> None:
    with messages_in(write("a.jsonl", LINES)) as messages:
        stream = iter(messages)
        assert not isinstance(messages, list)
        assert [next(stream), next(stream)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "line 2: expected a Message or a map of its fields, got list"),
        ('{"role": "user", "content": "x", "timestamp": "yesterday"}', "line 2.timestamp: not an ISO 8601"),
        ('{"role": "boss", "content": "x", "timestamp": "2026-01-01"}', "line 2.role: "),
        ('{"a": ' * 100_000, "line 2: not JSON"),
    ],
)
def test_an_error_names_the_line(write: Write, line: str, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        contents(write("a.jsonl", f"{json.dumps(ONE)}\n{line}\n"))


@pytest.mark.parametrize("content", ["", "{}", "3", '{"messages": "none"}', "[1, 2"])
def test_a_document_that_holds_no_list_of_messages_is_refused(write: Write, content: str) -> None:
    with pytest.raises(InvalidInputError, match=r"a\.json"):
        contents(write("a.json", content))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a"])
def test_bytes_that_are_no_text_are_refused(write: Write, name: str) -> None:
    with pytest.raises(InvalidInputError, match="line 3: not text in UTF-8: there is a byte 0xff"):
        contents(write(name, b'\n\n[{"role": "\xff"}]'))


def archive(content: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe", "FILE: a.json is text in UTF-16; expected text in UTF-8"),
        (gzip.compress(b"[]"), "FILE: a.json is packed by gzip; expected text in UTF-8"),
        (archive(LINES * 99)[:100], "FILE: a.json is a ZIP archive that is cut off or damaged"),
        (archive("[]"), "FILE: a.json/conversations.json is an empty list: there is no conversation in it"),
        (archive("{}"), "FILE: a.json/conversations.json is no export of ChatGPT, of Claude or of Gemini"),
        (b"{}", "a.json: expected a list of messages, or an object with such a list as `messages`"),
    ],
    ids=["UTF-16", "gzip", "cut ZIP", "empty list", "no export", "object"],  # the bytes hold the time
)
def test_what_a_file_is_instead_is_told_in_a_sentence(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes, told: str
) -> None:
    write("a.json", content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError) as raised:
        contents("a.json")
    assert str(raised.value) == told


def test_a_document_that_is_not_of_the_format_that_was_named_names_the_file(write: Write) -> None:
    with pytest.raises(InvalidInputError, match=r"a\.json: expected a list of conversations"):
        contents(write("a.json", "{}"), file_format=FileFormat.CHATGPT)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="No such file"):
        contents(str(tmp_path / "none.jsonl"))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        contents(str(tmp_path))
