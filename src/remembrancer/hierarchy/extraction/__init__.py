"""Extractors: what an episode says, as facts, entities and relationships."""

from remembrancer.hierarchy.extraction.llm import LLMExtractor
from remembrancer.hierarchy.extraction.rules import RuleBasedExtractor
from remembrancer.hierarchy.extraction.simple import SimpleExtractor
from remembrancer.hierarchy.extraction.spacy import SpacyExtractor
from remembrancer.hierarchy.extraction.verbs import verb_forms
from remembrancer.records.sentences import split_sentences

__all__ = ["LLMExtractor", "RuleBasedExtractor", "SimpleExtractor", "SpacyExtractor", "split_sentences", "verb_forms"]
