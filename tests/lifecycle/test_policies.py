"""What the policies say of a conflict, and what wrong arguments are told."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import (
    Conflict,
    ConflictDetector,
    ConflictingFact,
    EntityResolver,
    check_fact_admission,
)
from remembrancer.lifecycle.conflict import Preference, verdict
from remembrancer.records import EmbeddingSpace, InvalidInputError
from remembrancer.testing.samples import day, fact, sample_id


def negation(days: float) -> Conflict:
    """A fact that denies another one, so many days before it."""
    denied = ConflictingFact(id=sample_id("fact", 1), content="Ada is at Acme", valid_from=day(days))
    denial = ConflictingFact(id=sample_id("fact", 2), content="Ada is not at Acme", valid_from=day(0))
    return Conflict(kind="negation", confidence=0.8, a=denied, b=denial)


@pytest.mark.parametrize(
    ("days", "prefer", "kept"),
    [(1, "newer", "keep_a"), (-1, "newer", "keep_b"), (0, "newer", "keep_b"), (1, "negation", "keep_b")],
)
def test_the_newer_side_of_a_negation_is_kept_unless_the_denial_is_preferred(
    days: float, prefer: Preference, kept: str
) -> None:
    assert verdict(negation(days), "negation-invalidates-positive", prefer=prefer).resolution == kept


def test_a_contradiction_is_left_to_people_unless_the_newer_is_to_win() -> None:
    conflict = negation(1).model_copy(update={"kind": "semantic_contradiction"})
    assert verdict(conflict, "negation-invalidates-positive").resolution is None
    assert verdict(conflict, "manual-review").resolution is None
    assert verdict(conflict, "supersede-on-newer").resolution == "keep_a"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"policy": "newest"}, "policy"),
        ({"prefer": "older"}, "prefer"),
        ({"batch_size": 0}, "batch_size"),
        ({"embedding_threshold": 2}, "embedding_threshold"),
        ({"semantic_overlap_threshold": float("nan")}, "semantic_overlap_threshold"),
        ({"supersession_day_threshold": -1}, "supersession_day_threshold"),
        ({"auto_resolve_supersession": 1}, "auto_resolve_supersession"),
    ],
)
def test_options_out_of_bounds_are_refused_by_name(options: dict[str, Any], field: str) -> None:
    store = InMemoryStore()
    with pytest.raises(InvalidInputError) as refused:
        ConflictDetector(store, store.index, **options)
    assert refused.value.field == field


async def test_what_is_no_conflict_no_fact_and_no_mode_is_refused() -> None:
    store = InMemoryStore()
    detector = ConflictDetector(store, store.index)
    wrong: Any = "x"
    with pytest.raises(InvalidInputError, match="facts"):
        await detector.detect([wrong])
    with pytest.raises(InvalidInputError, match="conflicts"):
        await detector.auto_resolve_all([wrong])
    with pytest.raises(InvalidInputError, match="resolution"):
        await detector.resolve_conflict(negation(1), wrong)
    with pytest.raises(InvalidInputError, match="delete_mode"):
        EntityResolver(store, delete_mode=wrong)


async def test_conflicts_are_sought_among_given_facts_and_closed_ones_passed_over() -> None:
    store = InMemoryStore()
    facts = [fact(n, content="Bob lives in Berlin", entities=[1], valid_from=day(5 * n)) for n in (1, 2, 3)]
    for one in facts:
        await store.put_fact(one)
    detector = ConflictDetector(store, store.index)
    closed = facts[2].model_copy(update={"invalidated_by": "x"})
    found = await detector.detect([facts[0], facts[1], closed])
    assert [(one.a.id, one.b.id) for one in found] == [(facts[0].id, facts[1].id)]


class Short:
    """An embedder that loses a text."""

    model, dimensions = "short", 2

    async def embed(self, texts: Any) -> list[list[float]]:
        return [[1.0, 0.0]] * (len(texts) - 1)


async def test_admission_tells_what_is_wrong() -> None:
    store = InMemoryStore(space=EmbeddingSpace(model="short", dimensions=2))
    await store.put_fact(fact(1))
    with pytest.raises(InvalidInputError, match="embedder"):
        await check_fact_admission(store, "fact 1", embedder=Short())
    for options in ({"threshold": "high"}, {"threshold": float("inf")}, {"limit": -1}, {"tags": "a"}):
        with pytest.raises(InvalidInputError, match=next(iter(options))):
            await check_fact_admission(store, "fact 1", **options)


async def test_an_empty_mark_closes_nothing_and_quarantined_facts_count() -> None:
    store = InMemoryStore()
    await store.put_fact(
        fact(1, content="Solid state cells reached pilot scale", invalidated_by="", tags=["quarantined"])
    )
    admission = await check_fact_admission(store, "solid state cells reached pilot scale")
    assert (admission.is_admitted, admission.reason, admission.similarity) == (False, "duplicate", 1)
