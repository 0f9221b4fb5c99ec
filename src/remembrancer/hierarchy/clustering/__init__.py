"""Clusterers: facts gathered under themes."""

from remembrancer.hierarchy.clustering.consolidating import ConsolidatingThemeClusterer
from remembrancer.hierarchy.clustering.draft import GENERAL_LABEL
from remembrancer.hierarchy.clustering.naming import Name, ThemeNamer
from remembrancer.hierarchy.clustering.simple import SimpleThemeClusterer
from remembrancer.hierarchy.clustering.telling import Background, telling_words

__all__ = [
    "GENERAL_LABEL",
    "Background",
    "ConsolidatingThemeClusterer",
    "Name",
    "SimpleThemeClusterer",
    "ThemeNamer",
    "telling_words",
]
