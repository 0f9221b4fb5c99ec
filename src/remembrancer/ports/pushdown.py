"""What a store may do itself, far better than step by step from outside.

The domain asks with `isinstance` and falls back to its own plain version, which stays the reference: one contract
suite demands equal answers of both.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from remembrancer.ports.index import Hit
from remembrancer.records import MemoryQuery, MemoryResult, Subgraph, Theme
from remembrancer.records.packed import PackedIds


@runtime_checkable
class ExtractsSubgraphs(Protocol):
    """A store that walks its graph itself."""

    async def extract_subgraph(
        self,
        seeds: Sequence[str],
        *,
        max_hops: int,
        valid_at: dt.datetime | None,
        relation_types: Sequence[str],
        include_invalidated: bool,
        max_entities: int,
        believed_at: dt.datetime | None = None,
    ) -> Subgraph:
        """The walk of `remembrancer.retrieval.extract_subgraph`, in one statement and one wire trip."""
        ...


@runtime_checkable
class RetrievesMemory(Protocol):
    """A store that answers a whole memory query itself."""

    async def retrieve(self, query: MemoryQuery, *, filter_first: bool) -> MemoryResult:
        """The answer of `remembrancer.retrieval.retrieve_memory`, in one statement and one wire trip.

        Usage is not counted here.
        """
        ...


class NearDuplicates(NamedTuple):
    """Facts near to each other.

    `near` has those near to a fact, nearest first, for each that has any; `unclear` are facts that had better be asked
    for with `SurveysFacts.near_duplicates`: they may have too many, or some too close to each other to tell the order.
    """

    near: dict[str, list[Hit]]
    unclear: Sequence[str]


@runtime_checkable
class SurveysFacts(Protocol):
    """A store that finds what a consolidation prunes without handing out every fact.

    The facts meant are those that are neither closed nor quarantined.
    """

    async def active_fact_ids(self) -> PackedIds:
        """Ids of all of them, in listing order."""
        ...

    async def near_duplicates(
        self, fact_ids: Sequence[str], *, min_similarity: float, limit: int
    ) -> dict[str, list[Hit]]:
        """For each of these facts those near to it, nearest first, ties in listing order; many facts a statement.

        Args:
            fact_ids: Whose neighbours are wanted; unknown ids, and facts without embedding, have none.
            min_similarity: The least cosine, included.
            limit: The most neighbours of one fact, itself counted; facts without any other are left out.
        """
        ...

    async def duplicates_among(self, fact_ids: PackedIds, *, min_similarity: float, limit: int) -> NearDuplicates:
        """The same for all facts at once, counting only these facts as neighbours.

        Args:
            fact_ids: Whose neighbours are wanted, and among whom; as `active_fact_ids` gave them.
            min_similarity: The least cosine, included.
            limit: The most neighbours of one fact, itself counted.
        """
        ...

    async def weakest_facts(
        self,
        count: int,
        *,
        uses: Mapping[str, int],
        without: Collection[str],
        now: dt.datetime,
        half_life_days: float,
    ) -> list[str]:
        """Ids of the facts that decay has weakened most, least score first, ties in listing order.

        Args:
            count: The most ids to give.
            uses: Access counts to score with instead of the stored ones, by fact.
            without: Facts to pass over.
            now: The instant to score at.
            half_life_days: As for `remembrancer.lifecycle.decay_score`.
        """
        ...

    async def theme_ids_naming(self, fact_ids: Collection[str]) -> list[str]:
        """Ids of the themes that list one of these facts, in order."""
        ...

    async def mean_embedding(self, fact_ids: Sequence[str]) -> tuple[float, ...] | None:
        """The mean of the stored embeddings of these facts, whatever their state; `None`: there is none."""
        ...


class FactOutline(NamedTuple):
    """What conflict detection reads of a fact; `statement_key` is `Statement.key`, where it makes a statement."""

    id: str
    content: str
    valid_from: dt.datetime
    valid_until: dt.datetime | None = None
    statement_key: str | None = None


@runtime_checkable
class GathersConflictCandidates(Protocol):
    """A store that finds facts that may be in conflict, without handing out a vector.

    The facts meant are those that are neither closed nor quarantined.
    """

    async def active_fact_ids(self) -> PackedIds:
        """Ids of all of them, in listing order."""
        ...

    async def shared_entities(self) -> list[tuple[str, int]]:
        """Entities that two or more of them mention, in the order of their first mention, and by how many."""
        ...

    async def facts_by_entity(self, entity_ids: Sequence[str]) -> list[list[FactOutline]]:
        """For each entity those that mention it, in listing order; an entity that none mentions has an empty list."""
        ...

    async def facts_near(
        self, fact_ids: Sequence[str], *, min_similarity: float, limit: int
    ) -> list[tuple[FactOutline, list[FactOutline]]]:
        """For each of these facts those near to it that mention an entity that it mentions; many facts a statement.

        Args:
            fact_ids: Whose neighbours are wanted; facts that have none are left out.
            min_similarity: The least cosine, included.
            limit: How many facts to look at, itself counted, before those that share no entity are left out.

        Returns:
            In the order asked for; neighbours nearest first, ties in listing order.
        """
        ...


@runtime_checkable
class FindsSimilarFacts(Protocol):
    """A store that finds what is similar to many vectors at once."""

    async def similar_facts(
        self, embeddings: Sequence[Sequence[float]], *, min_similarity: float, limit: int
    ) -> list[list[Hit]]:
        """For each vector the nearest facts, closed and quarantined ones too, nearest first, ties in listing order.

        Args:
            embeddings: Of the store's embedding space.
            min_similarity: The least cosine, included.
            limit: The most facts for one vector.
        """
        ...


@runtime_checkable
class GathersNamesakes(Protocol):
    """A store that finds entities of one name, and what is attached to them, without handing out all entities."""

    async def namesakes(self) -> list[list[str]]:
        """Ids of the live entities that share normalised name and type, two or more a group.

        Entities whose names normalise to nothing share their own spelling here.
        """
        ...

    async def fact_ids_naming(self, entity_ids: Collection[str]) -> list[str]:
        """Ids of the facts that mention one of these, closed and quarantined ones too, in order of id."""
        ...

    async def relationship_ids_at(self, entity_ids: Collection[str]) -> list[str]:
        """Ids of the relationships that begin or end at one of these, closed ones too, in order of id."""
        ...

    async def relationship_ids_between(self, ends: Collection[tuple[str, str, str]]) -> list[str]:
        """Ids of the live relationships with one of these (source, target, type), in order of id."""
        ...


@runtime_checkable
class OutlinesThemes(Protocol):
    """A store that tells how large themes are without naming all their facts."""

    async def outline_themes(
        self, ids: Sequence[str] = (), *, label: str | None = None, most: int
    ) -> list[tuple[Theme, int]]:
        """Themes with these ids, and those with exactly this label, by id; each with how many facts it lists.

        Of a theme with more than `most` facts only so many are named, in no particular order.
        """
        ...
