"""One write: a batch of records in one transaction, one statement a kind of record, and the receipt of it.

Order inside the transaction: idempotency key, expectations, removals, claims, entities, episodes with their messages,
facts, themes, additions to themes, relationships, assertions, verdicts of the gate. Rows are sorted by key throughout,
so that writers lock in one order.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from remembrancer.graph import queries
from remembrancer.graph import records as rows
from remembrancer.graph.connection import Row, Transaction, first
from remembrancer.graph.erasing import Scrubber
from remembrancer.graph.ledger import pass_properties, verdict_properties
from remembrancer.graph.passes import PassWriter, chunks, outdated
from remembrancer.graph.receipts import ReceiptDraft
from remembrancer.graph.values import closed_token, namespace_token, with_positions
from remembrancer.records import (
    ConcurrencyError,
    Entity,
    GatePass,
    NotFoundError,
    Receipt,
    RecordBatch,
    RecordKind,
    Relationship,
    name_key,
)
from remembrancer.records.assertion import StoredWindow, resolve_assertions
from remembrancer.records.batch import ExpectedStatements
from remembrancer.records.gate import NOT_ON_TRIAL
from remembrancer.records.stated import is_relational, stated_relationship, stated_relationship_id, with_entities
from remembrancer.records.statement import statement_key

_REMOVAL_ORDER: tuple[RecordKind, ...] = ("relationship", "theme", "fact", "episode", "message", "entity")


class BatchWriter:
    """Writes one batch inside a transaction that it is handed; made anew for every attempt."""

    def __init__(
        self, transaction: Transaction, *, namespace: str, space: int, dimensions: int, now: dt.datetime
    ) -> None:
        self._transaction = transaction
        self._namespace = namespace
        self._embedding = f"embedding_{space}"
        self._now = now
        self._draft = ReceiptDraft()
        self._passes = PassWriter(transaction, namespace=namespace, space=space, dimensions=dimensions)

    async def write(self, batch: RecordBatch, *, idempotency_key: str | None) -> Receipt:
        """Write the batch, or answer with the receipt of the write that had this key first.

        Raises:
            ConcurrencyError: An episode or theme does not hold as many messages or facts as the batch expects, or a
                message that is to go into such an episode is in another one.
            NotFoundError: Facts are to be added to a theme that is not stored.
            PlanOutdatedError: Records are not stored as the batch expects.
        """
        if idempotency_key is not None:
            earlier = await self._once(idempotency_key, None)
            if earlier is not None:
                return Receipt.model_validate_json(earlier).model_copy(update={"replayed": True})
        await self._expect(batch)
        batch = await self._passes.check(batch)
        await self._remove(batch)
        claimed = await self._claim(batch.claims)
        batch = _with_claims(batch, claimed)
        await self._put("entity", [rows.entity_row(entity) for entity in batch.entities])
        await self._put_episodes(batch)
        await self._put_facts(batch)
        await self._passes.mark(self._draft, now=self._now)
        await self._put("theme", [rows.theme_row(theme) for theme in batch.themes])
        await self._add_to_themes(batch)
        await self._derive(batch.derivations)
        stated = {edge.id: edge for fact in batch.facts if (edge := stated_relationship(fact)) is not None}
        own = {edge.id: edge for edge in batch.relationships}
        await self._put_relationships([*{**stated, **own}.values()])
        await self._assert(batch.assertions)
        for gate_pass in batch.gate_passes:
            await self._decide(gate_pass)
        await self._audit(batch)
        receipt = self._draft.finished(claimed=claimed)
        if idempotency_key is not None:
            await self._once(idempotency_key, receipt.model_dump_json())
        return receipt

    async def _run(self, name: str, **parameters: Any) -> list[Row]:
        return await self._transaction.run(queries.load(name), {"namespace": self._namespace, **parameters})

    async def _once(self, key: str, result: str | None) -> str | None:
        found: str | None = first(await self._run("write.once", key=key, now=self._now, result=result))["result"]
        return found

    async def _expect(self, batch: RecordBatch) -> None:
        await self._expect_of("episode", "messages", batch.expected_messages, [one.id for one in batch.episodes])
        await self._expect_of("theme", "facts", batch.expected_facts, [one.id for one in batch.themes])
        await self._expect_statements(batch.expected_statements)

    async def _audit(self, batch: RecordBatch) -> None:
        absent = batch.expected_absent.items()
        if there := [one for kind, ids in absent for one in self._draft.not_created(kind, ids)]:
            raise outdated(batch, there)
        if batch.scrub is not None:
            await Scrubber(self._transaction, namespace=self._namespace).scrub(batch.scrub, self._draft)
        if batch.audit is not None:
            await self._passes.record(batch.audit, self._draft)

    async def _expect_of(self, kind: RecordKind, counted: str, expected: dict[str, int], put: list[str]) -> None:
        if not expected:
            return
        for row in await self._run(f"{kind}.expect", ids=sorted(expected), put=put):
            if row[counted] != expected[row["id"]]:
                raise ConcurrencyError(kind, row["id"], expected=expected[row["id"]], actual=row[counted])

    async def _expect_statements(self, expected: Sequence[ExpectedStatements]) -> None:
        if not expected:
            return
        by_key = {statement_key(one.subject_id, one.predicate): one for one in expected}
        keys = [{"key": key, "subject_id": by_key[key].subject_id} for key in sorted(by_key)]
        row = first(await self._run("fact.expect_statements", rows=keys))
        self._draft.placeholders_made("entity", row["placeholders"])
        for found in row["counted"]:
            one = by_key[found["key"]]
            if found["facts"] != one.facts:
                raise ConcurrencyError("statement", one.subject_id, expected=one.facts, actual=found["facts"])

    async def _remove(self, batch: RecordBatch) -> None:
        for kind in _REMOVAL_ORDER:
            for ids in chunks(sorted(batch.removals.get(kind, ()))):
                row = first(await self._run(f"{kind}.remove", ids=ids))
                self._draft.removed(kind, row["removed"])
                self._draft.removed("relationship", row.get("relationships", ()))
                self._draft.placeholders_gone(row.get("placeholders", ()))
                await self._remove_stated(row.get("related", ()))

    async def _claim(self, claims: Sequence[Entity]) -> dict[str, str]:
        if not claims:
            return {}
        by_key: dict[str, list[Entity]] = {}
        for entity in claims:
            by_key.setdefault(name_key(entity.name, entity.entity_type), []).append(entity)
        claim_rows = [rows.claim_row(by_key[key][0]) for key in sorted(by_key)]
        found = await self._run("entity.claim", rows=claim_rows, now=self._now, embedding_property=self._embedding)
        self._draft.created("entity", (row["id"] for row in found if row["written"] == "created"))
        self._draft.changed("entity", (row["id"] for row in found if row["written"] == "changed"))
        return {entity.id: row["id"] for row in found for entity in by_key[row["name_key"]]}

    async def _put(self, kind: RecordKind, records: Sequence[Row], **parameters: Any) -> Row | None:
        if not records:
            return None
        parameters["embedding_property"] = self._embedding
        ordered = chunks(sorted(records, key=_row_id))
        row = _joined([first(await self._run(f"{kind}.put", rows=some, **parameters)) for some in ordered])
        self._draft.created(kind, row["created"])
        self._draft.changed(kind, row["changed"])
        self._draft.placeholders_gone(row.get("removed", ()))
        if kind in ("episode", "theme"):
            self._draft.placeholders_made("fact", row["placeholders"])
        return row

    async def _put_episodes(self, batch: RecordBatch) -> None:
        messages = {row["id"]: row for episode in batch.episodes for row in rows.message_rows(episode)}
        token = namespace_token(self._namespace)
        put = await self._put("message", list(messages.values()), namespace_token=token, now=self._now)
        for message_id in put["moved"] if put is not None else ():
            # Two writers of new episodes that share a message meet here: to take it away would leave its facts behind.
            if messages[message_id]["properties"]["episode_id"] in batch.expected_messages:
                raise ConcurrencyError("message", message_id, expected=0, actual=1)
        await self._put("episode", [rows.episode_row(episode) for episode in batch.episodes])
        if words := rows.speaker_words(batch.episodes):
            await self._run("namespace.add_speakers", words=words)

    async def _put_facts(self, batch: RecordBatch) -> None:
        row = await self._put(
            "fact",
            [rows.fact_row(fact) for fact in batch.facts],
            namespace_token=namespace_token(self._namespace),
            closed_token=closed_token(self._namespace),
            now=self._now,
        )
        if row is not None:
            made = row["placeholders"]
            self._draft.placeholders_made("entity", made["entities"])
            self._draft.placeholders_made("episode", made["episodes"])
            self._draft.placeholders_made("message", made["messages"])
            # A statement that no longer points to an entity is no longer an edge.
            pointing = {fact.id for fact in batch.facts if is_relational(fact)}
            await self._remove_stated([fact_id for fact_id in row["related"] if fact_id not in pointing])

    async def _derive(self, derivations: Mapping[str, Sequence[str]]) -> None:
        pairs = sorted({(source, derived) for derived, sources in derivations.items() for source in sources})
        for some in chunks([[derived, source] for source, derived in pairs]):
            row = first(await self._run("fact.derive", rows=some))
            self._draft.placeholders_made("fact", row["placeholders"])

    async def _remove_stated(self, fact_ids: Sequence[str]) -> None:
        for ids in chunks(sorted(stated_relationship_id(fact_id) for fact_id in fact_ids)):
            row = first(await self._run("relationship.remove", ids=ids))
            self._draft.removed("relationship", row["removed"])
            self._draft.placeholders_gone(row["placeholders"])

    async def _add_to_themes(self, batch: RecordBatch) -> None:
        additions: dict[str, list[str]] = {}
        for addition in batch.theme_additions:
            additions.setdefault(addition.theme_id, []).extend(addition.fact_ids)
        if not additions:
            return
        addition_rows = [rows.addition_row(theme_id, additions[theme_id]) for theme_id in sorted(additions)]
        done = {row["id"]: row for row in await self._run("theme.add_facts", rows=addition_rows)}
        if missing := [theme_id for theme_id in additions if theme_id not in done]:
            raise NotFoundError("theme", missing, namespace=self._namespace)
        for theme_id, row in done.items():
            if row["added"]:
                self._draft.changed("theme", [theme_id])
            self._draft.placeholders_made("fact", row["placeholders"])

    async def _put_relationships(self, relationships: Sequence[Relationship]) -> None:
        if not relationships:
            return
        ordered = sorted((rows.relationship_row(relationship) for relationship in relationships), key=_row_id)
        put = [first(await self._run("relationship.put", rows=some, now=self._now)) for some in chunks(ordered)]
        row = _joined(put)
        self._draft.created("relationship", row["created"])
        self._draft.changed("relationship", row["changed"])
        self._draft.placeholders_made("entity", row["placeholders"])
        self._draft.placeholders_gone(row["removed"])

    async def _assert(self, assertions: Sequence[Relationship]) -> None:
        if not assertions:
            return
        pairs = [
            {"id": r.id, "source_id": r.source_id, "target_id": r.target_id, "relation_type": r.relation_type}
            for r in sorted(assertions, key=lambda relationship: relationship.id)
        ]
        row = first(await self._run("relationship.overlapping", rows=pairs))
        self._draft.placeholders_made("entity", row["placeholders"])
        stored: dict[str, list[StoredWindow]] = {}
        for found in row["stored"]:
            window = StoredWindow.read(found["id"], found["valid_from"], found["valid_until"])
            stored.setdefault(found["asserted"], []).append(window)
        outcome = resolve_assertions(assertions, stored)
        await self._put_relationships(outcome.to_put)
        self._draft.merged(outcome.merged)
        if outcome.widened:
            widened = [{"id": edge_id, "valid_from": start} for edge_id, start in sorted(outcome.widened.items())]
            await self._run("relationship.widen", rows=widened)
            self._draft.changed("relationship", outcome.widened)

    async def _decide(self, gate_pass: GatePass) -> None:
        ids = sorted(decision.fact_id for decision in gate_pass.decisions)
        begun = first(await self._run("gate.begin", ids=ids, pass_id=gate_pass.id))
        if begun["is_known"]:
            raise ConcurrencyError("gate pass", gate_pass.id, expected=0, actual=1)
        stored = {fact["id"]: fact["tags"] for fact in begun["facts"]}
        on_trial = {fact_id for fact_id, tags in stored.items() if gate_pass.is_on_trial(tags)}
        recorded = [one for one in gate_pass.decisions if one.fact_id in on_trial]
        refused = [one.fact_id for one in gate_pass.decisions if one.fact_id not in on_trial]
        self._draft.refused("fact", refused, NOT_ON_TRIAL)
        properties = pass_properties(gate_pass, now=self._now, sequence=begun["sequence"])
        place = {"decided_at": properties["decided_at"], "sequence": properties["sequence"]}
        decided = [
            {
                "id": one.fact_id,
                "verdict": verdict_properties(one, position=position, **place),
                "tags": with_positions(gate_pass.promoted(stored[one.fact_id])) if one.verdict == "promoted" else None,
                "invalidated_by": one.reason,
            }
            for position, one in enumerate(recorded)
        ]
        written = await self._run(
            "gate.record",
            pass_id=gate_pass.id,
            rows=sorted(decided, key=_row_id),
            closed_token=closed_token(self._namespace),
            now=self._now,
            **{"pass": properties},
        )
        self._draft.changed("fact", (one.fact_id for one in recorded if one.verdict != "held"))
        self._draft.placeholders_gone(first(written)["removed"])
        evicted = [one.fact_id for one in recorded if one.reason is not None and one.verdict == "evicted"]
        await self._close_stated(evicted)

    async def _close_stated(self, fact_ids: Sequence[str]) -> None:
        closing = [{"id": stated_relationship_id(fact_id), "invalidated_by": fact_id} for fact_id in fact_ids]
        if closing:
            closed = await self._run("relationship.close", rows=sorted(closing, key=_row_id), now=self._now)
            self._draft.changed("relationship", (row["id"] for row in closed))


def _joined(answers: Sequence[Row]) -> Row:
    """The answers of one statement that was sent in parts: lists one after the other, also those in a map."""
    joined: Row = {}
    for answer in answers:
        for name, value in answer.items():
            known = joined.get(name)
            if known is None:
                joined[name] = value
            elif isinstance(value, dict):
                joined[name] = _joined([known, value])
            else:
                joined[name] = [*known, *value]
    return joined


def _row_id(row: Row) -> str:
    record_id: str = row["id"]
    return record_id


def _with_claims(batch: RecordBatch, claimed: dict[str, str]) -> RecordBatch:
    """The batch with the ids that stand for its claims; two claims that became one are named twice."""
    if all(own == other for own, other in claimed.items()):
        return batch

    def named(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(claimed.get(entity_id, entity_id) for entity_id in ids)

    def moved(relationship: Relationship) -> Relationship:
        source_id, target_id = named((relationship.source_id, relationship.target_id))
        return relationship.model_copy(update={"source_id": source_id, "target_id": target_id})

    return batch.model_copy(
        update={
            "facts": tuple(with_entities(fact, claimed) for fact in batch.facts),
            "relationships": tuple(moved(relationship) for relationship in batch.relationships),
            "assertions": tuple(moved(relationship) for relationship in batch.assertions),
        }
    )
