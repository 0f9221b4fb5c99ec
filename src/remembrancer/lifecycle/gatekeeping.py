"""The gatekeeper of the write path: new facts that say what the memory holds, or gave up for a reason, stay out.

It judges by the similarity of `check_fact_admission`, many facts at once, and looks at all stored facts where there is
an index. Three things it lets pass that similarity alone would refuse, since they are news however alike the words are:
a text that differs from the stored one in a number or in a negation; one whose stored match no longer held when the new
one began; and one whose match was closed in favour of another fact, and not for a reason. What held twice has two
windows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from remembrancer.lifecycle.admission import refused, require_threshold, token_similarity, tokens_of
from remembrancer.lifecycle.dedup import say_the_same
from remembrancer.lifecycle.words import is_negation, words_of
from remembrancer.ports import Embedder, Hit, MemoryIndex, MemoryStore
from remembrancer.ports.admission import RefusedFact
from remembrancer.ports.arguments import whole_number
from remembrancer.ports.pushdown import FindsSimilarFacts
from remembrancer.records import Fact
from remembrancer.records.key import check_id

_NEAREST = 10


class FactGatekeeper:
    """Refuses facts that are duplicates, or that come back after they were evicted.

    Facts of one call are judged one after the other, each against the stored ones and those before it.
    """

    def __init__(
        self,
        store: MemoryStore,
        index: MemoryIndex,
        *,
        embedder: Embedder | None = None,
        threshold: float | None = None,
        limit: int = 1_000,
    ) -> None:
        """Make a gatekeeper.

        Args:
            store: The memory.
            index: Similarity search over it.
            embedder: What made the vectors of the facts; `None`: words are compared.
            threshold: From which similarity on a fact is refused; by default 0.85 by vectors, 0.6 by words.
            limit: How many stored facts are compared by words, newest first; 0 or more. All are by vectors.

        Raises:
            InvalidInputError: An option is out of its bounds; names it.
        """
        self._store = store
        self._index = index
        self._has_vectors = embedder is not None
        self._least = require_threshold(threshold, embedder)
        self._limit = whole_number(limit, field="limit")

    async def refuse(self, facts: Sequence[Fact], *, leaving: Collection[str] = ()) -> list[RefusedFact]:
        """Those of the facts that are not to be written.

        Args:
            facts: With their vectors, where the memory has some.
            leaving: Ids of stored facts for which none is refused, since they are about to be closed.

        Raises:
            ServerUnavailableError: The database could not be reached.
        """
        if not facts:
            return []
        by_vector = self._has_vectors and all(fact.embedding is not None for fact in facts)
        stored = await (self._near(facts) if by_vector else self._worded(facts))
        turned_away: list[RefusedFact] = []
        admitted: list[Fact] = []
        earlier = _Earlier(facts, by_vector=by_vector)
        for place, fact in enumerate(facts):
            known = [match for match in stored[place] if match.fact.id not in leaving]
            matches = [*known, *earlier.similar_to(place, admitted, least=self._least)]
            matches.sort(key=lambda match: -match.similarity)
            found = next((match for match in matches if _stands_in_the_way(fact, match.fact)), None)
            if found is None:
                admitted.append(fact)
            else:
                turned_away.append(_refusal(fact, found))
        return turned_away

    async def _near(self, facts: Sequence[Fact]) -> list[list[_Match]]:
        vectors = [fact.embedding for fact in facts if fact.embedding is not None]
        if isinstance(self._store, FindsSimilarFacts) and self._index.serves(self._store):
            hits = await self._store.similar_facts(vectors, min_similarity=self._least_cosine, limit=_NEAREST)
        else:
            hits = [
                await self._index.search_facts(vector, limit=_NEAREST, min_similarity=self._least_cosine)
                for vector in vectors
            ]
        found = await self._store.get_facts(list(dict.fromkeys(hit.id for some in hits for hit in some)))
        return [_matches(some, found) for some in hits]

    @property
    def _least_cosine(self) -> float:
        return min(1.0, max(-1.0, self._least))

    async def _worded(self, facts: Sequence[Fact]) -> list[list[_Match]]:
        stored = await self._store.find_facts(include_invalidated=True, limit=self._limit)
        holders: dict[str, list[int]] = {}
        for place, one in enumerate(stored):
            for token in tokens_of(one.content) or {_plain(one.content)}:
                holders.setdefault(token, []).append(place)
        found = []
        for fact in facts:
            tokens = tokens_of(fact.content) or {_plain(fact.content)}
            met = sorted({place for token in tokens for place in holders.get(token, ())})
            scored = (_Match(stored[place], token_similarity(fact.content, stored[place].content)) for place in met)
            found.append([match for match in scored if match.similarity >= self._least])
        return found


class _Match(NamedTuple):
    fact: Fact
    similarity: float


class _Earlier:
    """How similar the facts of one call are to each other."""

    def __init__(self, facts: Sequence[Fact], *, by_vector: bool) -> None:
        self._facts = facts
        self._places = {fact.id: place for place, fact in enumerate(facts)}
        self._cosines = _cosines(facts) if by_vector else None

    def similar_to(self, place: int, admitted: Sequence[Fact], *, least: float) -> Iterator[_Match]:
        """Those of the admitted facts that are as similar to one."""
        own = self._facts[place]
        row = None if self._cosines is None else self._cosines[place]
        for other in admitted:
            score = token_similarity(own.content, other.content) if row is None else row[self._places[other.id]]
            if score >= least:
                yield _Match(other, score)


def _cosines(facts: Sequence[Fact]) -> list[list[float]]:
    import numpy as np

    matrix = np.asarray([fact.embedding for fact in facts], dtype=np.float64)
    matrix /= np.abs(matrix).max(axis=1, keepdims=True)  # squares of huge numbers overflow
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    rows: list[list[float]] = np.round(matrix @ matrix.T, 12).tolist()
    return rows


def _matches(hits: Sequence[Hit], found: Mapping[str, Fact]) -> list[_Match]:
    return [_Match(found[hit.id], hit.score) for hit in hits if hit.id in found]


def _refusal(fact: Fact, match: _Match) -> RefusedFact:
    admission = refused(match.fact, match.similarity)
    assert admission.reason is not None  # noqa: S101 - every refusal has one
    return RefusedFact(
        id=fact.id,
        content=fact.content,
        reason=admission.reason,
        matched_id=match.fact.id,
        similarity=match.similarity,
        message_ids=fact.source_message_ids,
    )


def _stands_in_the_way(fact: Fact, known: Fact) -> bool:
    """Whether a similar fact that is known makes a new one superfluous."""
    if fact.id == known.id or not say_the_same(fact, known):
        return False
    if not known.is_live and _is_id(known.invalidated_by or ""):
        return False
    if known.valid_until is not None and fact.valid_from >= known.valid_until:
        return False
    return _telling(fact.content) == _telling(known.content)


def _telling(content: str) -> tuple[bool, frozenset[str]]:
    """Whether a text negates, and its words with digits: what an update may differ in alone."""
    words = words_of(content)
    return any(map(is_negation, words)), frozenset(word for word in words if any(map(str.isdigit, word)))


def _plain(content: str) -> str:
    return content.strip().casefold()


def _is_id(text: str) -> bool:
    try:
        check_id(text)
    except ValueError:
        return False
    return True
