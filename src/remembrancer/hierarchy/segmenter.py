"""Cutting messages into episodes by the silence between them.

Only time decides: neither conversation nor speaker nor content is looked at, so whoever keeps conversations apart
hands them in one by one. A gap of exactly the threshold does not cut.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

from remembrancer.hierarchy.option import require_integer, require_number, require_records
from remembrancer.records import Clock, Episode, Message, NewId, Provenance, random_id, system_clock

_MICROSECOND = dt.timedelta(microseconds=1)


class SimpleEpisodeSegmenter:
    """Begins a new episode after each silence longer than a threshold."""

    def __init__(
        self,
        *,
        gap_threshold_ms: float = 300_000,
        max_topic_length: int = 100,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
    ) -> None:
        """Make a segmenter.

        Args:
            gap_threshold_ms: The longest silence within an episode, in milliseconds, 0 or more.
            max_topic_length: The most characters (code points) of a topic, 0 or more.
            clock: When the episodes were made.
            new_id: Ids of the episodes.

        Raises:
            InvalidInputError: An option is out of its bounds.
        """
        self._gap_threshold_ms = require_number(gap_threshold_ms, field="gap_threshold_ms", least=0)
        self._max_topic_length = require_integer(max_topic_length, field="max_topic_length")
        self._clock = clock
        self._new_id = new_id

    @property
    def reach(self) -> dt.timedelta:
        """The longest silence within an episode."""
        try:
            return dt.timedelta(milliseconds=self._gap_threshold_ms)
        except OverflowError:
            return dt.timedelta.max

    async def segment(self, messages: Sequence[Message]) -> list[Episode]:
        """Cut messages into episodes, in order of time.

        Every message given is in exactly one episode; those of the same instant keep the order they came in.
        A topic is the beginning of the episode's first message, and empty when that is.

        Raises:
            InvalidInputError: Something else than messages was handed in.
        """
        given = require_records(messages, Message, field="messages")
        stretches: list[list[Message]] = []
        for message in sorted(given, key=_said_at):
            if stretches and not self._is_apart(stretches[-1][-1], message):
                stretches[-1].append(message)
            else:
                stretches.append([message])
        return self._episodes(stretches)

    def _is_apart(self, earlier: Message, later: Message) -> bool:
        # Whole microseconds, so that a gap of exactly the threshold is never lifted over it by rounding.
        return (later.timestamp - earlier.timestamp) // _MICROSECOND > self._gap_threshold_ms * 1000

    def _episodes(self, stretches: Iterable[Sequence[Message]]) -> list[Episode]:
        provenance = Provenance(source="system", created_at=self._clock())
        return [
            Episode(
                id=self._new_id(),
                topic=stretch[0].content[: self._max_topic_length],
                messages=stretch,
                started_at=stretch[0].timestamp,
                ended_at=stretch[-1].timestamp,
                provenance=provenance,
            )
            for stretch in stretches
        ]


def _said_at(message: Message) -> dt.datetime:
    return message.timestamp
