"""How many messages a second an ingest takes in, and whether that stays flat while the memory grows.

    python benchmarks/ingest.py --messages 20000 [--store inmemory|local|NEO4J_URI] [--steps 10] [--llm]

Messages are made up from a seed: conversations of twenty turns about two hundred topics by three hundred people, so
that entities come back and themes grow. Each step takes in the next part of them; a flat column of rates is what is
wanted. With `--llm` facts come from a scripted model that waits 20 ms a call, which shows what the bound on calls at
once does.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import random
import re
import time
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

from remembrancer import Memory, Message
from remembrancer.providers.embedding import HashingEmbedder

START = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
TURNS = 20
VERBS = ["works at", "joined", "manages", "visited", "reviewed", "supports", "launched", "owns"]
SYLLABLES = ["ka", "lo", "mi", "ru", "ten", "var", "os", "bel", "ny", "dra", "fu", "pi", "ging", "sol", "wex"]
TOPICS = 200


def messages(count: int, *, seed: int = 7) -> Iterator[Message]:
    """The messages, conversation after conversation, each about one topic and now and then about another."""
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choices(SYLLABLES, k=3))

    people = [f"{word().capitalize()} {word().capitalize()}" for _ in range(300)]
    firms = [f"{word().capitalize()} {rng.choice(['Corp', 'Labs', 'Group'])}" for _ in range(100)]
    topics = [[word() for _ in range(15)] for _ in range(TOPICS)]
    common = [word() for _ in range(400)]
    for place in range(count):
        talk, turn = divmod(place, TURNS)
        topic = topics[talk % TOPICS] if rng.random() < 0.8 else rng.choice(topics)
        who, one, other = rng.choice(people), rng.sample(topic, 4), rng.sample(topic, 3)
        text = (
            f"{who} {rng.choice(VERBS)} {rng.choice(firms)} for the {' '.join(one)}. "
            f"The {' '.join(other)} of the {' '.join(rng.sample(common, 3))} came to {rng.randint(1, 10_000)}."
        )
        yield Message(
            role="user",
            speaker=who,
            content=text,
            conversation=f"talk {talk}",
            timestamp=START + dt.timedelta(hours=talk, minutes=turn),
        )


class ScriptedModel:
    """A model that takes a while and reads one fact a message."""

    def __init__(self) -> None:
        self.running = self.most = 0

    async def complete(self, prompt: str) -> str:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.02)
        self.running -= 1
        if "<groups " in prompt:
            groups = re.findall(r"^group (\d+)$", prompt, re.MULTILINE)
            return json.dumps(
                {"themes": [{"number": int(n), "label": f"Group {n}", "description": ""} for n in groups]}
            )
        said = re.findall(r"^\[user\]: [^:]+: (.*)$", prompt, re.MULTILINE)
        return json.dumps([{"content": text.split(". ")[0]} for text in said])


@asynccontextmanager
async def opened(where: str, llm: ScriptedModel | None) -> AsyncIterator[Memory]:
    embedder = HashingEmbedder()
    options: dict[str, Any] = {"embedder": embedder, "namespace": f"ingest-{time.time_ns()}", "llm": llm}
    if where == "inmemory":
        opening = Memory.in_memory(**options)
    elif where == "local":
        opening = Memory.local("/tmp/remembrancer-benchmark", **options)
    else:
        opening = Memory.connect(where, **options)
    async with opening as memory:
        yield memory


async def run(arguments: argparse.Namespace) -> None:
    made = messages(arguments.messages)
    size = arguments.messages // arguments.steps
    llm = ScriptedModel() if arguments.llm else None
    print(f"{'messages':>9} {'seconds':>8} {'a second':>9} {'facts':>8} {'themes':>7} {'largest':>8}")
    async with opened(arguments.store, llm) as memory:
        facts = 0
        for step in range(1, arguments.steps + 1):
            part = [next(made) for _ in range(size)]
            began = time.perf_counter()
            report = await memory.ingest(part)
            took = time.perf_counter() - began
            facts += report.counts.get("fact", 0)
            themes = await memory.store.list_themes()
            largest = max((len(theme.fact_ids) for theme in themes), default=0)
            print(
                f"{step * size:>9} {took:>8.1f} {size / took:>9.0f} {facts:>8} {len(themes):>7} {largest:>8}",
                flush=True,
            )
        if arguments.memory:
            part = [next(messages(size, seed=8)) for _ in range(size)]
            tracemalloc.start()
            await memory.ingest(part)
            print(f"peak while taking in {size} more: {tracemalloc.get_traced_memory()[1] / 2**20:.1f} MiB")
            tracemalloc.stop()
        await memory.clear()
    if llm is not None:
        print(f"most calls of the model at once: {llm.most}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--store", default="inmemory", help="inmemory, local, or the address of a Neo4j")
    parser.add_argument("--llm", action="store_true")
    parser.add_argument("--memory", action="store_true", help="also measure the peak of memory of one more step")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
