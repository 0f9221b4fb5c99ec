"""Reading again what could not be read, or only by a simpler extractor than the one asked for.

An episode names the messages that are still to be read, so that nothing else has to be kept: the messages are stored,
and whoever reads them later finds them. What a simpler extractor made of them meanwhile is closed when the better
reading comes, not deleted; facts in which both agree stay as they are.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncIterator

from remembrancer.hierarchy.ingestion.admitting import admit
from remembrancer.hierarchy.ingestion.episodes import GrownEpisode
from remembrancer.hierarchy.ingestion.pipeline import OVERTAKEN, TRIES, Ingestion, Progress, pause, was_overtaken
from remembrancer.hierarchy.ingestion.reading import Reader, Reading
from remembrancer.hierarchy.ingestion.report import REREAD, IngestReport, ReportDraft
from remembrancer.hierarchy.ingestion.vectors import Vectors
from remembrancer.hierarchy.option import require_integer
from remembrancer.ports.admission import Gatekeeper
from remembrancer.records import Episode, Fact

logger = logging.getLogger(__name__)

_AT_ONCE = 20  # episodes held in memory


async def retry_extraction(
    ingestion: Ingestion,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    gatekeeper: Gatekeeper | None = None,
) -> IngestReport:
    """Read unread messages again, episode by episode; each episode is one transaction.

    Args:
        ingestion: As it takes messages in; its extractor is asked once an episode.
        limit: The most episodes to try, 0 or more; `None`: all.
        progress: Told after each episode how many messages have been tried.
        gatekeeper: Turns away facts that are not to be written; what it is to replace stands in no fact's way.

    Raises:
        InvalidInputError: A bad limit.
        ServerUnavailableError: The database or the embedder could not be reached; what was committed stays.
    """
    left = None if limit is None else require_integer(limit, field="limit")
    draft = ReportDraft()
    before = ingestion.usage()
    async for page in _pages(ingestion, left):
        reader = Reader(ingestion.extractor, at_once=ingestion.extractions_at_once)
        await reader.read([_to_read(episode) for episode in page])  # several at a time; below they are known
        for episode in page:
            draft.messages_read += len(_to_read(episode).added)
            await _read_again(ingestion, episode, reader, draft, gatekeeper)
            if progress is not None:
                progress(draft.messages_read)
    draft.add_usage(before, ingestion.usage())
    return draft.finished()


async def _pages(ingestion: Ingestion, left: int | None) -> AsyncIterator[list[Episode]]:
    after = None
    while left is None or left > 0:
        size = _AT_ONCE if left is None else min(left, _AT_ONCE)
        page = await ingestion.store.find_unread_episodes(after=after, limit=size)
        if not page:
            return
        yield page
        after = page[-1].id
        left = None if left is None else left - len(page)


def _to_read(episode: Episode) -> GrownEpisode:
    """The episode with its unread messages as what is new in it; what is derived from other records is none of them."""
    unread = set(episode.unread_message_ids)
    added = tuple(
        message
        for message in episode.messages
        if message.id in unread and not (message.provenance is not None and message.provenance.source == "derived")
    )
    return GrownEpisode(episode.model_copy(update={"unread_message_ids": ()}), added, episode)


async def _read_again(
    ingestion: Ingestion, found: Episode, reader: Reader, draft: ReportDraft, gatekeeper: Gatekeeper | None
) -> None:
    vectors = Vectors(ingestion.embedder)
    episode: Episode | None = found
    for attempt in range(TRIES):
        if episode is None or not episode.unread_message_ids:
            return  # somebody else has read or removed it meanwhile
        one = _to_read(episode)
        reading = await reader.read([one])
        if reading.unread and not any(reading.facts.values()):
            draft.add_reading(reading)
            return
        closed = [] if reading.unread else await _superseded(ingestion, one, reading)
        leaving = {fact.id for fact in closed}
        admitted = await admit(reading, vectors, gatekeeper, store=ingestion.store, leaving=leaving)
        try:
            batch = await ingestion.batch([one], reading, vectors, closed=closed, standing=admitted.standing)
            receipt = await ingestion.store.write(batch, idempotency_key=_key(one, reading))
        except OVERTAKEN as error:
            if attempt == TRIES - 1 or not was_overtaken(error):
                raise
            logger.debug("reading episode %s again: %s", episode.id, error)
            await pause(attempt)
            episode = await ingestion.store.get_episode(episode.id)
            continue
        draft.add_reading(reading)
        draft.refused += admitted.refused
        draft.add(receipt)
        return


async def _superseded(ingestion: Ingestion, one: GrownEpisode, reading: Reading) -> list[Fact]:
    """What a simpler extractor read from the same messages, closed; what somebody has tagged since is left alone."""
    read = {message.id for message in one.added}
    agreed = reading.repeated.get(one.episode.id, frozenset())
    closed = []
    for fact in (await ingestion.store.get_facts(list(one.episode.fact_ids))).values():
        sources = set(fact.source_message_ids)
        is_ours = fact.provenance.source == "derived" and fact.is_live and not fact.tags
        if is_ours and sources and sources <= read and fact.id not in agreed:
            closed.append(fact.model_copy(update={"invalidated_by": REREAD}))
    return closed


def _key(one: GrownEpisode, reading: Reading) -> str | None:
    """Of two that read the same messages again at once, one writes."""
    if reading.unread:
        return None
    read = "".join(sorted(message.id for message in one.added))
    return f"extraction-reread/{one.episode.id}/{hashlib.sha256(read.encode()).hexdigest()}"
