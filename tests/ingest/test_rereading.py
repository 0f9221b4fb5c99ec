"""Extractions that failed: told, kept, and made up for; in both stores."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.hierarchy import LLMExtractor, SimpleExtractor
from remembrancer.hierarchy.ingestion import REREAD, retry_extraction
from remembrancer.ports import Extraction
from remembrancer.records import Episode, InvalidInputError, Message, ModelAnswerError, Provenance
from remembrancer.testing import OpenStore


class Model:
    """Answers with one fact a message, unless it is down for what the prompt holds."""

    def __init__(self, down: Callable[[str], bool] = lambda prompt: False) -> None:
        self.down = down
        self.prompts: list[str] = []

    async def complete(self, prompt: str) -> str:
        self.prompts.append(prompt)
        await asyncio.sleep(0)
        if self.down(prompt):
            raise ModelAnswerError("the model is down")
        said = re.findall(r"^\[\w+\]: (.*)$", prompt, re.MULTILINE)
        return json.dumps([{"content": f"Read: {text}", "entities": [{"name": "Acme Corp"}]} for text in said])


def extractor(model: Model) -> LLMExtractor:
    return LLMExtractor(model, max_consecutive_failures=1000)


def talk(kit: Any) -> list[Message]:
    names = ["Alice", "Bob", "Carol"]
    return [kit.said(60 * place, f"{name} works at Acme Corp now.") for place, name in enumerate(names)]


async def held(store: Any) -> dict[str, str | None]:
    facts = await store.find_facts(limit=1000, include_invalidated=True)
    return {fact.content: fact.invalidated_by for fact in facts}


async def test_what_fell_back_is_told_and_read_again_and_the_better_reading_stays(
    open_store: OpenStore, kit: Any
) -> None:
    store = await open_store(space=kit.space)
    model = Model(down=lambda prompt: "Bob" in prompt)
    ingestion = kit.ingestion(store, extractor=extractor(model))
    report = await ingestion.ingest(talk(kit))
    (fell_back,) = report.fell_back
    assert "the model is down" in fell_back.reason
    assert report.failed == ()
    (unread,) = await store.find_unread_episodes()
    assert unread.id == fell_back.episode_id
    assert unread.unread_message_ids == tuple(message.id for message in unread.messages)
    assert (await held(store))["Bob works at Acme Corp now."] is None

    again = await retry_extraction(ingestion)
    assert [one.episode_id for one in again.fell_back] == [fell_back.episode_id]
    assert again.created == again.changed == {}
    assert len(model.prompts) == 4

    model.down = lambda prompt: False
    told: list[int] = []
    mended = await retry_extraction(ingestion, progress=told.append)
    assert (told, mended.messages_read, mended.fell_back) == ([1], 1, ())
    assert await store.find_unread_episodes() == []
    facts = await held(store)
    assert facts.pop("Bob works at Acme Corp now.") == REREAD
    assert facts == {f"Read: {name} works at Acme Corp now.": None for name in ("Alice", "Bob", "Carol")}
    contents = await kit.contents_of(store)
    contents.check()
    assert (await retry_extraction(ingestion)).messages_read == 0
    assert await kit.contents_of(store) == contents


async def test_only_the_messages_that_were_not_read_are_read_again(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    model = Model(down=lambda prompt: "Bob" in prompt)
    ingestion = kit.ingestion(store, extractor=extractor(model))
    for minute, name in enumerate(["Alice", "Bob", "Carol"]):
        await ingestion.ingest([kit.said(minute, f"{name} works at Acme Corp now.")])
    (episode,) = await store.find_unread_episodes()
    assert len(episode.messages) == 3
    assert episode.unread_message_ids == (episode.messages[1].id,)
    model.down = lambda prompt: False
    await retry_extraction(ingestion)
    assert "Alice" not in model.prompts[-1]
    assert "[user]: Bob works" in model.prompts[-1]
    contents = await kit.contents_of(store)
    contents.check()
    assert {content: by for content, by in (await held(store)).items() if by} == {"Bob works at Acme Corp now.": REREAD}


async def test_a_failure_without_fallback_keeps_its_messages_to_be_read(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)

    class Failing(SimpleExtractor):
        fails = True

        async def extract(self, episode: Episode) -> Extraction:
            if self.fails and "Bob" in episode.topic:
                raise ModelAnswerError("it refused")
            return await super().extract(episode)

    failing = Failing()
    ingestion = kit.ingestion(store, extractor=failing)
    report = await ingestion.ingest(talk(kit))
    assert [one.reason for one in report.failed] == ["ModelAnswerError: the model's answer cannot be used: it refused"]
    assert len((await kit.contents_of(store)).messages) == 3
    assert [one.reason for one in (await retry_extraction(ingestion)).failed] == [report.failed[0].reason]
    failing.fails = False
    assert (await retry_extraction(ingestion)).counts["fact"] == 1
    (await kit.contents_of(store)).check()
    assert await store.find_unread_episodes() == []


async def test_what_both_readings_say_stays_and_so_does_what_somebody_has_tagged(
    open_store: OpenStore, kit: Any
) -> None:
    store = await open_store(space=kit.space)
    model = Model(down=lambda prompt: True)
    ingestion = kit.ingestion(store, extractor=extractor(model))
    texts = ["Alice works at Acme Corp now.", "Bob works at Acme Corp now.", "Carol works at Acme Corp now."]
    await ingestion.ingest([kit.said(minute, text) for minute, text in enumerate(texts)])
    facts = {fact.content: fact for fact in await store.find_facts()}
    await store.put_fact(facts[texts[1]].model_copy(update={"tags": ("verified",)}))

    class Agreeing(Model):
        async def complete(self, prompt: str) -> str:
            return json.dumps([{"content": texts[0]}, {"content": "Carol is at Acme."}])

    await retry_extraction(kit.ingestion(store, extractor=extractor(Agreeing())))
    assert await held(store) == {texts[0]: None, texts[1]: None, texts[2]: REREAD, "Carol is at Acme.": None}
    (await kit.contents_of(store)).check()


async def test_two_that_read_again_at_once_write_once(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    await kit.ingestion(store, extractor=extractor(Model(down=lambda prompt: True))).ingest(talk(kit))

    class Numbered(Model):
        async def complete(self, prompt: str) -> str:
            await asyncio.sleep(0.02)
            self.prompts.append(prompt)
            return json.dumps([{"content": f"Reading {id(self)} of {len(self.prompts)}"}])

    readers = [kit.ingestion(store, extractor=extractor(Numbered())) for _ in range(3)]
    await asyncio.gather(*(retry_extraction(reader) for reader in readers))
    contents = await kit.contents_of(store)
    contents.check()
    assert sum(fact.is_live for fact in contents.facts.values()) == 3


async def test_messages_that_come_meanwhile_are_not_lost(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    down = Model(down=lambda prompt: True)
    await kit.ingestion(store, extractor=extractor(down)).ingest([kit.said(0, "Alice works at Acme Corp now.")])

    class Interrupted(Model):
        async def complete(self, prompt: str) -> str:
            if not self.prompts:
                await kit.ingestion(store, extractor=extractor(down)).ingest(
                    [kit.said(1, "Bob works at Acme Corp now.")]
                )
            return await super().complete(prompt)

    await retry_extraction(kit.ingestion(store, extractor=extractor(Interrupted())))
    contents = await kit.contents_of(store)
    contents.check()
    assert len(contents.messages) == 2
    live = {fact.content for fact in contents.facts.values() if fact.is_live}
    assert live == {"Read: Alice works at Acme Corp now.", "Read: Bob works at Acme Corp now."}
    assert await store.find_unread_episodes() == []


async def test_a_limit_bounds_what_is_tried_and_many_are_tried_page_by_page(
    open_store: OpenStore, kit: Any, backend: Any
) -> None:
    many = 45 if backend is None else 21  # more than are held in memory at once
    store = await open_store(space=kit.space)
    model = Model(down=lambda prompt: True)
    ingestion = kit.ingestion(store, extractor=extractor(model))
    await ingestion.ingest([kit.said(60 * n, f"Person{n} works at Acme Corp now.") for n in range(many)])
    model.prompts.clear()
    assert (await retry_extraction(ingestion, limit=3)).messages_read == 3
    assert len(model.prompts) == 3
    assert (await retry_extraction(ingestion, limit=0)).messages_read == 0
    model.down = lambda prompt: False
    assert (await retry_extraction(ingestion)).messages_read == many
    (await kit.contents_of(store)).check()
    for bad in (-1, 1.5, True):
        with pytest.raises(InvalidInputError, match="limit"):
            await retry_extraction(ingestion, limit=bad)  # type: ignore[arg-type]


async def test_deleted_and_derived_messages_are_not_read_again(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)
    model = Model(down=lambda prompt: True)
    ingestion = kit.ingestion(store, extractor=extractor(model))
    derived = Provenance(source="derived", created_at=kit.start)
    messages = [kit.said(0, "Alice works at Acme Corp now."), kit.said(1, "Bob works there.", provenance=derived)]
    await ingestion.ingest(messages)
    await store.delete_message(messages[0].id)
    model.prompts.clear()
    assert (await retry_extraction(ingestion)).messages_read == 0
    assert model.prompts == []
    assert await store.find_unread_episodes() == []


async def test_what_an_answer_lost_is_in_the_report(open_store: OpenStore, kit: Any) -> None:
    store = await open_store(space=kit.space)

    class Talkative(Model):
        async def complete(self, prompt: str) -> str:
            return json.dumps([None, *({"content": f"Fact {n}."} for n in range(25))])

    report = await kit.ingestion(store, extractor=LLMExtractor(Talkative())).ingest([kit.said(0, "Hello.")])
    assert report.counts["fact"] == 20
    assert {(lost.part, lost.reason, lost.count) for lost in report.dropped} == {
        ("fact", "null in the place of a fact", 1),
        ("fact", "more than 20 facts", 5),
    }
