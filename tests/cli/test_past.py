"""`history`, `why`, `passes`, `restore`, `undo` and `forget` on a real Neo4j."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.neo4j

Run = Callable[..., Any]

NO_SUCH_ID = "a0000000-0000-4000-8000-000000000000"


@pytest.fixture
def message_id(filled: Run) -> str:
    """A message that says where somebody works."""
    found = filled("recall", "Where does Priya Raman work?", "--json").document["hits"]
    return str(next(one["id"] for one in found if one["kind"] == "message" and "Northwind" in one["text"]))


@pytest.fixture
def fact_id(filled: Run, message_id: str) -> str:
    """The fact that was read from it."""
    return str(filled("show", message_id, "--json").document["neighbours"]["facts"][0]["id"])


def test_why_names_the_messages_behind_a_fact(filled: Run, fact_id: str) -> None:
    ran = filled("why", fact_id)
    assert ran.code == 0
    assert "Mara Lindqvist: Priya Raman works at Northwind Labs." in ran.stdout
    assert "read in" in ran.stdout
    document = filled("why", fact_id, "--json").document
    assert (document["record_kind"], document["record"]["id"]) == ("fact", fact_id)
    assert filled("why", NO_SUCH_ID).code == 4


def test_what_was_forgotten_softly_is_told_undone_and_restored(filled: Run, fact_id: str) -> None:
    ran = filled("forget", fact_id, "--soft", "--yes", "--json")
    assert ran.code == 0
    assert ran.document["closed"]["fact"] == [fact_id]
    told = filled("history", fact_id, "--json").document
    assert (told["closed_by"], [step["action"] for step in told["steps"]]) == ("forgotten", ["closed"])
    assert "closed" in filled("history", fact_id).stdout
    (listed,) = filled("passes", "--json").document["passes"]
    assert listed["id"] == ran.document["pass_id"]
    assert "forget" in filled("passes").stdout
    would = filled("undo", listed["id"], "--dry-run", "--json").document
    assert (would["applied"], would["changes"][0]["id"]) == (False, fact_id)
    assert would["changes"][0]["becomes"] == "reopened"
    assert filled("history", fact_id, "--json").document["closed_by"] == "forgotten"
    assert filled("undo", listed["id"], "--yes").code == 0
    assert filled("history", fact_id, "--json").document["closed_by"] is None
    assert filled("undo", listed["id"], "--yes").code == 2
    filled("forget", fact_id, "--soft", "--yes")
    restored = filled("restore", fact_id, "--yes").stdout
    assert ("restored" in restored, "reopened" in restored) == (True, True)
    assert filled("history", fact_id, "--json").document["closed_by"] is None
    assert filled("restore", fact_id, "--yes").code == 2


def test_a_message_is_erased_with_what_it_says(filled: Run, message_id: str, fact_id: str) -> None:
    would = filled("forget", message_id, "--dry-run")
    assert would.code == 0
    assert "for good" in would.stdout
    assert filled("why", message_id).code == 0
    ran = filled("forget", message_id, "--yes", "--json")
    assert (ran.code, ran.document["applied"], ran.document["erased"]["message"]) == (0, True, [message_id])
    assert filled("why", fact_id).code == 4
    assert "Northwind" not in filled("recall", "Where does Priya Raman work?").stdout


def test_nothing_is_erased_unasked(filled: Run, message_id: str) -> None:
    ran = filled("forget", message_id)
    assert ran.code == 2
    assert "--yes" in ran.stderr
    assert filled("why", message_id).code == 0


def test_a_conversation_and_a_namespace_are_forgotten_whole(filled: Run) -> None:
    ran = filled("forget", "--conversation", "standup", "--yes", "--json")
    assert (ran.code, ran.document["counts"]["message"]) == (0, 3)
    assert "nothing to forget" in filled("forget", "--conversation", "standup", "--yes").stdout
    assert filled("forget", "--everything", "--yes").code == 0
    assert filled("passes", "--json").document["passes"] == []


def test_forgetting_everything_where_there_is_nothing_says_so(remember: Run, namespace: str) -> None:
    ran = remember("forget", "--everything", "--yes")
    assert (ran.code, ran.stdout.splitlines()[-1]) == (0, f"Done: namespace {namespace!r} held no records.")
    assert "There is nothing to forget." in remember("forget", "--everything", "--dry-run").stdout


@pytest.mark.parametrize(
    "arguments", [["forget"], ["forget", NO_SUCH_ID, "--everything"], ["forget", "--everything", "--soft", "--dry-run"]]
)
def test_what_to_forget_must_be_said_once(remember: Run, arguments: list[str]) -> None:
    assert remember(*arguments).code == 2


def test_unknown_ids_are_not_found(remember: Run) -> None:
    for command in (["history", NO_SUCH_ID], ["undo", NO_SUCH_ID], ["restore", NO_SUCH_ID], ["forget", NO_SUCH_ID]):
        assert remember(*command).code == 4
    assert "Nothing was done yet." in remember("passes").stdout


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("history", "17"), "ID"),
        (("restore", "17"), "ID"),
        (("undo", "17", "--yes"), "PASS"),
        (("forget", "17"), "ID"),
        (("recall", "x", "--limit", "0"), "--limit"),
    ],
)
def test_an_error_names_an_argument_as_it_is_typed(filled: Run, arguments: tuple[str, ...], name: str) -> None:
    ran = filled(*arguments)
    assert ran.code == 2
    assert f"error: {name}: " in ran.stderr
