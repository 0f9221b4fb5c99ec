"""ChatGPT's `conversations.json`: a list of conversations, each a `mapping` of nodes with parents and a `current_node`.

Read are the texts of user and assistant, transcripts of what was spoken among them. Calls and answers of tools,
reasoning, pictures and files, hidden instructions and, unless asked for, other branches are skipped and reported.
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
from remembrancer.records.message import Role

_SPOKEN = "audio_transcription"
_TEXTS = frozenset({"text", "multimodal_text"})
_REASONS = {
    "code": "tool call",
    "execution_output": "tool output",
    "system_error": "tool output",
    "tether_browsing_display": "tool output",
    "tether_quote": "tool output",
    "computer_output": "tool output",
    "thoughts": "reasoning",
    "reasoning_recap": "reasoning",
    "user_editable_context": "instructions",
    "model_editable_context": "instructions",
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "real_time_user_audio_video_asset_pointer": "audio",
}
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


def is_conversation(value: object) -> bool:
    """Whether a value looks like a conversation of this export."""
    return isinstance(value, Mapping) and isinstance(value.get("mapping"), Mapping)


def read_conversation(value: Mapping[str, Any], draft: Draft, *, place: str, branches: Branches) -> None:
    """Read one conversation.

    Raises:
        InvalidInputError: It is not in this form; names the record.
    """
    nodes = mapping_at(value.get("mapping"), place=f"{place}.mapping")
    parents = {
        node: text_or_none(
            mapping_at(held, place=f"{place}.mapping.{node}").get("parent"), place=f"{place}.mapping.{node}.parent"
        )
        for node, held in nodes.items()
    }
    leaf = text_or_none(value.get("current_node"), place=f"{place}.current_node")
    if branches is Branches.ALL:
        path = every_path(parents, place=f"{place}.mapping")
    else:
        path = current_path(parents, leaf, place=f"{place}.mapping")
    began = time_of(value.get("create_time"), place=f"{place}.create_time", in_seconds=True)
    title = text_or_none(value.get("title"), place=f"{place}.title")
    identity = text_or_none(value.get("conversation_id") or value.get("id"), place=f"{place}.id")
    clockwork = Clockwork(began)
    for node in path:
        _read_node(nodes[node], node, draft, clockwork, place=f"{place}.mapping.{node}", title=title, identity=identity)
    on_path = set(path)
    for node, held in nodes.items():
        if node not in on_path:
            draft.skip(f"{place}.mapping.{node}", "empty" if held.get("message") is None else "other branch")


def _read_node(
    held: Mapping[str, Any],
    node: str,
    draft: Draft,
    clockwork: Clockwork,
    *,
    place: str,
    title: str | None,
    identity: str | None,
) -> None:
    if held.get("message") is None:
        draft.skip(place, "empty")
        return
    message = mapping_at(held["message"], place=f"{place}.message")
    content = mapping_at(message.get("content") or {}, place=f"{place}.message.content")
    told_role = mapping_at(message.get("author") or {}, place=f"{place}.message.author").get("role")
    role = called(told_role)
    reason = _why_not(message, content, role)
    if reason is not None:
        draft.skip(place, reason)
        return
    text = _text(content, draft, place=f"{place}.message.content")
    if not text.strip():
        draft.skip(place, "empty")
        return
    told = time_of(message.get("create_time"), place=f"{place}.message.create_time", in_seconds=True)
    at, is_estimated = clockwork.at(told, place=place)
    metadata = mapping_at(message.get("metadata") or {}, place=f"{place}.message.metadata")
    draft.add(
        place,
        role=_ROLES[role],
        text=text,
        conversation=identity,
        at=at,
        is_estimated=is_estimated,
        about={"title": title, "message": node, "model": metadata.get("model_slug")},
    )


def _why_not(message: Mapping[str, Any], content: Mapping[str, Any], role: str) -> str | None:
    """Why a message is not read; `None`: it is."""
    kind = content.get("content_type")
    metadata = message.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation"):
        return "instructions" if role in {"system", "user"} else "hidden"
    if role == "system":
        return "instructions"
    if role == "tool":
        return "tool output"
    if role not in _ROLES:
        return f"role {role}"
    if role == "assistant" and message.get("recipient", "all") not in ("all", None):
        return "tool call"
    if kind is not None and called(kind) not in _TEXTS:
        return _REASONS.get(called(kind), f"content {called(kind)}")
    return None


def _text(content: Mapping[str, Any], draft: Draft, *, place: str) -> str:
    said = []
    for number, part in enumerate(list_at(content.get("parts") or [], place=f"{place}.parts")):
        where = f"{place}.parts.{number}"
        if isinstance(part, str):
            said.append(part)
        elif part is not None:
            held = mapping_at(part, place=where)
            kind = called(held.get("content_type"))
            if kind in (_SPOKEN, "text") and isinstance(held.get("text"), str):
                said.append(held["text"])
            else:
                draft.skip(where, _REASONS.get(kind, f"content {kind}"))
    return "\n".join(part for part in said if part.strip())
