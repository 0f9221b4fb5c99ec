"""Extractors: what an episode says, as facts, entities and relationships."""

from remembrancer.hierarchy.extraction.rules import RuleBasedExtractor
from remembrancer.hierarchy.extraction.simple import SimpleExtractor
from remembrancer.hierarchy.extraction.verbs import verb_forms
from remembrancer.records.sentences import split_sentences

__all__ = ["RuleBasedExtractor", "SimpleExtractor", "split_sentences", "verb_forms"]
