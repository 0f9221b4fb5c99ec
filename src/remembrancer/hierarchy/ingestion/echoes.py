"""Text that came out of a recall is no news when it comes back in.

An agent that stores its prompts stores what it was reminded of, and a memory that read facts from that would fill with
copies of what it holds. So what recalls have served is remembered, sentence by sentence, and nothing is read from a
sentence that says just that, whoever says it, under whatever date and name it was rendered. The message itself is
stored as it is; one that has nothing else in it is marked as derived, and so is known for what it is ever after.

A sentence whose fact was closed since is news again.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from remembrancer.hierarchy.ingestion.report import REREAD
from remembrancer.ports import MemoryStore
from remembrancer.records import Clock, Message, Provenance, system_clock
from remembrancer.records.key import derived_id
from remembrancer.records.sentences import split_sentences

_WORD = re.compile(r"\w+")
_RENDERED_DATE = re.compile(r"^\s*(?:[-*•>]\s+|\d+[.)]\s+)?(?:\[[^\]\n]{1,40}\]\s*)?")
_RENDERED_SPEAKER = re.compile(r"^[^:\n]{1,100}:\s+")
_LONGEST_PREFIXES = 4  # dates and speakers before a sentence that was itself stored as it had been rendered


class Served(Protocol):
    """What a recall shows: a fact, or sentences of a message."""

    @property
    def kind(self) -> str: ...  # noqa: D102 - `message` or `fact`
    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def episode_id(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True)
class HeardAgain:
    """A message beside what recalls have served.

    Attributes:
        message: As it is to be stored.
        news: What is left to be read; the message itself when it has no echo in it.
        echoes: How many sentences are not to be read.
    """

    message: Message
    news: Message
    echoes: int


class Echoes:
    """What recalls of this process have served, the last of it."""

    def __init__(self, *, clock: Clock = system_clock, most: int = 50_000) -> None:
        """Begin with nothing.

        Args:
            clock: When a message was marked as derived.
            most: How many sentences are remembered; the oldest go first.
        """
        self._clock = clock
        self._most = most
        self._served: OrderedDict[str, str | None] = OrderedDict()

    def serve(self, hits: Iterable[Served]) -> None:
        """Remember what a recall has just served."""
        for hit in hits:
            self.remember(hit.text, fact_id=hit.id if hit.kind == "fact" else None, episode_id=hit.episode_id)

    def remember(self, text: str, *, fact_id: str | None = None, episode_id: str | None = None) -> None:
        """Keep in mind that a text was served: a fact, or sentences of a message in an episode."""
        for sentence in _sentences(_flat(text)):
            fact = fact_id or (None if episode_id is None else fact_id_of(sentence, episode_id=episode_id))
            self._put(sentence, fact)
        if fact_id is not None:
            self._put(text, fact_id)

    def _put(self, sentence: str, fact_id: str | None) -> None:
        key = _key(sentence)
        if key:
            self._served[key] = fact_id
            self._served.move_to_end(key)
            if len(self._served) > self._most:
                self._served.popitem(last=False)

    async def hear(self, messages: Sequence[Message], *, store: MemoryStore) -> list[HeardAgain]:
        """Tell what is news in each message.

        Args:
            messages: On their way in.
            store: Where facts may have been closed.
        """
        closed = await self._closed(messages, store) if self._served else set()
        return [self._heard(message, closed) for message in messages]

    def _heard(self, message: Message, closed: set[str]) -> HeardAgain:
        if message.provenance is not None and message.provenance.source == "derived":
            return HeardAgain(message, message.model_copy(update={"content": ""}), len(_sentences(message.content)))
        if not self._served:
            return HeardAgain(message, message, 0)
        kept, echoes = [], 0
        for line in message.content.splitlines():
            left, gone = self._news_in(line, closed)
            kept += [left] if left or not gone else []
            echoes += gone
        if not echoes:
            return HeardAgain(message, message, 0)
        news = message.model_copy(update={"content": "\n".join(kept)})
        if not _key(news.content) and message.provenance is None:
            provenance = Provenance(source="derived", created_at=self._clock())
            message = message.model_copy(update={"provenance": provenance})
        return HeardAgain(message, news, echoes)

    def _news_in(self, line: str, closed: set[str]) -> tuple[str, int]:
        """What of a line no recall has served, and how many sentences one has."""
        sentences = _sentences(line)
        news = [sentence for sentence in sentences if not self._is_echo(sentence, closed)]
        if len(news) == len(sentences):
            return line, 0
        return " ".join(news), len(sentences) - len(news)

    def _is_echo(self, sentence: str, closed: set[str]) -> bool:
        keys = map(_key, _without_prefixes(sentence))
        return any(key in self._served and self._served[key] not in closed for key in keys)

    async def _closed(self, messages: Sequence[Message], store: MemoryStore) -> set[str]:
        facts = {
            fact_id
            for message in messages
            for line in message.content.splitlines()
            for sentence in _sentences(line)
            for bare in _without_prefixes(sentence)
            if (fact_id := self._served.get(_key(bare))) is not None
        }
        if not facts:
            return set()
        found = (await store.get_facts(sorted(facts))).values()
        # What was closed for a better reading of the same words is none the less known.
        return {fact.id for fact in found if not fact.is_live and fact.invalidated_by != REREAD}


def fact_id_of(content: str, *, episode_id: str) -> str:
    """The id of a fact that says this and was read from this episode."""
    return derived_id("fact", episode_id, " ".join(content.split()).casefold())


def _without_prefixes(line: str) -> Iterator[str]:
    """The line, and what it is without the dates and speakers that renderings put before it."""
    yield line
    for _ in range(_LONGEST_PREFIXES):
        undated = _RENDERED_DATE.sub("", line, count=1)
        if undated != line:
            yield undated
        unsaid = _RENDERED_SPEAKER.sub("", undated, count=1)
        if unsaid == line:
            return
        if unsaid != undated:
            yield unsaid
        line = unsaid


def _sentences(text: str) -> list[str]:
    return split_sentences(text, all_scripts=True)


def _flat(text: str) -> str:
    return " ".join(text.splitlines())


def _key(sentence: str) -> str:
    return " ".join(_WORD.findall(sentence.casefold()))
