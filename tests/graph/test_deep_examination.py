"""What the doctor sees when it looks deep: nothing in a memory that has been through all that a memory offers, and each
thing that may be wrong, by its own check and no other.

What is wrong is made so in a transaction that is looked at from inside and never committed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.lived import Recorded, live_through
from tests.isolation.conftest import opening_memories
from tests.surface import public

from remembrancer import Memory
from remembrancer.graph import Database, Neo4jStore
from remembrancer.graph.connection import PATIENCE, Row, Transaction
from remembrancer.graph.doctor import CheckName, Examination, examine
from remembrancer.graph.inspection import _cycles_of

FACT = "MATCH (f:Fact {namespace: $namespace}) WHERE f.live AND f.statement IS NULL WITH f ORDER BY f.id LIMIT 1"
MARKED = "{namespace: $namespace, positions: [0]}"


class Inside(Database):
    """The database as one open transaction sees it."""

    def __init__(self, transaction: Transaction, outside: Database) -> None:
        self._transaction = transaction
        self._outside = outside

    async def read(self, text: str, parameters: Mapping[str, Any], *, patience: float = PATIENCE) -> list[Row]:
        if "SHOW " in text or "CALL db" in text:  # about the database, which a transaction that writes may not ask
            return await self._outside.read(text, parameters, patience=patience)
        return await self._transaction.run(text, parameters)


class NotCommittedError(Exception):
    """Ends a transaction without a commit."""


@pytest.fixture(scope="module")
async def lived(
    neo4j_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Recorded, Recorded]]:
    """A memory that has been through everything, and the one that it was carried over into."""
    async with opening_memories(neo4j_database) as open_memory:
        memory, elsewhere = Recorded(await open_memory()), Recorded(await open_memory())
        await live_through(memory, elsewhere=elsewhere, folder=tmp_path_factory.mktemp("exports"))
        yield memory, elsewhere


def database_of(memory: Recorded | Memory) -> Database:
    assert isinstance(memory.store, Neo4jStore)
    return memory.store.database


def told(found: Examination) -> list[str]:
    return [f"{one.check}: {one.total} {one.summary}: {', '.join(one.examples)}" for one in found.findings]


async def examined_with(memory: Recorded, statement: str) -> Examination:
    """What the doctor says after a statement, which is taken back."""
    seen: list[Examination] = []

    async def work(transaction: Transaction) -> None:
        await transaction.run(f"CYPHER 25 {statement}", {"namespace": memory.namespace})
        seen.append(await examine(Inside(transaction, database_of(memory)), memory.namespace, deep=True))
        raise NotCommittedError

    with pytest.raises(NotCommittedError):
        await database_of(memory).write(work)
    return seen[0]


@pytest.mark.neo4j
async def test_every_public_method_was_called(lived: tuple[Recorded, Recorded]) -> None:
    called = lived[0].names | lived[1].names
    assert set(public("memory")) - called == {"clear"}


@pytest.mark.neo4j
@pytest.mark.parametrize("which", [0, 1], ids=["lived", "carried over"])
async def test_of_a_memory_that_has_lived_nothing_is_wrong(lived: tuple[Recorded, Recorded], which: int) -> None:
    found = await examine(database_of(lived[which]), lived[which].namespace, deep=True)
    # Of facts whose episodes were consolidated away, and of one that was erased, the names stay.
    assert [one for one in told(found) if not one.startswith("placeholders: ")] == []
    assert found.is_well


WRONGS = [
    (f"{FACT} SET f:Placeholder", "bad_placeholders"),
    ("MATCH (e:Episode:Placeholder {namespace: $namespace}) SET e.topic = 'x'", "bad_placeholders"),
    (f"{FACT} MATCH (e:Entity {{namespace: $namespace}}) WITH f, e LIMIT 1 CREATE (e)-[:CITES {MARKED}]->(f)", "edges"),
    (
        f"MATCH (f:Fact {{namespace: $namespace}})-[:TAGGED]->(t) WITH f, t LIMIT 1 "
        f"CREATE (f)-[:SUBJECT {MARKED}]->(t)",
        "edges, statements",
    ),
    (
        "MATCH (r:Run {namespace: $namespace})-[e:INJECTED]->(f) WITH r, e, f LIMIT 1 "
        "CREATE (r)-[x:WITHHELD]->(f) SET x.namespace = $namespace CREATE (r)-[y:WITHHELD]->(f) SET y = properties(x)",
        "edges",
    ),
    ("MATCH (:Fact {namespace: $namespace})-[e:MENTIONS]->() SET e.positions = [7]", "positions"),
    ("MATCH (:Fact {namespace: $namespace})-[e:TAGGED]->() SET e.positions = null", "positions"),
    ("MATCH (:Episode {namespace: $namespace})-[e:HAS_FACT]->() SET e.positions = [0]", "positions"),
    ("MATCH (t:Theme {namespace: $namespace}) SET t.next_position = 0", "positions"),
    ("MATCH (:Run {namespace: $namespace})-[e:INJECTED]->() SET e.positions = [-1]", "positions"),
    (
        "MATCH (:Episode {namespace: $namespace})-[e:HAS_FACT]->() WITH e ORDER BY e.positions DESC LIMIT 1 DELETE e",
        "episode_facts",
    ),
    (f"{FACT} SET f.theme_id = randomUUID()", "theme_facts"),
    ("MATCH (m:Message {namespace: $namespace}) SET m.position = m.position + 1", "derived, message_places"),
    (f"{FACT} SET f.quarantined = NOT f.quarantined", "copies"),
    (f"{FACT} SET f.namespace_token = 'x'", "copies"),
    ("MATCH (e:Entity {namespace: $namespace}) WHERE NOT e.live SET e.live = true", "copies"),
    ("MATCH (m:Message {namespace: $namespace}) SET m.namespace_token = null", "copies"),
    (f"{FACT} SET f.recorded_at = null", "closing"),
    (f"{FACT} SET f.closed_at = f.recorded_at", "closing"),
    ("MATCH (f:Fact {namespace: $namespace}) WHERE NOT f.live SET f.closed_at = null", "closing"),
    ("MATCH (m:Message {namespace: $namespace}) SET m.recorded_at = null", "closing"),
    ("MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() WHERE NOT r.live SET r.closed_at = null", "closing"),
    (f"{FACT} WHERE f.statement IS NULL SET f.valid_until = f.valid_from - duration('P1D')", "windows"),
    (
        "MATCH (f:Fact {namespace: $namespace}) WHERE NOT f.live SET f.closed_at = f.recorded_at - duration('P1D')",
        "windows",
    ),
    (f"{FACT} SET f.@EMBEDDING = [1.0, 2.0]", "vectors"),
    (f"{FACT} SET f.@EMBEDDING = [x IN f.@EMBEDDING | 0.0]", "vectors"),
    (f"{FACT} SET f.@EMBEDDING = [x IN f.@EMBEDDING | toFloat('NaN')]", "vectors"),
    (f"{FACT} SET f.@EMBEDDING = 'x'", "vectors"),
    (f"{FACT} SET f.embedding_999 = f.@EMBEDDING", "vectors"),
    ("MATCH (i:TierItem {namespace: $namespace}) SET i.@EMBEDDING = null", "vectors"),
    ("MATCH (e:PassEntry {namespace: $namespace}) SET e.@EMBEDDING = [1.0]", "vectors"),
    (
        "MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO {fact_id: r.fact_id}]->() SET r.fact_id = randomUUID()",
        "stated, statements",
    ),
    ("MATCH (f:Fact {namespace: $namespace})-[e:OBJECT]->() DELETE e", "stated, statements"),
    ("MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() WHERE r.fact_id IS NOT NULL DELETE r", "statements"),
    (
        "MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() WHERE r.fact_id IS NOT NULL "
        "SET r.relation_type = 'x'",
        "statements",
    ),
    (
        "MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() WHERE r.fact_id IS NOT NULL AND r.live "
        "SET r.live = false, r.invalidated_by = r.id, r.closed_at = r.recorded_at",
        "statements",
    ),
    (
        "MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() WHERE r.fact_id IS NOT NULL AND NOT r.live "
        "SET r.live = true, r.invalidated_by = null, r.closed_at = null",
        "statements",
    ),
    (
        "MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() WHERE r.fact_id IS NOT NULL "
        "SET r.valid_from = r.valid_from + duration('PT1S')",
        "statements",
    ),
    ("MATCH ({namespace: $namespace})-[s:SUPERSEDES]->() SET s.pass_id = 'gone'", "succession"),
    ("MATCH ({namespace: $namespace})-[s:SUPERSEDES]->() SET s.at = null", "succession"),
    ("MATCH ({namespace: $namespace})-[s:SUPERSEDES]->() SET s.undone_by = 'x'", "succession"),
    (
        "MATCH (newer:Fact {namespace: $namespace})-[s:SUPERSEDES]->(older:Fact) WHERE older.invalidated_by = newer.id "
        "WITH newer, s, older LIMIT 1 CREATE (older)-[back:SUPERSEDES]->(newer) "
        "SET back = properties(s), newer.live = false, "
        "newer.invalidated_by = older.id, newer.closed_at = newer.recorded_at, "
        "newer.namespace_token = older.namespace_token",
        "cycles",
    ),
    ("MATCH (e:PassEntry {namespace: $namespace}) WITH e LIMIT 1 DELETE e", "passes"),
    (
        "MATCH (p:Pass {namespace: $namespace}) WHERE p.undone_by IS NOT NULL WITH p LIMIT 1 SET p.undone_by = null",
        "passes, succession",
    ),
    ("MATCH (p:Pass {namespace: $namespace}) WHERE p.kind = 'forget' DELETE p", "passes"),
    ("MATCH (r:Run {namespace: $namespace}) SET r.sequence = 1", "ledger"),
    ("MATCH (l:Ledger {namespace: $namespace}) SET l.runs = 1", "ledger"),
    ("MATCH (l:Ledger {namespace: $namespace}) SET l.passes = 0", "ledger"),
    ("MATCH (l:Ledger {namespace: $namespace}) SET l.servings = 0", "ledger"),
    ("MATCH (:GatePass {namespace: $namespace})-[d:DECIDED]->() SET d.sequence = 99", "ledger"),
    ("MATCH (:GatePass {namespace: $namespace})-[d:DECIDED]->() SET d.position = 0", "ledger"),
    ("MATCH (s:Serving {namespace: $namespace}) SET s.chances = []", "ledger, records"),
    ("MATCH (w:Write {namespace: $namespace}) SET w.result = null", "receipts"),
    ("MATCH (w:Write {namespace: $namespace}) SET w.result = '{'", "records"),
    (f"{FACT} SET f.content = null", "records"),
    (f"{FACT} SET f.provenance_source = 'nobody'", "records"),
    (f"{FACT} SET f.access_count = -1", "records"),
    ("MATCH (m:Message {namespace: $namespace}) SET m.role = 'narrator'", "records"),
    ("MATCH (e:Entity {namespace: $namespace}) SET e.attributes = '['", "records"),
    ("MATCH (t:Theme {namespace: $namespace}) SET t.description = 7", "records"),
    ("MATCH (:Entity {namespace: $namespace})-[r:RELATES_TO]->() SET r.weight = 2.0", "records"),
    ("MATCH (e:Episode {namespace: $namespace}) WHERE NOT e:Placeholder SET e.topic = null", "records"),
    ("MATCH (p:Pass {namespace: $namespace}) SET p.kind = 'x'", "records"),
    ("MATCH (e:PassEntry {namespace: $namespace}) SET e.action = 'x'", "records"),
    ("MATCH (i:TierItem {namespace: $namespace}) SET i.uses = 0", "records"),
    ("MATCH (r:Run {namespace: $namespace}) SET r.score = 3.0", "records"),
    ("MATCH (p:GatePass {namespace: $namespace}) SET p.policy = '{}x'", "records"),
    ("MATCH (e:Entity {namespace: $namespace}) SET e.name_key = 'x'", "derived"),
    ("MATCH (t:Theme {namespace: $namespace}) SET t.label_key = 'x'", "derived"),
    ("MATCH (f:Fact {namespace: $namespace}) WHERE f.statement_key IS NOT NULL SET f.statement_key = 'x'", "derived"),
    ("MATCH (m:Message {namespace: $namespace}) SET m.context = 'x'", "derived"),
    ("MATCH (m:Message {namespace: $namespace}) SET m.names = ['x']", "derived"),
    ("MATCH (n:Namespace {name: $namespace}) SET n.speakers = []", "derived"),
    ("MATCH (:Fact {namespace: $namespace})-[e:MENTIONS]->() SET e.namespace = null", "walls"),
]


@pytest.mark.neo4j
@pytest.mark.parametrize(("statement", "checks"), WRONGS, ids=range(len(WRONGS)))
async def test_the_doctor_sees(lived: tuple[Recorded, Recorded], statement: str, checks: str) -> None:
    memory = lived[0]
    found = await examined_with(memory, statement.replace("@EMBEDDING", await embedding_of(memory)))
    assert {one.check for one in found.findings} - {"placeholders"} == set(checks.split(", ")), told(found)
    assert all(0 < len(one.examples) <= one.total for one in found.findings)


@pytest.mark.neo4j
async def test_a_vector_that_is_not_in_its_index_is_seen(lived: tuple[Recorded, Recorded]) -> None:
    # An index has no part of what is not committed yet.
    memory = lived[0]
    found = await examined_with(
        memory,
        "MATCH (t:Theme {namespace: $namespace}) WITH t LIMIT 1 CREATE (new:Theme) SET new = t {.*, id: randomUUID()}",
    )
    assert [one.check for one in found.findings if one.check != "placeholders"] == ["unindexed"]


async def embedding_of(memory: Recorded) -> str:
    """The property in which the memory's vectors are."""
    found = await database_of(memory).read(
        "MATCH (n:Namespace {name: $name}) RETURN n.space AS space", {"name": memory.namespace}
    )
    return f"embedding_{found[0]['space']}"


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")))
def test_every_circle_is_found_once(closer_of: dict[str, str]) -> None:
    found = _cycles_of(closer_of)
    in_circles = {one for one in closer_of if comes_back(one, closer_of)}
    assert sorted(one for cycle in found for one in cycle) == sorted(in_circles)
    assert all(
        closer_of[one] == later for cycle in found for one, later in zip(cycle, [*cycle[1:], cycle[0]], strict=True)
    )


def comes_back(start: str, closer_of: Mapping[str, str]) -> bool:
    at = start
    for _ in closer_of:
        if at not in closer_of:
            return False
        at = closer_of[at]
        if at == start:
            return True
    return False


def test_every_check_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert [check for check in get_args(CheckName) if f"`{check}`" not in page] == []
