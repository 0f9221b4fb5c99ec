"""Erasure: what is forgotten is nowhere any more, what others support stays, and what is made anew holds no trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from remembrancer import Memory
from remembrancer.inmemory import InMemoryStore
from remembrancer.lifecycle import Change, Plan, apply_plan, forget, forget_everything, plan_restore, plan_undo
from remembrancer.lifecycle.images import require_trail
from remembrancer.providers.embedding import HashingEmbedder
from remembrancer.records import (
    EmbeddingSpace,
    Fact,
    InvalidInputError,
    Message,
    NotFoundError,
    Provenance,
    RecordBatch,
)
from remembrancer.records.erasure import Source
from remembrancer.testing import OpenStore
from remembrancer.testing.contract.planning import pass_id
from remembrancer.testing.samples import (
    SPACE,
    START,
    day,
    direction,
    entity,
    episode,
    fact,
    message,
    relationship,
    sample_id,
    theme,
)

EMBEDDER = HashingEmbedder(dimensions=16)
CANARY = "Zzyxquill"

EVERYTHING = """
CYPHER 25
MATCH (n {namespace: $namespace}) RETURN labels(n) AS what, properties(n) AS held
UNION ALL MATCH (n:Namespace {name: $namespace}) RETURN labels(n) AS what, properties(n) AS held
UNION ALL MATCH ()-[r {namespace: $namespace}]->() RETURN [type(r)] AS what, properties(r) AS held
"""


def texts_in(value: Any, seen: set[int]) -> Iterator[str]:
    """Every text inside objects of Python."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in (*value.keys(), *value.values()):
            yield from texts_in(item, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from texts_in(item, seen)
    elif hasattr(value, "__dict__"):
        yield from texts_in(vars(value), seen)


async def traces(store: Any, canary: str = CANARY) -> list[str]:
    """Where a text still is, in any property of any node or edge, in any case, and in JSON inside them."""
    if isinstance(store, InMemoryStore):
        held = [("memory", text) for text in texts_in([store.record_graph, store._receipts], set())]
    else:
        rows = await store.database.read(EVERYTHING, {"namespace": store.namespace})
        held = [(str(row["what"]), text) for row in rows for text in texts_in(row["held"], set())]
    escaped = json.dumps(canary)[1:-1]
    return [f"{what}: {text}" for what, text in held if canary.lower() in text.lower() or escaped in text]


def said(number: int, content: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, "timestamp": f"2025-01-01T10:{number:02}:00Z", **fields}


async def remembering(open_store: OpenStore) -> Memory:
    store = await open_store(space=EmbeddingSpace(model=EMBEDDER.model, dimensions=16))
    return Memory(store, store.index, embedder=EMBEDDER)


async def test_a_forgotten_message_leaves_no_trace(open_store: OpenStore) -> None:
    memory = await remembering(open_store)
    await memory.ingest(
        [
            said(0, f"{CANARY} Holt works at Acme Corp.", speaker=f"{CANARY} Holt"),
            said(1, "Ada Berg works at Borealis Ltd.", speaker="Ada Berg"),
            said(2, "Ada Berg lives in Oslo.", speaker="Ada Berg"),
        ],
        idempotency_key="chat",
    )
    store: Any = memory.store
    assert await traces(store)
    (target,) = [one for one in (await store.list_episodes())[0].messages if CANARY in one.content]
    would = await forget(store, target.id, dry_run=True)
    assert await traces(store)
    report = await forget(store, target.id)
    assert await traces(store) == []
    assert report.erased["message"] == (target.id,)
    assert report.model_copy(update={"is_dry_run": True, "pass_id": None}) == would
    (held,) = await store.list_episodes()
    assert held.id in report.rewritten["episode"]
    assert [one.content[:8] for one in held.messages] == ["Ada Berg", "Ada Berg"]
    assert held.topic == "Ada Berg works at Borealis Ltd."
    assert {one.name for one in await store.find_entities(include_invalidated=True)} >= {"Ada Berg", "Borealis Ltd"}
    recall = await memory.recall(f"Where does {CANARY} Holt work?")
    assert CANARY not in recall.to_prompt()
    if hasattr(store, "database"):
        for index in ("message_text", "fact_text"):
            call = (
                "CALL db.index.fulltext.queryNodes($index, $text) YIELD node "
                "WITH node WHERE node.namespace = $namespace RETURN node.id AS id"
            )
            assert not await store.database.read(call, {"index": index, "text": CANARY, "namespace": store.namespace})


async def test_the_name_can_be_used_again(open_store: OpenStore) -> None:
    memory = await remembering(open_store)
    first = Message.model_validate(said(0, f"{CANARY} Holt works at Acme Corp."))
    await memory.ingest([first])
    await forget(memory.store, first.id)
    await memory.ingest([first])
    assert [one.content for one in (await memory.store.list_episodes())[0].messages] == [first.content]
    assert await memory.store.find_facts()
    assert any(CANARY in one.name for one in await memory.store.find_entities())


async def test_a_forgotten_entity_goes_with_all_that_names_it(open_store: OpenStore) -> None:
    memory = await remembering(open_store)
    await memory.ingest(
        [
            said(0, f"{CANARY} Holt works at Acme Corp."),
            said(1, "Ada Berg works at Acme Corp."),
            said(2, f"I asked {CANARY.upper()} HOLT about it.", speaker="Ada"),
        ]
    )
    (target,) = [one for one in await memory.store.find_entities() if CANARY in one.name]
    report = await forget(memory.store, target.id)
    assert report.counts["message"] == 2
    assert await traces(memory.store) == []
    assert [one.content for one in (await memory.store.list_episodes())[0].messages] == ["Ada Berg works at Acme Corp."]
    assert {"Ada Berg", "Acme Corp"} <= {one.name for one in await memory.store.find_entities()}


async def world(open_store: OpenStore, *facts: Fact, **more: Any) -> Any:
    """Two messages, of which the first holds the canary, in one episode, and facts in one theme."""
    store = await open_store(space=SPACE)
    messages = [
        message(1, content=f"{CANARY} said", speaker=CANARY, embedding=direction(10)),
        message(2, content="another", speaker="Bo", embedding=direction(50)),
    ]
    held = episode(1, messages=messages, facts=[1, 2], topic=f"{CANARY} said", embedding=direction(30))
    group = theme(1, facts=[1, 2], label=f"{CANARY} s", description=f"all about {CANARY}", embedding=direction(45))
    await store.write(RecordBatch(**{"episodes": [held], "facts": facts, "themes": [group], **more}))
    return store


def on(number: int, *messages: int, **fields: Any) -> Fact:
    cited = [sample_id("message", one) for one in messages]
    whole = {"source_message_ids": cited, "episodes": [1], "theme_id": sample_id("theme", 1)}
    return fact(number, **{**whole, **fields})


async def test_a_fact_that_two_messages_support_survives_the_loss_of_one(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1, content=f"{CANARY} x"), on(2, 1, 2, embedding=direction(80)))
    report = await forget(store, sample_id("message", 1))
    assert report.erased == {"fact": (sample_id("fact", 1),), "message": (sample_id("message", 1),)}
    kept = await store.get_fact(sample_id("fact", 2))
    assert kept.source_message_ids == (sample_id("message", 2),)
    assert kept.source_episode_ids == (sample_id("episode", 1),)
    group = await store.get_theme(sample_id("theme", 1))
    assert (group.fact_ids, group.label, group.description) == ((kept.id,), "fact 2", "")
    assert group.embedding == kept.embedding
    held = await store.get_episode(sample_id("episode", 1))
    assert (held.topic, held.fact_ids, held.embedding) == ("another", (kept.id,), held.messages[0].embedding)
    assert held.started_at == held.messages[0].timestamp
    assert await traces(store) == []
    report = await forget(store, sample_id("message", 2))
    assert report.erased["fact"] == (kept.id,)
    assert report.erased["theme"] == (sample_id("theme", 1),)
    assert report.erased["episode"] == (sample_id("episode", 1),)


async def test_a_fact_that_cites_nothing_goes_with_what_it_was_read_from(open_store: OpenStore) -> None:
    other = episode(2, messages=[message(3)])
    store = await world(open_store, on(1), on(2, episodes=[1, 2]))
    await store.put_episode(other)
    await forget(store, sample_id("message", 1))
    assert await store.get_fact(sample_id("fact", 1)) is None
    kept = await store.get_fact(sample_id("fact", 2))
    assert kept.source_episode_ids == (other.id,)


async def test_an_episode_goes_with_its_messages(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1), on(2, 2))
    report = await forget(store, sample_id("episode", 1))
    assert report.counts == {"episode": 1, "fact": 2, "message": 2, "theme": 1}
    assert await traces(store) == []


async def test_what_facts_alone_supported_goes_with_them(open_store: OpenStore) -> None:
    derived = Provenance(source="derived", created_at=START)
    store = await world(
        open_store,
        on(1, 1, entities=[1, 2]),
        on(2, 2, entities=[2, 3]),
        entities=[
            entity(1, name=CANARY, provenance=derived),
            entity(2, provenance=derived),
            entity(3, provenance=derived),
            entity(4, name="Put by hand"),
        ],
        relationships=[
            relationship(1, 1, 2, provenance=derived),
            relationship(2, 2, 3, provenance=derived),
            relationship(3, 2, 4, provenance=derived),
            relationship(4, 1, 4),
        ],
    )
    report = await forget(store, sample_id("message", 1))
    assert report.erased["entity"] == (sample_id("entity", 1),)
    assert report.erased["relationship"] == (sample_id("relationship", 1), sample_id("relationship", 4))
    assert await traces(store) == []


async def test_what_was_made_from_forgotten_facts_alone_goes_too(open_store: OpenStore) -> None:
    made = {"derivations": {sample_id("fact", 5): [sample_id("fact", 1)]}}
    made["derivations"] |= {sample_id("fact", 6): [sample_id("fact", 5)]}
    made["derivations"] |= {sample_id("fact", 7): [sample_id("fact", 1), sample_id("fact", 2)]}
    notes = [fact(n, content=f"{CANARY} note {n}") for n in (5, 6)]
    store = await world(open_store, on(1, 1), on(2, 2), *notes, fact(7), **made)
    report = await forget(store, sample_id("message", 1))
    assert report.erased["fact"] == tuple(sample_id("fact", n) for n in (1, 5, 6))
    assert await traces(store) == []


async def test_an_entity_put_by_hand_outlives_the_facts_that_mention_it(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1, entities=[1]), on(2, 2), entities=[entity(1)])
    assert "entity" not in (await forget(store, sample_id("message", 1))).erased


async def test_a_source_is_forgotten_as_a_whole(open_store: OpenStore) -> None:
    of_run = Provenance(source="tool", tool_name="search", run_id="run-7", created_at=START)
    store = await world(open_store, on(1, 1), on(2, 2), entities=[entity(1, name=CANARY, provenance=of_run)])
    spoken = message(5, content=CANARY, conversation="secret", provenance=of_run)
    await store.put_episode(episode(3, messages=[spoken], provenance=of_run))
    report = await forget(store, Source(run_id="run-7", tool_name="search"))
    assert report.counts == {"entity": 1, "episode": 1, "message": 1}
    await store.put_episode(episode(3, messages=[spoken]))
    report = await forget(store, Source(conversation="secret"))
    assert report.counts == {"episode": 1, "message": 1}
    assert (await forget(store, Source(run_id="other"))).is_empty


async def test_a_fact_and_its_theme_let_go_of_each_other_softly_and_find_back(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1), on(2, 2))
    before = [await store.get_theme(sample_id("theme", 1)), await store.get_fact(sample_id("fact", 2))]
    await forget(store, sample_id("fact", 2), hard=False)
    assert (await store.get_theme(sample_id("theme", 1))).fact_ids == (sample_id("fact", 1),)
    assert (await store.get_fact(sample_id("fact", 2))).theme_id is None
    await apply_plan(store, await plan_restore(store, sample_id("fact", 2)))
    after = [await store.get_theme(sample_id("theme", 1)), await store.get_fact(sample_id("fact", 2))]
    assert after[0].fact_ids == before[0].fact_ids
    assert after[1] == before[1]


@pytest.mark.parametrize("first", ["facts", "theme"])
async def test_a_theme_that_went_with_its_last_fact_comes_back_with_them(open_store: OpenStore, first: str) -> None:
    store = await world(open_store, on(1, 1), on(2, 2), on(3, 2, theme_id=None))
    group, *facts = sample_id("theme", 1), sample_id("fact", 1), sample_id("fact", 2)
    before = await store.get_theme(group)
    for one in facts:
        await forget(store, one, hard=False)
    assert await store.get_theme(group) is None
    if first == "theme":
        await apply_plan(store, await plan_restore(store, group))
        assert (await store.get_theme(group)).fact_ids == ()
    for number, one in enumerate(facts, start=1):
        await apply_plan(store, await plan_restore(store, one))
        assert (await store.get_theme(group)).fact_ids == tuple(facts[:number])
        assert (await store.get_fact(one)).theme_id == group
    after = await store.get_theme(group)
    assert after.model_copy(update={"embedding": before.embedding}) == before


async def test_a_theme_comes_back_with_the_facts_that_are_there_and_in_no_other(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 2), on(2, 2))
    group, *facts = sample_id("theme", 1), sample_id("fact", 1), sample_id("fact", 2)
    await forget(store, sample_id("message", 2), hard=False)
    for one in facts:
        await store.put_fact((await store.get_fact(one)).model_copy(update={"invalidated_by": None}))
    elsewhere = theme(2, facts=[2], embedding=direction(0))
    await store.write(RecordBatch(themes=[elsewhere], facts=[on(2, 2, theme_id=elsewhere.id)]))
    await apply_plan(store, await plan_restore(store, group))
    assert (await store.get_theme(group)).fact_ids == (facts[0],)
    assert [(await store.get_fact(one)).theme_id for one in facts] == [group, elsewhere.id]


async def test_the_trail_of_what_is_forgotten_holds_no_text(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1, content=f"{CANARY} x"), on(2, 2))
    first, second = [await store.get_fact(sample_id("fact", n)) for n in (1, 2)]
    group, held = await store.get_theme(sample_id("theme", 1)), await store.get_episode(sample_id("episode", 1))
    changes = [
        Change(before=first, after=first.model_copy(update={"content": f"{CANARY} y"}), reason=f"not {CANARY}"),
        Change(
            before=second,
            after=second.model_copy(update={"invalidated_by": first.id}),
            reason=f"said by {CANARY}",
            superseded_by=first.id,
        ),
        Change(before=group, after=group.model_copy(update={"label": "new"}), reason=f"{CANARY} left"),
        Change(before=held, after=None, reason=f"pruned {CANARY}"),
    ]
    plan = Plan(pass_id=pass_id(1), kind="consolidation", made_at=day(1), changes=changes)
    await apply_plan(store, plan)
    assert len(await traces(store)) > 5
    await forget(store, sample_id("message", 1))
    assert await traces(store) == []
    trail = require_trail(store)
    told = await trail.history(sample_id("fact", 1))
    assert [(one.action, one.pass_kind) for one in told.steps] == [("changed", "consolidation"), ("removed", "forget")]
    assert told.replaces == ()
    with pytest.raises(InvalidInputError, match="erased"):
        await plan_undo(store, plan.pass_id)


async def test_a_hard_forgetting_cannot_be_undone(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1), on(2, 2))
    report = await forget(store, sample_id("fact", 1))
    assert report.pass_id is not None
    with pytest.raises(InvalidInputError, match="for good"):
        await plan_undo(store, report.pass_id)


async def test_soft_forgetting_closes_and_can_be_taken_back(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1), on(2, 1, 2), entities=[entity(1)])
    before = await store.find_facts()
    report = await forget(store, sample_id("message", 1), hard=False)
    assert report.closed == {"fact": (sample_id("fact", 1),)}
    assert report.kept == {"message": (sample_id("message", 1),)}
    assert [one.id for one in await store.find_facts()] == [sample_id("fact", 2)]
    assert report.pass_id is not None
    await apply_plan(store, await plan_undo(store, report.pass_id))
    assert await store.find_facts() == before


async def test_a_namespace_is_forgotten_to_the_last_word(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1), on(2, 2))
    assert (await forget_everything(store, dry_run=True)).counts["message"] == 2
    assert await traces(store)
    report = await forget_everything(store)
    assert report.counts == {"message": 2, "episode": 1, "fact": 2, "theme": 1}
    assert await traces(store) == []
    assert await traces(store, "Bo") == []


async def test_words_of_other_speakers_stay(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1), on(2, 2))
    await forget(store, sample_id("message", 1))
    if hasattr(store, "database"):
        call = "MATCH (n:Namespace {name: $namespace}) RETURN n.speakers AS words"
        assert (await store.database.read(call, {"namespace": store.namespace}))[0]["words"] == ["bo"]


async def test_what_others_write_meanwhile_goes_too(open_store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await world(open_store, on(1, 1), on(2, 1, 2))
    meanwhile = [
        lambda: store.put_fact(on(2, 1, 2, content="rewritten meanwhile")),  # outdates the plan
        lambda: store.put_fact(on(8, 1, content=f"{CANARY} again", episodes=[])),  # is in no plan
    ]

    async def disturbed(*args: Any, **kwargs: Any) -> Any:
        if meanwhile:
            await meanwhile.pop(0)()
        return await apply_plan(*args, **kwargs)

    monkeypatch.setattr("remembrancer.lifecycle.forgetting.apply_plan", disturbed)
    report = await forget(store, sample_id("message", 1))
    assert not meanwhile
    assert set(report.erased["fact"]) == {sample_id("fact", 1), sample_id("fact", 8)}
    assert (await store.get_fact(sample_id("fact", 2))).content == "rewritten meanwhile"
    assert await traces(store) == []


async def test_an_unknown_record_is_not_found(open_store: OpenStore) -> None:
    store = await world(open_store, on(1, 1))
    with pytest.raises(NotFoundError):
        await forget(store, sample_id("fact", 66))
    with pytest.raises(InvalidInputError, match="target"):
        await forget(store, "no id")
