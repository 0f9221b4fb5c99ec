"""Errors as reasons in reports."""

from __future__ import annotations

_LENGTH = 300


def reason_of(error: Exception) -> str:
    """An error's type and what it says, on one line of at most 300 characters."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _LENGTH else f"{text[:_LENGTH]}..."
