"""`resolve` and `conflicts`: doubled entities merged, facts in conflict closed, after a look at what it comes to."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from remembrancer.cli.asking import DeleteModeName, DryRunOption, YesOption, agreed, as_document, show_rows
from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, open_memory
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output, moment
from remembrancer.lifecycle import (
    Change,
    Conflict,
    ConflictDetector,
    ConflictPlan,
    EntityResolver,
    ResolutionPlan,
    apply_plan,
)
from remembrancer.memory import Memory
from remembrancer.records import Entity, Fact, Relationship


class PolicyName(StrEnum):
    """What is done about conflicts."""

    MANUAL = "manual-review"
    NEWER = "supersede-on-newer"
    NEGATION = "negation-invalidates-positive"


class PreferenceName(StrEnum):
    """Which side of a negation is kept."""

    NEWER = "newer"
    NEGATION = "negation"


async def resolve(
    server: Server,
    output: Output,
    namespace: NamespaceOption = NAMESPACE,
    delete_mode: Annotated[
        DeleteModeName,
        typer.Option("--delete-mode", help="soft: absorbed entities are closed; hard: removed for good."),
    ] = DeleteModeName.SOFT,
    single_valued: Annotated[
        list[str] | None,
        typer.Option(
            "--single-valued",
            help="A predicate that holds one value at a time; can be given several times. What was said of two "
            "entities gets the windows that it would have had, had it been said of one.",
        ),
    ] = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
) -> ExitCode:
    """Merge entities that have one name and one type, with their facts and relationships.

    Names are equal but for case, a leading article, punctuation and white space. What is to be done is shown first and
    done in one transaction, unless a record changed meanwhile. A soft merge can be undone. Ends with 1 when you say no.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None, writes=not dry_run) as memory:
        resolver = EntityResolver(memory.store, delete_mode=delete_mode.value, single_valued=single_valued or ())
        with output.working("Comparing names"):
            planned = await resolver.plan()
        _tell_resolution(output, planned)
        is_applied = False
        if planned.plan.changes and not dry_run and agreed(output, _question(planned), yes=yes):
            with output.working("Writing"):
                await apply_plan(memory.store, planned.plan)
            is_applied = True
            output.text("", f"Done: pass {planned.plan.pass_id}")
        output.document(_document(memory, planned, is_applied=is_applied))
    return ExitCode.FINE if is_applied or dry_run or not planned.plan.changes else ExitCode.FAILED


async def conflicts(
    server: Server,
    output: Output,
    namespace: NamespaceOption = NAMESPACE,
    policy: Annotated[
        PolicyName,
        typer.Option(
            "--policy",
            help="manual-review: only show them. supersede-on-newer: keep the newer fact. "
            "negation-invalidates-positive: likewise where one denies or replaces the other, and leave contradictions "
            "alone.",
        ),
    ] = PolicyName.MANUAL,
    prefer: Annotated[
        PreferenceName,
        typer.Option("--prefer", help="negation: with that last policy always keep the fact that denies."),
    ] = PreferenceName.NEWER,
    embedding_threshold: Annotated[
        float, typer.Option("--embedding-threshold", help="The least cosine at which two facts are about the same.")
    ] = 0.8,
    overlap_threshold: Annotated[
        float, typer.Option("--overlap-threshold", help="Below this word overlap such facts contradict each other.")
    ] = 0.3,
    days: Annotated[
        float, typer.Option("--days", help="More than so many days must lie between a fact and what replaces it.")
    ] = 1,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
) -> ExitCode:
    """Find facts that deny, replace or contradict each other, and close those that lose by a policy.

    Run resolve first: facts meet through the entities that they share. What is to be done is shown first and done in
    one transaction, unless a fact changed meanwhile. Closed facts stay readable, and the pass can be undone. Ends with
    1 when you say no.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None, writes=not dry_run) as memory:
        detector = ConflictDetector(
            memory.store,
            memory.index,
            policy=policy.value,
            prefer=prefer.value,
            embedding_threshold=embedding_threshold,
            semantic_overlap_threshold=overlap_threshold,
            supersession_day_threshold=days,
        )
        with output.counting("Comparing facts") as progress:
            found = await detector.detect(progress=progress)
        planned = await detector.plan(found)
        _tell_conflicts(output, planned)
        is_applied = False
        question = f"Close {len(planned.plan.changes)} facts?"
        if planned.plan.changes and not dry_run and agreed(output, question, yes=yes):
            with output.working("Writing"):
                await apply_plan(memory.store, planned.plan)
            is_applied = True
            output.text("", f"Done: pass {planned.plan.pass_id}")
        output.document(_document(memory, planned, is_applied=is_applied))
    return ExitCode.FINE if is_applied or dry_run or not planned.plan.changes else ExitCode.FAILED


def _question(planned: ResolutionPlan) -> str:
    report = planned.report
    return f"Merge {report.entities_absorbed} entities and change {len(planned.plan.changes)} records?"


def _tell_resolution(output: Output, planned: ResolutionPlan) -> None:
    report, changes = planned.report, planned.plan.changes
    if not changes:
        output.text("No two entities have one name and one type.")
        return
    show_rows(output, ("kind", "what", "becomes", "why"), [_resolution_row(change) for change in changes])
    output.text(
        "",
        f"{report.groups_merged} names, {report.entities_absorbed} entities absorbed; {report.facts_rewritten} facts "
        f"and {report.relationships_rewritten} relationships follow, {report.relationships_dropped} are doubled.",
    )


def _resolution_row(change: Change) -> list[str]:
    record = change.record
    becomes = str(as_document(change)["becomes"])
    if change.superseded_by is not None:
        becomes += f", part of {change.superseded_by}"
    return [change.kind, _named(record), becomes, change.reason]


def _named(record: object) -> str:
    match record:
        case Entity():
            return f"{record.name} ({record.entity_type})"
        case Fact():
            return record.content
        case Relationship():
            return f"{record.source_id} {record.relation_type} {record.target_id}"
        case _:
            return ""


def _tell_conflicts(output: Output, planned: ConflictPlan) -> None:
    report = planned.report
    if not report.details:
        output.text("No conflicts.")
        return
    rows = []
    for detail in report.details:
        one = detail.conflict
        rows.append([_kind(one), _said(one, "a", detail.loser), _said(one, "b", detail.loser), detail.action])
    show_rows(output, ("kind", "one", "other", "what is done"), rows)
    output.text("", f"{len(report.details)} conflicts: {report.resolved} to resolve, {report.skipped} left alone.")


def _kind(conflict: Conflict) -> str:
    return f"{conflict.kind.replace('_', ' ')}\n{conflict.confidence:.1f}"


def _said(conflict: Conflict, side: str, loser: str | None) -> str:
    fact = conflict.a if side == "a" else conflict.b
    closed = ", to be closed" if fact.id == loser else ""
    return f"{fact.content}\n{moment(fact.valid_from)}{closed}\n{fact.id}"


def _document(memory: Memory, planned: ResolutionPlan | ConflictPlan, *, is_applied: bool) -> dict[str, Any]:
    return {
        "namespace": memory.namespace,
        "applied": is_applied,
        "pass_id": planned.plan.pass_id if is_applied else None,
        **planned.report.model_dump(mode="json", exclude={"pass_id"}),
        "changes": [as_document(change) for change in planned.plan.changes],
    }
