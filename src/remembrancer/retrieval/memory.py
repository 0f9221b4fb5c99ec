"""The answer to a memory query, along one of three paths: a walk from entities, similarity, or tags.

Entity ids decide before an embedding, an embedding before tags. Facts with the quarantine tag stay out unless the
query asks for that very tag. Whatever the path, the facts served are counted as used, and the copies handed out show
their usage before that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remembrancer.ports import Embedder, Hit, MemoryIndex, MemoryStore, RetrievesMemory
from remembrancer.ports.arguments import flag
from remembrancer.records import (
    QUARANTINE_TAG,
    Clock,
    Entity,
    Episode,
    Fact,
    InvalidInputError,
    MemoryQuery,
    MemoryResult,
    Relationship,
    Theme,
    filter_valid,
    is_valid_at,
    system_clock,
)
from remembrancer.records.belief import as_believed, is_believed
from remembrancer.retrieval.answer import served
from remembrancer.retrieval.subgraph import (
    DEFAULT_MAX_SUBGRAPH_ENTITIES,
    edges_at,
    edges_between,
    extract_subgraph_plain,
)

_LEAST_PAGE = 100


async def retrieve_memory(
    store: MemoryStore,
    index: MemoryIndex,
    query: MemoryQuery,
    *,
    filter_first: bool = True,
    embedder: Embedder | None = None,
    clock: Clock = system_clock,
) -> MemoryResult:
    """Answer a memory query.

    Args:
        store: Where the records live; one that answers such queries itself is asked to, if `index` is its own.
        index: Finds by similarity.
        query: What is wanted.
        filter_first: Whether validity, quarantine, tags and themes act inside the similarity search, so that closed or
            hidden facts never use up its slots. `False`: they act on what was found, and themes add all their facts
            in their own order.
        embedder: Embeds `query.text` when the query has no embedding, entity ids or tags; without one such a query
            finds nothing.
        clock: Tells when the facts were used.

    Returns:
        Records without embeddings; `scores` only where an embedding decided.

    Raises:
        InvalidInputError: The query is not a `MemoryQuery`, or its embedding cannot be searched.
        EmbeddingDimensionMismatchError: The embedding has another length than those of the index.
        ServerUnavailableError: The database, or a remote embedder, could not be reached.
    """
    _check(query, filter_first)
    query = await _embedded(query, embedder)
    if isinstance(store, RetrievesMemory) and index.serves(store):
        result = _as_believed(await store.retrieve(query, filter_first=filter_first), query)
    else:
        result = await retrieve_memory_plain(store, index, query, filter_first=filter_first)
    if result.facts:
        await store.touch_facts([fact.id for fact in result.facts], at=clock())
    return result


async def retrieve_memory_plain(
    store: MemoryStore, index: MemoryIndex, query: MemoryQuery, *, filter_first: bool = True
) -> MemoryResult:
    """The same answer, step by step through the ports: the reference for stores that answer themselves.

    The text of the query is not embedded, and usage is not counted.
    """
    _check(query, filter_first)
    result = MemoryResult()
    if query.entity_ids:
        result = await _by_entities(store, query)
    elif query.embedding is not None:
        result = await _by_embedding(store, index, query, query.embedding, filter_first=filter_first)
    elif query.tags:
        result = await _by_tags(store, query)
    return _as_believed(result, query)


def _check(query: object, filter_first: object) -> None:
    if not isinstance(query, MemoryQuery):
        raise InvalidInputError("query", f"expected a MemoryQuery, got {type(query).__name__}")
    flag(filter_first, field="filter_first")


async def _embedded(query: MemoryQuery, embedder: Embedder | None) -> MemoryQuery:
    decided = query.entity_ids or query.embedding is not None or query.tags
    if embedder is None or decided or not (query.text and query.text.strip()):
        return query
    vectors = await embedder.embed([query.text])
    return query.model_copy(update={"embedding": tuple(vectors[0])})


async def _by_entities(store: MemoryStore, query: MemoryQuery) -> MemoryResult:
    subgraph = await extract_subgraph_plain(
        store,
        query.entity_ids or (),
        max_hops=query.max_hops,
        valid_at=query.valid_at,
        relation_types=query.relation_types or (),
        include_invalidated=query.include_invalidated,
        max_entities=DEFAULT_MAX_SUBGRAPH_ENTITIES,
        believed_at=query.believed_at,
    )
    facts: dict[str, Fact] = {}
    for entity in subgraph.entities:
        if len(facts) >= query.limit:
            break
        for fact in await _facts_with(store, query, entity_id=entity.id):
            facts.setdefault(fact.id, fact)
    kept = list(facts.values())[: query.limit]
    return MemoryResult(
        themes=await _themes_of(store, kept, query.limit),
        facts=served(kept),
        episodes=await _episodes_of(store, kept, query.limit),
        entities=_of_types(subgraph.entities, query),
        relationships=tuple(subgraph.relationships)[: query.limit],
    )


async def _by_tags(store: MemoryStore, query: MemoryQuery) -> MemoryResult:
    facts = await _facts_with(store, query)
    return MemoryResult(
        themes=await _themes_of(store, facts, query.limit),
        facts=served(facts),
        episodes=await _episodes_of(store, facts, query.limit),
    )


async def _facts_with(store: MemoryStore, query: MemoryQuery, *, entity_id: str | None = None) -> list[Fact]:
    page_size = max(4 * query.limit, _LEAST_PAGE)
    facts: list[Fact] = []
    offset = 0
    while len(facts) < query.limit:
        page = await store.find_facts(
            entity_id=entity_id,
            tags=query.tags,
            exclude_tags=() if _shows_quarantined(query) else (QUARANTINE_TAG,),
            include_invalidated=query.include_invalidated or query.believed_at is not None,
            limit=page_size,
            offset=offset,
        )
        facts += _valid(page, query)
        if len(page) < page_size:
            break
        offset += page_size
    return facts[: query.limit]


async def _by_embedding(
    store: MemoryStore, index: MemoryIndex, query: MemoryQuery, embedding: Sequence[float], *, filter_first: bool
) -> MemoryResult:
    theme_hits = await index.search_themes(embedding, limit=query.limit, min_similarity=query.min_similarity)
    themes = await store.get_themes([hit.id for hit in theme_hits])
    if filter_first:
        hits = await _search(index, query, embedding, least=query.min_similarity)
        candidates = await _filtered_facts(store, index, query, embedding, list(themes), hits)
    else:
        hits = await index.search_facts(embedding, limit=query.limit, min_similarity=query.min_similarity)
        candidates = await _all_facts(store, query, themes.values(), hits)
    facts = candidates[: query.limit]
    direct = {hit.id: hit.score for hit in hits}
    mentioned = await _mentioned(store, facts, query)
    return MemoryResult(
        themes=served(themes.values()),
        facts=served(facts),
        episodes=await _episodes_of(store, facts, query.limit),
        entities=_of_types(mentioned.values(), query),
        relationships=await _among(store, list(mentioned), query),
        scores={fact.id: direct[fact.id] for fact in facts if fact.id in direct},
    )


async def _all_facts(
    store: MemoryStore, query: MemoryQuery, themes: Iterable[Theme], hits: Sequence[Hit]
) -> list[Fact]:
    ids = [fact_id for theme in themes for fact_id in theme.fact_ids]
    stored = await store.get_facts(list(dict.fromkeys([*ids, *(hit.id for hit in hits)])))
    tags = frozenset(query.tags)
    tagged = [
        fact
        for fact in stored.values()
        if (not tags or not tags.isdisjoint(fact.tags)) and (_shows_quarantined(query) or not fact.is_quarantined)
    ]
    return _valid(tagged, query)


async def _filtered_facts(
    store: MemoryStore,
    index: MemoryIndex,
    query: MemoryQuery,
    embedding: Sequence[float],
    theme_ids: Sequence[str],
    hits: Sequence[Hit],
) -> list[Fact]:
    within = await _search(index, query, embedding, least=-1.0, theme_ids=theme_ids) if theme_ids else []
    stored = await store.get_facts([hit.id for hit in (*within, *hits)])
    ranks = {theme_id: rank for rank, theme_id in enumerate(theme_ids)}

    # Hits come by score, valid_from and id already; a stable sort only has to bring the themes together.
    def rank_of(fact: Fact) -> int:
        return ranks.get(fact.theme_id or "", len(ranks))

    expanded = sorted((stored[hit.id] for hit in within if hit.id in stored), key=rank_of)
    listed = {fact.id for fact in expanded}
    return [*expanded, *(stored[hit.id] for hit in hits if hit.id in stored and hit.id not in listed)]


async def _search(
    index: MemoryIndex,
    query: MemoryQuery,
    embedding: Sequence[float],
    *,
    least: float,
    theme_ids: Sequence[str] | None = None,
) -> list[Hit]:
    return await index.search_facts(
        embedding,
        limit=query.limit,
        min_similarity=least,
        include_invalidated=query.include_invalidated,
        include_quarantined=_shows_quarantined(query),
        valid_at=query.valid_at,
        changed_since=query.changed_since,
        believed_at=query.believed_at,
        tags=query.tags,
        theme_ids=theme_ids,
    )


async def _mentioned(store: MemoryStore, facts: Sequence[Fact], query: MemoryQuery) -> dict[str, Entity]:
    ids = dict.fromkeys(entity_id for fact in facts for entity_id in fact.entity_ids)
    stored = await store.get_entities(list(ids))
    return {entity_id: entity for entity_id, entity in stored.items() if _is_believed(entity, query)}


async def _among(store: MemoryStore, entity_ids: Sequence[str], query: MemoryQuery) -> tuple[Relationship, ...]:
    types = query.relation_types or ()
    found: dict[str, Relationship] = {}
    for entity_id in entity_ids:
        if len(found) >= query.limit:
            break
        edges = await edges_at(
            store,
            entity_id,
            relation_types=types,
            include_invalidated=query.include_invalidated,
            believed_at=query.believed_at,
        )
        for edge in edges_between(edges, entity_ids):
            if query.valid_at is None or is_valid_at(edge, query.valid_at):
                found.setdefault(edge.id, edge)
    return tuple(found.values())[: query.limit]


async def _themes_of(store: MemoryStore, facts: Sequence[Fact], limit: int) -> tuple[Theme, ...]:
    ids = dict.fromkeys(fact.theme_id for fact in facts if fact.theme_id is not None)
    return served((await store.get_themes(list(ids))).values())[:limit]


async def _episodes_of(store: MemoryStore, facts: Sequence[Fact], limit: int) -> tuple[Episode, ...]:
    ids = dict.fromkeys(episode_id for fact in facts for episode_id in fact.source_episode_ids)
    return served((await store.get_episodes(list(ids))).values())[:limit]


def _of_types(entities: Iterable[Entity], query: MemoryQuery) -> tuple[Entity, ...]:
    types = query.entity_types or ()
    return served(entity for entity in entities if not types or entity.entity_type in types)[: query.limit]


def _valid(facts: Iterable[Fact], query: MemoryQuery) -> list[Fact]:
    return filter_valid(
        [fact for fact in facts if _is_believed(fact, query)],
        valid_at=query.valid_at,
        changed_since=query.changed_since,
        include_invalidated=True,
    )


def _is_believed(record: Fact | Entity, query: MemoryQuery) -> bool:
    return is_believed(record, query.believed_at, include_invalidated=query.include_invalidated)


def _as_believed(result: MemoryResult, query: MemoryQuery) -> MemoryResult:
    believed_at = query.believed_at
    if believed_at is None:
        return result
    return result.model_copy(
        update={
            "facts": tuple(as_believed(fact, believed_at) for fact in result.facts),
            "entities": tuple(as_believed(entity, believed_at) for entity in result.entities),
            "relationships": tuple(as_believed(edge, believed_at) for edge in result.relationships),
        }
    )


def _shows_quarantined(query: MemoryQuery) -> bool:
    return QUARANTINE_TAG in query.tags
