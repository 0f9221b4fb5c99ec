"""Each promise of the page of guarantees names a test that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "guarantees.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", PAGE)


def test_the_page_names_tests() -> None:
    assert len(NAMED) > 30


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_there_is_such_a_test(path: str, name: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    if name:
        assert f"def {name}(" in text
