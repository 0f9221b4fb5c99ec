"""Gemini's activity from Google Takeout (`MyActivity.json` of Gemini Apps, not the HTML): one record a prompt.

A record holds what was asked, behind a verb in its `title`, and the answer as HTML in `safeHtmlItem`. It knows neither
conversations nor when the answer came: all share one conversation, which the segmenter cuts at silences, and an answer
follows its question at once. Records of other products, and those that tell of something else than a prompt, are
skipped and reported. The verbs are known in English; in another language a record with an answer is taken for a prompt
and its title kept whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from remembrancer.hierarchy.exports.export import Draft, list_at, mapping_at, right_after, text_or_none, time_of
from remembrancer.hierarchy.exports.html_text import plain_text
from remembrancer.records import InvalidInputError

CONVERSATION = "Gemini Apps"

_ASKED = ("Prompted with:", "Asked Gemini:", "Asked Bard:", "Prompted", "Asked", "Said")
_DID = ("Added", "Created", "Deleted", "Edited", "Exported", "Gave", "Pinned", "Renamed", "Selected", "Shared", "Used")
_ATTACHED = re.compile(r"(?<!\s)\s*+Attached \d+ files?\.?\s*\Z")


def is_record(value: object) -> bool:
    """Whether a value looks like a record of this export."""
    return isinstance(value, Mapping) and _is_ours(value) and isinstance(value.get("title"), str) and "time" in value


def read_record(value: Mapping[str, Any], draft: Draft, *, place: str) -> None:
    """Read one record: a question, and its answer when it has one.

    Raises:
        InvalidInputError: It is not in this form; names the record.
    """
    if not _is_ours(value):
        draft.skip(place, "other product")
        return
    title = text_or_none(value.get("title"), place=f"{place}.title")
    answer = _answer(value, place=place)
    asked = _asked(title or "", has_answer=bool(answer))
    if asked is None:
        draft.skip(place, "activity" if title else "empty")
        return
    for kind in ("attachedFiles", "imageFile", "audioFiles"):
        if value.get(kind):
            draft.skip(f"{place}.{kind}", "attachment")
    at = time_of(value.get("time"), place=f"{place}.time")
    if at is None:
        raise InvalidInputError(f"{place}.time", "a record without a time cannot be put among the others")
    draft.add(place, role="user", text=asked, conversation=CONVERSATION, at=at, about={})
    if answer:
        later = right_after(at, place=f"{place}.time")
        draft.add(f"{place}.safeHtmlItem", role="assistant", text=answer, conversation=CONVERSATION, at=later, about={})


def _is_ours(value: Mapping[str, Any]) -> bool:
    products = value.get("products")
    names = [value.get("header"), *(products if isinstance(products, list) else ())]
    return any(isinstance(name, str) and ("Gemini" in name or "Bard" in name) for name in names)


def _asked(title: str, *, has_answer: bool) -> str | None:
    """What was asked; `None`: the record tells of something else."""
    said = title.strip()
    for verb in _ASKED:
        rest = said.removeprefix(verb)
        if rest != said and (not rest or rest[0].isspace()):
            return _ATTACHED.sub("", rest).strip()
    is_other = any(said == verb or said.startswith(f"{verb} ") for verb in _DID)
    return _ATTACHED.sub("", said) if has_answer and not is_other else None


def _answer(value: Mapping[str, Any], *, place: str) -> str:
    parts = []
    for number, item in enumerate(list_at(value.get("safeHtmlItem") or [], place=f"{place}.safeHtmlItem")):
        where = f"{place}.safeHtmlItem.{number}"
        html = text_or_none(mapping_at(item, place=where).get("html"), place=f"{where}.html")
        parts.append(plain_text(html or ""))
    return "\n\n".join(part for part in parts if part)
