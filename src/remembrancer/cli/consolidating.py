"""`consolidate`: near duplicates merged, faded facts and old episodes pruned, after a look at what it comes to."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from remembrancer.cli.asking import DeleteModeName, DryRunOption, YesOption, agreed, as_document, show_rows
from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, open_memory
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output
from remembrancer.lifecycle import Change, ConsolidationPlan, MemoryConsolidator, apply_plan
from remembrancer.memory import Memory


async def consolidate(
    server: Server,
    output: Output,
    namespace: NamespaceOption = NAMESPACE,
    max_facts: Annotated[
        int | None, typer.Option("--max-facts", help="The most live facts that are to stay; left out: no bound.")
    ] = None,
    max_episodes: Annotated[
        int | None, typer.Option("--max-episodes", help="The most episodes that are to stay; left out: no bound.")
    ] = None,
    dedup_threshold: Annotated[
        float, typer.Option("--dedup-threshold", help="The least cosine at which two facts are near duplicates.")
    ] = 0.9,
    half_life: Annotated[
        float, typer.Option("--half-life", help="After how many days without use a fact counts half.")
    ] = 30,
    delete_mode: Annotated[
        DeleteModeName, typer.Option("--delete-mode", help="soft: pruned facts are closed; hard: removed for good.")
    ] = DeleteModeName.SOFT,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
) -> ExitCode:
    """Merge near duplicates, prune the facts that count least and the oldest episodes, and let themes follow.

    What is to be done is shown first and done in one transaction, unless a record changed meanwhile. A soft
    consolidation can be undone. Ends with 1 when you say no.
    """
    async with open_memory(server, output, namespace=namespace, embedder=None, writes=not dry_run) as memory:
        consolidator = MemoryConsolidator(
            memory.store,
            memory.index,
            max_facts=max_facts,
            max_episodes=max_episodes,
            dedup_threshold=dedup_threshold,
            decay_half_life_days=half_life,
            delete_mode=delete_mode.value,
        )
        planned = await _planned(consolidator, output)
        _tell(output, planned)
        is_applied = False
        question = f"Change {len(planned.plan.changes)} records?"
        if planned.plan.changes and not dry_run and agreed(output, question, yes=yes):
            with output.working("Writing"):
                await apply_plan(memory.store, planned.plan)
            is_applied = True
            output.text("", f"Done: pass {planned.plan.pass_id}")
        output.document(_document(memory, planned, is_applied=is_applied))
    return ExitCode.FINE if is_applied or dry_run or not planned.plan.changes else ExitCode.FAILED


async def _planned(consolidator: MemoryConsolidator, output: Output) -> ConsolidationPlan:
    with output.counting("Looking at facts") as counted:

        def progress(done: int, total: int) -> None:
            counted(done)

        return await consolidator.plan(progress=progress)


def _tell(output: Output, planned: ConsolidationPlan) -> None:
    changes, report = planned.plan.changes, planned.report
    if not changes:
        output.text("Nothing to consolidate.")
        return
    rows = [[change.kind, _what(change), _told(change), change.reason] for change in changes]
    show_rows(output, ("kind", "what", "becomes", "why"), rows)
    output.text(
        "",
        f"{report.facts_deduped} near duplicates, {report.facts_decayed} faded facts, "
        f"{report.episodes_pruned} episodes; themes: {report.themes_cleaned_up} change, {report.themes_removed} go.",
    )


def _what(change: Change) -> str:
    record: Any = change.record
    return str(getattr(record, "content", None) or getattr(record, "label", None) or getattr(record, "topic", ""))


def _told(change: Change) -> str:
    becomes = str(as_document(change)["becomes"])
    return becomes if change.superseded_by is None else f"part of {change.superseded_by}"


def _document(memory: Memory, planned: ConsolidationPlan, *, is_applied: bool) -> dict[str, Any]:
    return {
        "namespace": memory.namespace,
        "applied": is_applied,
        "pass_id": planned.plan.pass_id if is_applied else None,
        **planned.report.model_dump(mode="json", exclude={"mutation_log", "pass_id"}),
        "changes": [as_document(change) for change in planned.plan.changes],
    }
