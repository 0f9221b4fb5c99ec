"""Asking before something is closed, and options that such commands share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.text import Text

from remembrancer.cli.output import Output
from remembrancer.cli.stopping import broken_off_by_a_signal
from remembrancer.lifecycle import Change
from remembrancer.records import InvalidInputError

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


class DeleteModeName(StrEnum):
    """What becomes of what a pass takes away."""

    SOFT = "soft"
    HARD = "hard"


SHOWN = 50
"""How many rows of a plan are shown; `--json` names all."""


def agreed(output: Output, question: str, *, yes: bool) -> bool:
    """Whether the user wants it done.

    Raises:
        InvalidInputError: There is nobody to ask, and `--yes` was not given.
    """
    if yes:
        return True
    if output.json or not sys.stdin.isatty():
        raise InvalidInputError("--yes", "nobody can be asked here: say --yes, or --dry-run to look only")
    with broken_off_by_a_signal(holds="nothing was changed"):
        return typer.confirm(question, err=True)


def show_rows(output: Output, columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    """The first rows of a plan as a table, and how many more there are."""
    output.table(*columns, rows=rows[:SHOWN])
    if len(rows) > SHOWN:
        output.text(f"and {len(rows) - SHOWN} more; --json --dry-run names all")


def as_document(change: Change) -> dict[str, Any]:
    """A change as JSON: which record, what becomes of it, and why."""
    after = change.after
    if after is None:
        becomes = "removed"
    elif change.before is None:
        becomes = "stored"
    elif getattr(change.before, "is_live", True) and not getattr(after, "is_live", True):
        becomes = "closed"
    elif not getattr(change.before, "is_live", True) and getattr(after, "is_live", True):
        becomes = "reopened"
    else:
        becomes = "changed"
    return {
        "kind": change.kind,
        "id": change.record_id,
        "becomes": becomes,
        "reason": change.reason,
        "superseded_by": change.superseded_by,
    }
