"""Invented data, small enough to be asked within a second."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, Any]], Path]

_CONVERSATIONS: dict[str, Any] = {
    "name": "harbour-talk",
    "kind": "conversations",
    "conversations": [
        {
            "id": "7",
            "sessions": [
                {
                    "timestamp": "2024-05-02T10:00:00Z",
                    "turns": [
                        {
                            "id": "7/1:1",
                            "speaker": "Nils",
                            "text": "I bought a red kayak at the harbour market.",
                            "timestamp": "2024-05-02T10:00:00Z",
                        },
                        {
                            "id": "7/1:2",
                            "speaker": "Oda",
                            "text": "My sister bakes sourdough bread every Sunday.",
                            "timestamp": "2024-05-02T10:01:00Z",
                        },
                    ],
                    "facts": [
                        {"text": "Nils owns a kayak that is red.", "source_ids": ["7/1:1"]},
                        {"text": "Nils and Oda met on 2 May 2024.", "source_ids": ["7/1:2", "7/1:1"]},
                    ],
                },
                {
                    "timestamp": "2024-06-09T18:00:00Z",
                    "turns": [
                        {
                            "id": "7/2:1",
                            "speaker": "Oda",
                            "text": "The ferry to Vindholm leaves at noon.",
                            "timestamp": "2024-06-09T18:00:00Z",
                        }
                    ],
                },
            ],
            "questions": [
                {
                    "id": "7/Q1",
                    "category": "single-hop",
                    "question": "What did Nils buy at the harbour?",
                    "answer": "a red kayak",
                    "evidence": ["7/1:1"],
                },
                {
                    "id": "7/Q2",
                    "category": "adversarial",
                    "question": "When does the ferry to Vindholm leave?",
                    "answer": None,
                    "evidence": ["7/2:1"],
                },
            ],
        },
        {
            "id": "8",
            "sessions": [
                {
                    "turns": [
                        {
                            "id": "8/1:1",
                            "speaker": "Pia",
                            "text": "Our lighthouse lamp was repaired yesterday.",
                            "timestamp": "2024-07-01T08:00:00Z",
                        }
                    ]
                }
            ],
            "questions": [
                {
                    "id": "8/Q1",
                    "category": "single-hop",
                    "question": "What was repaired?",
                    "answer": "the lamp",
                    "evidence": ["8/1:1"],
                }
            ],
        },
    ],
}

_PARAGRAPHS: dict[str, Any] = {
    "name": "islands",
    "kind": "paragraphs",
    "corpora": [
        {
            "id": "isles",
            "paragraphs": [
                {"id": "isles/P1", "title": "Vindholm", "text": "Vindholm is an island with a stone lighthouse."},
                {"id": "isles/P2", "title": "Sourdough", "text": "Sourdough is bread raised by wild yeast."},
            ],
            "questions": [
                {
                    "id": "isles/Q1",
                    "category": "2hop",
                    "question": "Which island has a lighthouse?",
                    "evidence": ["isles/P1"],
                    "pool": ["isles/P1", "isles/P2"],
                }
            ],
        }
    ],
}

_CASES: dict[str, Any] = {
    "name": "labels",
    "kind": "extraction",
    "cases": [
        {
            "id": "plain",
            "kind": "sentence",
            "category": "standard",
            "text": "Nora Vik manages the Tide Project.",
            "entities": [{"forms": ["Nora Vik"], "type": "person"}, {"forms": ["Tide Project"], "type": None}],
            "relationships": [{"a": ["Nora Vik"], "b": ["Tide Project"], "verbs": ["manage"], "directed": True}],
            "forbid_all_relationships": False,
            "forbidden": [],
        },
        {
            "id": "denied",
            "kind": "sentence",
            "category": "negation",
            "text": "Nora Vik does not manage the Tide Project.",
            "entities": [],
            "relationships": [],
            "forbid_all_relationships": True,
            "forbidden": [],
        },
    ],
}


@pytest.fixture
def conversations() -> dict[str, Any]:
    return copy.deepcopy(_CONVERSATIONS)


@pytest.fixture
def paragraphs() -> dict[str, Any]:
    return copy.deepcopy(_PARAGRAPHS)


@pytest.fixture
def cases() -> dict[str, Any]:
    return copy.deepcopy(_CASES)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a document to a file of its own folder."""

    def write_document(document: dict[str, Any]) -> Path:
        file = tmp_path / f"{document['name']}.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        return file

    return write_document
