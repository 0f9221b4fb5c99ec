"""Erasure in memory: what hangs on what is to be forgotten, and the texts that the audit trail holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remembrancer.inmemory.graph import KINDS, RecordGraph, Reference
from remembrancer.ports.erasure import holds_name
from remembrancer.records import AnyRecord, IdsByKind, Message, RecordKind
from remembrancer.records.batch import ids_by_kind
from remembrancer.records.erasure import Dependents, Source


def dependents(
    graph: RecordGraph,
    *,
    messages: Sequence[str],
    episodes: Sequence[str],
    facts: Sequence[str],
    entities: Sequence[str],
) -> Dependents:
    """Who names these records."""

    def naming(kind: RecordKind, ids: Iterable[str], holder: RecordKind) -> list[str]:
        references: list[Reference] = [(kind, record_id) for record_id in ids]
        return sorted({one for reference in references for one in graph.named_by(reference, holder)})

    given = set(facts)
    derived = {one for fact_id in facts for one in graph.derived_from(fact_id) if graph.derivations[one] <= given}
    return Dependents(
        derived_facts=sorted(derived),
        citing_facts=naming("message", messages, "fact"),
        facts_of_episodes=naming("episode", episodes, "fact"),
        facts_of_entities=naming("entity", entities, "fact"),
        holding_episodes=naming("message", messages, "episode"),
        listing_episodes=naming("fact", facts, "episode"),
        listing_themes=naming("fact", facts, "theme"),
        relationships=naming("entity", entities, "relationship"),
    )


def from_source(graph: RecordGraph, source: Source) -> IdsByKind:
    """Everything that came from a source."""
    return ids_by_kind(
        (
            kind,
            [record_id for record_id in sorted(graph.listed(kind)) if _is_from(graph.get((kind, record_id)), source)],
        )
        for kind in KINDS
    )


def _is_from(record: AnyRecord, source: Source) -> bool:
    wanted = {name: value for name, value in dict(source).items() if value is not None}
    conversation = wanted.pop("conversation", None)
    if conversation is not None and not (isinstance(record, Message) and record.conversation == conversation):
        return False
    return all(getattr(record.provenance, name, None) == value for name, value in wanted.items())


def texts_with(graph: RecordGraph, name: str) -> IdsByKind:
    """Messages and facts with this text somewhere in them."""
    messages = (one.id for one in graph.messages.values() if holds_name(f"{one.speaker or ''}\n{one.content}", name))
    facts = (one.id for one in graph.facts.values() if holds_name(one.content, name))
    return ids_by_kind([("fact", sorted(facts)), ("message", sorted(messages))])


def count_mentions(graph: RecordGraph, groups: Sequence[Sequence[str]]) -> list[int]:
    """For each group of entities how many facts mention all of them."""
    return [len(set.intersection(*(set(graph.named_by(("entity", one), "fact")) for one in group))) for group in groups]
