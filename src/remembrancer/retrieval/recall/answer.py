"""What a recall gives back: hits with their reasons, what was left out, and the rendering for a prompt."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Literal

from remembrancer.ports.recall import PARTS
from remembrancer.records import InvalidInputError
from remembrancer.records.base import Listed, Record
from remembrancer.records.instant import Instant
from remembrancer.retrieval.recall.tokens import TokenCounter, estimate_tokens


class RecallHit(Record):
    """One piece of evidence.

    Attributes:
        kind: `message` (sentences of one) or `fact`.
        id: Of the message or fact.
        text: What to show.
        score: Sum of `parts` and of what its sentence adds; only comparable within one recall.
        parts: Why it was found: each part of the score by its name, to four decimal places.
        episode_id: The episode it belongs to, if any.
        position: Its place in the episode.
        speaker: Who said it.
        at: When it was said, or from when the fact holds.
        source_ids: Messages that it was made from.
    """

    kind: Literal["message", "fact"]
    id: str
    text: str
    score: float
    parts: dict[str, float]
    episode_id: str | None = None
    position: int = 0
    speaker: str | None = None
    at: Instant
    source_ids: Listed[str] = ()


class LeftOut(Record):
    """What a recall did not show, and why.

    Attributes:
        below_limit: Evidence that ranked behind the last one shown.
        superseded: Closed facts among the candidates.
        at_other_times: Counted only where nothing was found, to about a hundred: messages and facts that would have
            been, had they been said, held or been recorded by the instants asked for.
        repeated: Evidence whose text another hit shows already.
        words: Words of the question that were not searched for, since it has too many.
    """

    below_limit: int = 0
    superseded: int = 0
    at_other_times: int = 0
    repeated: int = 0
    words: int = 0


EmptyBecause = Literal["nothing asked", "nothing stored", "nothing held then", "nothing similar"]


class Recall(Record):
    """The answer to a recall.

    Attributes:
        text: What was asked.
        valid_at: The instant that it was asked for.
        hits: Best first.
        left_out: What is not shown, and why.
        empty_because: Why there are no hits; `None` when there are some.
        searched: How: `vectors and text`, `text`.
    """

    text: str
    valid_at: Instant
    hits: Listed[RecallHit] = ()
    left_out: LeftOut = LeftOut()
    empty_because: EmptyBecause | None = None
    searched: Literal["vectors and text", "text"] = "vectors and text"

    def to_dict(self) -> dict[str, object]:
        """The answer as plain values, fit for JSON."""
        return self.model_dump(mode="json")

    def lines(self) -> list[str]:
        """Each hit as a line of its own, in the order of the hits.

        The date is printed once an episode and the speaker once a message, where they come first.
        """
        return list(_lines(self.hits))

    def to_prompt(self, *, max_tokens: int | None = None, count_tokens: TokenCounter = estimate_tokens) -> str:
        """The evidence as text for a model: the best that fits, in order of time, grouped by episode.

        Args:
            max_tokens: The most tokens of the whole text, by `count_tokens`; `None`: everything.
            count_tokens: Counts the tokens of a text; the default estimates them.

        Raises:
            InvalidInputError: `max_tokens` is not a positive integer.
        """
        if max_tokens is None:
            return _rendered(self.hits)
        if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
            raise InvalidInputError("max_tokens", f"expected a positive integer, got {max_tokens!r}")
        return _rendered(fitting(self.hits, max_tokens=max_tokens, count_tokens=count_tokens))


def fitting(hits: Sequence[RecallHit], *, max_tokens: int, count_tokens: TokenCounter) -> list[RecallHit]:
    """The longest beginning of the hits whose rendering has at most `max_tokens`, then later hits that still fit."""
    kept: list[RecallHit] = []
    misses = 0
    for hit in hits:
        if count_tokens(_rendered([*kept, hit])) <= max_tokens:
            kept.append(hit)
        else:
            misses += 1
            if misses == _PATIENCE:
                break
    return kept


_PATIENCE = 8  # hits too long for what is left of the budget before the search for a shorter one ends


def parts_of(values: Sequence[float]) -> dict[str, float]:
    """The parts of a score by name, without those that add nothing."""
    named = zip((*PARTS, "sentence"), values, strict=True)
    return {name: round(value, 4) for name, value in named if abs(value) >= 5e-5}


def _flat(text: str) -> str:
    # A line break inside a stored text would let it pose as the next line of evidence.
    return " ".join(text.splitlines())


def _when(at: dt.datetime) -> str:
    return f"{at.day} {at:%b} {at.year}"


def _lines(hits: Iterable[RecallHit]) -> Iterable[str]:
    dated: set[str] = set()
    named: set[str] = set()
    for hit in hits:
        place = hit.episode_id or hit.id
        head = "" if place in dated else f"[{_when(hit.at)}] "
        who = "" if hit.id in named or not hit.speaker else f"{_flat(hit.speaker)}: "
        dated.add(place)
        named.add(hit.id)
        yield f"{head}{who}{_flat(hit.text)}"


def _rendered(hits: Sequence[RecallHit]) -> str:
    first_of: dict[str, dt.datetime] = {}
    for hit in hits:
        place = hit.episode_id or hit.id
        first_of[place] = min(first_of.get(place, hit.at), hit.at)
    ordered = sorted(
        hits, key=lambda hit: (first_of[hit.episode_id or hit.id], hit.episode_id or hit.id, hit.position, hit.at)
    )
    return "\n".join(_grouped(ordered))


def _grouped(ordered: Iterable[RecallHit]) -> Iterable[str]:
    line = ""
    place = said = None
    for hit in ordered:
        if said == hit.id:
            line += f" {_flat(hit.text)}"
            continue
        if line:
            yield line
        head = f"[{_when(hit.at)}] " if place != (hit.episode_id or hit.id) else ""
        line = f"{head}{_flat(hit.speaker)}: {_flat(hit.text)}" if hit.speaker else f"{head}{_flat(hit.text)}"
        place, said = hit.episode_id or hit.id, hit.id
    if line:
        yield line
