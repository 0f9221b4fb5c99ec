"""The suite as a guest on a server that is somebody else's: in namespaces of its own, leaving nothing behind.

Before the run all that the server holds is noted, in numbers by namespace and kind, with its schema. A namespace that
was there before is refused to every test. After the run the namespaces that the tests named are erased, what the run
added to the schema is dropped, and the server must hold what it held.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neo4j import Driver, GraphDatabase

VARIABLE = "REMEMBRANCER_TEST_GUEST"
"""Where the processes of a run keep what they share: a folder. Set by the first of them."""

_CONTENT = """
CYPHER 25
MATCH (n)
RETURN coalesce(n.namespace, CASE WHEN n:Namespace THEN n.name END) AS namespace, labels(n) AS kind, count(*) AS number
UNION ALL
MATCH ()-[r]->() RETURN r.namespace AS namespace, [type(r)] AS kind, count(*) AS number
"""
_ERASE = """
CYPHER 25
MATCH (n) WHERE n.namespace IN $names OR (n:Namespace AND n.name IN $names)
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS
"""


@dataclass(frozen=True)
class State:
    """What a server holds.

    Attributes:
        numbers: How many nodes or edges, by namespace and kind.
        indexes, constraints: Their names.
        schema: Properties of the node that tells which migrations the database has; None when there is none.
    """

    numbers: Mapping[str, int]
    indexes: frozenset[str]
    constraints: frozenset[str]
    schema: Mapping[str, Any] | None

    @property
    def namespaces(self) -> frozenset[str]:
        """Those that hold something."""
        return frozenset(json.loads(key)[0] for key in self.numbers) - {None}


@dataclass
class Guest:
    """A run on a server that was there before it."""

    uri: str
    auth: tuple[str, str]
    database: str | None
    folder: Path
    before: State = field(init=False)

    @classmethod
    def of_environment(cls, folder: Path) -> Guest:
        """The run on the server that `NEO4J_URI` names."""
        auth = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))
        return cls(os.environ["NEO4J_URI"], auth, os.environ.get("NEO4J_DATABASE"), folder)

    def arrive(self) -> None:
        """Note what the server holds."""
        with self._driver() as driver:
            self.before = self._state(driver)
        (self.folder / "before.json").write_text(json.dumps(sorted(self.before.namespaces)))

    def leave(self) -> list[str]:
        """Erase what the run made; what differs from before all the same."""
        with self._driver() as driver:
            with driver.session(database=self.database) as session:
                session.run(_ERASE, names=sorted(named(self.folder) - self.before.namespaces)).consume()
                now = self._state(driver)
                for name in sorted(now.constraints - self.before.constraints):
                    session.run(f"DROP CONSTRAINT `{name}` IF EXISTS").consume()
                for name in sorted(now.indexes - self.before.indexes - (now.constraints - self.before.constraints)):
                    session.run(f"DROP INDEX `{name}` IF EXISTS").consume()
                if self.before.schema is None:
                    session.run("MATCH (schema:Schema) DELETE schema").consume()
                else:
                    session.run("MATCH (schema:Schema) SET schema = $before", before=self.before.schema).consume()
            return differences(self.before, self._state(driver))

    @contextlib.contextmanager
    def _driver(self) -> Iterator[Driver]:
        with GraphDatabase.driver(self.uri, auth=self.auth, notifications_min_severity="OFF") as driver:
            yield driver

    def _state(self, driver: Driver) -> State:
        def rows(query: str) -> list[dict[str, Any]]:
            return [row.data() for row in driver.execute_query(query, database_=self.database).records]

        schema = rows("MATCH (schema:Schema) RETURN properties(schema) AS it")
        return State(
            numbers={
                json.dumps([row["namespace"], *sorted(row["kind"])]): row["number"]
                for row in rows(_CONTENT)
                if row["kind"] != ["Schema"]
            },
            indexes=frozenset(row["name"] for row in rows("SHOW INDEXES YIELD name")),
            constraints=frozenset(row["name"] for row in rows("SHOW CONSTRAINTS YIELD name")),
            schema=schema[0]["it"] if schema else None,
        )


def differences(before: State, after: State) -> list[str]:
    """What two states do not share, in words."""
    numbers = [
        f"{key}: {before.numbers.get(key, 0)} before, {after.numbers.get(key, 0)} now"
        for key in sorted({*before.numbers, *after.numbers})
        if before.numbers.get(key, 0) != after.numbers.get(key, 0)
    ]
    schema = sorted((before.indexes ^ after.indexes) | (before.constraints ^ after.constraints))
    return [*numbers, *(f"{name}: in one schema only" for name in schema)]


def note(folder: Path, names: Iterable[str]) -> None:
    """Tell the run that this process used these namespaces."""
    (folder / f"named-{os.getpid()}.json").write_text(json.dumps(sorted(names)))


def named(folder: Path) -> frozenset[str]:
    """The namespaces that any process of the run used."""
    return frozenset(name for file in folder.glob("named-*.json") for name in json.loads(file.read_text()))


def refused(folder: Path) -> frozenset[str]:
    """The namespaces that no test may touch, since they were there before."""
    return frozenset(json.loads((folder / "before.json").read_text()))
