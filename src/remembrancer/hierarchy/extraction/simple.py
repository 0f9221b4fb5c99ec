"""The least extractor: an episode's topic is its one fact."""

from __future__ import annotations

from remembrancer.hierarchy.extraction.derived import Derivation
from remembrancer.hierarchy.option import require_record
from remembrancer.ports.stages import Extraction
from remembrancer.records import Clock, Episode, NewId, random_id, system_clock


class SimpleExtractor:
    """Reads one fact from an episode, its topic, and no entities; none from an episode without topic."""

    def __init__(self, *, clock: Clock = system_clock, new_id: NewId = random_id) -> None:
        """Make an extractor.

        Args:
            clock: When the records were made.
            new_id: Ids of the records.
        """
        self._clock = clock
        self._new_id = new_id

    async def extract(self, episode: Episode) -> Extraction:
        """The topic as a fact, verbatim.

        Raises:
            InvalidInputError: Something else than an episode was handed in.
        """
        require_record(episode, Episode, field="episode")
        derivation = Derivation(episode, now=self._clock(), new_id=self._new_id)
        if episode.topic:
            derivation.add_fact(episode.topic)
        return derivation.extraction()
