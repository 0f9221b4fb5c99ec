"""The doctor: looks at a database and a namespace, changes nothing, and says what is there and what is wrong.

Findings with `is_wrong` are what no write of this library leaves behind; the others are worth knowing and may be meant,
such as records that are named but not stored yet.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Literal

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, first
from remembrancer.graph.inspection import INSPECTION, Inspection
from remembrancer.graph.migrations import SchemaState, check_indexes, check_state, migrations, schema_state
from remembrancer.graph.values import closed_token, namespace_token
from remembrancer.records import EmbeddingSpace, MigrationError, RecordKind
from remembrancer.records.base import Listed, Record, build
from remembrancer.records.instant import Instant, parse_instant
from remembrancer.records.key import require_key

MAX_EXAMPLES = 10
"""How many examples a finding names at most."""

MAX_COUNTED = 10_000
"""Up to how many a check inside the database counts, so that a memory that is wrong throughout can be looked at."""

_SAMPLE = 200
"""How many vectors of each kind are looked up in their index."""

CheckName = Literal[
    "schema", "indexes", "namespace", "embeddings", "placeholders", "bad_placeholders", "edges", "positions",
    "episode_facts", "theme_facts", "message_places", "copies", "closing", "windows", "vectors", "unindexed", "stated",
    "succession", "passes", "ledger", "receipts", "walls", "records", "derived", "statements", "cycles",
]  # fmt: skip

_DEEP: tuple[tuple[CheckName, bool, str], ...] = (
    ("placeholders", False, "records are named but not stored"),
    ("windows", False, "windows are in no order"),
    ("bad_placeholders", True, "placeholders or tags should be gone, or empty"),
    ("edges", True, "edges join what they do not join, or are there twice"),
    ("positions", True, "lists have places that do not fit"),
    ("episode_facts", True, "times an episode and a fact do not name each other"),
    ("theme_facts", True, "times a theme and a fact do not name each other"),
    ("message_places", True, "messages have another place than their copy says"),
    ("copies", True, "copies for the indexes differ from what they are copied from"),
    ("closing", True, "records do not say when they were learnt or closed, or say it wrongly"),
    ("vectors", True, "vectors fit no index of the embedding space"),
    ("unindexed", True, "vectors of a sample are not found in their index"),
    ("stated", True, "relationships are said to be stated by facts that do not state them"),
    ("succession", True, "audit edges differ from what they must say"),
    ("passes", True, "passes, their entries and those that took them back do not agree"),
    ("ledger", True, "places of runs, verdicts and servings do not fit"),
    ("receipts", True, "writes with an idempotency key, or imports, are there by halves"),
    ("walls", True, "edges leave the namespace, or are not marked with it"),
)


class Finding(Record):
    """Something that the doctor saw.

    Attributes:
        check: Which check saw it.
        is_wrong: Whether something has to be mended.
        summary: A sentence, or the end of one that begins with `total`.
        total: How often it was seen; what a deep check sees inside the database is counted up to `MAX_COUNTED`.
        examples: Some of it, at most `MAX_EXAMPLES`.
    """

    check: CheckName
    is_wrong: bool
    summary: str
    total: int = 1
    examples: Listed[str] = ()


class KindCount(Record):
    """How many records of a kind a namespace holds.

    Attributes:
        kind: Of what.
        stored: Closed ones among them, placeholders not.
        closed: Superseded or invalidated.
        placeholders: Named but not stored.
        embedded: With a vector of the namespace's embedding space.
    """

    kind: RecordKind
    stored: int
    closed: int
    placeholders: int
    embedded: int


class Usage(Record):
    """What is known of how facts are used.

    Attributes:
        is_counted: Whether the database takes the writes that counting needs.
        facts: Facts used at least once.
        uses: Uses in all.
        last_at: When a fact was used last.
    """

    is_counted: bool
    facts: int
    uses: int
    last_at: Instant | None = None


class Examination(Record):
    """What the doctor found.

    Attributes:
        version: Of the server.
        edition: `community` or `enterprise`.
        database: Its name.
        migrations_applied: Names of the migrations that the database has.
        migrations_known: Names of those that this library knows.
        spaces: Embedding spaces of the database, the first having number 1.
        namespace: Whose memory was looked at.
        space: The embedding space that it belongs to; `None`: its records have no vectors.
        counts: How much it holds, by kind.
        usage: How its facts are used.
        is_deep: Whether records were compared with each other, too.
        findings: What was seen, what is wrong first.
    """

    version: str
    edition: str
    database: str
    migrations_applied: Listed[str]
    migrations_known: Listed[str]
    spaces: Listed[EmbeddingSpace]
    namespace: str
    space: EmbeddingSpace | None
    counts: Listed[KindCount]
    usage: Usage
    is_deep: bool
    findings: Listed[Finding]

    @property
    def is_well(self) -> bool:
        """Whether nothing has to be mended."""
        return not any(finding.is_wrong for finding in self.findings)


async def examine(database: Database, namespace: str, *, deep: bool = False) -> Examination:
    """Look at a database and at one namespace of it. Reads only.

    Args:
        database: An open one, migrated or not.
        namespace: Whose memory.
        deep: Compare records with each other, too; reads the whole namespace.

    Raises:
        InvalidInputError: `namespace` is not a key.
        ServerUnavailableError: The database could not be reached.
    """
    require_key(namespace, field="namespace")
    state = await schema_state(database)
    server = first(await database.read(queries.load("doctor.server"), {}))
    number = await _space_number(database, namespace)
    counts = await _counts(database, namespace, number=number or 1)
    spaces = state.spaces if state is not None else ()
    space = spaces[number - 1] if number is not None and 1 <= number <= len(spaces) else None
    findings = _schema_findings(state)
    findings += [
        Finding(check="indexes", is_wrong=True, summary=problem)
        for problem in (await check_indexes(database) if state is not None else [])
    ]
    findings += _space_findings(namespace, number, space, counts)
    if deep:
        findings += await _deep_findings(database, namespace, number=number, space=space)
    return Examination(
        version=server["version"],
        edition=server["edition"],
        database=server["database"],
        migrations_applied=_applied(state),
        migrations_known=[f"{migration.version:03}_{migration.name}" for migration in migrations()],
        spaces=spaces,
        namespace=namespace,
        space=space,
        counts=counts,
        usage=await _usage(database, namespace, name=server["database"]),
        is_deep=deep,
        findings=sorted(findings, key=lambda finding: not finding.is_wrong),
    )


async def embedding_space(database: Database, namespace: str) -> EmbeddingSpace | None:
    """The embedding space that a namespace belongs to, `None` when it has none yet; unlike opening it, reads only.

    Raises:
        InvalidInputError: `namespace` is not a key.
        ServerUnavailableError: The database could not be reached.
    """
    number = await _space_number(database, require_key(namespace, field="namespace"))
    state = await schema_state(database)
    if number is None or state is None or not 1 <= number <= len(state.spaces):
        return None
    return state.spaces[number - 1]


async def holds_records(database: Database, namespace: str) -> bool:
    """Whether a namespace holds messages or facts; reads only.

    Raises:
        ServerUnavailableError: The database could not be reached.
    """
    row = first(await database.read(queries.load("namespace.holds"), {"namespace": namespace}))
    return bool(row["messages"] or row["facts"])


async def _space_number(database: Database, namespace: str) -> int | None:
    rows = await database.read(queries.load("namespace.read"), {"namespace": namespace})
    number: int | None = rows[0]["space"] if rows else None
    return number


async def _counts(database: Database, namespace: str, *, number: int) -> list[KindCount]:
    rows = await database.read(queries.load("doctor.counts", number), {"namespace": namespace})
    return [build(KindCount, **row) for row in rows]


async def _usage(database: Database, namespace: str, *, name: str) -> Usage:
    row = first(await database.read(queries.load("doctor.usage"), {"namespace": namespace}))
    access = await database.read(queries.load("doctor.access"), {"database": name})
    last_at: dt.datetime | None = None if row["last_at"] is None else parse_instant(row["last_at"])
    is_counted = any(one["access"] == "read-write" for one in access)
    return Usage(is_counted=is_counted, facts=row["facts"], uses=row["uses"], last_at=last_at)


def _applied(state: SchemaState | None) -> list[str]:
    names = {migration.version: migration.name for migration in migrations()}
    return [f"{version:03}_{names.get(version, 'unknown')}" for version in sorted(state.applied if state else ())]


def _schema_findings(state: SchemaState | None) -> list[Finding]:
    if state is None:
        summary = "the database was never migrated: run `remembrancer migrate`"
        return [Finding(check="schema", is_wrong=True, summary=summary)]
    try:
        missing = check_state(state)
    except MigrationError as error:
        return [Finding(check="schema", is_wrong=True, summary=str(error))]
    return [
        Finding(
            check="schema",
            is_wrong=True,
            summary=f"migration {migration.version:03}_{migration.name} is not applied: run `remembrancer migrate`",
        )
        for migration in missing
    ]


def _space_findings(
    namespace: str, number: int | None, space: EmbeddingSpace | None, counts: Sequence[KindCount]
) -> list[Finding]:
    if number is not None and space is None:
        summary = f"namespace {namespace!r} names embedding space {number}, which this database does not have"
        return [Finding(check="namespace", is_wrong=True, summary=summary)]
    if space is None:
        return []
    without = {one.kind: one.stored - one.embedded for one in counts if one.kind not in ("relationship", "theme")}
    return [
        Finding(check="embeddings", is_wrong=False, summary=f"records of kind {kind} have no vector", total=total)
        for kind, total in without.items()
        if total
    ]


async def _deep_findings(
    database: Database, namespace: str, *, number: int | None, space: EmbeddingSpace | None
) -> list[Finding]:
    more: dict[str, dict[str, object]] = {
        "copies": {"namespace_token": namespace_token(namespace), "closed_token": closed_token(namespace)},
        "unindexed": {"sample": _SAMPLE},
    }
    common = {"namespace": namespace, "most": MAX_COUNTED, "examples": MAX_EXAMPLES}
    dimensions = 384 if space is None else space.dimensions
    findings: list[Finding] = []
    for check, is_wrong, summary in _DEEP:
        if check == "unindexed" and (space is None or any(one.check == "vectors" for one in findings)):
            continue  # what is no vector of the space cannot be looked up
        text = queries.load(f"doctor.{check}", number or 1, dimensions)
        row = first(await database.read(text, {**common, **more.get(check, {})}))
        if row["total"]:
            seen = {"total": row["total"], "examples": row["examples"]}
            findings.append(build(Finding, check=check, is_wrong=is_wrong, summary=summary, **seen))
    inspected = await Inspection(database, namespace, examples=MAX_EXAMPLES).run()
    findings += [
        Finding(check=name, is_wrong=True, summary=INSPECTION[name], total=one.total, examples=one.examples)
        for name, one in inspected.items()
        if one.total
    ]
    return findings


__all__ = [
    "MAX_COUNTED",
    "MAX_EXAMPLES",
    "CheckName",
    "Examination",
    "Finding",
    "KindCount",
    "Usage",
    "embedding_space",
    "examine",
    "holds_records",
]
