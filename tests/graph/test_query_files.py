"""Every query file: its header is its signature, Neo4j accepts it, and no plan goes through all of a label."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from typing import Any

import neo4j
import pytest

from remembrancer.graph import Database, Neo4jStore, queries, schema_state
from remembrancer.graph.retrieval import _SEARCHES as RETRIEVAL_SEARCHES
from remembrancer.graph.spaces import SEARCHES
from remembrancer.records import EmbeddingSpace

SPACE = EmbeddingSpace(model="query-files", dimensions=4)

NOT_QUERIES = {
    "migrations": "schema statements, several a file",
    "schema.vector_indexes": "schema statements, several a file",
}
"""Files, and folders of them, that are loaded in another way."""

WITHOUT_NAMESPACE = {
    "browser": "shown to the owner of the database, who sees all namespaces",
    "doctor.access": "about the database, not about a memory",
    "doctor.contents": "names all namespaces, for what works on the whole database",
    "doctor.server": "about the database, not about a memory",
    "schema": "about the schema that all namespaces share",
}

SCANNING = {
    "browser": "looks at everything, when a person asks",
    "doctor": "looks at everything, when a person asks",
}

# What reads all of a label, a type, or an index, however little of it is wanted.
SCANS = re.compile(r"AllNodesScan|Labels?Scan|RelationshipsScan|RelationshipTypes?Scan|IndexScan|IndexContainsScan")

_PARAMETER = re.compile(r"\$(\w+)")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'")


def files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Name and text of every query file."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from files(entry, f"{prefix}{entry.name}.")
        elif entry.name.endswith(".cypher"):
            yield prefix + entry.name.removesuffix(".cypher"), entry.read_text("utf-8")


def is_of(name: str, exempt: Mapping[str, str]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in exempt)


FILES = dict(files(queries.folder()))
QUERIES = {name: text for name, text in FILES.items() if not is_of(name, NOT_QUERIES)}


def header(text: str) -> list[str]:
    """The lines of the comment at the top, without its marks."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").rstrip())
    return lines


def declared(text: str) -> set[str]:
    """The parameters that the header declares: those that open a line of its section `params`."""
    found: set[str] = set()
    inside = False
    for line in header(text):
        if re.match(r" params\b", line):
            inside = True
        elif re.match(r" (returns|why)\b", line):
            inside = False
        elif inside and line.startswith("   $"):
            found.update(_PARAMETER.findall(line.split(" : ")[0]))
    return found


def used(text: str) -> set[str]:
    """The parameters that the statement uses."""
    lines = [_STRING.sub("''", line).split("//")[0] for line in text.splitlines()]
    return set(_PARAMETER.findall("\n".join(lines)))


def test_the_files_are_found() -> None:
    assert len(QUERIES) > 50
    assert "retrieval.recall" in QUERIES


@pytest.mark.parametrize("name", QUERIES)
def test_the_header_names_exactly_the_parameters(name: str) -> None:
    assert declared(QUERIES[name]) == used(QUERIES[name])


@pytest.mark.parametrize("name", QUERIES)
def test_the_header_says_what_it_is_for_and_what_it_returns(name: str) -> None:
    lines = header(QUERIES[name])
    assert lines[0].strip()
    assert any(re.match(r" returns\b", line) for line in lines)


@pytest.mark.parametrize("name", QUERIES)
def test_the_namespace_is_a_parameter(name: str) -> None:
    if not is_of(name, WITHOUT_NAMESPACE):
        assert "namespace" in used(QUERIES[name])


@pytest.mark.parametrize("name", QUERIES)
def test_it_is_loaded_by_name(name: str) -> None:
    if not name.startswith("browser."):
        assert "embedding_7" in queries.load(name, 7, 12) or "embedding_1" not in QUERIES[name]
        assert "embedding_1" not in queries.load(name, 7, 12).replace("embedding_1`", "")


def test_what_searches_by_vector_is_read_within_the_guard_of_the_space() -> None:
    searching = {name for name, text in FILES.items() if "left_embedding_1 IS NULL" in text}
    elsewhere = {name for name in searching if name.startswith(("index.", "tier."))}  # read by the guard alone
    assert searching - elsewhere == SEARCHES | {f"retrieval.{name}" for name in RETRIEVAL_SEARCHES}


@pytest.fixture(scope="module")
async def space(neo4j_database: Database) -> int:
    """Number of an embedding space that has its indexes."""
    async with Neo4jStore.open(database=neo4j_database, namespace=f"test-{uuid.uuid4()}", space=SPACE):
        state = await schema_state(neo4j_database)
    assert state is not None
    return state.spaces.index(SPACE) + 1


@pytest.mark.neo4j
class TestPlans:
    @pytest.mark.parametrize("name", QUERIES)
    async def test_neo4j_accepts_it_and_scans_nothing(self, name: str, neo4j_database: Database, space: int) -> None:
        text = QUERIES[name] if name.startswith("browser.") else queries.load(name, space, SPACE.dimensions)
        plan = await explained(neo4j_database, text, used(text))
        if not is_of(name, SCANNING):
            assert [operator for operator in operators(plan) if SCANS.search(operator)] == []

    async def test_a_scan_is_noticed(self, neo4j_database: Database) -> None:
        for text in (
            "MATCH (n:Fact) WHERE n.content = $x RETURN n",
            "MATCH ()-[r:RELATES_TO]->() RETURN r",
            "MATCH (n) RETURN n",
        ):
            plan = await explained(neo4j_database, text, used(text))
            assert [operator for operator in operators(plan) if SCANS.search(operator)]


async def explained(database: Database, text: str, parameters: set[str]) -> Mapping[str, Any]:
    """The plan that Neo4j makes for a statement, which is not run."""
    async with database._session(neo4j.READ_ACCESS) as session:
        # The comment makes it a new text, so that no plan is shown that was made when the database was smaller.
        asked = f"EXPLAIN {text}\n// {uuid.uuid4()}"
        result = await session.run(asked, dict.fromkeys(parameters))  # type: ignore[arg-type]
        plan = (await result.consume()).plan
    assert plan is not None
    return plan


def operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from operators(child)
