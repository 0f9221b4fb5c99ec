"""Exports of chat assistants: each part of one is a message or reported, or the export is refused by its place."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import fuzz, holds, in_time, only_ours
from tests.fuzz.outside import changed, odd_texts, odd_values, written

from remembrancer.hierarchy.exports import Export, export_format, read_export
from remembrancer.hierarchy.exports.html_text import plain_text
from remembrancer.records import InvalidInputError
from remembrancer.records.json_text import read_json

LAST = "9999-12-31T23:59:59.999999Z"


def _node(parent: str | None, role: str, part: Any, after: float | None) -> dict[str, Any]:
    return {
        "parent": parent,
        "message": {
            "author": {"role": role},
            "create_time": None if after is None else 1_770_000_000.0 + after,
            "content": {"content_type": "text", "parts": [part]},
            "recipient": "all",
            "metadata": {"model_slug": "m"},
        },
    }


CHATGPT = [
    {
        "title": "The ferry",
        "create_time": 1_770_000_000.0,
        "conversation_id": "c1",
        "current_node": "c",
        "mapping": {
            "root": {"parent": None, "message": None},
            "a": _node("root", "user", "Where does the ferry leave?", 1),
            "b": _node("a", "assistant", {"content_type": "audio_transcription", "text": "North pier."}, None),
            "c": _node("b", "tool", "a red boat", 3),
            "d": _node("a", "assistant", "South pier.", 4),
        },
    }
]
CLAUDE = [
    {
        "uuid": "k1",
        "name": "The harbour",
        "created_at": "2026-02-02T02:40:00Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "created_at": "2026-02-02T02:40:01Z", "files": [{"file_name": "map.png"}],
             "content": [{"type": "text", "text": "When does it open?"}, {"type": "thinking", "thinking": "Hm."}]},
            {"uuid": "m2", "sender": "assistant", "parent_message_uuid": "m1", "text": "At six.", "created_at": None},
            {"uuid": "m3", "sender": "human", "parent_message_uuid": "m1", "text": "Thanks.", "created_at": LAST},
        ],
    }
]  # fmt: skip
GEMINI = [
    {
        "header": "Gemini Apps",
        "title": "Prompted When does the tide turn? Attached 2 files.",
        "time": "2026-02-02T02:40:00.123Z",
        "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": "<p>At <b>noon</b> &amp; at six.</p><ul><li>one<li>two</ul>"}],
    },
    {"header": "Search", "title": "Searched for boats", "time": "2026-02-02T02:41:00Z", "products": ["Search"]},
]
EXPORTS = {"chatgpt": CHATGPT, "claude": CLAUDE, "gemini": GEMINI}


@pytest.mark.parametrize("whose", EXPORTS)
@fuzz
@given(data=st.data())
def test_any_change_of_an_export_is_read_or_refused_by_its_place(whose: str, data: st.DataObject) -> None:
    text = written(data.draw(changed(EXPORTS[whose])))
    branches = data.draw(st.sampled_from(["current", "all"]))
    with in_time():
        try:
            document = read_json(text)
        except ValueError:
            return
        export_format(document)
        try:
            export = read_export(document, format=whose, branches=branches)
        except InvalidInputError as error:
            holds(error.field == "document" or error.field.split(".")[0].isdigit(), error)
            return
    for place in _parts(document, whose):
        assert _is_told(export, place, whose, document), place


def _records(document: Any) -> Any:
    if not isinstance(document, dict):
        return document
    is_one = isinstance(document.get("mapping"), dict) or isinstance(document.get("chat_messages"), list)
    return [document] if is_one else document["conversations"]


def _parts(document: Any, whose: str) -> list[str]:
    records = _records(document)
    inside = {"chatgpt": "mapping", "claude": "chat_messages", "gemini": None}[whose]
    if inside is None:
        return [str(number) for number in range(len(records))]
    return [
        f"{number}.{inside}.{key}"
        for number, one in enumerate(records)
        for key in (one[inside] if isinstance(one[inside], dict) else range(len(one[inside])))
    ]


def _is_told(export: Export, place: str, whose: str, document: Any) -> bool:
    """Whether a part is skipped, or a message with its words is there."""
    if any(one.place == place or one.place.startswith(f"{place}.") for one in export.skipped):
        return True
    records = _records(document)
    if whose == "chatgpt":
        return any(one.metadata.get("message") == place.split(".", 2)[2] for one in export.messages)
    if whose == "claude":
        record = records[int(place.split(".")[0])]["chat_messages"][int(place.split(".")[2])]
        return any(one.metadata.get("message") == (record.get("uuid") or None) for one in export.messages)
    return len(export.messages) > 0


@fuzz
@given(html=st.lists(st.sampled_from(["<p>", "</p>", "<", ">", "&", "&#", "&#x110000;", "<!--", "-->", "<![CDATA[",
    "]]>",
                                      "<script>", "</script", "word", "\x00", "<a b='", '"', "<?", "<!",
                                      "\ud800"]) | odd_texts))  # fmt: skip
def test_any_html_is_read(html: list[str]) -> None:
    with in_time():
        plain_text("".join(html))


@pytest.mark.parametrize("odd", [["user"], {"a": 1}, 3, True, None, "x" * 500])
def test_a_role_or_kind_that_is_no_text_is_skipped_and_told_in_few_words(odd: Any) -> None:
    document = json.loads(json.dumps(CHATGPT))
    document[0]["mapping"]["a"]["message"]["author"]["role"] = odd
    document[0]["mapping"]["c"]["message"]["content"]["content_type"] = odd
    document[0]["current_node"] = "c"
    export = read_export(document)
    assert any(one.place == "0.mapping.a" and len(one.reason) < 100 for one in export.skipped)
    claude = json.loads(json.dumps(CLAUDE))
    claude[0]["chat_messages"][2]["sender"] = odd
    assert any(
        one.reason.startswith("sender ") and len(one.reason) < 100
        for one in read_export(claude, branches="all").skipped
    )


def test_nothing_can_come_after_the_last_instant() -> None:
    claude = json.loads(json.dumps(CLAUDE))
    claude[0]["chat_messages"][0]["created_at"] = LAST
    with pytest.raises(InvalidInputError, match=r"^0\.chat_messages\.1: nothing can come after"):
        read_export(claude, branches="all")
    gemini = json.loads(json.dumps(GEMINI))
    gemini[0]["time"] = LAST
    with pytest.raises(InvalidInputError, match=r"^0\.time: nothing can come after"):
        read_export(gemini)


def test_a_long_ring_is_found_at_once() -> None:
    mapping = {"root": {"parent": None, "message": None}}
    mapping |= {f"n{number}": {"parent": f"n{(number + 1) % 30_000}", "message": None} for number in range(30_000)}
    with in_time(20), pytest.raises(InvalidInputError, match="ring"):
        read_export([{"mapping": mapping, "create_time": 0}], branches="all")


@fuzz
@given(value=odd_values)
def test_any_time_is_one_or_refused(value: Any) -> None:
    for document, path in ((CHATGPT, ("create_time",)), (CLAUDE, ("created_at",)), (GEMINI, ("time",))):
        held = json.loads(json.dumps(document))
        held[0][path[0]] = value
        with only_ours():
            export = read_export(held)
            assert all(one.timestamp.tzinfo is dt.UTC for one in export.messages)
