"""Golden cases of the four tiers, over both stores.

What differs on purpose: ids made from a text have 128 bits, scores stay within 0 and 1, and stores compute in float32.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import pytest

from remembrancer.inmemory import InMemoryStore
from remembrancer.records import EmbeddingSpace, InvalidInputError
from remembrancer.records.tier import TierEntry, TierHit
from remembrancer.testing import FixedClock, OpenStore
from remembrancer.tiers import TieredMemory, TurnMemory, item_id, outcome_text

AREA = "knowledge/tiers"

EXACT, SINGLE = 1e-9, 1e-6  # the index in the graph computes in single precision
SPACE = EmbeddingSpace(model="letters", dimensions=8)
DURABLE = ("semantic", "episodic", "procedural")


class LetterEmbedder:
    """Counts letters: each adds 1 at its code modulo 8."""

    model = SPACE.model
    dimensions = SPACE.dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._counts(text.lower()) for text in texts]

    def _counts(self, text: str) -> list[float]:
        counts = [0.0] * self.dimensions
        for letter in text:
            if "a" <= letter <= "z":
                counts[ord(letter) % self.dimensions] += 1
        return counts


def fnv(text: str) -> str:
    """The id that the recorded answers have for a text."""
    digest = 0x811C9DC5
    units = text.encode("utf-16-le", "surrogatepass")
    for place in range(0, len(units), 2):
        digest = ((digest ^ int.from_bytes(units[place : place + 2], "little")) * 0x01000193) & 0xFFFFFFFF
    return f"{digest:x}"


def instant(milliseconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(milliseconds=milliseconds)


def snake(options: Mapping[str, Any]) -> dict[str, Any]:
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): value for name, value in options.items()}


def tiered(cfg: Mapping[str, Any], store: Any, clock: FixedClock) -> TieredMemory:
    given = snake(cfg)
    durable = {tier: given[tier] for tier in DURABLE if isinstance(given.get(tier), dict)}
    no_store = any(option.get("noStore") for option in durable.values())
    for tier, option in durable.items():
        fields = snake({name: value for name, value in option.items() if name != "noStore"})
        if "half_life_ms" in fields:
            fields["half_life_days"] = fields.pop("half_life_ms") / 86_400_000
        # The recorded answers know one episode for a text, whatever the day.
        given[tier] = True if tier == "semantic" else {**fields, **({"is_daily": False} if tier == "episodic" else {})}
    if isinstance(given.get("working"), dict):
        given["working"] = snake(given["working"])
    return TieredMemory(None if no_store else store.tiers, LetterEmbedder(), clock=clock, **given)


async def test_the_golden_case(case: Any, open_store: OpenStore) -> None:
    if case["title"] == "derive id":
        assert case.expected == fnv(case["text"])  # so that `fnv` below may stand for the recorded ids
        assert len(item_id(case["text"])) == 32
        return
    if case["title"] == "outcome text":
        outputs = {name: branch.get("output") for name, branch in (case["result"] or {}).items()}
        assert outcome_text(case["data"], outputs=outputs) == (case.expected or "")
        return
    if case["title"] == "orchestrator":
        assert await one_turn(case["cfg"]) == case.expected
        return
    store, clock = await open_store(space=SPACE), FixedClock("2026-01-01")
    if "construct_error" in case.fields:
        with pytest.raises(InvalidInputError):
            tiered(case["cfg"], store, clock)
        return
    memory = tiered(case["cfg"], store, clock)
    tolerance = EXACT if isinstance(store, InMemoryStore) else SINGLE
    for step in case["steps"]:
        clock.now = instant(step["now"])
        if isinstance(step["expect"], dict) and "error" in step["expect"]:
            with pytest.raises(InvalidInputError):
                await take(memory, step)
        else:
            assert_same(await take(memory, step), step, tolerance)


async def take(memory: TieredMemory, step: Mapping[str, Any]) -> Any:
    match step["op"]:
        case "remember":
            return await memory.remember(step["items"])
        case "clear":
            return await memory.clear(step.get("tier"))
        case _:
            return await memory.recall(step["query"], **step.get("options", {}))


def assert_same(found: Any, step: Mapping[str, Any], tolerance: float) -> None:
    if step["op"] != "recall":
        return
    hits: list[TierHit] = found
    wanted = step["expect"]
    if step.get("options", {}).get("threshold") == 1:
        # Rounding decides: what is found must be among what lies at the threshold.
        assert all(hit.tier != "semantic" or hit.score == pytest.approx(1, abs=tolerance) for hit in hits)
        return
    assert [hit.score for hit in hits] == pytest.approx([min(1, max(0, one["score"])) for one in wanted], abs=tolerance)
    shown = [(shown_id(hit), hit.text, hit.tier, hit.metadata) for hit in hits]
    expected = [(one["id"], one["text"], one["tier"], one.get("metadata")) for one in wanted]
    ties = [list(group) for _, group in groupby(range(len(hits)), key=lambda place: round(wanted[place]["score"], 5))]
    for number, places in enumerate(ties):
        ours, theirs = [shown[place] for place in places], [expected[place] for place in places]
        is_cut = number == len(ties) - 1 and len(places) > 0
        if sorted(ours, key=repr) != sorted(theirs, key=repr):
            # Of equal scores at the cut any may be the ones that stay.
            assert is_cut, (ours, theirs)


def shown_id(hit: TierHit) -> str:
    return fnv(hit.text) if hit.id == item_id(hit.text) else hit.id


class RecordingMemory:
    """Notes what is asked of it, and has one hit for everything."""

    def __init__(self) -> None:
        self.calls: list[list[Any]] = []

    async def recall(self, query: str, **options: Any) -> list[TierHit]:
        self.calls.append(["recall", query, options])
        return [TierHit(id="1", text="t", tier="working", score=1)]

    async def remember(self, items: TierEntry) -> None:
        self.calls.append(["remember", items.model_dump(exclude_none=True)])


async def one_turn(cfg: Any) -> Any:
    if cfg is None:
        return None
    given = snake({} if cfg == "bare" else cfg)
    options = {**given.pop("recall", {}), **{name: value for name, value in given.items() if name != "store"}}
    if options.get("scope") == "fn":
        options["scope"] = lambda session: f"tenant-{session}"
    memory = RecordingMemory()
    turns = TurnMemory(memory, **options)
    context = {"a": 1}
    bag = await turns.before({"q": 1}, session_id="S", context=context)
    assert context == {"a": 1}
    for said in (SimpleNamespace(input="hello", outcome="bye"), SimpleNamespace(input="only in", outcome=" ")):
        await turns.after(said.input, said.outcome, session_id="S")
    await turns.after(" ", "", session_id="S")
    hits = {key: [hit.model_dump(exclude_none=True) for hit in value] for key, value in bag.items() if key != "a"}
    return {"scope": turns.scope_of("S"), "injectKey": turns.inject_key, "bag": {"a": 1, **hits}, "calls": memory.calls}
