"""Eight weeks in the life of a small team, to try a memory on.

`conversation.jsonl` holds the messages of five people and their assistant at Northwind Labs, who build a booking system
for harbours: made up for this library, in the order in which they were written. Much of what is said changes later: a
colleague leaves, a technical decision is reversed, a deadline moves twice, telephone numbers, a port and the
customer's contact change, somebody moves to another city. `questions.json` asks about that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files

__all__ = ["conversation", "questions"]


def conversation() -> Iterator[dict[str, object]]:
    """The messages, oldest first, as `Memory.ingest` takes them.

    Each has `role`, `speaker`, `content`, `timestamp` (UTC) and `conversation`. Messages of one burst are 20 to 120
    seconds apart and in one conversation; bursts are hours apart.
    """
    for line in _read("conversation.jsonl").splitlines():
        yield json.loads(line)


def questions() -> list[dict[str, object]]:
    """What one may ask of the conversation, and what a memory should bring up.

    Each has `question`; `valid_at`, the instant that it is asked of (null: after the last message); `answer`, a
    sentence; `key_words`, which any good answer contains; `not_yet`, words that must not come up because what they
    stand for began after `valid_at`; and `evidence`, the messages that hold the answer, each named by its
    `conversation`, `speaker` and `timestamp`.
    """
    asked: list[dict[str, object]] = json.loads(_read("questions.json"))
    return asked


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
