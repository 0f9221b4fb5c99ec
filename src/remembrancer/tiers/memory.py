"""The four tiers as one memory.

Entries are remembered under an id in a scope, and overwritten when the same id is remembered there again. A recall asks
one scope, and gives one list, best first, whatever the tier. The durable tiers live in the namespace of their store;
the working tier lives in this process.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from hashlib import blake2b

from pydantic import ValidationError

from remembrancer.ports import Embedder
from remembrancer.ports.arguments import similarity, text, whole_number
from remembrancer.ports.embedder import embedded
from remembrancer.ports.tiers import FoundItem, TierStore
from remembrancer.ports.tracing import Traced
from remembrancer.records import Clock, InvalidInputError, SemanticSearchUnavailableError, system_clock
from remembrancer.records.base import translated
from remembrancer.records.instant import require_instant
from remembrancer.records.key import require_key
from remembrancer.records.tier import DURABLE_TIERS, TIERS, Tier, TierEntry, TierHit, TierItem, require_tier
from remembrancer.tiers.option import EpisodicTier, ProceduralTier, WorkingTier, tier_option
from remembrancer.tiers.scoring import clamped, episodic_score, procedural_score
from remembrancer.tiers.turn import Scope, TurnMemory
from remembrancer.tiers.working import WorkingShelf

MAX_HITS = 1_000
"""The most hits of one recall."""

_CANDIDATES = 5  # for each hit wanted, so that a blended score may lift what is less similar
_DAY = dt.timedelta(days=1)

Entries = TierEntry | Mapping[str, object] | str | Sequence[TierEntry | Mapping[str, object] | str]


class TieredMemory(Traced):
    """Working, semantic, episodic and procedural memory; opened by `Memory.tiered`, or over a `TierStore`."""

    def __init__(
        self,
        store: TierStore | None = None,
        embedder: Embedder | None = None,
        *,
        name: str = "memory",
        working: bool | WorkingTier | Mapping[str, object] = True,
        semantic: bool = False,
        episodic: bool | EpisodicTier | Mapping[str, object] = False,
        procedural: bool | ProceduralTier | Mapping[str, object] = False,
        default_tier: Tier = "working",
        k: int = 5,
        threshold: float = 0.7,
        clock: Clock = system_clock,
        shelves: MutableMapping[str, WorkingShelf] | None = None,
        namespace: str = "",
    ) -> None:
        """Set the tiers up.

        Args:
            store: Where the durable tiers live.
            embedder: Makes their vectors; the one with which the store was filled.
            name: Whose working tier among `shelves`.
            working: Whether there is one, or how.
            semantic: Whether there is one.
            episodic: Whether there is one, or how.
            procedural: Whether there is one, or how.
            default_tier: Where an entry goes that names none.
            k: The most hits of a recall, 0 to `MAX_HITS`.
            threshold: The least cosine of a hit in a durable tier, -1 to 1, included.
            clock: Tells what now is.
            shelves: Working tiers by name, shared by all that are handed the same; `None`: one of its own.
            namespace: Whose memory, for traces.

        Raises:
            InvalidInputError: No tier is on, the default tier is off, a durable one has no store, or a setting is out
                of its bounds; names it.
            SemanticSearchUnavailableError: A durable tier is on, and there is no embedder.
        """
        self.namespace = namespace
        self._working = tier_option(working, WorkingTier, field="working")
        self._episodic = tier_option(episodic, EpisodicTier, field="episodic")
        self._procedural = tier_option(procedural, ProceduralTier, field="procedural")
        if not isinstance(semantic, bool):
            raise InvalidInputError("semantic", f"expected true or false, got {type(semantic).__name__}")
        on = {
            "working": self._working is not None,
            "semantic": semantic,
            "episodic": self._episodic is not None,
            "procedural": self._procedural is not None,
        }
        self.tiers: tuple[Tier, ...] = tuple(tier for tier in TIERS if on[tier])
        if not self.tiers:
            raise InvalidInputError("working", "no tier is on: turn one on")
        self._store, self._embedder = store, embedder
        self._check_durable()
        self._default = self._enabled(default_tier, field="default_tier")
        self._k = whole_number(k, field="k", most=MAX_HITS)
        self._threshold = similarity(threshold, field="threshold")
        self._clock = clock
        self.name = require_key(name, field="name")
        self._shelf = WorkingShelf() if shelves is None else shelves.setdefault(self.name, WorkingShelf())

    async def remember(self, items: Entries) -> tuple[str, ...]:
        """Remember one entry or several; the same id in the same scope is overwritten.

        The durable ones are one transaction. An entry without an id gets one made from its text, in the episodic tier
        from its text and the day.

        Args:
            items: Entries, maps of their fields or bare texts; one or a list.

        Returns:
            Their ids, in order.

        Raises:
            InvalidInputError: An entry is wrong, or its tier is off; names it, for example `items.2.tier`. Nothing
                was remembered.
            ServerUnavailableError: The store or the embedder could not be reached. Nothing was remembered.
        """
        entries = [self._placed(entry, place) for place, entry in enumerate(_listed(items))]
        now = require_instant(self._clock(), field="clock")
        ids = tuple(entry.id or self._made_id(entry, now) for entry in entries)
        durable = [(item_id, entry) for item_id, entry in zip(ids, entries, strict=True) if entry.tier != "working"]
        if durable:
            vectors = await self._embed([entry.text for _, entry in durable])
            pairs = zip(durable, vectors, strict=True)
            await self._required_store().put([_item(*one, vector=vector, now=now) for one, vector in pairs])
        for item_id, entry in zip(ids, entries, strict=True):
            if entry.tier == "working" and self._working is not None:
                self._shelf.put(item_id, entry, most=self._working.max_items)
        return ids

    async def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        tier: Tier | Sequence[Tier] | None = None,
        threshold: float | None = None,
        scope: str | None = None,
    ) -> list[TierHit]:
        """The best hits of all asked tiers, best first; ties in the order working, semantic, episodic, procedural.

        Args:
            query: What to look for; the working tier gives its newest items whatever is asked.
            k: The most hits; by default as set up.
            tier: Where to look, one or several; by default in all that are on.
            threshold: The least cosine in the durable tiers, -1 to 1; by default as set up.
            scope: Only items with exactly this scope; `None`: only those without one.

        Raises:
            InvalidInputError: An argument is wrong, or a tier is off; names it.
            ServerUnavailableError: The store or the embedder could not be reached.
        """
        wanted = self._asked(tier)
        question = text(query, field="query")
        most = self._k if k is None else whole_number(k, field="k", most=MAX_HITS)
        least = self._threshold if threshold is None else similarity(threshold, field="threshold")
        whose = None if scope is None else require_key(scope, field="scope")
        if not most:
            return []
        hits = self._shelf.newest(whose, limit=most) if "working" in wanted else []
        if durable := [one for one in wanted if one in DURABLE_TIERS]:
            vector = (await self._embed([question]))[0]
            now = require_instant(self._clock(), field="clock")
            found = await self._required_store().nearest(
                durable, vector, scope=whose, limit=_CANDIDATES * most, min_similarity=least
            )
            hits += [self._hit(one, now) for one in found]
        return sorted(hits, key=lambda hit: -hit.score)[:most]

    async def clear(self, tier: Tier | None = None) -> None:
        """Remove all items of a tier, or of all tiers that are on, whatever their scope.

        Raises:
            InvalidInputError: There is no such tier, or it is off.
            ServerUnavailableError: The store could not be reached.
        """
        wanted = self._asked(tier)
        if durable := [one for one in wanted if one in DURABLE_TIERS]:
            await self._required_store().clear(durable)
        if "working" in wanted:
            self._shelf.clear()

    def turns(
        self,
        *,
        k: int | None = None,
        threshold: float | None = None,
        tier: Tier | Sequence[Tier] | None = None,
        remember: bool = True,
        remember_tier: Tier | None = None,
        scope: Scope = "session",
        inject_key: str = "memories",
    ) -> TurnMemory:
        """This memory around the turns of an agent; arguments as of `TurnMemory`."""
        if tier is not None:
            self._asked(tier)
        if remember_tier is not None:
            self._enabled(remember_tier, field="remember_tier")
        return TurnMemory(
            self,
            k=k,
            threshold=threshold,
            tier=tier,
            remember=remember,
            remember_tier=remember_tier,
            scope=scope,
            inject_key=inject_key,
        )

    def _check_durable(self) -> None:
        for tier in self.tiers:
            if tier in DURABLE_TIERS and self._store is None:
                raise InvalidInputError(tier, "the store has no vector search for tiers")
            if tier in DURABLE_TIERS and self._embedder is None:
                raise SemanticSearchUnavailableError(f"the {tier} tier")

    def _enabled(self, tier: object, *, field: str) -> Tier:
        known = require_tier(tier, field=field)
        if known not in self.tiers:
            raise InvalidInputError(field, f"the {known} tier is off; on: {', '.join(self.tiers)}")
        return known

    def _asked(self, tier: object) -> list[Tier]:
        if tier is None:
            return list(self.tiers)
        if isinstance(tier, str) or not isinstance(tier, Iterable):
            return [self._enabled(tier, field="tier")]
        wanted = {self._enabled(one, field=f"tier.{place}") for place, one in enumerate(tier)}
        return [one for one in self.tiers if one in wanted]

    def _placed(self, entry: TierEntry, place: int) -> TierEntry:
        tier = self._default if entry.tier is None else self._enabled(entry.tier, field=f"items.{place}.tier")
        return entry.model_copy(update={"tier": tier})

    def _made_id(self, entry: TierEntry, now: dt.datetime) -> str:
        is_daily = entry.tier == "episodic" and self._episodic is not None and self._episodic.is_daily
        return item_id(entry.text, day=now.date() if is_daily else None)

    async def _embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self._embedder is None:
            raise SemanticSearchUnavailableError("a durable tier")
        return await embedded(self._embedder, texts)

    def _required_store(self) -> TierStore:
        if self._store is None:
            raise InvalidInputError("store", "there is none for durable tiers")
        return self._store

    def _hit(self, found: FoundItem, now: dt.datetime) -> TierHit:
        score = clamped(found.similarity)
        if found.tier == "episodic" and self._episodic is not None:
            score = episodic_score(
                found.similarity,
                age_days=(now - found.remembered_at) / _DAY,
                recency_weight=self._episodic.recency_weight,
                half_life_days=self._episodic.half_life_days,
            )
        elif found.tier == "procedural" and self._procedural is not None:
            weight = self._procedural.reinforcement_weight
            score = procedural_score(found.similarity, uses=found.uses, reinforcement_weight=weight)
        return TierHit(id=found.id, text=found.text, tier=found.tier, score=score, metadata=found.metadata)


def item_id(text: str, *, day: dt.date | None = None) -> str:
    """The id of an entry that names none: 128 bits (BLAKE2b) of its text, and of a day, as 32 hexadecimal digits."""
    person = b"" if day is None else day.isoformat().encode("ascii")
    return blake2b(text.encode("utf-8"), digest_size=16, person=person).hexdigest()


def _listed(items: object) -> list[TierEntry]:
    listed: Sequence[object]
    match items:
        case TierEntry() | Mapping() | str():
            listed = [items]
        case Sequence():
            listed = items
        case _:
            raise InvalidInputError("items", f"expected an entry or a list of them, got {type(items).__name__}")
    return [_entry(one, place) for place, one in enumerate(listed)]


def _entry(given: object, place: int) -> TierEntry:
    fields: Mapping[str, object]
    match given:
        case TierEntry():
            fields = given.model_dump()  # a map inside may have been changed after it was checked
        case str():
            fields = {"text": given}
        case Mapping():
            fields = given
        case _:
            raise InvalidInputError(f"items.{place}", f"expected an entry, got {type(given).__name__}")
    try:
        return TierEntry.model_validate(dict(fields))
    except ValidationError as error:
        raise translated(error, within=f"items.{place}") from error


def _item(item_id: str, entry: TierEntry, *, vector: Sequence[float], now: dt.datetime) -> TierItem:
    return TierItem.model_validate(
        {
            "tier": entry.tier,
            "scope": entry.scope,
            "id": item_id,
            "text": entry.text,
            "metadata": entry.metadata,
            "embedding": vector,
            "remembered_at": now,
        }
    )
