"""The extraction benchmark: each labelled text goes through an extractor as an episode of its own."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from remembrancer.bench.labels import Case, ExtractionSet
from remembrancer.bench.marking import Marks, ReadEdge, ReadEntity, Reading, mark
from remembrancer.bench.outcome import write_lines
from remembrancer.ports import Extractor
from remembrancer.records import Episode, Message, Provenance, random_id

_TOLD_AT = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class ExtractionReport:
    """What was read from each case, and what it is worth."""

    readings: Mapping[str, Reading]
    marks: Marks


async def run_extraction(
    data: ExtractionSet, extractor: Extractor, *, progress: Callable[[int], None] = lambda _: None
) -> ExtractionReport:
    """Read every case and score what was read.

    Args:
        data: The cases.
        extractor: What reads them.
        progress: Told how many cases have been read.
    """
    readings = {}
    for done, case in enumerate(data.cases, 1):
        readings[case.id] = await _read(case, extractor)
        progress(done)
    return ExtractionReport(readings, mark(data, readings))


def write_readings(path: Path, readings: Mapping[str, Reading]) -> None:
    """Write an extraction run: one JSON object a line, one line a case."""
    write_lines(
        path,
        (
            {
                "case_id": case_id,
                "entities": [{"name": one.name, "type": one.type} for one in reading.entities],
                "relationships": [
                    {"source": edge.source, "type": edge.type, "target": edge.target} for edge in reading.edges
                ],
            }
            for case_id, reading in readings.items()
        ),
    )


async def _read(case: Case, extractor: Extractor) -> Reading:
    message = Message(role="user", content=case.text, timestamp=_TOLD_AT, conversation=case.id)
    extraction = await extractor.extract(
        Episode(
            id=random_id(),
            topic="",
            messages=[message],
            started_at=_TOLD_AT,
            ended_at=_TOLD_AT,
            provenance=Provenance(source="derived", created_at=_TOLD_AT),
        )
    )
    names = {entity.id: entity.name for entity in extraction.entities}
    return Reading(
        entities=tuple(ReadEntity(entity.name, entity.entity_type) for entity in extraction.entities),
        edges=tuple(
            ReadEdge(names[edge.source_id], edge.relation_type, names[edge.target_id])
            for edge in extraction.relationships
        ),
    )
