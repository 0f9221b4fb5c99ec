"""`history`, `why` and `passes`: what became of records, what they rest on, and what was done to a memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, open_memory
from remembrancer.cli.output import Output, moment
from remembrancer.cli.showing import plain, window
from remembrancer.records import Entity, Episode, Fact, History, Message, Pass, Relationship, Replacement, Step, Theme
from remembrancer.records.kind import AnyRecord

RecordArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Of a message, episode, fact, theme, entity or relationship.")
]
LimitOption = Annotated[int, typer.Option("--limit", "-l", min=0, max=1000, help="The most to show.")]


async def history(
    server: Server, output: Output, record_id: RecordArgument, namespace: NamespaceOption = NAMESPACE
) -> None:
    """Tell what became of a record: what was done to it, what replaced it, and what it replaced.

    Ends with 4 when nothing is known of the id.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
        with output.working("Reading its history"):
            told = await memory.history(record_id)
            record = await memory.get(record_id)
    output.document({**told.model_dump(mode="json"), "record": None if record is None else plain(record)})
    output.text(_state(told, record))
    if told.steps:
        output.heading("what was done to it")
        output.table("when", "by", "what", "why", "fields", rows=[_step_row(step) for step in told.steps])
    for title, chain in (("replaced by", told.replaced_by), ("it replaced", told.replaces)):
        if chain:
            output.heading(title)
            output.table("when", "older", "newer", "why", rows=[_replacement_row(one) for one in chain])


async def why(
    server: Server,
    output: Output,
    record_id: RecordArgument,
    namespace: NamespaceOption = NAMESPACE,
    limit: LimitOption = 20,
) -> None:
    """Tell what a record rests on: who made it, and the messages and episodes it was read from.

    Ends with 4 when there is no such record.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
        evidence = await memory.why(record_id, limit=limit)
    document = evidence.model_dump(mode="json", exclude={"record", "messages", "episodes", "facts"})
    for name, records in (("messages", evidence.messages), ("episodes", evidence.episodes), ("facts", evidence.facts)):
        document[name] = [plain(one) for one in records]
    output.document({**document, "record": plain(evidence.record)})
    output.text(f"{evidence.record_kind} {record_id}", f"  {in_words(evidence.record)}")
    made_by = evidence.provenance
    if made_by is not None:
        maker = made_by.agent_id or made_by.tool_name or made_by.run_id
        by = f" by {maker}" if maker else ""
        output.text(f"  made {moment(made_by.created_at)}, source {made_by.source}{by}")
    _section(output, "said", evidence.messages, limit)
    _section(output, "read in", evidence.episodes, limit)
    _section(output, "told by", evidence.facts, limit, total=evidence.fact_count)
    if evidence.replaces:
        output.heading("it replaced")
        output.table("when", "older", "newer", "why", rows=[_replacement_row(one) for one in evidence.replaces])


async def passes(
    server: Server, output: Output, namespace: NamespaceOption = NAMESPACE, limit: LimitOption = 20
) -> None:
    """List what was done to a memory: consolidations, resolutions, restorations and the like, latest first."""
    async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
        found = await memory.passes(limit=limit)
    output.document({"passes": [one.model_dump(mode="json") for one in found]})
    if not found:
        output.text("Nothing was done yet.")
        return
    rows = [[moment(one.at), one.kind, str(one.changes), _undoing(one), one.id] for one in found]
    output.table("when", "what for", "records", "undo", "id", rows=rows, numbers=["records"])


def in_words(record: AnyRecord) -> str:
    """A record in one line."""
    match record:
        case Fact():
            return f"{record.content}  ({window(record)})"
        case Entity():
            return f"{record.name} ({record.entity_type})"
        case Relationship():
            return f"{record.source_id} {record.relation_type} {record.target_id}  ({window(record)})"
        case Episode():
            return record.topic or "no topic"
        case Theme():
            return record.label
        case Message():
            return f"{moment(record.timestamp)}  {record.spoken}"


def _state(told: History, record: AnyRecord | None) -> str:
    if record is None:
        return f"{told.record_id} is not stored any more."
    closed = ""
    if told.closed_by is not None or told.closed_at is not None:
        by = f" by {told.closed_by}" if told.closed_by is not None else ""
        closed = f"\n  closed {moment(told.closed_at)}{by}"
    return f"{' and '.join(told.stored_as)} {told.record_id}\n  {in_words(record)}{closed}"


def _step_row(step: Step) -> list[str]:
    undone = f" (undone by {step.undone_by})" if step.undone_by is not None else ""
    what = step.action if step.superseded_by is None else f"{step.action} for {step.superseded_by}"
    return [moment(step.at), f"{step.pass_kind} {step.pass_id}", what + undone, step.reason, ", ".join(step.fields)]


def _replacement_row(one: Replacement) -> list[str]:
    reason = one.reason or "by hand"
    if one.undone_by is not None:
        reason += f" (undone by {one.undone_by})"
    return [moment(one.at), one.older_id, one.newer_id, reason]


def _undoing(one: Pass) -> str:
    if one.undone_by is not None:
        return f"undone by {one.undone_by}"
    if one.is_hard or one.is_erased:
        return "no: for good" if one.is_hard else "no: erased"
    return "yes"


def _section(output: Output, title: str, records: Sequence[AnyRecord], limit: int, *, total: int | None = None) -> None:
    if records:
        output.heading(title)
        output.text(*(f"  {in_words(one)}  {one.id}" for one in records[:limit]))
        more = (len(records) if total is None else total) - min(limit, len(records))
        if more > 0:
            output.text(f"  and {more} more")
