"""Kind 8: any text, in any script, in any place."""

from __future__ import annotations

import random
import string

import pytest
from tests.pains.conftest import OpenMemory, said

from remembrancer import Memory
from remembrancer.records import RecordBatch
from remembrancer.testing.samples import entity, fact, sample_id

pytestmark = pytest.mark.neo4j

OPERATORS = [
    *string.punctuation,
    "AND",
    "OR",
    "NOT",
    "TO",
    "&&",
    "||",
    "mcp",
    "*:*",
    "a:b",
    "[a TO b]",
    "~2",
    "^3",
    "\\",
]
NAMES = [
    "Zoë Müller", "Łukasz Żak", "Đặng Thị Hồng", "Ελένη Παππά", "Анна Каренина", "Նարեկ Սարգսյան", "שרה לוי", "محمد علي",  # noqa: E501
    "فاطمه رضایی", "देवी शर्मा", "অমিত সেন", "தமிழ்ச்செல்வி", "ณัฐพล ใจดี", "ສົມພອນ", "မောင်မောင်", "ខ្មែរ សុខ", "გიორგი", "አበበ በቀለ",  # noqa: E501
    "田中太郎", "김민수", "李小龙", "ひらがな", "🧑‍🚀 Astro", "e\u0301clair", "O'Brien \"Bob\"",
    "`tick`", "nul\x00l", "new\nline", "a/b|c\\d-e",
]  # fmt: skip


async def test_no_operator_in_any_place_stops_a_recall(memory: Memory) -> None:
    await memory.ingest([said("The harbour opens at six.")])
    for one in OPERATORS:
        answer = await memory.recall(f"{one} harbour {one}opens{one} at {one}")
        assert answer.hits, one


@pytest.mark.long
async def test_no_generated_question_stops_a_recall(open_memory: OpenMemory) -> None:
    memory = await open_memory(embedder=None)
    await memory.ingest([said("The harbour opens at six.")])
    rng = random.Random(1)
    pieces = [*OPERATORS, "harbour", "日本", "\u202e", "é", " ", '"', "(", ")"]
    for _ in range(2_000):
        await memory.recall("".join(rng.choices(pieces, k=rng.randint(1, 12))))


async def test_very_long_questions_work(memory: Memory) -> None:
    await memory.ingest([said("The harbour opens at six.")])
    assert (await memory.recall("harbour " + " ".join(f"word{n}" for n in range(3_000)))).hits
    await memory.recall("x" * 40_000)


async def test_names_of_any_script_come_back_and_are_found(memory: Memory) -> None:
    await memory.store.write(
        RecordBatch(
            entities=[entity(n, name=name) for n, name in enumerate(NAMES)],
            facts=[fact(n, content=f"{name}", entities=[n]) for n, name in enumerate(NAMES)],
        )
    )
    for n, name in enumerate(NAMES):
        stored = await memory.store.get_entity(sample_id("entity", n))
        assert stored is not None
        assert stored.name == name
        receipt = await memory.store.write(RecordBatch(claims=[entity(1_000 + n, name=name)]))
        assert set(receipt.claimed.values()) == {sample_id("entity", n)}, name


@pytest.mark.parametrize("name", [one for one in NAMES if "\x00" not in one])
async def test_a_name_is_found_by_its_words(open_memory: OpenMemory, name: str) -> None:
    memory = await open_memory(embedder=None)
    await memory.store.write(RecordBatch(facts=[fact(1, content=name), fact(2, content="nothing of it")]))
    assert [hit.id for hit in (await memory.recall(name)).hits][:1] == [sample_id("fact", 1)]


@pytest.mark.parametrize("name", ["a:b", "ü" * 500, "'; DROP", "`x`) DETACH DELETE n //", "new\nline", "日本", "*"])
async def test_ids_of_users_may_be_any_text(open_memory: OpenMemory, name: str) -> None:
    memory = await open_memory(name + "" if len(name) > 400 else f"{name}-pains")
    try:
        await memory.ingest([said("Ada Berg works at Acme Corp.", conversation=name, speaker=name)])
        assert (await memory.recall("Ada Berg")).hits
    finally:
        await memory.clear()


async def test_user_text_never_becomes_a_label_or_type(memory: Memory) -> None:
    kind = "Person) DETACH DELETE (n"
    await memory.store.put_entity(entity(1, entity_type=kind))
    labels = await memory.store.database.read(  # type: ignore[attr-defined]
        "MATCH (n:Entity {namespace: $namespace}) RETURN labels(n) AS labels", {"namespace": memory.namespace}
    )
    assert all("Person" not in one for row in labels for one in row["labels"])
    assert [one.entity_type for one in await memory.store.find_entities(entity_type=kind)] == [kind]
