"""Measuring the memory: retrieval and extraction, on data that whoever measures brings along.

No language model takes part, and no data is shipped. `read_retrieval_set` reads conversations or paragraphs with
questions whose evidence is known; `run_retrieval` puts them into memories, asks the questions, lets the flat methods
answer them too, and scores all of them alike. `read_extraction_set` and `run_extraction` do so for labelled sentences.
"""

from __future__ import annotations

from remembrancer.bench.baselines import BASELINES
from remembrancer.bench.data import Material, RetrievalSet, read_retrieval_set
from remembrancer.bench.extraction import ExtractionReport, run_extraction
from remembrancer.bench.labels import ExtractionSet, read_extraction_set
from remembrancer.bench.outcome import Item, Run, write_run
from remembrancer.bench.retrieval import FactSource, RetrievalReport, run_retrieval
from remembrancer.bench.scoring import BUDGETS, RANKS, Scores, score_run

__all__ = [
    "BASELINES",
    "BUDGETS",
    "RANKS",
    "ExtractionReport",
    "ExtractionSet",
    "FactSource",
    "Item",
    "Material",
    "RetrievalReport",
    "RetrievalSet",
    "Run",
    "Scores",
    "read_extraction_set",
    "read_retrieval_set",
    "run_extraction",
    "run_retrieval",
    "score_run",
    "write_run",
]
