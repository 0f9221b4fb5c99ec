"""Extraction by rules: each sentence is a fact, capitals and quotes make names, verbs between names make edges.

No model and no network: quick, free, repeatable, and blind to whatever has another shape. It is what other
extractors fall back to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from remembrancer.hierarchy.extraction.alphabet import ASCII, every_script
from remembrancer.hierarchy.extraction.derived import Derivation
from remembrancer.hierarchy.extraction.names import NameFinder
from remembrancer.hierarchy.extraction.relations import RelationFinder
from remembrancer.hierarchy.extraction.verbs import verb_forms
from remembrancer.hierarchy.option import require_flag, require_integer, require_record
from remembrancer.ports.stages import Extraction
from remembrancer.records import Clock, Episode, NewId, random_id, system_clock
from remembrancer.records.sentences import collapsed, split_sentences


class RuleBasedExtractor:
    """Reads facts, entities and relationships from an episode by rules alone."""

    def __init__(
        self,
        *,
        min_sentence_length: int = 20,
        entity_patterns: Sequence[str | re.Pattern[str]] = (),
        relationship_verbs: Sequence[str] = (),
        unicode_names: bool = False,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
    ) -> None:
        """Make an extractor.

        Args:
            min_sentence_length: The fewest characters (code points) of a sentence that is a fact, 0 or more.
            entity_patterns: Regular expressions of further names, found as concepts: the first group, without groups
                the whole match.
            relationship_verbs: Further base verbs, words joined by underscores (`agree_with`); regular forms are
                found too.
            unicode_names: Know the capitals and small letters of every script, not only A to Z, the curly apostrophe
                of a denial, and the sentence marks of other scripts.
            clock: When the records were made.
            new_id: Ids of the records.

        Raises:
            InvalidInputError: An option is out of its bounds.
        """
        alphabet = every_script() if require_flag(unicode_names, field="unicode_names") else ASCII
        self._min_sentence_length = require_integer(min_sentence_length, field="min_sentence_length")
        self._all_scripts = unicode_names
        self._names = NameFinder(entity_patterns, alphabet=alphabet)
        self._relations = RelationFinder(verb_forms(relationship_verbs), alphabet=alphabet)
        self._clock = clock
        self._new_id = new_id

    async def extract(self, episode: Episode) -> Extraction:
        """What the episode's messages say, sentence by sentence.

        A sentence said again in the same episode, whatever its case and spacing, is not a second fact. A name's type
        is that of the first sentence it appeared in.

        Raises:
            InvalidInputError: Something else than an episode was handed in.
        """
        require_record(episode, Episode, field="episode")
        derivation = Derivation(episode, now=self._clock(), new_id=self._new_id)
        for message_id, sentence in self._sentences(episode):
            names = self._names.find(sentence)
            ids = {name: derivation.entity_id(name, entity_type) for name, entity_type in names.items()}
            derivation.add_fact(sentence, entity_ids=ids.values(), message_ids=[message_id])
            for relation in self._relations.find(sentence, names):
                derivation.add_relationship(ids[relation.source], relation.verb, ids[relation.target])
        return derivation.extraction()

    def _sentences(self, episode: Episode) -> Iterator[tuple[str, str]]:
        seen = set()
        for message in episode.messages:
            for sentence in split_sentences(message.content, all_scripts=self._all_scripts):
                if len(sentence) < self._min_sentence_length:
                    continue
                form = collapsed(sentence.lower())
                if form not in seen:
                    seen.add(form)
                    yield message.id, sentence
