"""A tiered memory around turns: what is recalled before, what is remembered after, and what never is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from remembrancer.records import InvalidInputError
from remembrancer.tiers import TieredMemory, outcome_text


async def remembered(memory: TieredMemory, scope: str | None) -> list[str]:
    return [hit.text for hit in await memory.recall("", scope=scope)]


async def test_a_settled_turn_is_recalled_in_the_next_one_of_its_session() -> None:
    memory = TieredMemory()
    turns = memory.turns(inject_key="known")
    context: dict[str, Any] = {"model": "small"}
    async with turns.turn("where is the ship?", session_id="1", context=context) as first:
        assert first.context is context
        first.settle("in port")
    async with turns.turn({"ask": "the ship"}, session_id="1", context=context) as second:
        assert [hit.text for hit in second.context["known"]] == ["where is the ship?\nin port"]
        assert second.context["model"] == "small"
        second.settle(outputs={"a": {"is": True}, "b": " ", "c": "x"})
    assert context == {"model": "small"}
    assert await remembered(memory, "session:1") == [
        '{"ask":"the ship"}\n{"is":true}\nx',
        "where is the ship?\nin port",
    ]
    assert await turns.before("the ship", session_id="2", context=context) is context


async def test_a_turn_that_is_cancelled_fails_or_is_never_settled_is_not_remembered() -> None:
    memory = TieredMemory()
    turns = memory.turns()

    async def cut_off() -> None:
        async with turns.turn("a", session_id="1") as turn:
            turn.settle("b")
            await asyncio.sleep(60)

    async def failing() -> None:
        async with turns.turn("a", session_id="1") as turn:
            turn.settle("b")
            raise LookupError

    task = asyncio.create_task(cut_off())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(LookupError):
        await failing()
    async with turns.turn("a", session_id="1") as turn:
        turn.settle("b")
        turn.cancel()
    async with turns.turn("a", session_id="1"):
        pass
    assert await remembered(memory, "session:1") == []


async def test_the_scope_is_the_session_none_or_what_a_function_says() -> None:
    memory = TieredMemory()
    scopes: list[tuple[Any, str | None]] = [
        ("session", "session:1"),
        ("shared", None),
        (lambda session: f"t-{session}", "t-1"),
    ]
    for scope, expected in scopes:
        turns = memory.turns(scope=scope)
        await turns.after("a", "b", session_id="1")
        assert turns.scope_of("1") == expected
        assert await remembered(memory, expected) == ["a\nb"]
        await memory.clear()


async def test_reading_alone_remembers_nothing_and_k_of_zero_recalls_nothing() -> None:
    memory = TieredMemory()
    await memory.turns().after("a", "b", session_id="1")
    reading = memory.turns(remember=False)
    async with reading.turn("c", session_id="1") as turn:
        assert len(turn.context["memories"]) == 1
        turn.settle("d")
    assert await remembered(memory, "session:1") == ["a\nb"]
    assert await memory.turns(k=0).before("a", session_id="1") == {}
    assert await reading.before(" ", session_id="1") == {}
    await memory.turns().after(" ", "\n", session_id="1")
    assert await remembered(memory, "session:1") == ["a\nb"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"scope": "all"}, "scope"),
        ({"k": -1}, "k"),
        ({"threshold": 2}, "threshold"),
        ({"tier": "semantic"}, "tier"),
        ({"remember": 1}, "remember"),
        ({"remember_tier": "semantic"}, "remember_tier"),
        ({"inject_key": ""}, "inject_key"),
    ],
)
def test_a_wrong_option_is_refused_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        TieredMemory().turns(**options)
    assert caught.value.field == field


async def test_a_wrong_turn_is_refused_by_name() -> None:
    turns = TieredMemory().turns(scope=lambda _: "")
    for call, field in (
        (turns.before("a", session_id=""), "session_id"),
        (turns.before("a", session_id="1"), "scope"),
        (TieredMemory().turns().after({1, 2}, "b", session_id="1"), "turn_input"),
    ):
        with pytest.raises(InvalidInputError) as caught:
            await call
        assert caught.value.field == field
    with pytest.raises(InvalidInputError) as caught:
        outcome_text(outputs={"a": float("nan")})
    assert caught.value.field == "outputs.a"
