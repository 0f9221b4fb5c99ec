"""Entity resolution: entities of one name and type become one.

Names meet by `name_key`: case, articles, punctuation, white space and compatible characters aside, they are equal, and
so are the types. Nothing is guessed from vectors. Everything is planned first and written in one transaction; a soft
resolution can be undone by its pass. Run it before conflict detection, which looks at the facts of one entity.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from remembrancer.lifecycle.entity_merge import EntityMerge, untouched_ends
from remembrancer.lifecycle.namesakes import namesakes_of
from remembrancer.lifecycle.plan import Plan, plan_and_apply
from remembrancer.ports import MemoryStore
from remembrancer.ports.arguments import flag, whole_number
from remembrancer.records import (
    Clock,
    InvalidInputError,
    NewId,
    random_id,
    system_clock,
)
from remembrancer.records.base import Record
from remembrancer.records.instant import require_instant
from remembrancer.records.key import Id, require_keys
from remembrancer.records.statement import canonical_predicate


class ResolutionReport(Record):
    """What an entity resolution did, or would do.

    Attributes:
        groups_merged: Names under which two or more entities became one.
        entities_absorbed: Entities that another one now stands for.
        facts_rewritten: Facts that named an absorbed entity.
        statements_placed: Facts that say what another one says, or hold until another time, now that what was said of
            several entities is said of one.
        relationships_rewritten: Relationships that have another end now.
        relationships_dropped: Relationships that said what another one says, or would have led back to their start.
        pass_id: Names the pass in the history; `None`: nothing was written, since there was nothing to do or it was
            only tried.
    """

    groups_merged: int = 0
    entities_absorbed: int = 0
    facts_rewritten: int = 0
    statements_placed: int = 0
    relationships_rewritten: int = 0
    relationships_dropped: int = 0
    pass_id: Id | None = None


class ResolutionPlan(Record):
    """An entity resolution that was planned but not applied: the changes, and their report."""

    plan: Plan
    report: ResolutionReport


class EntityResolver:
    """Merges entities that have one name and one type."""

    def __init__(
        self,
        store: MemoryStore,
        *,
        delete_mode: Literal["soft", "hard"] = "soft",
        single_valued: Collection[str] = (),
        batch_size: int = 1_000,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
    ) -> None:
        """Make a resolver.

        Args:
            store: The memory.
            delete_mode: `soft` closes absorbed entities and marks dropped relationships; `hard` removes them for good.
            single_valued: Predicates that hold one value at a time, as for `assert_statements`: what was said of two
                entities gets the windows that it would have had, had it been said of one.
            batch_size: How many records are read at once, 1 or more.
            clock: Tells when entities are closed.
            new_id: Ids of passes.

        Raises:
            InvalidInputError: An option is out of its bounds; names it.
        """
        if delete_mode not in ("soft", "hard"):
            raise InvalidInputError("delete_mode", f"expected 'soft' or 'hard', got {delete_mode!r}")
        self._store = store
        self._is_soft = delete_mode == "soft"
        names = require_keys(single_valued, field="single_valued")
        self._single_valued = frozenset(canonical_predicate(name) for name in names)
        self._batch_size = whole_number(batch_size, field="batch_size", least=1)
        self._clock = clock
        self._new_id = new_id

    async def plan(self) -> ResolutionPlan:
        """Look, and say what would be done; writes nothing. To be applied with `apply_plan`.

        Raises:
            ServerUnavailableError: The database could not be reached.
        """
        now = require_instant(self._clock(), field="clock")
        look = namesakes_of(self._store, page=self._batch_size)
        merge = EntityMerge(await look.groups(), is_soft=self._is_soft, now=now)
        lost = list(merge.absorbed)
        if lost:
            merge.take_facts(await look.facts_naming(lost))
            if subjects := merge.touched_statements():
                merge.take_statements(subjects, await self._store.find_statements(subjects), self._single_valued)
            touched = await look.relationships_at(lost)
            at_lost = {edge.id for edge in touched}
            between = await look.relationships_between(untouched_ends(merge, touched))
            merge.take_relationships(touched, [edge for edge in between if edge.id not in at_lost])
        return ResolutionPlan(
            plan=Plan(
                pass_id=self._new_id(),
                kind="resolution",
                made_at=now,
                changes=merge.changes,
                seen=tuple(merge.seen),
                statements=merge.statements,
                unnamed=tuple(lost),
                is_hard=not self._is_soft,
            ),
            report=ResolutionReport(
                groups_merged=len(merge.groups),
                entities_absorbed=len(lost),
                facts_rewritten=merge.facts_rewritten,
                statements_placed=merge.statements_placed,
                relationships_rewritten=merge.relationships_rewritten,
                relationships_dropped=merge.relationships_dropped,
            ),
        )

    async def resolve(self, *, dry_run: bool = False) -> ResolutionReport:
        """Merge in one transaction; when a record changed meanwhile, look again, three times in all.

        Args:
            dry_run: Only say what would be done.

        Raises:
            PlanOutdatedError: Others kept changing the same records. Nothing was written.
            ServerUnavailableError: The database could not be reached.
        """
        is_dry = flag(dry_run, field="dry_run")
        if is_dry:
            return (await self.plan()).report
        planned = await plan_and_apply(self._store, self.plan, lambda made: made.plan)
        pass_id = None if planned.plan.is_empty else planned.plan.pass_id
        return planned.report.model_copy(update={"pass_id": pass_id})
