"""What a method answered: items for each question, best first, and the files that they are written to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from remembrancer.records.file import require_path

DEPTH = 200
"""How many items a question are asked for and looked at."""


@dataclass(frozen=True)
class Item:
    """One piece of evidence, as a model would read it.

    Attributes:
        source_ids: The turns or paragraphs that it was made from, through any number of levels.
        text: What would be put into the model's context; its tokens are what counts.
    """

    source_ids: tuple[str, ...]
    text: str


Run = Mapping[str, Sequence[Item]]
"""The items of each question, by the question's id."""


def write_run(path: Path, run: Run) -> None:
    """Write a retrieval run: one JSON object a line, one line a question."""
    write_lines(
        path,
        (
            {
                "question_id": question_id,
                "retrieved": [{"source_ids": list(item.source_ids), "text": item.text} for item in items],
            }
            for question_id, items in run.items()
        ),
    )


def write_lines(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write JSON Lines, and the folder that they lie in when it is not there."""
    path = require_path(path, field="path")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
