"""What every ledger checks before it acts, so that all of them refuse the same calls in the same words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from pydantic import ValidationError

from remembrancer.ports.arguments import key, moment, whole_number
from remembrancer.records import GateVerdict, InvalidInputError, RunOutcome
from remembrancer.records.base import translated


@dataclass(frozen=True)
class DecisionFilter:
    """Which verdicts of the audit log are wanted; `None` filters nothing."""

    fact_id: str | None
    verdict: GateVerdict | None
    reason: str | None
    since: dt.datetime | None
    until: dt.datetime | None
    limit: int


def checked_outcomes(outcomes: object, *, now: dt.datetime) -> list[RunOutcome]:
    """Runs as they are to be recorded; maps are copied, and checked again since they could have been changed."""
    if isinstance(outcomes, str | bytes) or not isinstance(outcomes, Iterable):
        raise InvalidInputError("outcomes", f"expected a list of RunOutcome, got {type(outcomes).__name__}")
    checked = []
    for place, outcome in enumerate(outcomes):
        if not isinstance(outcome, RunOutcome):
            raise InvalidInputError(f"outcomes.{place}", f"expected a RunOutcome, got {type(outcome).__name__}")
        try:
            copied = RunOutcome.model_validate(outcome.model_dump())
        except ValidationError as error:
            raise translated(error, within=f"outcomes.{place}") from error
        at = now if copied.recorded_at is None else copied.recorded_at
        checked.append(copied.model_copy(update={"recorded_at": at}))
    return checked


def decision_filter(
    *, fact_id: object, verdict: object, reason: object, since: object, until: object, limit: object
) -> DecisionFilter:
    """The arguments of `decisions`."""
    return DecisionFilter(
        fact_id=None if fact_id is None else key(fact_id, field="fact_id"),
        verdict=None if verdict is None else _verdict(verdict),
        reason=None if reason is None else key(reason, field="reason"),
        since=moment(since, field="since"),
        until=moment(until, field="until"),
        limit=whole_number(limit, field="limit"),
    )


def _verdict(value: object) -> GateVerdict:
    for known in get_args(GateVerdict):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise InvalidInputError("verdict", f"expected one of {', '.join(get_args(GateVerdict))}, got {value!r}")
