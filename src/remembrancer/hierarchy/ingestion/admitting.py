"""Turning facts away that a gatekeeper refuses, without losing who said them.

What is refused as a duplicate is one more time that the standing fact was said: its messages and its episode become
sources of that fact. What is refused since it was evicted changes nothing, and the report names its messages.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from remembrancer.hierarchy.ingestion.reading import Reading
from remembrancer.hierarchy.ingestion.vectors import Vectors
from remembrancer.ports import MemoryStore
from remembrancer.ports.admission import Gatekeeper, RefusedFact
from remembrancer.records import Fact


@dataclass(frozen=True)
class Standing:
    """A stored fact that was said again.

    Attributes:
        before: As it is stored, which must still be so when it is written.
        after: With its new sources.
    """

    before: Fact
    after: Fact


@dataclass(frozen=True)
class Admitted:
    """What a gatekeeper left of a reading, which it has changed.

    Attributes:
        refused: What was turned away.
        standing: Stored facts that get sources.
    """

    refused: tuple[RefusedFact, ...] = ()
    standing: tuple[Standing, ...] = ()


async def admit(
    reading: Reading,
    vectors: Vectors,
    gatekeeper: Gatekeeper | None,
    *,
    store: MemoryStore,
    leaving: Collection[str] = (),
) -> Admitted:
    """Take out of a reading what a gatekeeper refuses, and cite its messages where the same is said already.

    Args:
        reading: What was read; changed in place.
        vectors: Makes those of the facts.
        gatekeeper: What judges; `None`: everything comes in.
        store: Where standing facts are.
        leaving: Ids of stored facts that the same write closes, and that so stand in nobody's way.
    """
    if gatekeeper is None:
        return Admitted()
    read = [fact for facts in reading.facts.values() for fact in facts]
    refused = await gatekeeper.refuse(await vectors.on_facts(read), leaving=leaving)
    again = _said_again(read, refused)
    gone = {one.id for one in refused}
    fresh = {fact.id for fact in read} - gone
    for episode_id, facts in reading.facts.items():
        reading.facts[episode_id] = tuple(_cited(fact, again.get(fact.id, ())) for fact in facts if fact.id not in gone)
    stored = await store.get_facts([one for one in again if one not in fresh])
    standing = [Standing(fact, _cited(fact, again[fact_id])) for fact_id, fact in stored.items() if fact.is_live]
    citing = {*fresh, *(one.before.id for one in standing)}
    return Admitted(
        tuple(_told(one, citing) for one in refused), tuple(one for one in standing if one.before != one.after)
    )


def _said_again(read: Sequence[Fact], refused: Sequence[RefusedFact]) -> dict[str, list[Fact]]:
    """The facts that were refused as duplicates, by the id of the one that stands for them."""
    by_id = {fact.id: fact for fact in read}
    again: dict[str, list[Fact]] = {}
    for one in refused:
        if one.reason == "duplicate":
            again.setdefault(one.matched_id, []).append(by_id[one.id])
    return again


def _cited(fact: Fact, again: Sequence[Fact]) -> Fact:
    if not again:
        return fact
    episodes = [*fact.source_episode_ids, *(one for other in again for one in other.source_episode_ids)]
    messages = [*fact.source_message_ids, *(one for other in again for one in other.source_message_ids)]
    update = {
        "source_episode_ids": tuple(dict.fromkeys(episodes)),
        "source_message_ids": tuple(dict.fromkeys(messages)),
    }
    return fact.model_copy(update=update)


def _told(one: RefusedFact, citing: Collection[str]) -> RefusedFact:
    return one.model_copy(update={"is_cited": one.reason == "duplicate" and one.matched_id in citing})
