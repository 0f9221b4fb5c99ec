"""What `bench` tells of a run: tables for a reader, one document for a program."""

from __future__ import annotations

import statistics
from typing import Any

from remembrancer.bench.data import RetrievalSet
from remembrancer.bench.extraction import ExtractionReport
from remembrancer.bench.labels import ExtractionSet
from remembrancer.bench.marking import MEASURES, Share
from remembrancer.bench.retrieval import OWN, RetrievalReport
from remembrancer.bench.scoring import ALL, BUDGETS, RANKS, Scores
from remembrancer.cli.output import Output


def tell_retrieval(output: Output, report: RetrievalReport) -> None:
    """Print the tables of a retrieval run."""
    _tell_found(output, report)
    _tell_within(output, report)
    _tell_groups(output, report)
    stored = ", ".join(f"{number} {kind}" for kind, number in report.stored.items())
    middle, slow = _milliseconds(report)
    output.text(
        "",
        f"Stored: {stored}; facts: {report.facts}.",
        f"Filled in {report.ingest_seconds:.0f} s, embedding included. A recall took {middle:.0f} ms in the median, "
        f"{slow:.0f} ms at the 95th percentile, its question embedded before.",
    )
    if report.failed:
        output.text(f"Nothing could be read from {report.failed} episodes.")


def _tell_found(output: Output, report: RetrievalReport) -> None:
    output.heading("Recall after 5 to 50 items, % (mean tokens), and mean reciprocal rank, %")
    columns = [*(f"R@{rank}" for rank in RANKS), "MRR"]
    rows = [
        [name, *(f"{_percent(one.recall[rank])} ({one.tokens[rank]:.0f})" for rank in RANKS), _percent(one.mrr)]
        for name, one in _overall(report)
    ]
    output.table("method", *columns, rows=rows, numbers=columns)


def _tell_within(output: Output, report: RetrievalReport) -> None:
    output.heading("Grounded recall, %: after so many items, and within so many tokens")
    columns = [*(f"G@{rank}" for rank in RANKS), *(f"{budget} tok" for budget in BUDGETS)]
    rows = [
        [
            name,
            *(_percent(one.grounded[rank]) for rank in RANKS),
            *(_percent(one.within[budget]) for budget in BUDGETS),
        ]
        for name, one in _overall(report)
    ]
    output.table("method", *columns, rows=rows, numbers=columns)


def _tell_groups(output: Output, report: RetrievalReport) -> None:
    output.heading("Grounded recall within 500 / 1000 tokens by group, %")
    rows = [
        [
            group,
            str(scores.questions),
            *(
                f"{_percent(of[group].within[500])} / {_percent(of[group].within[1000])}"
                for of in report.scores.values()
            ),
        ]
        for group, scores in report.scores[OWN].items()
    ]
    output.table("group", "questions", *report.scores, rows=rows, numbers=["questions", *report.scores])


def tell_extraction(output: Output, report: ExtractionReport) -> None:
    """Print the tables of an extraction run."""
    output.heading("Found of the labels, by category")
    everything = {ALL: report.marks.overall, **report.marks.by_category}
    rows = [[category, *(_told(shares[measure]) for measure in MEASURES)] for category, shares in everything.items()]
    output.table("category", *MEASURES, rows=rows, numbers=MEASURES)
    if report.marks.made_up:
        output.text("", "Made up:", *(f"  {edge}" for edge in report.marks.made_up))


def retrieval_document(data: RetrievalSet, report: RetrievalReport, *, embedder: str, whole: bool) -> dict[str, Any]:
    """A retrieval run as plain values; shares are 0 to 1."""
    middle, slow = _milliseconds(report)
    return {
        "data": data.name,
        "embedder": embedder,
        "facts": report.facts.value,
        "whole_messages": whole,
        "stored": dict(report.stored),
        "failed": report.failed,
        "ingest_seconds": round(report.ingest_seconds, 1),
        "recall_milliseconds": {"median": round(middle, 1), "p95": round(slow, 1)},
        "scores": {
            name: {group: _scores(one) for group, one in groups.items()} for name, groups in report.scores.items()
        },
    }


def extraction_document(data: ExtractionSet, report: ExtractionReport, *, extractor: str) -> dict[str, Any]:
    """An extraction run as plain values."""
    marks = report.marks
    return {
        "data": data.name,
        "extractor": extractor,
        "overall": {measure: _share(marks.overall[measure]) for measure in MEASURES},
        "by_category": {
            category: {measure: _share(shares[measure]) for measure in MEASURES}
            for category, shares in marks.by_category.items()
        },
        "made_up": list(marks.made_up),
    }


def _overall(report: RetrievalReport) -> list[tuple[str, Scores]]:
    return [(name, groups[ALL]) for name, groups in report.scores.items()]


def _scores(one: Scores) -> dict[str, Any]:
    return {
        "questions": one.questions,
        "recall": {str(rank): round(share, 4) for rank, share in one.recall.items()},
        "grounded": {str(rank): round(share, 4) for rank, share in one.grounded.items()},
        "tokens": {str(rank): round(tokens, 1) for rank, tokens in one.tokens.items()},
        "grounded_within": {str(budget): round(share, 4) for budget, share in one.within.items()},
        "mrr": round(one.mrr, 4),
    }


def _share(share: Share) -> dict[str, int]:
    return {"hits": share.hits, "of": share.of}


def _milliseconds(report: RetrievalReport) -> tuple[float, float]:
    ordered = sorted(report.recall_seconds)
    middle = statistics.median(ordered) if ordered else 0.0
    slow = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else 0.0
    return 1000 * middle, 1000 * slow


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _told(share: Share) -> str:
    return "-" if share.rate is None else f"{_percent(share.rate)} ({share.hits}/{share.of})"
