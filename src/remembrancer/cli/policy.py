"""The options that say how the retention gate decides; those left out are as `RetentionPolicy` has them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from remembrancer.records import InvalidInputError, RetentionPolicy
from remembrancer.records.base import build

PANEL = "How to decide"


@dataclass(frozen=True)
class PolicyOptions:
    """The fields of a retention policy as options."""

    min_trials: Annotated[
        int | None, typer.Option("--min-trials", help="Fewer trials: held. By default 3.", rich_help_panel=PANEL)
    ] = None
    max_trials: Annotated[
        int | None,
        typer.Option("--max-trials", help="With so many and no verdict: evicted.", rich_help_panel=PANEL),
    ] = None
    max_baseline_runs: Annotated[
        int | None,
        typer.Option("--max-baseline-runs", help="The same for runs without the fact.", rich_help_panel=PANEL),
    ] = None
    promote_margin: Annotated[
        float | None,
        typer.Option("--promote-margin", help="Lift to be exceeded. By default 0.05.", rich_help_panel=PANEL),
    ] = None
    evict_margin: Annotated[
        float | None,
        typer.Option("--evict-margin", help="Loss to be exceeded. By default 0.05.", rich_help_panel=PANEL),
    ] = None
    promote_confidence: Annotated[
        float | None,
        typer.Option("--promote-confidence", help="0.5 to 0.999; by default 0.9.", rich_help_panel=PANEL),
    ] = None
    evict_confidence: Annotated[
        float | None,
        typer.Option("--evict-confidence", help="0.5 to 0.999; by default 0.9.", rich_help_panel=PANEL),
    ] = None
    noise_floor_sd: Annotated[
        float | None,
        typer.Option(
            "--noise-floor-sd",
            help="Least standard deviation assumed of scores. By default 0.1.",
            rich_help_panel=PANEL,
        ),
    ] = None
    decision_rule: Annotated[
        str | None,
        typer.Option(
            "--decision-rule", metavar="RULE", help="inference (default), margin or anytime.", rich_help_panel=PANEL
        ),
    ] = None
    multiple_comparison: Annotated[
        str | None,
        typer.Option("--multiple-comparison", metavar="NAME", help="bh (default) or none.", rich_help_panel=PANEL),
    ] = None
    sequential_control: Annotated[
        str | None,
        typer.Option(
            "--sequential-control",
            metavar="NAME",
            help="What looking again costs: doubling (default), looks or none.",
            rich_help_panel=PANEL,
        ),
    ] = None
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUNS",
            help="What is compared with: all (default) runs without the fact, or holdout: those from which chance "
            "withheld it.",
            rich_help_panel=PANEL,
        ),
    ] = None
    candidate_tag: Annotated[
        str | None,
        typer.Option("--candidate-tag", help="Marks facts on trial. By default candidate.", rich_help_panel=PANEL),
    ] = None
    verified_tag: Annotated[
        str | None,
        typer.Option("--verified-tag", help="Marks promoted facts. By default verified.", rich_help_panel=PANEL),
    ] = None

    def policy(self) -> RetentionPolicy:
        """The policy.

        Raises:
            InvalidInputError: An option is out of range; names it.
        """
        given = {name: value for name, value in asdict(self).items() if value is not None}
        try:
            return build(RetentionPolicy, **given)
        except InvalidInputError as error:
            raise InvalidInputError(f"--{error.field.replace('_', '-')}", error.problem) from error
