"""`gate`: rule on the lessons on trial, and read what has been ruled. `ledger`: record how runs went."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from remembrancer.cli.command import as_command
from remembrancer.cli.connection import NAMESPACE, NamespaceOption, Server, open_memory
from remembrancer.cli.exit_code import EXPLAINED
from remembrancer.cli.output import Output, moment
from remembrancer.cli.policy import PolicyOptions
from remembrancer.memory import Memory
from remembrancer.ports import RecordedDecision
from remembrancer.records import InvalidInputError
from remembrancer.records.instant import require_instant
from remembrancer.retention import RetentionReport, Verdict

_MOST_HELD = 20
"""How many held facts are shown; with `--json` all."""

gate_commands = typer.Typer(name="gate", help="Keep only lessons that help.", epilog=EXPLAINED, no_args_is_help=True)
ledger_commands = typer.Typer(
    name="ledger", help="Record how runs went, and with which facts.", epilog=EXPLAINED, no_args_is_help=True
)


async def run(
    server: Server,
    output: Output,
    options: PolicyOptions,
    namespace: NamespaceOption = NAMESPACE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be decided.")] = False,
) -> None:
    """Rule on all facts on trial by the recorded runs: promote what helps, evict what harms, hold the rest."""
    policy = options.policy()
    async with open_memory(server, output, namespace=namespace, embedder=None, writes=not dry_run) as memory:
        report = await memory.gate(policy, dry_run=dry_run)
        contents = await _contents(memory, report)
    output.document(
        {
            "namespace": namespace,
            "dry_run": dry_run,
            "pass_id": report.pass_id,
            "policy": policy.model_dump(),
            "promoted": [_plain(verdict) for verdict in report.promoted],
            "evicted": [_plain(verdict) for verdict in report.evicted],
            "held": [_plain(verdict) for verdict in report.held],
            "left_alone": list(report.left_alone),
        }
    )
    _tell(output, report, contents, dry_run=dry_run)


async def _contents(memory: Memory, report: RetentionReport) -> dict[str, str]:
    shown = [*report.promoted, *report.evicted, *report.held[:_MOST_HELD]]
    facts = await memory.store.get_facts([verdict.fact_id for verdict in shown])
    return {fact_id: fact.content for fact_id, fact in facts.items()}


def _tell(output: Output, report: RetentionReport, contents: Mapping[str, str], *, dry_run: bool) -> None:
    decided = [*report.promoted, *report.evicted]
    shown = [*decided, *report.held[:_MOST_HELD]]
    if shown:
        columns = ("verdict", "fact", "trials", "lift", "p promote", "p evict")
        rows = [_row(verdict, contents.get(verdict.fact_id, "")) for verdict in shown]
        output.table(*columns, rows=rows, numbers=columns[2:])
    more = len(report.held) - _MOST_HELD
    if more > 0:
        output.text(f"and {more} more held")
    counts = f"{len(report.promoted)} promoted, {len(report.evicted)} evicted, {len(report.held)} held"
    output.text("", f"Would be: {counts}." if dry_run else f"{counts}.")
    if report.left_alone:
        output.text(f"{len(report.left_alone)} left alone: no longer on trial when the verdicts were written.")


def _row(verdict: Verdict, content: str) -> list[str]:
    evidence = verdict.evidence
    numbers = [] if evidence is None else [evidence.lift, evidence.p_promote, evidence.p_evict]
    told = [f"{number:+.3f}" if place == 0 else f"{number:.3f}" for place, number in enumerate(numbers)] or [""] * 3
    why = f"{verdict.decision}\n{verdict.reason}" if verdict.reason else verdict.decision
    return [why, f"{content}\n{verdict.fact_id}", str(verdict.trials), *told]


async def report(
    server: Server,
    output: Output,
    namespace: NamespaceOption = NAMESPACE,
    fact: Annotated[str | None, typer.Option("--fact", metavar="ID", help="Verdicts on this fact.")] = None,
    verdict: Annotated[str | None, typer.Option("--verdict", help="promoted, evicted or held.")] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", help="Evictions for this reason, such as eval-gate:harmful.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", help="From this instant on, ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Up to this instant, which is left out.")] = None,
    limit: Annotated[int, typer.Option("--limit", help="The most verdicts to list.")] = 20,
) -> None:
    """List what the gate has ruled so far, the latest first."""
    earliest = None if since is None else require_instant(since, field="--since")
    end = None if until is None else require_instant(until, field="--until")
    async with open_memory(server, output, namespace=namespace, embedder=None) as memory:
        found = await memory.gate_decisions(
            fact_id=fact,
            verdict=verdict,  # type: ignore[arg-type]  # checked there
            reason=reason,
            since=earliest,
            until=end,
            limit=limit,
        )
    output.document({"namespace": namespace, "decisions": [_plain(decision) for decision in found]})
    if found:
        rows = [
            [moment(one.decided_at), one.verdict, one.reason or "", one.fact_id, str(one.trials), _numbers(one)]
            for one in found
        ]
        output.table("when", "verdict", "reason", "fact", "trials", "evidence", rows=rows, numbers=["trials"])
    else:
        output.text("No verdicts.")


def _numbers(decision: RecordedDecision) -> str:
    shown = [(name, decision.evidence[name]) for name in ("lift", "p_promote", "p_evict") if name in decision.evidence]
    return ", ".join(f"{name} {value:.3f}" for name, value in shown if isinstance(value, float))


async def record(
    server: Server,
    output: Output,
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="Any text, one a run; the same again replaces it.")],
    score: Annotated[float, typer.Argument(metavar="SCORE", help="How the run went, 0 to 1.")],
    fact_ids: Annotated[list[str] | None, typer.Argument(metavar="FACT", help="What it had been given.")] = None,
    holdout: Annotated[
        list[str] | None,
        typer.Option(
            "--holdout",
            metavar="FACT=PROBABILITY",
            help="A candidate that chance could have withheld, and how probable that was; may be given again.",
        ),
    ] = None,
    namespace: NamespaceOption = NAMESPACE,
) -> None:
    """Record how a run went, and which facts it had been given."""
    chances = dict(_chance(text) for text in holdout or ())
    async with open_memory(server, output, namespace=namespace, embedder=None, writes=True) as memory:
        recorded = await memory.record_outcome(run_id, score, fact_ids=fact_ids or [], holdout=chances)
    output.document({"namespace": namespace, **dataclasses.asdict(recorded)})
    output.text(f"Run {run_id} is recorded{', in place of its first recording' if recorded.replaced else ''}.")
    if recorded.unstored:
        output.note(f"not stored: {', '.join(recorded.unstored)}")


def _chance(text: str) -> tuple[str, float]:
    fact_id, _, probability = text.rpartition("=")
    try:
        return fact_id, float(probability)
    except ValueError as error:
        raise InvalidInputError("--holdout", f"expected FACT=PROBABILITY, got {text!r}") from error


def _plain(value: Verdict | RecordedDecision) -> dict[str, Any]:
    fields = dataclasses.asdict(value)
    if isinstance(value, RecordedDecision):
        fields["decided_at"] = value.decided_at.isoformat()
    evidence = fields["evidence"] or {}
    return {**fields, "evidence": {name: _finite(one) for name, one in evidence.items() if one is not None} or None}


def _finite(value: object) -> object:
    # JSON has no infinity; degrees of freedom may be it.
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


for _coroutine in (run, report):
    gate_commands.command(_coroutine.__name__, epilog=EXPLAINED)(as_command(_coroutine))
ledger_commands.command("record", epilog=EXPLAINED)(as_command(record))
