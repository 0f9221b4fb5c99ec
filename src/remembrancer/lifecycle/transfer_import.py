"""Imports: an export is read twice, first to check every line of it, then to write; memory stays flat.

Each batch of lines is put so that putting it again changes nothing. So an import that was cut off is run again, from
the start, and ends as if it had never been.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import BinaryIO, NamedTuple

from remembrancer.lifecycle.transfer_export import TOLD_EVERY, TransferProgress, require_transfer
from remembrancer.lifecycle.transfer_lines import (
    LINES,
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
    decoded,
    decoded_header,
    kind_of_line,
)
from remembrancer.ports import KeepsLedger, MemoryStore
from remembrancer.records import (
    EmbeddingSpaceMismatchError,
    Episode,
    InvalidInputError,
    Message,
    Provenance,
    RecordBatch,
    RemembranceError,
)
from remembrancer.records.file import opened_with_content, require_path
from remembrancer.records.key import derived_id
from remembrancer.records.stated import is_relational, stated_relationship_id

_AT_ONCE = 200
_EPISODES_AT_ONCE = 20  # each brings its messages

_ORDER = {model: place for place, model in enumerate(LINES.values())}


class Examined(NamedTuple):
    """What an export holds that was read to its end.

    Attributes:
        header: Its first line, which names the embedding space that a memory needs to take it in.
        report: What importing it carries.
    """

    header: Header
    report: TransferReport


def examine_export(path: str | os.PathLike[str]) -> Examined:
    """Check every line of an export, before there is a memory to take it in.

    Raises:
        InvalidInputError: The file cannot be read, is no export of a version that is known here, or is damaged.
    """
    source = require_path(path, field="path")
    try:
        with opened_with_content(source, field="path") as file:
            return _examined(file)
    except OSError as error:
        raise InvalidInputError("path", f"cannot read {source}: {error.strerror or error}") from error


async def import_from(
    store: MemoryStore,
    path: str | os.PathLike[str],
    *,
    progress: TransferProgress | None = None,
    examined: Examined | None = None,
) -> TransferReport:
    """Read an export into the empty namespace of a store; see `Memory.import_from`.

    `examined` is what `examine_export` found in the file; left out, it is examined here.
    """
    source = require_path(path, field="path")
    transfer = require_transfer(store)
    try:
        _check_space(header_of(source) if examined is None else examined.header, store)
        report = (examined or examine_export(source)).report
        marker = f"import/{report.sha256}"
        if not await transfer.begin(marker):
            raise InvalidInputError("namespace", f"{store.namespace!r} is not empty; import into another one")
        with opened_with_content(source, field="path") as file:
            await _Importer(store).take(_lines(file, report.sha256), progress)
        await transfer.finish(marker)
    except OSError as error:
        raise InvalidInputError("path", f"cannot read {source}: {error.strerror or error}") from error
    return report


def header_of(path: str | os.PathLike[str]) -> Header:
    """The header of an export, which names the embedding space that a memory needs to take it in.

    Raises:
        InvalidInputError: The file cannot be read, or is no export of a version that is known here.
    """
    source = require_path(path, field="path")
    try:
        with opened_with_content(source, field="path") as file:
            return decoded_header(file.readline())
    except OSError as error:
        raise InvalidInputError("path", f"cannot read {source}: {error.strerror or error}") from error


def _examined(file: BinaryIO) -> Examined:
    raw = file.readline()
    header = decoded_header(raw)
    dimensions = None if header.space is None else header.space.dimensions
    digest, counts, reached, number = hashlib.sha256(raw), Counter[str](), 0, 1
    for number, raw in enumerate(file, 2):
        line = decoded(raw, number=number, dimensions=dimensions)
        if isinstance(line, End):
            if (line.lines, line.sha256) != (number - 1, digest.hexdigest()):
                raise InvalidInputError(f"line {number}", "the lines before it are not those that were exported")
            if file.read(1):
                raise InvalidInputError(f"line {number + 1}", "there is more behind the end")
            report = TransferReport(counts=dict(counts), sha256=line.sha256, not_carried=header.not_carried)
            return Examined(header, report)
        digest.update(raw)
        counts[kind_of_line(line)] += 1
        reached = _following(line, reached, number=number)
    raise InvalidInputError(f"line {number}", "the export is cut off: the line that ends it is missing")


def _following(line: Line, reached: int, *, number: int) -> int:
    place = _ORDER[PassLine if isinstance(line, EntryLine) else type(line)]
    if place < reached:
        raise InvalidInputError(f"line {number}", f"a line of kind {kind_of_line(line)} stands too late")
    return place


def _check_space(header: Header, store: MemoryStore) -> None:
    wanted, has = header.space, store.space
    if wanted == has:
        return
    if wanted is None:
        raise InvalidInputError("line 1", "it has no embedding space: open the memory without an embedder")
    if has is None:
        whose = f"{wanted.model!r} ({wanted.dimensions} dimensions)"
        raise InvalidInputError("line 1", f"its vectors are of {whose}: open the memory with that model")
    raise EmbeddingSpaceMismatchError(
        namespace=store.namespace,
        expected_model=has.model,
        expected=has.dimensions,
        actual_model=wanted.model,
        actual=wanted.dimensions,
    )


class _Importer:
    """Writes the lines of a file that has been examined."""

    def __init__(self, store: MemoryStore) -> None:
        if not isinstance(store, KeepsLedger):
            raise RemembranceError(f"{type(store).__name__} keeps no ledger, which an import needs")
        self._store = store
        self._ledger = store.ledger
        self._transfer = require_transfer(store)
        self._gate_passes = 0

    async def take(self, lines: Iterator[Line], progress: TransferProgress | None) -> None:
        """Write all lines, a batch of one kind at a time."""
        told = read = 1
        for batch in _batches(lines):
            await self._write(batch)
            read += len(batch)
            if progress is not None and read - told >= TOLD_EVERY:
                told = read
                progress(read)
        if progress is not None:
            progress(read + 1)

    async def _write(self, batch: Sequence[Line]) -> None:
        entities = [one.record for one in batch if isinstance(one, EntityLine)]
        relationships = [one.record for one in batch if isinstance(one, RelationshipLine)]
        themes = [one.record for one in batch if isinstance(one, ThemeLine)]
        derivations = {one.derived_id: one.source_ids for one in batch if isinstance(one, DerivationLine)}
        await self._store.write(
            RecordBatch(entities=entities, relationships=relationships, themes=themes, derivations=derivations)
        )
        await self._write_messages([one for one in batch if isinstance(one, MessageLine)])
        await self._write_episodes([one for one in batch if isinstance(one, EpisodeLine)])
        await self._write_facts([one for one in batch if isinstance(one, FactLine)])
        await self._write_trail(batch)
        await self._write_evidence(batch)

    async def _write_messages(self, lines: Sequence[MessageLine]) -> None:
        """Messages come into a store with an episode alone; theirs is taken away again."""
        if not lines:
            return
        messages = [one.record for one in lines]
        holder = _holder(messages)
        await self._store.write(RecordBatch(episodes=[holder]))
        await self._stamp((one.record, one.recorded_at) for one in lines)
        await self._store.write(RecordBatch(removals={"episode": [holder.id]}))

    async def _write_episodes(self, lines: Sequence[EpisodeLine]) -> None:
        if lines:
            await self._store.write(RecordBatch(episodes=[one.record for one in lines]))
            pairs = (zip(one.record.messages, one.recorded_at, strict=True) for one in lines)
            await self._stamp(chain.from_iterable(pairs))

    async def _stamp(self, learnt: Iterable[tuple[Message, dt.datetime | None]]) -> None:
        stamps = {message.id: at for message, at in learnt if at is not None}
        if stamps:
            await self._transfer.put_message_stamps(stamps)

    async def _write_facts(self, lines: Sequence[FactLine]) -> None:
        if not lines:
            return
        edges = {one.record.id: stated_relationship_id(one.record.id) for one in lines if is_relational(one.record)}
        # Putting a fact puts the edge of its statement anew; put again beside it, the one that was exported counts.
        stored = await self._store.get_relationships(list(edges.values()))
        facts = [one.record for one in lines]
        await self._store.write(RecordBatch(facts=facts, relationships=list(stored.values())))
        if without := [edges[one.record.id] for one in lines if one.lacks_edge and one.record.id in edges]:
            await self._store.write(RecordBatch(removals={"relationship": without}))

    async def _write_trail(self, batch: Sequence[Line]) -> None:
        if passes := [one.record for one in batch if isinstance(one, PassLine)]:
            await self._transfer.put_passes(passes)
        entries = [one for one in batch if isinstance(one, EntryLine)]
        for pass_id, group in groupby(entries, key=lambda one: one.pass_id):
            of_pass = list(group)
            await self._transfer.put_entries(pass_id, [one.record for one in of_pass], start=of_pass[0].place)
        if replacements := [one.record for one in batch if isinstance(one, ReplacementLine)]:
            await self._transfer.put_replacements(replacements)

    async def _write_evidence(self, batch: Sequence[Line]) -> None:
        if runs := [one.record for one in batch if isinstance(one, RunLine)]:
            await self._ledger.record_outcomes(runs)
        if gate_passes := [one.record for one in batch if isinstance(one, GatePassLine)]:
            await self._transfer.put_gate_passes(list(enumerate(gate_passes, self._gate_passes + 1)))
            self._gate_passes += len(gate_passes)
        if servings := [one.record for one in batch if isinstance(one, ServingLine)]:
            await self._transfer.put_servings(servings)
        if receipts := [(one.key, one.record) for one in batch if isinstance(one, ReceiptLine)]:
            await self._transfer.put_receipts(receipts)
        if items := [one.record for one in batch if isinstance(one, TierItemLine)]:
            await self._transfer.put_tier_items(items)


def _holder(messages: Sequence[Message]) -> Episode:
    instants = [one.timestamp for one in messages]
    return Episode(
        id=derived_id("import", messages[0].id),
        topic="",
        messages=messages,
        started_at=min(instants),
        ended_at=max(instants),
        provenance=Provenance(source="system", created_at=min(instants)),
    )


def _lines(file: BinaryIO, sha256: str) -> Iterator[Line]:
    """The lines of an export that has been examined.

    Raises:
        InvalidInputError: They are no longer those that were examined; what was handed on stays.
    """
    raw = file.readline()
    header, digest = decoded_header(raw), hashlib.sha256(raw)
    dimensions = None if header.space is None else header.space.dimensions
    for number, raw in enumerate(file, 2):
        line = decoded(raw, number=number, dimensions=dimensions)
        if isinstance(line, End) and digest.hexdigest() == sha256:
            return
        if isinstance(line, End):
            break
        digest.update(raw)
        yield line
    raise InvalidInputError("path", "the file changed while it was read; clear the namespace and import it again")


def _batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    for model, group in groupby(lines, key=_type):
        most = _EPISODES_AT_ONCE if model is EpisodeLine else _AT_ONCE
        batch: list[Line] = []
        for line in group:
            batch.append(line)
            if len(batch) == most:
                yield batch
                batch = []
        if batch:
            yield batch


def _type(line: Line) -> Callable[..., Line]:
    return type(line)
