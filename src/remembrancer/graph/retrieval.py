"""Retrieval pushed down into Neo4j: each answer is one statement and one wire trip, whatever its depth."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from remembrancer.graph import listed, queries
from remembrancer.graph.connection import Database, Row, first
from remembrancer.graph.spaces import SpaceGuard
from remembrancer.graph.values import as_vector, asked, closed_token, namespace_token, standing
from remembrancer.ports.arguments import query_vector
from remembrancer.ports.recall import Candidate, Candidates, Evidence, Findings, RecallQuestion
from remembrancer.records import QUARANTINE_TAG, SIMILARITY_TOLERANCE, MemoryQuery, MemoryResult, Subgraph
from remembrancer.records.instant import parse_instant

_END = dt.datetime.max.replace(tzinfo=dt.UTC)
_FURTHER = 4
_TEXT_FURTHER = 40
_SEARCHES = frozenset(
    {"recall", "recall_candidates", "by_embedding", "by_embedding_listed", "by_embedding_theme_first"}
)
HUB_DEGREE = 1_000
"""From more relationships than this on an entity is a hub, of which a walk reads no more than it may visit."""

_ENTITY_CAP = 500  # what a walk visits at most on the entity path; retrieval.subgraph has the same as its default


class GraphRetrieval:
    """Answers memory queries for one namespace."""

    def __init__(
        self,
        database: Database,
        namespace: str,
        *,
        guard: SpaceGuard | None = None,
        number: int,
        dimensions: int | None,
        hub_degree: int = HUB_DEGREE,
    ) -> None:
        self._database = database
        self._namespace = namespace
        self._guard = guard or SpaceGuard(database, namespace, number=number, space=None)
        self._number = number
        self._dimensions = dimensions
        self._hub_degree = hub_degree
        self._has_hubs = False

    async def _walk(self, name: str, **parameters: Any) -> Row:
        """The answer of a walk: by the quick form until it meets a hub, from then on by the one that hubs bound.

        The quick form gives up at a hub, so the answer depends on the graph alone, not on which form came first.
        """
        parameters["hub_degree"] = self._hub_degree
        if not self._has_hubs:
            answer = await self._answer(name, **parameters)
            if not answer["met_hub"]:
                return answer
            self._has_hubs = True
        return await self._answer(f"{name}_hubs", **parameters)

    async def _answer(self, name: str, **parameters: Any) -> Row:
        if name in _SEARCHES:
            return first(await self._guard.searched(f"retrieval.{name}", parameters))
        query = queries.load(f"retrieval.{name}", self._number, self._dimensions or 384)
        return first(await self._database.read(query, {"namespace": self._namespace, **parameters}))

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
        """The walk from the seeds; arguments as checked by `remembrancer.retrieval.extract_subgraph`."""
        answer = await self._walk(
            "subgraph",
            believed_at=believed_at,
            seeds=list(seeds),
            max_hops=max_hops,
            valid_at=valid_at,
            relation_types=list(relation_types) or None,
            include_invalidated=include_invalidated,
            max_entities=max_entities,
        )
        return Subgraph(
            entities=[listed.entity(row) for row in answer["entities"]],
            relationships=[listed.relationship(row) for row in answer["relationships"]],
        )

    async def retrieve(self, query: MemoryQuery, *, filter_first: bool) -> MemoryResult:
        """Answer a query whose text, if it matters, is embedded already."""
        if query.entity_ids:
            return _result(await self._by_entities(query))
        if query.embedding is not None:
            return await self._by_embedding(query, filter_first=filter_first)
        if query.tags:
            return _result(await self._answer("by_tags", **_filters(query)))
        return MemoryResult()

    async def recall(self, question: RecallQuestion) -> Findings:
        """The best evidence for a question, ranked inside the database."""
        name = "recall" if question.embedding is not None and self._dimensions is not None else "recall_text"
        parameters = self._recall_parameters(question)
        row = await self._answer(name, **parameters)
        return Findings(
            tuple(_evidence(item) for item in row["evidence"]),
            candidates=row["candidates"],
            superseded=row["superseded"],
            at_other_times=row["at_other_times"],
            speakers=tuple(row["speakers"]),
            is_filled=row["is_filled"],
        )

    async def gather_candidates(self, question: RecallQuestion) -> Candidates:
        """What `recall` would rank, unranked."""
        parameters = self._recall_parameters(question)
        del parameters["limit"], parameters["asks_when"]
        row = await self._answer("recall_candidates", **parameters)
        return Candidates(
            tuple(_candidate(item) for item in row["candidates"]),
            lowest=row["lowest"],
            speakers=tuple(row["speakers"]),
            superseded=row["superseded"],
        )

    def _recall_parameters(self, question: RecallQuestion) -> dict[str, Any]:
        tokens = [namespace_token(self._namespace)]
        may_be_closed = question.include_invalidated or question.believed_at is not None
        # What was recorded later is left out behind the searches by vector, so they look further from the start.
        more = 1 if question.believed_at is None else _FURTHER
        if may_be_closed:
            tokens.append(closed_token(self._namespace))
        parameters: dict[str, Any] = {
            "namespace_token": tokens[0],
            "fact_tokens": " ".join(tokens),
            "closed_token": closed_token(self._namespace),
            "terms": [list(term) for term in question.terms],
            "asks_when": question.asks_when,
            "windows": [list(window) for window in question.windows],
            "standing": standing(include_invalidated=may_be_closed),
            "include_invalidated": question.include_invalidated,
            "message_limit": question.weights.near * more,
            "fact_limit": question.weights.near_facts * more,
            "further": _TEXT_FURTHER // more,
            "valid_at": question.valid_at,
            "believed_at": question.believed_at or _END,
            "weights": question.weights.model_dump(),
            "limit": question.limit,
        }
        if question.embedding is not None and self._dimensions is not None:
            vector = query_vector(question.embedding, dimensions=self._dimensions, search="recall")
            parameters |= {"embedding": as_vector(vector), "most_names": question.most_names}
        return parameters

    async def _by_entities(self, query: MemoryQuery) -> Row:
        return await self._walk(
            "by_entities",
            seeds=list(dict.fromkeys(query.entity_ids or ())),
            max_hops=query.max_hops,
            max_entities=_ENTITY_CAP,
            relation_types=list(query.relation_types or ()) or None,
            entity_types=list(query.entity_types or ()) or None,
            **_filters(query),
        )

    async def _by_embedding(self, query: MemoryQuery, *, filter_first: bool) -> MemoryResult:
        vector = query_vector(query.embedding, dimensions=self._dimensions, search="retrieve_memory")
        if self._dimensions is None:
            return MemoryResult(scores={})
        parameters = {
            "embedding": as_vector(vector),
            "asked": asked(query.limit),
            "least": query.min_similarity - SIMILARITY_TOLERANCE,
            "relation_types": list(query.relation_types or ()) or None,
            "entity_types": list(query.entity_types or ()) or None,
            **_filters(query),
        }
        if not filter_first:
            answer = await self._answer("by_embedding_theme_first", **parameters)
        elif query.tags or query.changed_since is not None or query.believed_at is not None:
            parameters["live"] = [True, False] if query.include_invalidated else [True]
            parameters["quarantined"] = [True, False] if QUARANTINE_TAG in query.tags else [False]
            answer = await self._answer("by_embedding_listed", **parameters)
        else:
            del parameters["tags"], parameters["changed_since"], parameters["believed_at"]
            parameters["standing"] = standing(include_invalidated=query.include_invalidated)
            answer = await self._answer("by_embedding", **parameters)
        return _result(answer)


def _evidence(item: list[Any]) -> Evidence:
    is_fact, record_id, content, speaker, at, episode_id, position, score, parts, sources = item
    return Evidence(
        kind="fact" if is_fact else "message",
        id=record_id,
        content=content,
        score=float(score),
        parts=tuple(part / 10_000 for part in parts),
        episode_id=episode_id,
        position=position,
        speaker=speaker,
        at=parse_instant(at),
        source_ids=tuple(sources),
    )


def _candidate(item: list[Any]) -> Candidate:
    *fields, mentions_time, is_alone, near, similarity, text_rank, fact, fact_text, link, sources = item
    return Candidate(
        _evidence([*fields, 0.0, (), sources]),
        similarity=similarity,
        was_near=near is not None,
        text_rank=text_rank,
        fact_similarity=fact,
        fact_rank=fact_text,
        mentions_time=mentions_time,
        is_alone=is_alone,
        link=link,
    )


def _filters(query: MemoryQuery) -> dict[str, Any]:
    return {
        "limit": query.limit,
        "valid_at": query.valid_at,
        "believed_at": query.believed_at,
        "changed_since": query.changed_since,
        "tags": list(query.tags),
        "include_invalidated": query.include_invalidated,
    }


def _result(answer: Row) -> MemoryResult:
    scores = answer.get("scores")
    return MemoryResult(
        themes=[listed.theme(row) for row in answer["themes"]],
        facts=[listed.fact(row) for row in answer["facts"]],
        episodes=[listed.episode(row) for row in answer["episodes"]],
        entities=[listed.entity(row) for row in answer.get("entities", ())],
        relationships=[listed.relationship(row) for row in answer.get("relationships", ())],
        scores=None if scores is None else {fact_id: float(score) for fact_id, score in scores},
    )
