"""Claude's `conversations.json`: a list of conversations, each with `chat_messages` of blocks.

Read are the texts of both sides. Calls and answers of tools, reasoning, attached files and, where messages name their
parents, branches other than the current one are skipped and reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remembrancer.hierarchy.exports.export import (
    Branches,
    Clockwork,
    Draft,
    called,
    list_at,
    mapping_at,
    text_or_none,
    time_of,
)
from remembrancer.hierarchy.exports.tree import current_path, every_path
from remembrancer.records import InvalidInputError
from remembrancer.records.message import Role

_TEXTS = frozenset({"text", "voice_note"})
_REASONS = {
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
    "tool_use": "tool call",
    "server_tool_use": "tool call",
    "tool_result": "tool output",
    "image": "image",
    "document": "attachment",
    "token_budget": "instructions",
    "flag": "instructions",
}
_ROLES: dict[object, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def is_conversation(value: object) -> bool:
    """Whether a value looks like a conversation of this export."""
    return isinstance(value, Mapping) and isinstance(value.get("chat_messages"), list)


def read_conversation(value: Mapping[str, Any], draft: Draft, *, place: str, branches: Branches) -> None:
    """Read one conversation.

    Raises:
        InvalidInputError: It is not in this form; names the record.
    """
    listed = list_at(value.get("chat_messages"), place=f"{place}.chat_messages")
    messages = [mapping_at(one, place=f"{place}.chat_messages.{number}") for number, one in enumerate(listed)]
    path = _path(messages, value.get("current_leaf_message_uuid"), branches=branches, place=f"{place}.chat_messages")
    clockwork = Clockwork(time_of(value.get("created_at"), place=f"{place}.created_at"))
    title = text_or_none(value.get("name"), place=f"{place}.name")
    identity = text_or_none(value.get("uuid"), place=f"{place}.uuid")
    for number in path:
        _read_message(
            messages[number], draft, clockwork, place=f"{place}.chat_messages.{number}", title=title, identity=identity
        )
    on_path = set(path)
    for number in range(len(messages)):
        if number not in on_path:
            draft.skip(f"{place}.chat_messages.{number}", "other branch")


def _path(messages: list[Mapping[str, Any]], leaf: object, *, branches: Branches, place: str) -> list[int]:
    """Which messages are read, in order; older exports name no parents, and are one path."""
    if not any(message.get("parent_message_uuid") for message in messages):
        return list(range(len(messages)))
    numbers: dict[str, int] = {}
    parents: dict[str, str | None] = {}
    for number, message in enumerate(messages):
        node = text_or_none(message.get("uuid"), place=f"{place}.{number}.uuid") or f"number {number}"
        if node in numbers:
            raise InvalidInputError(f"{place}.{number}.uuid", f"{node} is there twice")
        numbers[node] = number
        parent = message.get("parent_message_uuid")
        parents[node] = text_or_none(parent, place=f"{place}.{number}.parent_message_uuid")
    if branches is Branches.ALL:
        return [numbers[node] for node in every_path(parents, place=place)]
    return [numbers[node] for node in current_path(parents, leaf if isinstance(leaf, str) else None, place=place)]


def _read_message(
    message: Mapping[str, Any],
    draft: Draft,
    clockwork: Clockwork,
    *,
    place: str,
    title: str | None,
    identity: str | None,
) -> None:
    sender = message.get("sender")
    if not isinstance(sender, str) or sender not in _ROLES:
        draft.skip(place, f"sender {called(sender)}")
        return
    for kind in ("attachments", "files"):
        for number, _ in enumerate(list_at(message.get(kind) or [], place=f"{place}.{kind}")):
            draft.skip(f"{place}.{kind}.{number}", "attachment")
    text = _text(message, draft, place=place)
    if not text.strip():
        draft.skip(place, "empty")
        return
    told = time_of(message.get("created_at"), place=f"{place}.created_at")
    at, is_estimated = clockwork.at(told, place=place)
    draft.add(
        place,
        role=_ROLES[sender],
        text=text,
        conversation=identity,
        at=at,
        is_estimated=is_estimated,
        about={"title": title, "message": text_or_none(message.get("uuid"), place=f"{place}.uuid")},
    )


def _text(message: Mapping[str, Any], draft: Draft, *, place: str) -> str:
    """The text of the blocks; of older messages, which have none, their one text."""
    said = []
    for number, part in enumerate(list_at(message.get("content") or [], place=f"{place}.content")):
        where = f"{place}.content.{number}"
        block = mapping_at(part, place=where)
        kind = called(block.get("type"))
        if kind in _TEXTS and isinstance(block.get("text"), str):
            said.append(block["text"])
        else:
            draft.skip(where, _REASONS.get(kind, f"content {kind}"))
    blocks = "\n\n".join(one for one in said if one.strip())
    has_blocks = bool(message.get("content"))
    return blocks if has_blocks else (text_or_none(message.get("text"), place=f"{place}.text") or "")
