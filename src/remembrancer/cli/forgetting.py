"""`restore`, `undo` and `forget`: bringing back, taking back, and erasing, after a look at what it comes to."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from remembrancer.cli.asking import DryRunOption, YesOption, agreed, as_document, show_rows
from remembrancer.cli.compacting import check_local, compacted
from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, open_memory
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output
from remembrancer.cli.past import RecordArgument, in_words
from remembrancer.lifecycle import Plan, apply_plan
from remembrancer.memory import Memory
from remembrancer.records import Erasure, InvalidInputError, Source
from remembrancer.records.base import build
from remembrancer.records.key import require_id


async def restore(
    server: Server,
    output: Output,
    record_id: RecordArgument,
    namespace: NamespaceOption = NAMESPACE,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
) -> ExitCode:
    """Reopen a closed fact, relationship or entity, or put back what a soft pass removed.

    An entity that was merged comes back alone; undo the pass to unmerge it. Ends with 1 when you say no, and with 4
    when there is no such record.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None, writes=not dry_run) as memory:
        with output.working("Looking for what it was"):
            plan = await memory.restore(record_id, dry_run=True)
        return await _carry_out(memory, output, plan, dry_run=dry_run, yes=yes)


async def undo(
    server: Server,
    output: Output,
    pass_id: Annotated[str, typer.Argument(metavar="PASS", help="Id of the pass; passes lists them.")],
    namespace: NamespaceOption = NAMESPACE,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
) -> ExitCode:
    """Take back a pass, so that every record that it touched is again what it was before.

    Refused when one of them has changed since, and for passes that removed records for good. Ends with 1 when you say
    no, and with 4 when there is no such pass.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None, writes=not dry_run) as memory:
        with output.working("Looking at what the pass did"):
            plan = await memory.undo(pass_id, dry_run=True)
        return await _carry_out(memory, output, plan, dry_run=dry_run, yes=yes)


async def forget(
    server: Server,
    output: Output,
    record_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Of a message, episode, fact, theme, entity or relationship."),
    ] = None,
    run: Annotated[str | None, typer.Option("--run", help="What this run of an agent made.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="What this agent made.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="What this tool made.")] = None,
    node: Annotated[str | None, typer.Option("--node", help="What this node of an agent's graph made.")] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="What was said in this conversation.")
    ] = None,
    everything: Annotated[bool, typer.Option("--everything", help="The whole namespace.")] = False,
    soft: Annotated[
        bool, typer.Option("--soft", help="Close instead of erasing; can be undone, and messages stay.")
    ] = False,
    compact: Annotated[
        bool,
        typer.Option("--compact", help="Afterwards make the local server's store anew, so that no file holds it."),
    ] = False,
    namespace: NamespaceOption = NAMESPACE,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
) -> ExitCode:
    """Erase a record, or everything from a source, with all that was made from it alone. For good.

    A fact that another message supports stays. Forgetting an entity also erases the facts that mention it and the
    messages that name it. What will go is shown first. Ends with 1 when you say no, and with 4 when there is no such
    record.
    """
    given = {"run_id": run, "agent_id": agent, "tool_name": tool, "node_id": node, "conversation": conversation}
    if compact:
        if soft or dry_run:
            raise InvalidInputError("--compact", "goes with erasing for good only")
        check_local(server)
    source = {name: value for name, value in given.items() if value is not None}
    if (record_id is not None) + bool(source) + everything != 1:
        raise InvalidInputError("ID", "say what to forget: an id, a source, or --everything, and one of them only")
    wanted = None if record_id is None else require_id(record_id, field="ID")
    target = build(Source, **source) if source else wanted
    async with open_memory(server, output, namespace=namespace, embedder=None, writes=not dry_run) as memory:
        with output.working("Looking for all that was made from it"):
            report = await memory.forget(target, everything=everything, hard=not soft, dry_run=True)
        _tell_erasure(output, report, namespace=namespace)
        is_applied = False
        question = f"{'Close' if soft else 'Erase, for good,'} {_counted(report)}?"
        if everything and report.is_empty:
            question = "Erase what may be left of passes and receipts?"
        is_idle = report.is_empty and not everything  # passes and receipts may be left where no record is
        if not is_idle and not dry_run and agreed(output, question, yes=yes):
            with output.working("Closing" if soft else "Erasing"):
                report = await memory.forget(target, everything=everything, hard=not soft)
            is_applied = True
            output.text("", _done(report, namespace=namespace))
    document = {"applied": is_applied, **report.model_dump(mode="json")}
    if compact and (is_applied or is_idle):
        document["compaction"] = (await compacted(output, server.path)).model_dump(mode="json")
    output.document(document)
    return ExitCode.FINE if is_applied or dry_run or is_idle else ExitCode.FAILED


async def _carry_out(memory: Memory, output: Output, plan: Plan, *, dry_run: bool, yes: bool) -> ExitCode:
    changes = [(change, as_document(change)) for change in plan.changes]
    rows = [[change.kind, in_words(change.record), str(told["becomes"]), change.reason] for change, told in changes]
    show_rows(output, ("kind", "what", "becomes", "why"), rows)
    is_applied = False
    if not dry_run and agreed(output, f"Write {len(changes)} records?", yes=yes):
        with output.working("Writing"):
            await apply_plan(memory.store, plan)
        is_applied = True
        output.text("", f"Done: pass {plan.pass_id}")
    document: dict[str, Any] = {"applied": is_applied, "pass_id": plan.pass_id if is_applied else None}
    output.document({**document, "changes": [told for _, told in changes]})
    return ExitCode.FINE if is_applied or dry_run else ExitCode.FAILED


def _tell_erasure(output: Output, report: Erasure, *, namespace: str) -> None:
    if report.is_empty:
        output.text("There is nothing to forget.")
        return
    parts = (("closed", report.closed), ("rewritten", report.rewritten), ("kept", report.kept))
    gone = {"erased" if report.is_hard else "removed": report.erased}
    rows = [
        [name, kind, one] for name, by_kind in (*gone.items(), *parts) for kind, ids in by_kind.items() for one in ids
    ]
    if rows:
        show_rows(output, ("becomes", "kind", "id"), rows)
    else:
        output.text(f"Everything in namespace {namespace}.")
    output.text("", f"{_counted(report)} {'go for good' if report.is_hard else 'are closed'}.")


def _done(report: Erasure, *, namespace: str) -> str:
    if report.pass_id is not None:
        return f"Done: pass {report.pass_id}"
    if report.is_empty:
        return f"Done: namespace {namespace!r} held no records."
    return "Done."


def _counted(report: Erasure) -> str:
    plurals = {"entity": "entities"}
    counted = [
        f"{count:,} {kind if count == 1 else plurals.get(kind, f'{kind}s')}" for kind, count in report.counts.items()
    ]
    return ", ".join(counted) or "nothing"
