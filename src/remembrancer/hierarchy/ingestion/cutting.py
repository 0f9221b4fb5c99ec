"""Cutting by a segmenter that may fail: an ingest goes on, cut at silences, and tells.

A segmenter is whatever the user passed. One that raises, or loses a message, must neither stop an ingest nor cost a
message.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from remembrancer.hierarchy.reason import reason_of
from remembrancer.hierarchy.segmenter import SimpleEpisodeSegmenter
from remembrancer.ports import Segmenter
from remembrancer.records import Episode, Message

logger = logging.getLogger(__name__)


class Cut(NamedTuple):
    """Episodes, and why they were cut at silences instead of by the segmenter; `None`: they were not."""

    episodes: list[Episode]
    fell_back: str | None


class Cutter:
    """A segmenter, and what cuts in its place where it fails."""

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter
        self._simple = SimpleEpisodeSegmenter()

    @property
    def reach(self) -> dt.timedelta:
        """As of the segmenter."""
        return self._segmenter.reach

    async def cut(self, messages: Sequence[Message]) -> Cut:
        """The messages as episodes, each message in exactly one."""
        try:
            episodes = await self._segmenter.segment(messages)
            problem = _problem(episodes, messages)
        except Exception as error:  # whatever a segmenter raises, the messages are stored all the same
            logger.debug("the segmenter failed", exc_info=True)
            problem = reason_of(error)
        if problem is None:
            return Cut(list(episodes), None)
        return Cut(await self._simple.segment(messages), f"the segmenter failed, cut at silences instead: {problem}")


def _problem(episodes: object, messages: Sequence[Message]) -> str | None:
    """What is wrong with what a segmenter gave."""
    if not isinstance(episodes, Sequence) or not all(isinstance(one, Episode) for one in episodes):
        return f"expected a list of Episode records, got {type(episodes).__name__}"
    if not all(one.messages for one in episodes):
        return "an episode without messages"
    given = Counter(message.id for message in messages)
    cut = Counter(message.id for one in episodes for message in one.messages)
    lost, more = (given - cut).total(), (cut - given).total()
    return f"{lost} messages are in no episode, {more} in more than one or from elsewhere" if lost or more else None
