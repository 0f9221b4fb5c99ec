"""Exports of chat assistants: every part of one is a message or is reported as skipped, and errors name the record."""

from __future__ import annotations

import copy
import datetime as dt
import html
import json
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.effort import grows_with_its_input
from typer.testing import CliRunner

from remembrancer.cli.application import application
from remembrancer.cli.message_file import ExportOptions, FileFormat, messages_in
from remembrancer.hierarchy.exports import Export, ExportFormat, export_format, read_export, read_export_file
from remembrancer.hierarchy.exports.html_text import plain_text
from remembrancer.records import InvalidInputError, Message

START = 1_770_000_000.0


def at(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(START + seconds, dt.UTC)


def node(
    parent: str | None,
    role: str,
    *parts: Any,
    after: float | None = 0,
    kind: str = "text",
    recipient: str = "all",
    **metadata: Any,
) -> dict[str, Any]:
    return {
        "parent": parent,
        "children": [],
        "message": {
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": None if after is None else START + after,
            "content": {"content_type": kind, "parts": list(parts)},
            "recipient": recipient,
            "metadata": metadata,
        },
    }


@pytest.fixture
def chatgpt() -> list[dict[str, Any]]:
    """One conversation: an answer was made anew, a tool drew a picture, and a picture was shown."""
    mapping = {
        "root": {"parent": None, "children": ["system"], "message": None},
        "system": node("root", "system", "", is_visually_hidden_from_conversation=True),
        "question": node("system", "user", "Where does the ferry leave?", after=1),
        "old": node("question", "assistant", "From the south pier.", after=2),
        "new": node("question", "assistant", "From the north pier.", after=3, model_slug="gpt-4o"),
        "picture": node(
            "new", "user", {"content_type": "image_asset_pointer"}, "And this one?", after=4, kind="multimodal_text"
        ),
        "call": node("picture", "assistant", "look()", after=5, kind="code", recipient="python"),
        "tool": node("call", "tool", "a red boat", after=6),
        "think": node("tool", "assistant", after=7, kind="thoughts"),
        "spoken": node(
            "think",
            "assistant",
            {"content_type": "audio_transcription", "text": "That is the red boat."},
            {"content_type": "audio_asset_pointer"},
            after=None,
            kind="multimodal_text",
        ),
        "blank": node("spoken", "assistant", " ", after=8),
    }
    return [
        {
            "title": "The ferry",
            "create_time": START,
            "update_time": START + 9,
            "conversation_id": "c1",
            "current_node": "blank",
            "mapping": mapping,
        }
    ]


@pytest.fixture
def claude() -> list[dict[str, Any]]:
    return [
        {
            "uuid": "k1",
            "name": "The harbour",
            "created_at": "2026-02-02T02:40:00.000000Z",
            "chat_messages": [
                {
                    "uuid": "m1",
                    "sender": "human",
                    "text": "When does the harbour open?",
                    "content": [{"type": "text", "text": "When does the harbour open?"}],
                    "created_at": "2026-02-02T02:40:01.000000Z",
                    "attachments": [{"file_name": "plan.txt", "extracted_content": "…"}],
                    "files": [{"file_name": "map.png"}],
                },
                {
                    "uuid": "m2",
                    "sender": "assistant",
                    "text": "",
                    "content": [
                        {"type": "thinking", "thinking": "Look it up."},
                        {"type": "tool_use", "name": "search", "input": {}},
                        {"type": "tool_result", "name": "search", "content": []},
                        {"type": "text", "text": "At six."},
                        {"type": "text", "text": "On Sundays at eight."},
                        {"type": "hologram"},
                    ],
                    "created_at": "2026-02-02T02:40:09.000000Z",
                },
                {"uuid": "m3", "sender": "human", "text": "Thanks.", "created_at": "2026-02-02T02:41:00Z"},
            ],
        }
    ]


@pytest.fixture
def gemini() -> list[dict[str, Any]]:
    return [
        {
            "header": "Gemini Apps",
            "title": "Prompted where is the lighthouse? Attached 1 file.",
            "time": "2026-02-02T02:40:00.500Z",
            "products": ["Gemini Apps"],
            "safeHtmlItem": [{"html": "<p>On the <b>island</b> &amp; nowhere else.</p><ul><li>North</li></ul>"}],
            "attachedFiles": ["map.png"],
        },
        {"header": "Gemini Apps", "title": "Used Gemini Apps", "time": "2026-02-02T02:41:00Z", "products": []},
        {"header": "Search", "title": "Searched for boats", "time": "2026-02-02T02:42:00Z", "products": ["Search"]},
        {
            "header": "Gemini Apps",
            "title": "Prompted  thanks",
            "time": "2026-02-02T02:43:00Z",
            "products": ["Gemini Apps"],
        },
        {
            "header": "Gemini-Apps",
            "title": "Wo liegt das Boot?",
            "time": "2026-02-02T02:44:00Z",
            "safeHtmlItem": [{"html": "<p>Am Steg.</p><style>p {}</style>"}],
        },
    ]


def said(export: Export) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in export.messages]


class TestChatGPT:
    def test_the_branch_shown_last_is_read(self, chatgpt: list[dict[str, Any]]) -> None:
        export = read_export(chatgpt)
        assert said(export) == [
            ("user", "Where does the ferry leave?"),
            ("assistant", "From the north pier."),
            ("user", "And this one?"),
            ("assistant", "That is the red boat."),
        ]
        answer = export.messages[1]
        assert (answer.conversation, answer.timestamp) == ("c1", at(3))
        assert answer.metadata == {"export": "chatgpt", "title": "The ferry", "message": "new", "model": "gpt-4o"}

    def test_everything_else_is_reported(self, chatgpt: list[dict[str, Any]]) -> None:
        skipped = {one.place.removeprefix("0.mapping."): one.reason for one in read_export(chatgpt).skipped}
        assert skipped == {
            "root": "empty",
            "system": "instructions",
            "picture.message.content.parts.0": "image",
            "call": "tool call",
            "tool": "tool output",
            "think": "reasoning",
            "spoken.message.content.parts.1": "audio",
            "blank": "empty",
            "old": "other branch",
        }

    def test_all_branches_are_read_on_request(self, chatgpt: list[dict[str, Any]]) -> None:
        export = read_export(chatgpt, branches="all")
        assert ("assistant", "From the south pier.") in said(export)
        assert "other branch" not in export.skipped_by_reason

    def test_a_message_without_a_time_follows_the_one_before(self, chatgpt: list[dict[str, Any]]) -> None:
        export = read_export(chatgpt)
        assert export.messages[3].timestamp == at(4) + dt.timedelta(microseconds=1)
        assert export.estimated_times == 1

    def test_without_a_current_node_the_last_leaf_counts(self, chatgpt: list[dict[str, Any]]) -> None:
        del chatgpt[0]["current_node"]
        assert len(read_export(chatgpt).messages) == 4

    def test_the_speaker_is_named_on_request(self, chatgpt: list[dict[str, Any]]) -> None:
        export = read_export(chatgpt, speaker="Nora Vik")
        assert {(message.role, message.speaker) for message in export.messages} == {
            ("user", "Nora Vik"),
            ("assistant", None),
        }

    def test_reading_twice_gives_the_same_ids(self, chatgpt: list[dict[str, Any]]) -> None:
        first, second = read_export(chatgpt), read_export(copy.deepcopy(chatgpt))
        assert [message.id for message in first.messages] == [message.id for message in second.messages]

    def test_a_ring_is_refused(self, chatgpt: list[dict[str, Any]]) -> None:
        chatgpt[0]["mapping"]["root"]["parent"] = "blank"
        for branches in ("current", "all"):
            with pytest.raises(InvalidInputError, match=r"0\.mapping: .* form a ring"):
                read_export(chatgpt, branches=branches)

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            (lambda one: one["mapping"].update(question=3), "0.mapping.question: expected an object, got int"),
            (lambda one: one.update(mapping=[]), "0.mapping: expected an object, got list"),
            (
                lambda one: one["mapping"]["question"]["message"].update(create_time="soon"),
                "0.mapping.question.message.create_time: expected seconds since 1970, got 'soon'",
            ),
            (
                lambda one: one["mapping"]["question"]["message"].update(create_time=float("inf")),
                "0.mapping.question.message.create_time",
            ),
            (
                lambda one: one["mapping"]["question"]["message"]["content"].update(parts=[3]),
                "0.mapping.question.message.content.parts.0: expected an object",
            ),
            (lambda one: one.update(title=3), "0.title: expected text, got int"),
            (
                lambda one: one["mapping"]["question"]["message"]["content"].update(parts=["\ud800"]),
                "0.mapping.question.content: a lone surrogate",
            ),
            (lambda one: one.update(conversation_id="x" * 1001), "0.mapping.question.conversation"),
        ],
    )
    def test_an_error_names_the_record(
        self, chatgpt: list[dict[str, Any]], change: Callable[[dict[str, Any]], object], named: str
    ) -> None:
        change(chatgpt[0])
        with pytest.raises(InvalidInputError) as caught:
            read_export(chatgpt, format="chatgpt")
        assert named in str(caught.value)

    def test_a_conversation_without_any_time_is_refused(self, chatgpt: list[dict[str, Any]]) -> None:
        chatgpt[0]["create_time"] = None
        chatgpt[0]["mapping"]["question"]["message"]["create_time"] = None
        with pytest.raises(InvalidInputError, match=r"0\.mapping\.question: neither the message"):
            read_export(chatgpt)


class TestClaude:
    def test_texts_are_read_and_the_rest_is_reported(self, claude: list[dict[str, Any]]) -> None:
        export = read_export(claude)
        assert said(export) == [
            ("user", "When does the harbour open?"),
            ("assistant", "At six.\n\nOn Sundays at eight."),
            ("user", "Thanks."),
        ]
        assert export.messages[0].metadata == {"export": "claude", "title": "The harbour", "message": "m1"}
        assert [(one.place, one.reason) for one in export.skipped] == [
            ("0.chat_messages.0.attachments.0", "attachment"),
            ("0.chat_messages.0.files.0", "attachment"),
            ("0.chat_messages.1.content.0", "reasoning"),
            ("0.chat_messages.1.content.1", "tool call"),
            ("0.chat_messages.1.content.2", "tool output"),
            ("0.chat_messages.1.content.5", "content hologram"),
        ]

    def test_where_messages_name_their_parents_the_current_branch_is_read(self, claude: list[dict[str, Any]]) -> None:
        messages = claude[0]["chat_messages"]
        messages.append({**messages[1], "uuid": "m2b", "content": [{"type": "text", "text": "At seven."}]})
        for message, parent in zip(messages, ("00000000-0000-4000-8000-000000000000", "m1", "m2", "m1"), strict=True):
            message["parent_message_uuid"] = parent
        claude[0]["current_leaf_message_uuid"] = "m3"
        export = read_export(claude)
        assert [text for _, text in said(export)][1:] == ["At six.\n\nOn Sundays at eight.", "Thanks."]
        assert export.skipped[-1].reason == "other branch"
        assert len(read_export(claude, branches="all").messages) == 4

    def test_an_unknown_sender_is_reported(self, claude: list[dict[str, Any]]) -> None:
        claude[0]["chat_messages"][2]["sender"] = "moderator"
        assert read_export(claude).skipped_by_reason["sender moderator"] == 1

    def test_an_error_names_the_record(self, claude: list[dict[str, Any]]) -> None:
        claude[0]["chat_messages"][1]["created_at"] = "yesterday"
        with pytest.raises(InvalidInputError, match=r"0\.chat_messages\.1\.created_at"):
            read_export(claude)


class TestGemini:
    def test_questions_and_answers_are_read_and_the_rest_is_reported(self, gemini: list[dict[str, Any]]) -> None:
        export = read_export(gemini)
        assert said(export) == [
            ("user", "where is the lighthouse?"),
            ("assistant", "On the island & nowhere else.\nNorth"),
            ("user", "thanks"),
            ("user", "Wo liegt das Boot?"),
            ("assistant", "Am Steg."),
        ]
        assert [(one.place, one.reason) for one in export.skipped] == [
            ("0.attachedFiles", "attachment"),
            ("1", "activity"),
            ("2", "other product"),
        ]

    def test_an_answer_follows_its_question_at_once(self, gemini: list[dict[str, Any]]) -> None:
        question, answer, *_ = read_export(gemini).messages
        assert answer.timestamp - question.timestamp == dt.timedelta(microseconds=1)

    def test_a_record_without_a_time_is_refused(self, gemini: list[dict[str, Any]]) -> None:
        gemini[3]["time"] = ""
        with pytest.raises(InvalidInputError, match=r"3\.time"):
            read_export(gemini)

    @given(st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" \n<>&;#")))
    def test_the_words_of_html_are_kept(self, text: str) -> None:
        assert plain_text(f"<div><p>{html.escape(text)}</p></div>").split() == text.split()

    @given(st.text())
    def test_any_html_is_read(self, text: str) -> None:
        assert isinstance(plain_text(text), str)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("<a href='x>y' title=it's>one</a> <B>two</b><br/>three", "one two\nthree"),
            ("one<!-- <p>two</p> > -->, <!DOCTYPE html><?php x ?>three</>", "one, three"),
            ("one<!-->two<!--->three", "onetwothree"),
            ("<STYLE>p > b {}</style ><script>if (a</b) {}</script>one", "one"),
            ("<script/>one<script>two", "one"),
            ("<table><tr><td>a</td><td>b</td></tr></table>c", "a b\nc"),
            ("1 < 2 && 3 <é &copy &#65; &#" + "9" * 5000 + ";", "1 < 2 && 3 <é © A \N{REPLACEMENT CHARACTER}"),
            ("one <!-- <b>two</b>", "one <!-- two"),
            ("one <! two", "one <! two"),
            ("one <a href='two", "one <a href='two"),
            ("one <![ two", "one <![ two"),
        ],
    )
    def test_tags_and_comments_are_no_words_and_what_is_not_closed_is(self, text: str, words: str) -> None:
        assert plain_text(text) == words

    @pytest.mark.parametrize(
        "unit",
        ["<!--", "<!", "<?", "</", "<![", "<![CDATA[", "<a", "</a", "<a ", "<a b=c ", "<a b='", '<a ="', "<a b='>' ",
         "<", "<p>x</p>", "<script>", "<style></script>", "&#", "&amp"],
    )  # fmt: skip
    def test_html_that_closes_nothing_takes_no_longer(self, unit: str) -> None:
        grows_with_its_input(plain_text, lambda size: unit * (size // len(unit)))


class TestFormats:
    def test_each_is_told_by_its_form(
        self, chatgpt: list[dict[str, Any]], claude: list[dict[str, Any]], gemini: list[dict[str, Any]]
    ) -> None:
        told = [export_format(one) for one in (chatgpt, claude, gemini, chatgpt[0], {"conversations": claude})]
        assert told == [
            ExportFormat.CHATGPT,
            ExportFormat.CLAUDE,
            ExportFormat.GEMINI,
            ExportFormat.CHATGPT,
            ExportFormat.CLAUDE,
        ]

    @pytest.mark.parametrize("document", [None, 3, "x", [], {}, [{}], [{"role": "user"}], {"messages": []}])
    def test_anything_else_is_none(self, document: object) -> None:
        assert export_format(document) is None
        with pytest.raises(InvalidInputError, match="neither an export"):
            read_export(document)

    def test_an_unknown_option_is_refused(self, chatgpt: list[dict[str, Any]]) -> None:
        with pytest.raises(InvalidInputError, match="branches: expected one of current, all"):
            read_export(chatgpt, branches="newest")
        with pytest.raises(InvalidInputError, match="format: expected one of chatgpt, claude, gemini"):
            read_export(chatgpt, format="bing")
        with pytest.raises(InvalidInputError, match="speaker: must not be empty"):
            read_export(chatgpt, speaker="")


class TestFiles:
    def test_an_archive_is_read(self, chatgpt: list[dict[str, Any]], tmp_path: Path) -> None:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("user.json", "{}")
            archive.writestr("conversations-001.json", json.dumps(chatgpt))
            archive.writestr("conversations-000.json", json.dumps(chatgpt))
            archive.writestr("shared_conversations.json", "[]")
        assert len(read_export_file(path).messages) == 8

    def test_an_archive_without_one_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("user.json", "{}")
        with pytest.raises(InvalidInputError, match=r"holds neither conversations\.json"):
            read_export_file(path)

    def test_what_would_unpack_to_more_than_any_export_is_refused_by_what_the_archive_says(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "bomb.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("conversations.json", bytes(65 << 20))
        with pytest.raises(
            InvalidInputError, match=r"conversations\.json: not unpacked: .* more than 200 times as many"
        ):
            read_export_file(path)

    def test_small_files_may_be_packed_as_small_as_they_will(
        self, chatgpt: list[dict[str, Any]], tmp_path: Path
    ) -> None:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("conversations.json", " " * 1_000_000 + json.dumps(chatgpt))
        assert len(read_export_file(path).messages) == 4

    def test_the_files_of_an_archive_together_have_a_bound(
        self, chatgpt: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, text = tmp_path / "export.zip", json.dumps(chatgpt)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(3):
                archive.writestr(f"conversations-00{number}.json", text)
        monkeypatch.setattr("remembrancer.hierarchy.exports.archive.MAX_UNPACKED", 3 * len(text))
        assert len(read_export_file(path).messages) == 12
        monkeypatch.setattr("remembrancer.hierarchy.exports.archive.MAX_UNPACKED", 3 * len(text) - 1)
        with pytest.raises(
            InvalidInputError, match=r"conversations-002\.json: not unpacked: the exports in this archive"
        ):
            read_export_file(path)
        with pytest.raises(InvalidInputError, match="not unpacked"), messages_in(str(path)):
            pass

    def test_a_size_that_is_a_lie_lets_no_more_come_out(
        self, chatgpt: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, text = tmp_path / "export.zip", json.dumps(chatgpt)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("conversations.json", text)
        told, content = len(text).to_bytes(4, "little"), path.read_bytes()
        path.write_bytes(content.replace(told, (10).to_bytes(4, "little")))
        monkeypatch.setattr("remembrancer.hierarchy.exports.archive.MAX_UNPACKED", 10)
        with pytest.raises(InvalidInputError, match=r"cannot be read: Bad CRC"):
            read_export_file(path)

    @pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf"])
    def test_an_empty_file_is_told_of_as_such(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "conversations.json"
        path.write_bytes(content)
        with pytest.raises(InvalidInputError, match=r"^path: .*conversations\.json is empty$"):
            read_export_file(path)

    @pytest.mark.parametrize("content", [b"not JSON", b"\xff\xfe", b"[" * 100_000])
    def test_a_file_that_is_no_json_is_refused(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "conversations.json"
        path.write_bytes(content)
        with pytest.raises(InvalidInputError, match=r"conversations\.json(: not JSON| is text in UTF-16)"):
            read_export_file(path)

    def test_a_file_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInputError, match="cannot be read"):
            read_export_file(tmp_path / "nothing.json")

    @pytest.mark.parametrize("as_archive", [False, True])
    def test_the_command_line_reads_them_as_files_of_messages(
        self, claude: list[dict[str, Any]], tmp_path: Path, as_archive: bool
    ) -> None:
        path = tmp_path / "conversations.json"
        path.write_text(json.dumps(claude), "utf-8")
        if as_archive:
            with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
                archive.write(path, path.name)
            path = tmp_path / "export.zip"
        told: list[Export] = []
        options = ExportOptions(speaker="Nora Vik", told=told.append)
        for file_format in (FileFormat.AUTO, FileFormat.CLAUDE):
            with messages_in(str(path), file_format=file_format, exports=options) as messages:
                read = list(messages)
            assert [one.speaker for one in read if isinstance(one, Message)] == ["Nora Vik", None, "Nora Vik"]
        assert [export.format for export in told] == ["claude", "claude"]

    def test_a_format_that_is_named_and_wrong_is_refused(self, claude: list[dict[str, Any]], tmp_path: Path) -> None:
        path = tmp_path / "conversations.json"
        path.write_text(json.dumps(claude), "utf-8")
        with (
            pytest.raises(InvalidInputError, match=r"0\.mapping"),
            messages_in(str(path), file_format=FileFormat.CHATGPT),
        ):
            pass


@pytest.mark.neo4j
def test_ingest_takes_an_export_in_and_tells_what_it_skipped(
    chatgpt: list[dict[str, Any]], neo4j_server: tuple[str, tuple[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(chatgpt), "utf-8")
    uri, (username, password) = neo4j_server
    options = ["--uri", uri, "--username", username, "--password", password, "--namespace", f"test-{uuid.uuid4()}"]
    command = ["ingest", str(path), "--embedder", "none", "--speaker", "Nora Vik", *options]
    told = CliRunner().invoke(application, command)
    assert told.exit_code == 0
    assert "An export of chatgpt: 4 messages. Skipped: 2 empty, " in told.stdout
    again = json.loads(CliRunner().invoke(application, [*command, "--json"]).stdout)
    assert again["counts"] == {"duplicate": 4, "failed": 0}
    assert {"place": "0.mapping.call", "reason": "tool call"} in again["export"]["skipped"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["a", "b", "c", "d", "e"])
messages = st.none() | st.fixed_dictionaries(
    {
        "author": st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system", "tool", "critic"])}),
        "content": st.fixed_dictionaries(
            {
                "content_type": st.sampled_from(["text", "multimodal_text", "code", "thoughts", "new"]),
                "parts": st.lists(
                    st.sampled_from(["words", "", None]) | st.just({"content_type": "image_asset_pointer"}), max_size=3
                ),
            }
        ),
        "create_time": st.none() | st.floats(0, 2e9),
        "recipient": st.sampled_from(["all", "python"]),
    }
)


def outcome(document: object, **options: str) -> Export | InvalidInputError:
    try:
        return read_export(document, **options)  # type: ignore[arg-type]
    except InvalidInputError as error:
        return error


@given(
    mapping=st.dictionaries(names, st.fixed_dictionaries({"parent": st.none() | names, "message": messages})),
    leaf=st.none() | names,
    branches=st.sampled_from(["current", "all"]),
)
def test_each_node_of_any_tree_is_a_message_or_skipped_unless_it_is_a_ring(
    mapping: dict[str, Any], leaf: str | None, branches: str
) -> None:
    document = [{"mapping": mapping, "current_node": leaf, "create_time": START, "id": "c"}]
    export = outcome(document, branches=branches)
    if isinstance(export, InvalidInputError):
        assert "ring" in str(export)
        return
    taken = [message.metadata["message"] for message in export.messages]
    skipped = [one.place.split(".")[2] for one in export.skipped if one.place.count(".") == 2]
    assert sorted(taken + skipped) == sorted(mapping)


@given(document=json_values, which=st.sampled_from(["chatgpt", "claude", "gemini"]))
def test_any_json_is_read_or_refused(document: Any, which: str) -> None:
    for candidate in (document, [document], [{"mapping": document}], [{"chat_messages": document}]):
        assert outcome(candidate, format=which)


@given(parts=st.lists(json_values, max_size=3), title=json_values, time=json_values)
def test_any_content_is_read_or_refused_with_its_place(parts: list[Any], title: Any, time: Any) -> None:
    held = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": parts}, "create_time": time}
    document = [{"title": title, "create_time": 0, "mapping": {"n": {"parent": None, "message": held}}}]
    export = outcome(document)
    if isinstance(export, InvalidInputError):
        assert export.field.startswith("0.")
        return
    assert len(export.messages) + len([one for one in export.skipped if one.place == "0.mapping.n"]) == 1
