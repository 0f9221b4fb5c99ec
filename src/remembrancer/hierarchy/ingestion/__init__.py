"""Ingest: the way of messages into the memory."""

from remembrancer.hierarchy.ingestion.echoes import Echoes
from remembrancer.hierarchy.ingestion.incoming import Incoming, as_message
from remembrancer.hierarchy.ingestion.pipeline import PORTION, Ingestion, Progress
from remembrancer.hierarchy.ingestion.renewal import Renewal
from remembrancer.hierarchy.ingestion.report import REREAD, DroppedParts, FailedExtraction, IngestReport
from remembrancer.hierarchy.ingestion.retrying import retry_extraction

__all__ = [
    "PORTION",
    "REREAD",
    "DroppedParts",
    "Echoes",
    "FailedExtraction",
    "Incoming",
    "IngestReport",
    "Ingestion",
    "Progress",
    "Renewal",
    "as_message",
    "retry_extraction",
]
