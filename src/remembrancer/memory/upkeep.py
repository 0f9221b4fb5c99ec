"""The past of a memory: what was done to it and why, taking that back, and forgetting."""

from __future__ import annotations

from remembrancer.lifecycle import Plan, apply_plan, forget, forget_everything, plan_restore, plan_undo
from remembrancer.lifecycle.forgetting import target_of
from remembrancer.lifecycle.images import require_trail
from remembrancer.memory.tiers import Tiers
from remembrancer.records import Erasure, Evidence, History, NotFoundError, Pass, Source


class Upkeep(Tiers):
    """The methods of `Memory` that tell of passes, take them back, and forget."""

    async def history(self, record_id: str) -> History:
        """What became of a record: what passes did to it, what replaced it and what it replaced, when and why.

        Args:
            record_id: Of whatever kind; it may be gone.

        Raises:
            NotFoundError: Nothing is known of this id.
            InvalidInputError: Not an id.
        """
        told = await require_trail(self.store).history(record_id)
        if told.is_empty:
            raise NotFoundError("record", [record_id], namespace=self.namespace)
        return told

    async def why(self, record_id: str, *, limit: int = 100) -> Evidence:
        """What a record rests on: who made it, the messages and episodes it was read from, what it replaced.

        Args:
            record_id: Of a stored record of whatever kind, closed or not.
            limit: The most facts to list of an entity, theme or relationship, 0 to 1,000; `fact_count` counts all.

        Raises:
            NotFoundError: There is no such record.
            InvalidInputError: Not an id, or a limit out of its bounds.
        """
        evidence = await require_trail(self.store).why(record_id, limit=limit)
        if evidence is None:
            raise NotFoundError("record", [record_id], namespace=self.namespace)
        return evidence

    async def passes(self, *, limit: int = 100, offset: int = 0) -> list[Pass]:
        """What was done to this memory by consolidation, resolution and the like, latest first.

        Args:
            limit: The most passes to return, 0 or more.
            offset: How many to skip, 0 or more.
        """
        return await require_trail(self.store).list_passes(limit=limit, offset=offset)

    async def restore(self, record_id: str, *, dry_run: bool = False) -> Plan:
        """Reopen a closed fact, relationship or entity, or put back what a soft pass removed; a pass of its own.

        A merged entity comes back without the facts and relationships that went to the one it was merged into: to
        unmerge, `undo` the pass.

        Args:
            record_id: The record.
            dry_run: Only say what would be done.

        Returns:
            What was done; its `pass_id` can be undone.

        Raises:
            NotFoundError: There is no such record, and nothing is kept of one.
            InvalidInputError: The record is not closed.
            PlanOutdatedError: The record was changed at the same moment. Nothing was written.
        """
        plan = await plan_restore(self.store, record_id, clock=self._clock)
        if not dry_run:
            await apply_plan(self.store, plan)
        return plan

    async def undo(self, pass_id: str, *, dry_run: bool = False) -> Plan:
        """Take back a pass: every record is again what it was before, merged entities are apart again.

        Uses that were counted since are kept. An undo is a pass too, and can be undone.

        Args:
            pass_id: As reports and `passes` name it.
            dry_run: Only say what would be done.

        Returns:
            What was done.

        Raises:
            NotFoundError: There is no such pass.
            InvalidInputError: The pass was hard, was undone already, or rests on something that was erased.
            PlanOutdatedError: Records that it touched have changed since; names them. Nothing was written.
        """
        plan = await plan_undo(self.store, pass_id, clock=self._clock)
        if not dry_run:
            await apply_plan(self.store, plan)
        return plan

    async def forget(
        self,
        target: str | Source | None = None,
        *,
        everything: bool = False,
        hard: bool = True,
        dry_run: bool = False,
    ) -> Erasure:
        """Erase a record, everything from a source, or everything, with all that was made from it alone.

        Erasure is for good. Texts, embeddings and copies go from the records, their neighbours and the audit trail;
        what other messages support stays, and episodes and themes are made anew without what is gone. A name that was
        forgotten can be used again.

        Args:
            target: Id of a message, episode, fact, theme, relationship or entity, or a `Source`.
            everything: Instead of a target: the whole namespace.
            hard: Erase; `False`: close facts, relationships and entities, which `undo` takes back. Messages then stay.
            dry_run: Only say what would be done.

        Raises:
            NotFoundError: There is no record with this id.
            InvalidInputError: Neither a target nor everything, or both; or everything is only to be closed.
            PlanOutdatedError: Others wrote to these records again and again.
            ServerUnavailableError: The database could not be reached.
        """
        wanted = target_of(target, everything=everything, hard=hard)
        if wanted is None:
            done = await forget_everything(self.store, dry_run=dry_run)
            if not dry_run:
                self._clear_shelves()
            return done
        return await forget(self.store, wanted, hard=hard, dry_run=dry_run, clock=self._clock)
