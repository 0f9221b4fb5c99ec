"""Draw what the other benchmarks have measured: `python benchmarks/pictures.py RESULTS docs/images`.

RESULTS is the folder with the JSON files that they wrote with `--out`; a picture whose file is missing is left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "remembrancer", "font.size": 9, "figure.figsize": (6.4, 3.2)})

from matplotlib import pyplot as plt  # noqa: E402 - after the backend was chosen

Rows = Sequence[dict[str, Any]]


def growth(rows: Rows, axes: Any) -> None:
    goals = {"by embedding": 3.0, "by entity, 2 hops": 3.0, "recall": 2.6}
    for name, goal in goals.items():
        (line,) = axes.plot(
            [row["messages"] for row in rows],
            [row[f"{name} x bare"] for row in rows],
            "o-",
            label=f"{name} (goal {goal})",
        )
        axes.axhline(goal, linewidth=0.8, linestyle=":", color=line.get_color())
    axes.set(xscale="log", xlabel="messages, and facts as many", ylabel="median time x bare query", ylim=(0, None))
    axes.legend()


def hubs(rows: Rows, axes: Any) -> None:
    names = [f"{row['graph']}\n{row['seed']}, {row['hops']}" for row in rows]
    for place, (label, field) in enumerate(
        [("quick form", "quick x floor"), ("bounded form", "bounded x floor"), ("chosen", "chosen x floor")]
    ):
        axes.bar([n + 0.27 * (place - 1) for n in range(len(rows))], [row[field] for row in rows], 0.27, label=label)
    axes.set_xticks(range(len(rows)), names, fontsize=7)
    axes.set(ylabel="median time x RETURN 1", yscale="log", xlabel="graph, start and hops")
    axes.legend()


def filters(rows: Rows, axes: Any) -> None:
    some = [row for row in rows if row["passing"]]
    axes.plot([row["passing"] for row in some], [row["recall@20"] for row in some], "o")
    axes.set(xscale="log", xlabel="facts that pass the filter", ylabel="recall@20", ylim=(0.9, 1.005))
    axes.axhline(0.99, linewidth=0.8, linestyle=":")


def upkeep(rows: Rows, axes: Any) -> None:
    for name in dict.fromkeys(row["pass"] for row in rows):
        some = [row for row in rows if row["pass"] == name]
        (line,) = axes.plot([row["facts"] for row in some], [row["ms a fact"] for row in some], "o-", label=name)
        plain = [row for row in some if "plain s" in row]
        axes.plot(
            [row["facts"] for row in plain],
            [1000 * row["plain s"] / row["facts"] for row in plain],
            "o:",
            color=line.get_color(),
            label=f"{name}, plainly",
        )
    axes.set(xscale="log", yscale="log", xlabel="facts", ylabel="milliseconds a fact")
    axes.legend(fontsize=7)


def main() -> None:
    results, images = map(Path, sys.argv[1:3])
    images.mkdir(parents=True, exist_ok=True)
    for name, draw in {"retrieve": growth, "hubs": hubs, "filters": filters, "upkeep": upkeep}.items():
        source = results / f"{name}.json"
        if source.exists():
            figure, axes = plt.subplots(layout="constrained")
            draw(json.loads(source.read_text(encoding="utf-8")), axes)
            figure.savefig(images / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    main()
