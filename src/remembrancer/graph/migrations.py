"""Migrations and embedding spaces: the schema that the queries need, applied safely by any number of processes at once.

`IF NOT EXISTS` alone is not safe: two processes that create one index at once make one of them fail, and constraints
deadlock. So whoever changes the schema first locks the `Schema` node in an open transaction of its own session and
keeps it open while a second session runs the schema statements (data and schema cannot share a transaction). An index
that exists with other options is not noticed by `IF NOT EXISTS` either; opening a store compares them.
"""

from __future__ import annotations

import hashlib
import logging
import re
from dataclasses import dataclass

from neo4j import exceptions

from remembrancer._version import __version__
from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, first, may_not_write, repeated
from remembrancer.graph.indexes import SHOW, are_being_built, missing_and_wrong, needed_indexes
from remembrancer.records import Clock, EmbeddingSpace, EmbeddingSpaceMismatchError, MigrationError, RemembranceError

logger = logging.getLogger(__name__)

_FILE = re.compile(r"(\d{3})_([a-z0-9_]+)\.cypher")
_SCHEMA_KEY = "CYPHER 25 CREATE CONSTRAINT schema_id IF NOT EXISTS FOR (n:Schema) REQUIRE n.id IS UNIQUE"
_EXISTS = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
_SCHEMA_PATIENCE = 60.0  # seconds for a schema statement that meets others
_INDEX_WAIT = 7_200  # seconds for indexes to be built over what is stored already


@dataclass(frozen=True)
class Migration:
    """One numbered file of schema statements; files only ever grow in number."""

    version: int
    name: str
    statements: tuple[str, ...]
    checksum: str


@dataclass(frozen=True)
class SchemaState:
    """What the database says of its schema.

    Attributes:
        applied: Checksums of the applied migrations, by version.
        spaces: Embedding spaces, the first having number 1.
        retired: Numbers of those that no namespace needs any more; they have no indexes.
    """

    applied: dict[int, str]
    spaces: tuple[EmbeddingSpace, ...]
    retired: frozenset[int] = frozenset()

    @property
    def in_use(self) -> list[tuple[int, EmbeddingSpace]]:
        """The spaces that have indexes, with their numbers."""
        return [(number, space) for number, space in enumerate(self.spaces, 1) if number not in self.retired]


def migrations() -> tuple[Migration, ...]:
    """All migrations that this library knows, by version."""
    found = []
    for file in queries.folder().joinpath("migrations").iterdir():
        if match := _FILE.fullmatch(file.name):
            text = file.read_text("utf-8")
            checksum = hashlib.sha256("\n".join(queries.statements(text)).encode()).hexdigest()
            found.append(Migration(int(match[1]), match[2], tuple(queries.statements(text)), checksum))
    return tuple(sorted(found, key=lambda migration: migration.version))


async def schema_state(database: Database) -> SchemaState | None:
    """What is applied; `None` when the database was never migrated."""
    rows = await database.read(queries.load("schema.read"), {})
    return _state(rows[0]) if rows else None


def _state(row: Row) -> SchemaState:
    spaces = zip(row["models"], row["dimensions"], strict=True)
    return SchemaState(
        applied=dict(zip(row["versions"], row["checksums"], strict=True)),
        spaces=tuple(EmbeddingSpace(model=model, dimensions=dimensions) for model, dimensions in spaces),
        retired=frozenset(row["retired"]),
    )


def check_state(state: SchemaState | None) -> list[Migration]:
    """The migrations that are still to be applied.

    Raises:
        MigrationError: A newer library has migrated the database, or an applied migration was another one.
    """
    known = migrations()
    applied = state.applied if state is not None else {}
    newest = max((migration.version for migration in known), default=0)
    if applied and max(applied) > newest:
        raise MigrationError(
            f"a newer remembrancer has migrated this database to version {max(applied)}; this one ({__version__}) "
            f"knows versions up to {newest}: upgrade it",
            applied=max(applied),
            known=newest,
        )
    for migration in known:
        if applied.get(migration.version, migration.checksum) != migration.checksum:
            raise MigrationError(
                f"migration {migration.version} ({migration.name}) differs from the one that was applied here",
                applied=max(applied),
                known=newest,
            )
    return [migration for migration in known if migration.version not in applied]


async def migrate(database: Database, *, clock: Clock) -> list[str]:
    """Apply what is missing, and make again what was dropped by hand; the names of what this call did.

    Empty when there was nothing to do, or another process was first.

    Raises:
        MigrationError: As `check_state`; or a statement failed, for example for want of rights.
    """
    done = await _apply(database, check_state(await schema_state(database)), clock=clock)
    state = await schema_state(database)
    statements = _statements(*(state.in_use if state is not None else ()))
    missing, _ = missing_and_wrong(needed_indexes(statements), await database.read(SHOW, {}))
    if not missing:
        return done
    names = {index.name for index in missing}
    async with database.holding() as transaction:
        await transaction.run(queries.load("schema.claim"), {"now": clock()})
        for statement in statements:
            if any(index.name in names for index in needed_indexes([statement])):
                await _change(database, statement)
        await _await_indexes(database)
    return done + sorted(names)


async def _apply(database: Database, missing: list[Migration], *, clock: Clock) -> list[str]:
    if not missing:
        return []
    with database.translated():
        await _change(database, _SCHEMA_KEY)
    async with database.holding() as transaction:
        state = _state(first(await transaction.run(queries.load("schema.claim"), {"now": clock()})))
        missing = check_state(state)
        if not missing:  # another process was first
            return []
        await _drop_outdated(database, state)
        for migration in missing:
            logger.info("applying migration %03d_%s", migration.version, migration.name)
            for statement in migration.statements:
                await _change(database, statement)
        # A newer library may search more of a space that is there already, or filter by something else.
        for statement in _space_statements(*state.in_use):
            await _change(database, statement)
        await _await_indexes(database)
        await _record(transaction, state, missing)
    return [f"{migration.version:03}_{migration.name}" for migration in missing]


async def _drop_outdated(database: Database, state: SchemaState) -> None:
    """Drop the vector indexes that filter by other properties than the searches of this library."""
    rows = {row["name"]: row for row in await database.read(SHOW, {})}
    for index in needed_indexes(_space_statements(*state.in_use)):
        if index.name in rows and tuple(rows[index.name]["properties"]) != index.properties:
            logger.info("index %s is made anew, with other filters", index.name)
            await _change(database, f"DROP INDEX {index.name} IF EXISTS")


def _statements(*spaces: tuple[int, EmbeddingSpace]) -> list[str]:
    """The statements of every migration, and those of some embedding spaces."""
    made = [statement for migration in migrations() for statement in migration.statements]
    return made + _space_statements(*spaces)


def _space_statements(*spaces: tuple[int, EmbeddingSpace]) -> list[str]:
    texts = [queries.load("schema.vector_indexes", number, space.dimensions) for number, space in spaces]
    return [statement for text in texts for statement in queries.statements(text)]


async def _record(transaction: Transaction, state: SchemaState, missing: list[Migration]) -> None:
    applied = {**state.applied, **{migration.version: migration.checksum for migration in missing}}
    versions = sorted(applied)
    parameters = {
        "versions": versions,
        "checksums": [applied[version] for version in versions],
        "library_version": __version__,
    }
    await transaction.run(queries.load("schema.record_migrations"), parameters)


async def space_number(database: Database, space: EmbeddingSpace, *, clock: Clock) -> int:
    """The number of an embedding space, from 1; an unknown one gets the next number and its vector indexes.

    Raises:
        MigrationError: The space is new and its indexes could not be made.
    """
    number = _number_of(await schema_state(database), space)
    if number is not None:
        return number
    async with database.holding() as transaction:
        state = _state(first(await transaction.run(queries.load("schema.claim"), {"now": clock()})))
        number = _number_of(state, space)
        if number is not None:
            return number
        spaces = state.spaces if space in state.spaces else (*state.spaces, space)
        number = spaces.index(space) + 1
        logger.info("adding embedding space %d: %s, %d dimensions", number, space.model, space.dimensions)
        for statement in _space_statements((number, space)):
            await _change(database, statement)
        await _await_indexes(database)
        await _record_spaces(transaction, spaces, state.retired - {number})
    return number


async def retire_space(database: Database, number: int, *, namespace: str, clock: Clock) -> bool:
    """Drop the vector indexes of a space that a namespace has left, unless another one needs them; whether it did.

    Raises:
        MigrationError: An index could not be dropped.
    """
    async with database.holding() as transaction:
        state = _state(first(await transaction.run(queries.load("schema.claim"), {"now": clock()})))
        asked = {"namespace": namespace, "number": number}
        if (
            number in state.retired
            or first(await transaction.run(queries.load("reembedding.others"), asked))["is_used"]
        ):
            return False
        logger.info("dropping the indexes of embedding space %d, which no namespace needs any more", number)
        for index in needed_indexes(_space_statements((number, state.spaces[number - 1]))):
            await _change(database, f"DROP INDEX {index.name} IF EXISTS")
        await _record_spaces(transaction, state.spaces, state.retired | {number})
    return True


def _number_of(state: SchemaState | None, space: EmbeddingSpace) -> int | None:
    return next((number for number, known in state.in_use if known == space), None) if state is not None else None


async def _record_spaces(transaction: Transaction, spaces: tuple[EmbeddingSpace, ...], retired: frozenset[int]) -> None:
    parameters = {
        "models": [one.model for one in spaces],
        "dimensions": [one.dimensions for one in spaces],
        "retired": sorted(retired),
    }
    await transaction.run(queries.load("schema.record_spaces"), parameters)


async def namespace_space(
    database: Database, namespace: str, space: EmbeddingSpace | None, *, clock: Clock
) -> tuple[int, EmbeddingSpace] | None:
    """The embedding space that a namespace belongs to, and its number; puts a new namespace into the one asked for.

    Raises:
        EmbeddingSpaceMismatchError: It belongs to another space than the one asked for; both are named.
    """
    rows = await database.read(queries.load("namespace.read"), {"namespace": namespace})
    number: int | None = rows[0]["space"] if rows else None
    if not rows or (number is None and space is not None):
        wanted = await space_number(database, space, clock=clock) if space is not None else None
        try:
            number = await _claimed_space(database, namespace, wanted, clock=clock)
        except RemembranceError as error:
            if not may_not_write(error):
                raise
            # A user who may only read opens a namespace in which nothing was written yet: there is nothing to find.
            logger.info("namespace %r is opened for reading only", namespace)
            return None if space is None or wanted is None else (wanted, space)
    if number is None:
        return None
    state = await schema_state(database)
    if state is None or not 1 <= number <= len(state.spaces):
        raise MigrationError(
            f"namespace {namespace!r} names embedding space {number}, which this database does not have"
        )
    stored = state.spaces[number - 1]
    if space is not None and stored != space:
        raise EmbeddingSpaceMismatchError(
            namespace=namespace,
            expected_model=stored.model,
            expected=stored.dimensions,
            actual_model=space.model,
            actual=space.dimensions,
        )
    if number in state.retired:  # it was left by all others at the moment at which this one came
        await space_number(database, stored, clock=clock)
    return number, stored


async def _claimed_space(database: Database, namespace: str, wanted: int | None, *, clock: Clock) -> int | None:
    async def claim(transaction: Transaction) -> int | None:
        parameters = {"namespace": namespace, "space": wanted, "now": clock()}
        claimed: int | None = first(await transaction.run(queries.load("namespace.claim_space"), parameters))["space"]
        return claimed

    return await database.write(claim)


async def check_indexes(database: Database) -> list[str]:
    """What is wrong with the indexes of every embedding space; empty when all is well."""
    state = await schema_state(database)
    if state is None:
        return ["the database was never migrated: run `remembrancer migrate`"]
    needed = needed_indexes(_statements(*state.in_use))
    rows = await database.read(SHOW, {})
    missing, wrong = missing_and_wrong(needed, rows)
    building = ["indexes are still being built: wait"] if are_being_built(needed, rows) else []
    return [_says_missing(index.name) for index in missing] + wrong + building


async def require_indexes(database: Database, space: tuple[int, EmbeddingSpace] | None) -> None:
    """See that what the queries of one embedding space need is there and as they need it; waits while it is built.

    Raises:
        MigrationError: An index or constraint is missing or wrong; names it and says what to do.
    """
    needed = needed_indexes(_statements(*([space] if space is not None else ())))
    rows = await database.read(SHOW, {})
    if are_being_built(needed, rows):
        logger.info("waiting for indexes to be built")
        await _await_indexes(database)
        rows = await database.read(SHOW, {})
    missing, wrong = missing_and_wrong(needed, rows)
    if problems := [_says_missing(index.name) for index in missing] + wrong:
        raise MigrationError("; ".join(problems))


def _says_missing(name: str) -> str:
    return f"index {name} is missing: run `remembrancer migrate`"


async def _change(database: Database, statement: str) -> None:
    try:
        await repeated(lambda: database.change_schema(statement), patience=_SCHEMA_PATIENCE)
    except exceptions.ClientError as error:
        if error.code == _EXISTS:
            return
        raise MigrationError(f"a schema statement failed ({error.code}): {error.message}") from error
    except exceptions.TransientError as error:
        raise MigrationError(f"a schema statement failed again and again: {error.message}") from error


async def _await_indexes(database: Database) -> None:
    await database.read("CALL db.awaitIndexes($seconds)", {"seconds": _INDEX_WAIT})


async def prepare(database: Database, *, migrate_first: bool, clock: Clock) -> None:
    """Bring the schema up to date, or see that it is.

    Raises:
        MigrationError: Something is missing and `migrate_first` is false; or as `migrate`.
    """
    missing = check_state(await schema_state(database))
    if migrate_first:
        await _apply(database, missing, clock=clock)
    elif missing:
        names = ", ".join(f"{migration.version:03}_{migration.name}" for migration in missing)
        raise MigrationError(
            f"the database lacks migrations ({names}): run `remembrancer migrate`, or connect with migrate=True"
        )


__all__ = [
    "Migration",
    "SchemaState",
    "check_indexes",
    "check_state",
    "migrate",
    "migrations",
    "namespace_space",
    "prepare",
    "require_indexes",
    "retire_space",
    "schema_state",
    "space_number",
]
