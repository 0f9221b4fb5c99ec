"""The pluggable stages by which messages climb the hierarchy: segmenters, extractors, clusterers.

Message -> Episode (segmenter) -> Fact (extractor) -> Theme (clusterer). All take their clock and their ids from
outside, return changed copies, and know no store.
"""

from remembrancer.hierarchy.clustering import (
    GENERAL_LABEL,
    ConsolidatingThemeClusterer,
    SimpleThemeClusterer,
)
from remembrancer.hierarchy.extraction import (
    LLMExtractor,
    RuleBasedExtractor,
    SimpleExtractor,
    SpacyExtractor,
    split_sentences,
    verb_forms,
)
from remembrancer.hierarchy.segmenter import SimpleEpisodeSegmenter

__all__ = [
    "GENERAL_LABEL",
    "ConsolidatingThemeClusterer",
    "LLMExtractor",
    "RuleBasedExtractor",
    "SimpleEpisodeSegmenter",
    "SimpleExtractor",
    "SimpleThemeClusterer",
    "SpacyExtractor",
    "split_sentences",
    "verb_forms",
]
