"""Extraction by grammar: names and relations from the dependency parse of a spaCy pipeline, without a language model.

It finds far more relations than the rules do, in running text above all, and still tells none that a sentence denies,
doubts, asks or only plans. It reads English: the labels are those of spaCy's English pipelines. Facts are sentences,
as with the rules.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remembrancer.hierarchy.extraction.derived import Derivation
from remembrancer.hierarchy.extraction.parsed.clauses import Clauses, Relation
from remembrancer.hierarchy.extraction.parsed.mentions import find_mentions
from remembrancer.hierarchy.extraction.parsed.references import Name, References, Register
from remembrancer.hierarchy.option import require_integer, require_record
from remembrancer.ports.stages import Extraction
from remembrancer.records import Clock, Episode, InvalidInputError, Message, NewId, random_id, system_clock
from remembrancer.records.file import require_path
from remembrancer.records.sentences import collapsed, split_sentences

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

logger = logging.getLogger(__name__)

PORTION = 10_000
"""The most characters that are parsed at once; what a pronoun means is looked for within them. A sentence with more is
a fact without entities, and the log says so: it is no sentence of a language."""


@dataclass(frozen=True)
class _Portion:
    """A stretch of one message, and its sentences: where each begins and ends, and what it is as a fact."""

    message: Message
    text: str
    sentences: tuple[tuple[int, int, str], ...]


class SpacyExtractor:
    """Reads facts, entities and relationships from an episode with the parse of a spaCy pipeline."""

    def __init__(
        self,
        nlp: Language,
        *,
        min_sentence_length: int = 20,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
    ) -> None:
        """Make an extractor.

        Args:
            nlp: A loaded English pipeline with a tagger, a dependency parser and a lemmatizer; with an entity
                recogniser it tells people, organizations and places apart more often. It is called from a thread of
                its own, one call at a time.
            min_sentence_length: The fewest characters (code points) of a sentence that is a fact, 0 or more.
            clock: When the records were made.
            new_id: Ids of the records.

        Raises:
            InvalidInputError: Not a pipeline, or one without a dependency parser or part-of-speech tags; or an option
                is out of its bounds.
        """
        _check(nlp)
        self._nlp = nlp
        self._min_sentence_length = require_integer(min_sentence_length, field="min_sentence_length")
        self._clock = clock
        self._new_id = new_id
        self._one_at_a_time = threading.Lock()

    async def extract(self, episode: Episode) -> Extraction:
        """What the episode's messages say.

        Each sentence is a fact that lists the entities it names or refers to; a sentence said again in the same
        episode, whatever its case and spacing, is not a second fact. Relationships are told once an episode. An
        entity has the fullest of its names in the episode. "I" is the message's speaker, where there is one.

        Raises:
            InvalidInputError: Something else than an episode was handed in.
        """
        require_record(episode, Episode, field="episode")
        portions = [one for message in episode.messages for one in _portions(message)]
        parsed = await asyncio.to_thread(self._parse, [portion.text for portion in portions])
        mentions = [find_mentions(doc) for doc in parsed]
        speakers = [message.speaker for message in episode.messages if message.speaker]
        register = Register([mention for found in mentions for mention in found], speakers=speakers)
        derivation = Derivation(episode, now=self._clock(), new_id=self._new_id)
        said: set[str] = set()
        told: dict[tuple[str, str, str], Relation] = {}
        for portion, doc, found in zip(portions, parsed, mentions, strict=True):
            references = References(doc, found, register, speaker=portion.message.speaker)
            self._add_facts(derivation, portion, references, said)
            for relation in Clauses(doc, references).relations():
                told.setdefault((relation.source.text, relation.relation, relation.target.text), relation)
        for relation in told.values():
            source = derivation.entity_id(relation.source.text, relation.source.kind)
            target = derivation.entity_id(relation.target.text, relation.target.kind)
            derivation.add_relationship(source, relation.relation, target)
        return derivation.extraction()

    def _parse(self, texts: Sequence[str]) -> list[Doc]:
        with self._one_at_a_time:
            return list(self._nlp.pipe(texts))  # twice as quick as one by one

    def _add_facts(self, derivation: Derivation, portion: _Portion, references: References, said: set[str]) -> None:
        for start, end, sentence in portion.sentences:
            form = collapsed(sentence.lower())
            if len(sentence) < self._min_sentence_length or form in said:
                continue
            said.add(form)
            ids = [derivation.entity_id(name.text, name.kind) for name in _distinct(references.names_in(start, end))]
            derivation.add_fact(sentence, entity_ids=dict.fromkeys(ids), message_ids=[portion.message.id])


def load_pipeline(name: str) -> Language:
    """Load a spaCy pipeline by the name of its package or the path of its folder. Needs the extra `spacy`.

    Raises:
        InvalidInputError: spaCy is not installed, there is no such pipeline, or it is of another version of spaCy.
    """
    folder = require_path(name, field="extractor")
    try:
        import spacy
    except ModuleNotFoundError as error:
        raise InvalidInputError("extractor", "spaCy is not installed: pip install 'remembrancer[spacy]'") from error
    try:
        return spacy.load(folder if folder.is_dir() else name)
    except (OSError, ValueError) as error:
        raise InvalidInputError("extractor", f"{name} is not a spaCy pipeline: {error}") from error


def _check(nlp: object) -> None:
    has_pipe = getattr(nlp, "has_pipe", None)
    if not callable(nlp) or not callable(has_pipe):
        raise InvalidInputError("nlp", f"expected a loaded spaCy pipeline, got {type(nlp).__name__}")
    if not has_pipe("parser"):
        raise InvalidInputError("nlp", "the pipeline has no component `parser`, which finds who did what")
    if not any(map(has_pipe, ("tagger", "morphologizer"))):
        raise InvalidInputError("nlp", "the pipeline has no component `tagger`, which tells names from other words")
    if not has_pipe("lemmatizer"):
        raise InvalidInputError("nlp", "the pipeline has no component `lemmatizer`, which names the relations")


def _distinct(names: Sequence[Name]) -> list[Name]:
    return list({name.text: name for name in names}.values())


def _portions(message: Message) -> Iterator[_Portion]:
    """Cut a message, between sentences, into what is parsed at once."""
    content, place, begin = message.content, 0, 0
    sentences: list[tuple[int, int, str]] = []
    for sentence in split_sentences(content):
        start = content.index(sentence, place)
        place = start + len(sentence)
        if sentences and place - begin > PORTION:
            yield _Portion(message, content[begin : sentences[-1][1]], _moved(sentences, begin))
            sentences = []
        if len(sentence) > PORTION:
            logger.warning("message %s: a sentence of %d characters is not parsed", message.id, len(sentence))
            yield _Portion(message, "", ((0, 0, sentence),))
            continue
        if not sentences:
            begin = start
        sentences.append((start, place, sentence))
    if sentences:
        yield _Portion(message, content[begin : sentences[-1][1]], _moved(sentences, begin))


def _moved(sentences: Sequence[tuple[int, int, str]], begin: int) -> tuple[tuple[int, int, str], ...]:
    return tuple((start - begin, end - begin, sentence) for start, end, sentence in sentences)
