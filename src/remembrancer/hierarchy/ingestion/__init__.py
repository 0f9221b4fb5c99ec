"""Ingest: the way of messages into the memory."""

from remembrancer.hierarchy.ingestion.incoming import Incoming, as_message
from remembrancer.hierarchy.ingestion.pipeline import PORTION, Ingestion, Progress
from remembrancer.hierarchy.ingestion.report import FailedExtraction, IngestReport

__all__ = ["PORTION", "FailedExtraction", "Incoming", "IngestReport", "Ingestion", "Progress", "as_message"]
