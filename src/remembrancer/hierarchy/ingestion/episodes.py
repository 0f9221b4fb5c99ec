"""Fitting new messages into stored episodes: those within reach continue them, the rest begin new ones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.hierarchy.ingestion.cutting import Cut, Cutter
from remembrancer.ports import MemoryStore, Segmenter
from remembrancer.records import ConcurrencyError, Episode, Message
from remembrancer.records.key import derived_id

_FIRST = dt.datetime.min.replace(tzinfo=dt.UTC)
_LAST = dt.datetime.max.replace(tzinfo=dt.UTC)


@dataclass(frozen=True)
class GrownEpisode:
    """An episode as it is to be stored.

    Attributes:
        episode: With all its messages.
        added: Those of its messages that are new.
        stored: The episode as it is stored now; `None`: it is new.
        fell_back: Why it was cut at silences instead of by the segmenter; `None`: it was not.
    """

    episode: Episode
    added: tuple[Message, ...]
    stored: Episode | None
    fell_back: str | None = None


async def fit_into_episodes(
    messages: Sequence[Message], *, store: MemoryStore, segmenter: Segmenter
) -> list[GrownEpisode]:
    """Cut new messages into episodes, conversation by conversation, continuing stored ones where the segmenter does.

    An episode that began with messages of one conversation holds that conversation only. A new episode's id is made
    from its conversation and its first message, so that two writers of the same messages make the same episode. Where
    the segmenter fails, silences cut.

    Raises:
        ConcurrencyError: One of the messages is stored by now.
    """
    cutter = Cutter(segmenter)
    by_conversation: dict[str | None, list[Message]] = {}
    for message in messages:
        by_conversation.setdefault(message.conversation, []).append(message)
    grown: dict[str, GrownEpisode] = {}
    for conversation, said in by_conversation.items():
        cut = await cutter.cut(said)
        for episode in cut.episodes:
            for result in await _fit(episode, cut, conversation, grown, store=store, cutter=cutter):
                grown[result.episode.id] = result
    return list(grown.values())


async def _fit(
    fresh: Episode,
    cut: Cut,
    conversation: str | None,
    grown: dict[str, GrownEpisode],
    *,
    store: MemoryStore,
    cutter: Cutter,
) -> list[GrownEpisode]:
    near = await store.find_episode_near(
        conversation,
        starting_before=_later(fresh.ended_at, cutter.reach),
        ending_after=_earlier(fresh.started_at, cutter.reach),
    )
    if near is None:
        return [_new(fresh, conversation, cut.fell_back)]
    former = grown.get(near.id, GrownEpisode(near, (), near))
    held_now = {message.id for message in former.episode.messages}
    if any(message.id in held_now for message in fresh.messages):
        # Another writer stored it after it was seen to be new.
        before = len(held_now) - len(former.added)
        raise ConcurrencyError("episode", near.id, expected=before, actual=before + 1)
    added = (*former.added, *fresh.messages)
    new_ids = {message.id for message in added}
    held: list[Episode] = []
    apart: list[Episode] = []
    again = await cutter.cut([*former.episode.messages, *fresh.messages])
    fell_back = again.fell_back or cut.fell_back or former.fell_back
    for segment in again.episodes:
        is_new = all(message.id in new_ids for message in segment.messages)
        (apart if is_new else held).append(segment)
    news = [_new(segment, conversation, fell_back) for segment in apart]
    if not held or any(new.episode.id == near.id for new in news):
        return [_continued(near, [*held, *apart], added, fell_back)]
    return [_continued(near, held, added, fell_back), *news]


def _continued(
    stored: Episode, segments: Sequence[Episode], added: Sequence[Message], fell_back: str | None
) -> GrownEpisode:
    """The stored episode with the messages of some segments.

    Where the segmenter would now cut a stored episode in two, what is stored stays together.
    """
    ordered = sorted(segments, key=lambda segment: segment.started_at)
    messages = tuple(message for segment in ordered for message in segment.messages)
    held = {message.id for message in messages}
    episode = stored.model_copy(
        update={
            "messages": messages,
            "started_at": min(segment.started_at for segment in ordered),
            "ended_at": max(segment.ended_at for segment in ordered),
        }
    )
    return GrownEpisode(episode, tuple(message for message in added if message.id in held), stored, fell_back)


def _new(segment: Episode, conversation: str | None, fell_back: str | None) -> GrownEpisode:
    first = segment.messages[0]
    episode = segment.model_copy(update={"id": derived_id("episode", conversation, first.id)})
    return GrownEpisode(episode, tuple(segment.messages), None, fell_back)


def _later(instant: dt.datetime, by: dt.timedelta) -> dt.datetime:
    return instant + by if by < _LAST - instant else _LAST


def _earlier(instant: dt.datetime, by: dt.timedelta) -> dt.datetime:
    return instant - by if by < instant - _FIRST else _FIRST
