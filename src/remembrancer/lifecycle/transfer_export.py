"""Exports: everything that a namespace holds, as lines, a page at a time, so that memory stays flat."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

from remembrancer.lifecycle.images import require_trail
from remembrancer.lifecycle.transfer_lines import (
    VERSION,
    DerivationLine,
    End,
    EntityLine,
    EntryLine,
    EpisodeLine,
    FactLine,
    GatePassLine,
    Header,
    Line,
    MessageLine,
    PassLine,
    ReceiptLine,
    RelationshipLine,
    ReplacementLine,
    RunLine,
    ServingLine,
    ThemeLine,
    TierItemLine,
    TransferReport,
    encoded,
    kind_of_line,
)
from remembrancer.ports import MemoryStore
from remembrancer.ports.transfer import Transfer, Transfers
from remembrancer.records import AuditEntry, InvalidInputError, RecordKind, RemembranceError
from remembrancer.records.file import require_path
from remembrancer.records.stated import is_relational, stated_relationship_id
from remembrancer.records.tier import DURABLE_TIERS
from remembrancer.records.vector import to_float32

TransferProgress = Callable[[int], None]
"""Told now and then how many lines have been written or read."""

TOLD_EVERY = 1_000
"""Lines between two words of progress."""

_PAGE = 200  # records a read; an episode brings all its messages
_ENTRIES = 1_000

P = TypeVar("P")


async def export_to(
    store: MemoryStore, path: str | os.PathLike[str], *, progress: TransferProgress | None = None
) -> TransferReport:
    """Write everything that a store's namespace holds to a file; see `Memory.export_to`."""
    target = require_path(path, field="path")
    require_transfer(store)
    try:
        with _unfinished(target) as file:
            return await write_export(store, file.write, progress=progress)
    except OSError as error:
        raise InvalidInputError("path", f"cannot write {target}: {error.strerror or error}") from error


def require_transfer(store: MemoryStore) -> Transfer:
    """What carries a store's namespace.

    Raises:
        RemembranceError: The store cannot be exported or imported whole.
    """
    if not isinstance(store, Transfers):
        raise RemembranceError(f"{type(store).__name__} can be neither exported nor imported whole")
    return store.transfer


@contextmanager
def _unfinished(target: Path) -> Iterator[BinaryIO]:
    """A file beside the target, which takes the target's name once it is complete and on the disk."""
    if target.exists():
        raise InvalidInputError("path", f"{target} exists already")
    unfinished = target.with_name(f"{target.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


async def write_export(
    store: MemoryStore, write: Callable[[bytes], object], *, progress: TransferProgress | None = None
) -> TransferReport:
    """Hand the lines of an export on, one by one; see `export_to`. One that is cut off has no last line."""
    transfer = require_transfer(store)
    await store.flush_usage()
    digest, counts, lines = hashlib.sha256(), Counter[str](), 1
    header = encoded(Header(remembrancer_export=VERSION, space=store.space))
    digest.update(header)
    write(header)
    async for line in exported_lines(store, transfer):
        raw = encoded(line)
        digest.update(raw)
        write(raw)
        counts[kind_of_line(line)] += 1
        lines += 1
        if progress is not None and lines % TOLD_EVERY == 0:
            progress(lines)
    write(encoded(End(lines=lines, sha256=digest.hexdigest())))
    if progress is not None:
        progress(lines + 1)
    return TransferReport(counts=dict(counts), sha256=digest.hexdigest())


async def exported_lines(store: MemoryStore, transfer: Transfer) -> AsyncIterator[Line]:
    """All lines between the header and the end, in their order."""
    for section in (_records, _trail, _evidence):
        async for line in section(store, transfer):
            yield line


async def _records(store: MemoryStore, transfer: Transfer) -> AsyncIterator[Line]:
    async for ids in _id_pages(transfer, "entity"):
        for entity in (await store.get_entities(ids)).values():
            yield EntityLine(record=entity)
    async for ids in _id_pages(transfer, "relationship"):
        for relationship in (await store.get_relationships(ids)).values():
            yield RelationshipLine(record=relationship)
    async for ids in _id_pages(transfer, "message"):
        stamps = await transfer.message_stamps(ids)
        for message in (await store.get_messages(ids)).values():
            yield MessageLine(record=message, recorded_at=stamps.get(message.id))
    async for ids in _id_pages(transfer, "episode"):
        episodes = (await store.get_episodes(ids)).values()
        held = {message.id for episode in episodes for message in episode.messages}
        stamps = await transfer.message_stamps(sorted(held))
        for episode in episodes:
            yield EpisodeLine(record=episode, recorded_at=[stamps.get(one.id) for one in episode.messages])
    async for ids in _id_pages(transfer, "fact"):
        facts = (await store.get_facts(ids)).values()
        edges = {fact.id: stated_relationship_id(fact.id) for fact in facts if is_relational(fact)}
        there = await store.get_relationships(list(edges.values()))
        for fact in facts:
            yield FactLine(record=fact, lacks_edge=fact.id in edges and edges[fact.id] not in there)
    async for ids in _id_pages(transfer, "theme"):
        for theme in (await store.get_themes(ids)).values():
            yield ThemeLine(record=theme)


async def _trail(store: MemoryStore, transfer: Transfer) -> AsyncIterator[Line]:
    async for derived in _pages(lambda after: transfer.derivations(after=after, limit=_PAGE), "", lambda one: one[0]):
        for derived_id, source_ids in derived:
            yield DerivationLine(derived_id=derived_id, source_ids=source_ids)
    trail, offset = require_trail(store), 0
    while passes := await trail.list_passes(limit=_PAGE, offset=offset):
        offset += len(passes)
        for one in passes:
            yield PassLine(record=one)
            place = 0
            while entries := await trail.pass_entries(one.id, limit=_ENTRIES, offset=place):
                for entry in entries:
                    yield EntryLine(pass_id=one.id, place=place, record=_rounded(entry))
                    place += 1
    for kind in ("fact", "entity"):
        after = ""
        while found := await transfer.replacements(kind, after=after, limit=_PAGE):
            after = found[-1].older_id
            for replacement in found:
                yield ReplacementLine(record=replacement)


def _rounded(entry: AuditEntry) -> AuditEntry:
    # What a caller recorded is kept in memory as it was, and in the database as float32.
    if entry.embedding is None:
        return entry
    return entry.model_copy(update={"embedding": tuple(to_float32(entry.embedding))})


async def _evidence(_: MemoryStore, transfer: Transfer) -> AsyncIterator[Line]:
    async for runs in _pages(lambda after: transfer.runs(after=after, limit=_PAGE), 0, lambda one: one[0]):
        for _place, run in runs:
            yield RunLine(record=run)
    async for passes in _pages(lambda after: transfer.gate_passes(after=after, limit=_PAGE), 0, lambda one: one[0]):
        for _place, gate_pass in passes:
            yield GatePassLine(record=gate_pass)
    async for servings in _pages(lambda after: transfer.servings(after=after, limit=_PAGE), 0, lambda one: one[0]):
        for _place, serving in servings:
            yield ServingLine(record=serving)
    async for receipts in _pages(lambda after: transfer.receipts(after=after, limit=_PAGE), "", lambda one: one[0]):
        for key, receipt in receipts:
            yield ReceiptLine(key=key, record=receipt)
    for tier in DURABLE_TIERS:
        scope = after = ""
        while items := await transfer.tier_items(tier, scope=scope, after=after, limit=_PAGE):
            scope, after = items[-1].scope or "", items[-1].id
            for item in items:
                yield TierItemLine(record=item)


async def _id_pages(transfer: Transfer, kind: RecordKind) -> AsyncIterator[list[str]]:
    after = ""
    while ids := await transfer.record_ids(kind, after=after, limit=_PAGE):
        after = ids[-1]
        yield ids


K = TypeVar("K", int, str)


async def _pages(
    page: Callable[[K], Awaitable[Sequence[P]]], start: K, key: Callable[[P], K]
) -> AsyncIterator[Sequence[P]]:
    after = start
    while items := await page(after):
        after = key(items[-1])
        yield items
