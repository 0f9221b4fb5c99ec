"""Extraction by a language model, with rules to fall back on while it fails.

An answer of no facts is an answer. Only a model that fails, is too slow or speaks no JSON falls back, and says so in
`Extraction.fell_back`, so that whoever stores the result can have the episode read again later.

After some failures in a row a breaker trips, and the model is left in peace for a while. Then every call is let through
again, until one fails, which trips it at once, or one succeeds, which closes it.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from remembrancer.hierarchy.breaker import Breaker
from remembrancer.hierarchy.extraction.derived import Derivation
from remembrancer.hierarchy.extraction.llm_answer import Answer, held_array, parsed_array, taken
from remembrancer.hierarchy.extraction.llm_prompt import SCHEMA, extraction_prompt
from remembrancer.hierarchy.extraction.llm_sources import Sources
from remembrancer.hierarchy.extraction.rules import RuleBasedExtractor
from remembrancer.hierarchy.option import require_integer, require_number, require_record
from remembrancer.hierarchy.reason import reason_of
from remembrancer.ports.llm import LanguageModel, StructuredModel
from remembrancer.ports.stages import Extraction, Extractor
from remembrancer.records import Clock, Episode, InvalidInputError, NewId, random_id, system_clock

logger = logging.getLogger(__name__)


class LLMExtractor:
    """Reads facts, entities and relationships from an episode by asking a language model."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        max_facts_per_episode: int = 20,
        timeout_ms: float = 30_000,
        max_consecutive_failures: int = 3,
        breaker_cooldown_ms: float = 60_000,
        fallback: Extractor | None = None,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
        rng: random.Random | None = None,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make an extractor.

        Args:
            model: What is asked. One that can be held to a form (`StructuredModel`) is, and mends an answer that does
                not fit; of any other, strict JSON is expected.
            max_facts_per_episode: The most facts that are taken of one answer, 0 or more; the rest is counted as
                dropped.
            timeout_ms: How long one episode may take, in milliseconds.
            max_consecutive_failures: After how many failures in a row the breaker trips; with 0 or 1, at the first.
            breaker_cooldown_ms: How long the model is then left in peace, in milliseconds.
            fallback: What reads an episode when the model fails; by default `RuleBasedExtractor`.
            clock: When the records were made.
            new_id: Ids of the records.
            rng: Makes the token that fences messages in; by default the system's source of randomness.
            timer: Seconds that pass, for the breaker; only differences count.

        Raises:
            InvalidInputError: An option is out of its bounds.
        """
        if not isinstance(model, LanguageModel):
            raise InvalidInputError("model", f"expected a language model, got {type(model).__name__}")
        self._model = model
        self._most = require_integer(max_facts_per_episode, field="max_facts_per_episode")
        self._timeout_s = require_number(timeout_ms, field="timeout_ms", least=0) / 1000
        self._fallback = fallback or RuleBasedExtractor(clock=clock, new_id=new_id)
        self._clock = clock
        self._new_id = new_id
        self._rng = rng or random.SystemRandom()
        self._breaker = Breaker(
            limit=require_integer(max_consecutive_failures, field="max_consecutive_failures"),
            cooldown_s=require_number(breaker_cooldown_ms, field="breaker_cooldown_ms", least=0) / 1000,
            timer=timer,
        )
        self._failure = ""

    @property
    def failures(self) -> int:
        """How many calls of the model failed since the last one that did not."""
        return self._breaker.failures

    async def extract(self, episode: Episode) -> Extraction:
        """What the model reads in the episode's messages; what the fallback does, when the model fails.

        A fact cites the messages that share most of its words.

        Raises:
            InvalidInputError: Something else than an episode was handed in.
        """
        require_record(episode, Episode, field="episode")
        if self._breaker.is_open:
            told = f"the model is left in peace after {self.failures} failures in a row, the last one: {self._failure}"
            return await self._fallen_back(episode, told)
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await self._ask(episode)
        except Exception as error:  # whatever a model or its client raises, the episode is read all the same
            reason = self._failure = _reason(error, self._timeout_s)
            if self._breaker.fail():
                logger.warning("the model failed %d times in a row and is left in peace", self.failures)
            return await self._fallen_back(episode, reason)
        self._breaker.succeed()
        derivation = Derivation(episode, now=self._clock(), new_id=self._new_id)
        answer.write_to(derivation, Sources(episode.messages).of)
        return replace(derivation.extraction(), dropped=answer.dropped)

    async def _ask(self, episode: Episode) -> Answer:
        model = self._model
        if isinstance(model, StructuredModel):
            prompt = extraction_prompt(episode, most=self._most, is_held_to_schema=True, rng=self._rng)
            array: list[Any] = await model.answer(prompt, schema=SCHEMA, read=held_array)
        else:
            prompt = extraction_prompt(episode, most=self._most, is_held_to_schema=False, rng=self._rng)
            array = parsed_array(await model.complete(prompt))
        return taken(array, most=self._most)

    async def _fallen_back(self, episode: Episode, reason: str) -> Extraction:
        logger.warning("episode %s was read without the model: %s", episode.id, reason)
        return replace(await self._fallback.extract(episode), fell_back=reason)


def _reason(error: Exception, timeout_s: float) -> str:
    if isinstance(error, TimeoutError) and not str(error):
        return f"no answer within {timeout_s:g} s"
    return reason_of(error)
