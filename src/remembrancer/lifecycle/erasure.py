"""Erasure: forgetting for good what somebody wants forgotten, with everything that was made from it.

What goes, and what stays:

- A message goes alone, an episode with its messages, a theme or a relationship alone, a fact with the edge that its
  statement makes. An entity goes with those that were merged into it, its relationships, the facts that mention it and
  the messages that name it; one that is forgotten with its source, with its relationships alone.
- A fact that cites messages goes when all of them go. One that cites none was read from episodes as a whole: it goes
  when each of those lost a message. One that was made from other facts goes when all of those go, unless it cites a
  message that stays.
- A derived entity goes when facts mentioned it and none is left; a derived relationship when facts mentioned both its
  ends and none is left.
- An episode loses its messages, and goes with the last one. Its topic is the beginning of the first message that is
  left, unless it is that already, and its embedding the mean of theirs. A theme loses its facts, and goes with the last
  one; its label is the beginning of its first fact, unless it begins one that is left; a description goes.

Everything is read first and written in one transaction, and then looked at again, since somebody may have written
meanwhile. Without `hard`, facts, relationships and entities are closed instead, and messages stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from remembrancer.lifecycle.images import Reference, require_trail, stored_records
from remembrancer.lifecycle.plan import Change, Plan
from remembrancer.lifecycle.themes import centroid, remaining_facts
from remembrancer.ports import MemoryStore
from remembrancer.ports.erasure import Erases
from remembrancer.records import (
    AnyRecord,
    Clock,
    Entity,
    Episode,
    Fact,
    IdsByKind,
    Message,
    NewId,
    NotFoundError,
    RecordKind,
    Relationship,
    RemembranceError,
    Scrub,
    random_id,
    system_clock,
)
from remembrancer.records.base import Record
from remembrancer.records.batch import ids_by_kind
from remembrancer.records.erasure import Source
from remembrancer.records.key import require_id, without_repeats

FORGOTTEN = "forgotten"
"""What closes a record that was forgotten softly, and the reason that the trail tells."""

_GENERAL = "General"  # the label of facts without embedding; it comes from no text
_TOPIC_LENGTH = 100
_LABEL_LENGTH = 80
_PAGE = 1_000


class ErasurePlan(Record):
    """What is to be forgotten.

    Attributes:
        plan: What is written.
        scrub: What is taken out of the audit trail; `None`: nothing, the plan is soft.
        kept: Messages that stay though they hold the text, of a soft plan.
    """

    plan: Plan
    scrub: Scrub | None = None
    kept: IdsByKind = {}


async def plan_erasure(
    store: MemoryStore,
    target: str | Source,
    *,
    hard: bool = True,
    clock: Clock = system_clock,
    new_id: NewId = random_id,
) -> ErasurePlan:
    """Find everything that has to go with a record, or with a source.

    Args:
        store: Where it is.
        target: Id of a record of any kind, or where records came from.
        hard: Erase for good; otherwise close.
        clock: Tells when the plan is made.
        new_id: Makes the id of the pass.

    Raises:
        NotFoundError: There is no record with this id, and nothing names one.
        RemembranceError: The store cannot erase.
    """
    if not isinstance(store, Erases):
        raise RemembranceError(f"{type(store).__name__} cannot look up what to erase, which this call needs")
    search = _Search(store, store)
    await search.begin(target)
    await search.follow()
    if not search.found and isinstance(target, str):
        raise NotFoundError("record", [target], namespace=store.namespace)
    pass_id, now = new_id(), clock()
    changes = await (search.erasing() if hard else search.closing(pass_id=pass_id, now=now))
    plan = Plan(pass_id=pass_id, kind="forget", made_at=now, changes=tuple(changes), is_hard=hard)
    if not hard:
        kept = ids_by_kind([("message", search.ids("message"))])
        return ErasurePlan(plan=plan, kept=kept)
    return ErasurePlan(plan=plan, scrub=await search.scrub(changes))


class _Search:
    """Follows what hangs on what, from the target outward."""

    def __init__(self, store: MemoryStore, lookup: Erases) -> None:
        self._store = store
        self._lookup = lookup
        self.found: dict[Reference, AnyRecord] = {}
        self._named: dict[Reference, None] = {}
        self._shrunk_episodes: set[str] = set()

    def ids(self, kind: RecordKind) -> list[str]:
        """Ids of what goes, of one kind; also of records that are named and not stored."""
        return [record_id for named, record_id in self._named if named == kind]

    async def begin(self, target: str | Source) -> None:
        """Take the target itself."""
        if isinstance(target, Source):
            by_kind = await self._lookup.find_from(target)
            await self._add((kind, one) for kind, ids in by_kind.items() for one in ids)
        else:
            wanted = require_id(target, field="target")
            kinds: tuple[RecordKind, ...] = ("message", "episode", "fact", "theme", "entity", "relationship")
            stored = await stored_records(self._store, ((kind, wanted) for kind in kinds))
            await self._add(stored)
            if not stored:
                # Gone already: what names it still may have been written since.
                await self._add_named(wanted)
            for entity in [one for one in self.found.values() if isinstance(one, Entity)]:
                await self._add_of_entity(entity)
        at_entities = await self._lookup.find_dependents(entities=self.ids("entity"))
        await self._add(("relationship", one) for one in at_entities.relationships)
        episodes = [one for one in self.found.values() if isinstance(one, Episode)]
        await self._add(("message", message.id) for episode in episodes for message in episode.messages)

    async def _add(self, references: Iterable[Reference]) -> None:
        new = [one for one in dict.fromkeys(references) if one not in self._named]
        self._named.update(dict.fromkeys(new))
        for start in range(0, len(new), _PAGE):
            self.found |= await stored_records(self._store, new[start : start + _PAGE])

    async def _add_named(self, wanted: str) -> None:
        named = await self._lookup.find_dependents(messages=[wanted], entities=[wanted])
        if named.citing_facts or named.holding_episodes:
            await self._add([("message", wanted)])
        if named.facts_of_entities or named.relationships:
            await self._add([("entity", wanted)])

    async def _add_of_entity(self, entity: Entity) -> None:
        merged = [one.older_id for one in (await require_trail(self._store).history(entity.id)).replaces]
        await self._add(("entity", one) for one in merged)
        everyone = [entity.id, *merged]
        named = await self._lookup.find_dependents(entities=everyone)
        await self._add(("fact", one) for one in named.facts_of_entities)
        stored = (self.found.get(("entity", one)) for one in everyone)
        for name in without_repeats([one.name for one in stored if isinstance(one, Entity)]):
            texts = await self._lookup.find_texts_with(name)
            await self._add((kind, one) for kind, ids in texts.items() for one in ids)

    async def follow(self) -> None:
        """Add what nothing supports any more."""
        messages, episodes = self.ids("message"), self.ids("episode")
        hanging = await self._lookup.find_dependents(messages=messages)
        self._shrunk_episodes = {*hanging.holding_episodes, *episodes}
        from_shrunk = await self._lookup.find_dependents(episodes=sorted(self._shrunk_episodes))
        candidates = without_repeats([*hanging.citing_facts, *from_shrunk.facts_of_episodes])
        gone = set(messages)
        for start in range(0, len(candidates), _PAGE):
            facts = await self._store.get_facts(candidates[start : start + _PAGE])
            await self._add(("fact", one.id) for one in facts.values() if not self._is_supported(one, gone))
        await self._add_derived(gone)
        await self._add_unmentioned()

    async def _add_derived(self, gone: Collection[str]) -> None:
        while True:
            derived = (await self._lookup.find_dependents(facts=self.ids("fact"))).derived_facts
            facts = await self._store.get_facts([one for one in derived if ("fact", one) not in self.found])
            new = [one.id for one in facts.values() if not one.source_message_ids or not self._is_supported(one, gone)]
            if not new:
                return
            await self._add(("fact", one) for one in new)

    def _is_supported(self, fact: Fact, gone: Collection[str]) -> bool:
        if fact.source_message_ids:
            return any(one not in gone for one in fact.source_message_ids)
        return any(one not in self._shrunk_episodes for one in fact.source_episode_ids)

    async def _add_unmentioned(self) -> None:
        facts = [one for one in self.found.values() if isinstance(one, Fact)]
        mentions = without_repeats([one for fact in facts for one in _entities_of(fact)])
        left = await self._lookup.count_mentions([[one] for one in mentions])
        erased = _counted(set(_entities_of(fact)) for fact in facts)
        bare = [one for one, count in zip(mentions, left, strict=True) if count <= erased[one]]
        stored = await self._store.get_entities(bare)
        await self._add(("entity", one.id) for one in stored.values() if one.provenance.source == "derived")
        at = await self._lookup.find_dependents(entities=mentions)
        edges = await self._store.get_relationships(at.relationships)
        ends: dict[str, set[str]] = {one: {end.source_id, end.target_id} for one, end in edges.items()}
        together = {
            one: sum(ends[one] <= set(_entities_of(fact)) for fact in facts)
            for one, edge in edges.items()
            if edge.provenance.source == "derived" and edge.fact_id is None
        }
        asked = [one for one, count in together.items() if count]
        counts = await self._lookup.count_mentions([sorted(ends[one]) for one in asked])
        unsupported = {one for one, count in zip(asked, counts, strict=True) if count <= together[one]}
        stated = {
            one for one, edge in edges.items() if edge.fact_id is not None and ("fact", edge.fact_id) in self.found
        }
        gone = set(self.ids("entity"))
        at_gone = {one for one, both in ends.items() if both & gone}
        await self._add(("relationship", one) for one in sorted(unsupported | stated | at_gone))

    async def erasing(self) -> list[Change]:
        """Removals of all that was found, and what stays made anew without it."""
        facts = await self._facts_left()
        episodes = await self._episodes_left()
        themes = await self._themes_left(facts)
        left = [*facts, *episodes, *themes]
        changed = {(one.kind, one.record_id) for one in left}
        removals = [
            Change(before=record, after=None, reason=FORGOTTEN)
            for reference, record in self.found.items()
            if reference not in changed
        ]
        return [*removals, *left]

    async def _facts_left(self) -> list[Change]:
        messages, episodes, themes = set(self.ids("message")), set(self.ids("episode")), self.ids("theme")
        hanging = await self._lookup.find_dependents(messages=sorted(messages), episodes=sorted(self._shrunk_episodes))
        ids = {*hanging.citing_facts, *hanging.facts_of_episodes}
        for theme_id in themes:
            ids |= {fact.id for fact in await _all_facts(self._store, theme_id)}
        left = [one for one in sorted(ids) if ("fact", one) not in self.found]
        holders = await self._holders()
        changes = []
        for start in range(0, len(left), _PAGE):
            for fact in (await self._store.get_facts(left[start : start + _PAGE])).values():
                cited = tuple(one for one in fact.source_message_ids if one not in messages)
                read_from = tuple(
                    one
                    for one in fact.source_episode_ids
                    if one not in episodes
                    and (one not in self._shrunk_episodes or any(holders.get(m) == one for m in cited))
                )
                group = None if fact.theme_id in themes else fact.theme_id
                update = {"source_message_ids": cited, "source_episode_ids": read_from, "theme_id": group}
                changes += _changes(fact, update)
        return changes

    async def _holders(self) -> dict[str, str]:
        """The episode of each message that stays in an episode that lost some."""
        episodes = await self._store.get_episodes(sorted(self._shrunk_episodes))
        return {message.id: episode.id for episode in episodes.values() for message in episode.messages}

    async def _episodes_left(self) -> list[Change]:
        facts, messages = set(self.ids("fact")), set(self.ids("message"))
        listing = (await self._lookup.find_dependents(facts=sorted(facts))).listing_episodes
        ids = [one for one in sorted({*listing, *self._shrunk_episodes}) if ("episode", one) not in self.found]
        changes = []
        for episode in (await self._store.get_episodes(ids)).values():
            left = tuple(message for message in episode.messages if message.id not in messages)
            fact_ids = tuple(one for one in episode.fact_ids if one not in facts)
            if not left and episode.messages:
                changes.append(Change(before=episode, after=None, reason=FORGOTTEN))
                continue
            update: dict[str, Any] = {"fact_ids": fact_ids}
            if len(left) < len(episode.messages):
                update |= _without_messages(episode, left)
            changes += _changes(episode, update)
        return changes

    async def _themes_left(self, facts_left: Sequence[Change]) -> list[Change]:
        gone = set(self.ids("fact"))
        listing = (await self._lookup.find_dependents(facts=sorted(gone))).listing_themes
        themes = await self._store.get_themes([one for one in listing if ("theme", one) not in self.found])
        changes = []
        for theme in themes.values():
            members = remaining_facts(theme, gone)
            if not members:
                changes.append(Change(before=theme, after=None, reason=FORGOTTEN))
                continue
            facts = await self._store.get_facts(members)
            contents = [facts[one].content for one in members if one in facts]
            vectors = [facts[one].embedding if one in facts else None for one in members]
            update = {"fact_ids": members, "description": "", "embedding": centroid(vectors)}
            update["label"] = _label(theme.label, contents)
            changes += _changes(theme, update)
        return changes

    async def closing(self, *, pass_id: str, now: Any) -> list[Change]:
        """Marks on what can be closed; themes lose the facts that were closed, and these their theme."""
        closed = {one.id for one in self.found.values() if isinstance(one, Fact) and one.is_live}
        themes = await self._store.get_themes((await self._lookup.find_dependents(facts=sorted(closed))).listing_themes)
        changes = []
        for record in self.found.values():
            match record:
                case Fact() if record.is_live:
                    group = None if record.theme_id in themes else record.theme_id
                    changes += _changes(record, {"invalidated_by": FORGOTTEN, "theme_id": group})
                case Relationship() if record.is_live and record.fact_id is None:  # a stated one follows its fact
                    changes += _changes(record, {"invalidated_by": pass_id})
                case Entity() if record.is_live:
                    changes += _changes(record, {"invalidated_at": now, "updated_at": now})
                case _:
                    continue
        for theme in themes.values():
            members = remaining_facts(theme, closed)
            facts = await self._store.get_facts(members)
            vectors = [facts[one].embedding if one in facts else None for one in members]
            after = theme.model_copy(update={"fact_ids": members, "embedding": centroid(vectors)}) if members else None
            changes.append(Change(before=theme, after=after, reason=FORGOTTEN))
        return changes

    async def scrub(self, changes: Sequence[Change]) -> Scrub:
        """What the trail must lose: all of what is erased, and the texts of what is made anew or took a place."""
        erased = [record_id for _, record_id in self._named]
        erased += [one.record_id for one in changes if one.after is None]
        touched = {*erased, *(one.record_id for one in changes)}
        trail = require_trail(self._store)
        for record_id in [*self.ids("fact"), *self.ids("entity")]:
            told = await trail.history(record_id)
            touched |= {one.newer_id for one in told.replaced_by} | {one.older_id for one in told.replaces}
        speaks = any(isinstance(one, Message) and one.speaker for one in self.found.values())
        return Scrub(erased=sorted(set(erased)), touched=sorted(touched), unlearns_speakers=speaks)


def _changes(before: AnyRecord, update: dict[str, Any]) -> list[Change]:
    after = before.model_copy(update=update)
    return [] if after == before else [Change(before=before, after=after, reason=FORGOTTEN)]


def _without_messages(episode: Episode, left: Sequence[Message]) -> dict[str, Any]:
    first = left[0].content if left else ""
    held = {message.id for message in left}
    return {
        "messages": tuple(left),
        "topic": episode.topic if first.startswith(episode.topic) else first[:_TOPIC_LENGTH],
        "started_at": min(message.timestamp for message in left),
        "ended_at": max(message.timestamp for message in left),
        "embedding": centroid(message.embedding for message in left),
        "unread_message_ids": tuple(one for one in episode.unread_message_ids if one in held),
    }


def _label(label: str, contents: Sequence[str]) -> str:
    if label == _GENERAL or any(content.startswith(label) for content in contents):
        return label
    return contents[0][:_LABEL_LENGTH] if contents else _GENERAL


def _entities_of(fact: Fact) -> list[str]:
    """Those that it mentions, and those of its statement."""
    stated = fact.statement
    ends = [] if stated is None else [stated.subject_id, *([stated.object_id] if stated.object_id else [])]
    return [*fact.entity_ids, *ends]


def _counted(groups: Iterable[Collection[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for group in groups:
        for one in group:
            counts[one] = counts.get(one, 0) + 1
    return counts


async def _all_facts(store: MemoryStore, theme_id: str) -> list[Fact]:
    found: list[Fact] = []
    while page := await store.find_facts(theme_id=theme_id, include_invalidated=True, limit=_PAGE, offset=len(found)):
        found += page
    return found
