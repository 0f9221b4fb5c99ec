"""Clusterers: facts gathered under themes."""

from remembrancer.hierarchy.clustering.consolidating import ConsolidatingThemeClusterer
from remembrancer.hierarchy.clustering.draft import GENERAL_LABEL
from remembrancer.hierarchy.clustering.simple import SimpleThemeClusterer

__all__ = ["GENERAL_LABEL", "ConsolidatingThemeClusterer", "SimpleThemeClusterer"]
