"""Fact admission: whether a text says something that the memory does not hold, or once held and gave up.

Compared are texts by their vectors where there is an embedder, else by their words. Closed and quarantined facts count,
so that a lesson which was evicted does not come back through the door.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from remembrancer.lifecycle.words import is_part_of_word
from remembrancer.ports import Embedder, MemoryStore
from remembrancer.ports.admission import AdmissionReason
from remembrancer.ports.arguments import keys, text, whole_number
from remembrancer.ports.embedder import embedded
from remembrancer.records import Fact, InvalidInputError, cosine
from remembrancer.records.base import Record
from remembrancer.records.key import Id
from remembrancer.records.number import is_finite

EMBEDDING_THRESHOLD = 0.85
"""From which cosine on a text is refused, where there is an embedder."""

LEXICAL_THRESHOLD = 0.6
"""From which share of common words on a text is refused, without one."""

_STOP_LIST = """
a an and are as at be been but by can for from had has have in is it its of on or that the their they this to was were
which will with
"""
_STOP_WORDS = frozenset(_STOP_LIST.split())
_SHORTEST = 3


class Admission(Record):
    """Whether a text was admitted.

    Attributes:
        is_admitted: Whether it may become a fact.
        reason: Why not.
        matched_id: The fact that it is most similar to, when it was refused.
        similarity: How similar: a cosine, or a share of common words.
    """

    is_admitted: bool
    reason: AdmissionReason | None = None
    matched_id: Id | None = None
    similarity: float | None = None


ADMITTED = Admission(is_admitted=True)


async def check_fact_admission(
    store: MemoryStore,
    content: str,
    *,
    threshold: float | None = None,
    tags: Sequence[str] = (),
    limit: int = 1_000,
    embedder: Embedder | None = None,
) -> Admission:
    """Compare a text with stored facts, closed and quarantined ones too.

    Args:
        store: The memory.
        content: What wants to become a fact.
        threshold: From which similarity on it is refused, included; by default `EMBEDDING_THRESHOLD` with an embedder,
            `LEXICAL_THRESHOLD` without.
        tags: Only facts with at least one of these count; empty: all.
        limit: How many facts are looked at, newest first; 0 or more.
        embedder: Makes vectors, in one call: of the text, and of facts that have none. `None`: words are compared.

    Raises:
        InvalidInputError: An argument is wrong, or the embedder gave another number of vectors than texts.
        ServerUnavailableError: The database or the embedder could not be reached.
    """
    checked = text(content, field="content")
    least = require_threshold(threshold, embedder)
    wanted, most = keys(tags, field="tags"), whole_number(limit, field="limit")
    facts = await store.find_facts(include_invalidated=True, tags=wanted, limit=most)
    if not facts:
        return ADMITTED
    if embedder is None:
        scores = [token_similarity(checked, fact.content) for fact in facts]
    else:
        scores = await _cosines(checked, facts, embedder)
    best, matched = -1.0, None
    for score, fact in zip(scores, facts, strict=True):
        if score > best:
            best, matched = score, fact
    if matched is None or best < least:
        return ADMITTED
    return refused(matched, best)


def refused(matched: Fact, similarity: float) -> Admission:
    """The refusal of a text that is as similar to this fact."""
    return Admission(
        is_admitted=False,
        reason="duplicate" if matched.is_live else "evicted_reentry",
        matched_id=matched.id,
        similarity=similarity,
    )


def require_threshold(threshold: object, embedder: Embedder | None) -> float:
    """Read the similarity from which on a text is refused.

    Raises:
        InvalidInputError: Not a finite number.
    """
    if threshold is None:
        return LEXICAL_THRESHOLD if embedder is None else EMBEDDING_THRESHOLD
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise InvalidInputError("threshold", f"expected a number, got {type(threshold).__name__}")
    if not is_finite(threshold):
        raise InvalidInputError("threshold", f"expected a finite number, got {threshold}")
    return float(threshold)


@lru_cache(maxsize=4_096)
def tokens_of(content: str) -> frozenset[str]:
    """What is compared of a text without vectors: its longer words.

    Runs of letters, digits and marks of any script, in lower case, of 3 characters or more, without stop words.
    """
    spaced = "".join(one if is_part_of_word(one) else " " for one in content.lower())
    return frozenset(token for token in spaced.split() if len(token) >= _SHORTEST and token not in _STOP_WORDS)


def token_similarity(a: str, b: str) -> float:
    """Common words as a share of all, 0 to 1 (Jaccard).

    Of two texts without any longer word 1 when they are equal, case and outer white space aside, else 0.
    """
    tokens_a, tokens_b = tokens_of(a), tokens_of(b)
    if not tokens_a and not tokens_b:
        return float(a.strip().casefold() == b.strip().casefold())
    shared = len(tokens_a & tokens_b)
    return shared / (len(tokens_a) + len(tokens_b) - shared)


async def _cosines(content: str, facts: Sequence[Fact], embedder: Embedder) -> list[float]:
    bare = [fact for fact in facts if fact.embedding is None]
    texts = [content, *(fact.content for fact in bare)]
    vectors = await embedded(embedder, texts)
    own, *fresh = vectors
    made = dict(zip((fact.id for fact in bare), fresh, strict=True))
    return [cosine(own, made[fact.id] if fact.embedding is None else fact.embedding) for fact in facts]
