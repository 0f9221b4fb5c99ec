"""What the library sends to Neo4j in a run of tests, and whether each statement is walled in by the namespace.

Recorded where the library hands statements over: `Database.read` and `read_ids`, `Transaction.run` and
`Database.change_schema`. A call counts as the library's when it is made in one of its own files, so that what tests
send by themselves stays out. Processes that a test starts are not recorded; what they send is sent in other tests by
the run itself.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import remembrancer
from remembrancer.graph import connection, migrations, queries

LIBRARY = str(Path(remembrancer.__file__).parent)

SHARED: Mapping[str, str] = {
    "schema.claim": "the one node that tells which migrations and embedding spaces a database has, for all namespaces",
    "schema.read": "the same node",
    "schema.record_migrations": "the same node",
    "schema.record_spaces": "the same node",
    "doctor.server": "asks for version and edition of the server",
    "doctor.contents": "names all namespaces, for what works on the whole database",
    "doctor.access": "asks whether the database takes writes",
}
"""Files whose statements are about the database as a whole, and why."""

SERVER_WIDE: Mapping[str, str] = {
    r"CALL dbms\.components\(\)": "the version of the server, asked for when connecting",
    r"CALL db\.info\(": "which database it is",
    r"SHOW TRANSACTIONS\b": "whether what began before a re-embedding has ended",
    r"SHOW (INDEXES|CONSTRAINTS)\b": "whether the schema is whole",
    r"CALL db\.awaitIndexes\(": "waits for new indexes",
    r"(CYPHER 25\s+)?(CREATE|DROP)\s+(\w+ )?(INDEX|CONSTRAINT)\b": "changes of the schema, from migrations",
}
"""Statements in no file of their own that are about the server or the schema, and why."""

MIGRATING = frozenset(statement for migration in migrations() for statement in migration.statements)
"""They change the records of all namespaces alike, and tell nobody of them."""

_COMMENT = re.compile(r"//[^\n]*")
_PARAMETER = re.compile(r"\$namespace\b")


class Recorder:
    """Statements of a run, each text once.

    Args:
        folder: Calls from files below it are recorded.

    Attributes:
        texts: The statements.
        problems: What is wrong with some of them.
        namespaces: Those that statements named.
        refused: Those that none may name.
    """

    def __init__(self, folder: str = LIBRARY) -> None:
        self._folder = folder
        self.texts: dict[str, None] = {}
        self.problems: dict[str, str] = {}
        self.namespaces: set[str] = set()
        self.refused: frozenset[str] = frozenset()

    def note(self, text: str, parameters: Mapping[str, Any]) -> None:
        """Look at a statement that is about to be sent.

        Raises:
            AssertionError: It is for a namespace that is refused to this run.
        """
        namespace = parameters.get("namespace")
        assert namespace not in self.refused, f"namespace {namespace!r} was on the server before this run"
        self.texts[text] = None
        if isinstance(namespace, str):
            self.namespaces.add(namespace)
        if text not in self.problems and (problem := problem_of(text, parameters)):
            self.problems[text] = problem

    def check(self) -> None:
        """Fail when a statement was sent without the namespace."""
        told = "\n\n".join(f"{problem}:\n{text}" for text, problem in self.problems.items())
        assert not self.problems, f"{len(self.problems)} statements are not walled in by the namespace\n\n{told}"

    @contextmanager
    def installed(self) -> Iterator[Recorder]:
        """Record within this block."""
        database, transaction = connection.Database, connection.Transaction
        doors = ((database, "read"), (database, "read_ids"), (transaction, "run"), (database, "change_schema"))
        originals = [(owner, name, getattr(owner, name)) for owner, name in doors]
        for owner, name, original in originals:
            setattr(owner, name, self._recorded(original))
        try:
            yield self
        finally:
            for owner, name, original in originals:
                setattr(owner, name, original)

    def _recorded(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def send(door: Any, text: str, parameters: Mapping[str, Any] | None = None, **more: Any) -> Any:
            if sys._getframe(1).f_code.co_filename.startswith(self._folder):
                self.note(text, parameters or {})
            given = () if parameters is None else (parameters,)
            return original(door, text, *given, **more)

        return send


def problem_of(text: str, parameters: Mapping[str, Any]) -> str | None:
    """Why a statement is not walled in; `None` when it is, or need not be."""
    sent = _COMMENT.sub("", text).strip()
    if queries.name_of(text) in SHARED or text in MIGRATING or any(re.match(pattern, sent) for pattern in SERVER_WIDE):
        return None
    if not _PARAMETER.search(sent):
        return "does not use $namespace"
    namespace = parameters.get("namespace")
    if not isinstance(namespace, str) or not namespace:
        return f"was sent with {namespace!r} as the namespace"
    return None
