"""Ports: the small protocols that the domain is written against and that adapters fulfil."""

from remembrancer.ports.embedder import Embedder
from remembrancer.ports.index import Hit, MemoryIndex
from remembrancer.ports.ledger import KeepsLedger, OutcomeLedger, RecordedDecision, RecordedRun
from remembrancer.ports.llm import CountsUsage, LanguageModel, ModelUsage, StructuredModel
from remembrancer.ports.pushdown import ExtractsSubgraphs, OutlinesThemes, RetrievesMemory
from remembrancer.ports.runs import Baseline, FactStats, RunScores
from remembrancer.ports.stages import Clusterer, Clustering, Dropped, Extraction, Extractor, Segmenter
from remembrancer.ports.store import Direction, MemoryStore

__all__ = [
    "Baseline",
    "Clusterer",
    "Clustering",
    "CountsUsage",
    "Direction",
    "Dropped",
    "Embedder",
    "Extraction",
    "Extractor",
    "ExtractsSubgraphs",
    "FactStats",
    "Hit",
    "KeepsLedger",
    "LanguageModel",
    "MemoryIndex",
    "MemoryStore",
    "ModelUsage",
    "OutcomeLedger",
    "OutlinesThemes",
    "RecordedDecision",
    "RecordedRun",
    "RetrievesMemory",
    "RunScores",
    "Segmenter",
    "StructuredModel",
]
