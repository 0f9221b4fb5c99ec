"""Records and requests: the limits of every field, open maps, frozenness, unknown fields, and errors by name."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from remembrancer.records import (
    EmbeddingSpace,
    Entity,
    Episode,
    Fact,
    InvalidInputError,
    MemoryQuery,
    Message,
    Provenance,
    Relationship,
    RetentionPolicy,
    RunOutcome,
    Theme,
    name_key,
    normalize_entity_name,
)
from remembrancer.records.base import build, translated
from remembrancer.records.fact import MAX_INTEGER

AN_ID = "f0000000-0000-4000-8000-000000000001"
ANOTHER_ID = "f0000000-0000-4000-8000-000000000002"
NEW_YEAR = "2025-01-01T00:00:00Z"
ORIGIN = {"source": "agent", "created_at": NEW_YEAR}

LEAST: dict[type[BaseModel], dict[str, Any]] = {
    Provenance: ORIGIN,
    Entity: {
        "id": AN_ID,
        "name": "Ada",
        "entity_type": "person",
        "provenance": ORIGIN,
        "created_at": NEW_YEAR,
        "updated_at": NEW_YEAR,
    },
    Relationship: {
        "id": AN_ID,
        "source_id": AN_ID,
        "target_id": ANOTHER_ID,
        "relation_type": "work_at",
        "valid_from": NEW_YEAR,
        "provenance": ORIGIN,
    },
    Message: {"role": "user", "content": "Hello", "timestamp": NEW_YEAR},
    Episode: {
        "id": AN_ID,
        "topic": "",
        "messages": [],
        "started_at": NEW_YEAR,
        "ended_at": NEW_YEAR,
        "provenance": ORIGIN,
    },
    Fact: {"id": AN_ID, "content": "Ada writes.", "provenance": ORIGIN, "valid_from": NEW_YEAR},
    Theme: {"id": AN_ID, "label": "Writing", "provenance": ORIGIN},
    RunOutcome: {"run_id": "run", "score": 0.5},
    EmbeddingSpace: {"model": "hashing", "dimensions": 64},
    MemoryQuery: {},
    RetentionPolicy: {},
}
RECORDS = [schema for schema in LEAST if schema not in (MemoryQuery, RetentionPolicy)]
REQUESTS = [MemoryQuery, RetentionPolicy]


def make(schema: type[BaseModel], **fields: Any) -> Any:
    return schema(**{**LEAST[schema], **fields})


def field_of(schema: type[BaseModel], **fields: Any) -> str:
    """The field that is refused."""
    with pytest.raises(ValidationError) as caught:
        make(schema, **fields)
    return translated(caught.value).field


KEY_1000, KEY_1001 = "k" * 1000, "k" * 1001
TAKEN = [
    (Provenance, "confidence", [0, 1, 0.5, None]),
    (Provenance, "source", ["agent", "tool", "human", "system", "derived"]),
    (Provenance, "agent_id", ["", KEY_1000, None]),
    (Entity, "name", ["x", "x" * 5000]),
    (Entity, "entity_type", ["x", KEY_1000]),
    (Entity, "superseded_by", [ANOTHER_ID, None]),
    (Relationship, "weight", [0, 1, 0.25]),
    (Relationship, "invalidated_by", [ANOTHER_ID, None]),
    (Message, "role", ["user", "assistant", "system", "tool"]),
    (Message, "content", ["", "x" * 100_000, "\0", "😀"]),
    (Message, "conversation", ["", KEY_1000, None]),
    (Message, "speaker", ["Ada", None]),
    (Episode, "topic", ["", "x" * 5000]),
    (Fact, "content", ["x", "x" * 100_000]),
    (Fact, "invalidated_by", [AN_ID, "eval-gate:harmful", "", None]),
    (Fact, "access_count", [0, 3, MAX_INTEGER, None]),
    (Fact, "tags", [[], ["a", "a"], ("b",), [KEY_1000]]),
    (Fact, "entity_ids", [[], [AN_ID, AN_ID]]),
    (Theme, "label", ["x"]),
    (Theme, "description", [""]),
    (RunOutcome, "score", [0, 1, 0.5]),
    (RunOutcome, "fact_ids", [["not a uuid", ""]]),
    (EmbeddingSpace, "dimensions", [1, 4096]),
    (MemoryQuery, "limit", [1, 100]),
    (MemoryQuery, "max_hops", [0, 5]),
    (MemoryQuery, "min_similarity", [0, 1]),
    (MemoryQuery, "embedding", [[], [1.0], None]),
    (MemoryQuery, "tags", [[], ["a"]]),
    (RetentionPolicy, "min_trials", [1]),
    (RetentionPolicy, "max_trials", [3, None]),
    (RetentionPolicy, "max_baseline_runs", [2, None]),
    (RetentionPolicy, "promote_confidence", [0.5, 0.999]),
    (RetentionPolicy, "evict_margin", [0]),
]
REFUSED = [
    (Provenance, "confidence", [-0.01, 1.01, math.nan, "0.5", True]),
    (Provenance, "source", ["llm", "", None, 1]),
    (Provenance, "run_id", [KEY_1001, "\ud800", 5]),
    (Entity, "id", ["x", None, 1]),
    (Entity, "name", ["", None, 5, "\ud800"]),
    (Entity, "entity_type", ["", KEY_1001]),
    (Entity, "attributes", [None, [], "x", {1: "a"}, {"a": {2: "b"}}, {"a": math.nan}, {"a": [math.inf]}, {"a": {1}}]),
    (Entity, "superseded_by", ["eval-gate:harmful"]),
    (Entity, "created_at", [None, "nonsense", True]),
    (Relationship, "source_id", ["x"]),
    (Relationship, "relation_type", ["", KEY_1001]),
    (Relationship, "weight", [-0.1, 1.1, math.nan, math.inf, "1", None]),
    (Relationship, "invalidated_by", ["eval-gate:harmful", ""]),
    (Message, "role", ["developer", ""]),
    (Message, "content", [None, 5, "\ud800"]),
    (Message, "conversation", [KEY_1001]),
    (Message, "speaker", [KEY_1001]),
    (Message, "id", ["x", None]),
    (Episode, "messages", [None, "x", {"a": 1}]),
    (Episode, "topic", [None]),
    (Fact, "content", ["", None]),
    (Fact, "invalidated_by", [KEY_1001]),
    (Fact, "access_count", [-1, 1.5, "3", True, MAX_INTEGER + 1]),
    (Fact, "tags", ["ab", None, {"a"}, {"a": 1}]),
    (Fact, "theme_id", ["x"]),
    (Theme, "label", [""]),
    (RunOutcome, "score", [-0.1, 1.1, math.nan, None]),
    (RunOutcome, "run_id", ["", KEY_1001]),
    (EmbeddingSpace, "dimensions", [0, 4097]),
    (MemoryQuery, "limit", [0, 101, 1.5, True, "5"]),
    (MemoryQuery, "max_hops", [-1, 6]),
    (MemoryQuery, "min_similarity", [-0.1, 1.1, math.nan]),
    (MemoryQuery, "include_invalidated", [1, None]),
    (MemoryQuery, "tags", [None, "ab"]),
    (MemoryQuery, "misspelt", [1]),
    (RetentionPolicy, "min_trials", [0, 1.5]),
    (RetentionPolicy, "max_trials", [0, 2]),
    (RetentionPolicy, "max_baseline_runs", [1]),
    (RetentionPolicy, "promote_confidence", [0.49, 1, math.nan]),
    (RetentionPolicy, "noise_floor_sd", [-1, math.inf]),
    (RetentionPolicy, "decision_rule", ["x"]),
    (RetentionPolicy, "candidate_tag", [""]),
    (RetentionPolicy, "misspelt", [1]),
]


def cases(table: list[tuple[type[BaseModel], str, list[Any]]]) -> list[Any]:
    return [
        pytest.param(schema, field, value, id=f"{schema.__name__}-{field}-{place}")
        for schema, field, values in table
        for place, value in enumerate(values)
    ]


@pytest.mark.parametrize(("schema", "field", "value"), cases(TAKEN))
def test_what_is_within_the_limits_is_taken(schema: type[BaseModel], field: str, value: Any) -> None:
    made = getattr(make(schema, **{field: value}), field)
    assert made == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.parametrize(("schema", "field", "value"), cases(REFUSED))
def test_what_is_beyond_them_is_refused_by_the_name_of_the_field(
    schema: type[BaseModel], field: str, value: Any
) -> None:
    assert field_of(schema, **{field: value}).split(".")[0] == field


@pytest.mark.parametrize("schema", RECORDS)
def test_each_field_without_default_is_required(schema: type[BaseModel]) -> None:
    for name in LEAST[schema]:
        less = {field: value for field, value in LEAST[schema].items() if field != name}
        with pytest.raises(ValidationError) as caught:
            schema(**less)
        assert translated(caught.value).field == name


@pytest.mark.parametrize("schema", RECORDS)
def test_records_drop_unknown_fields(schema: type[BaseModel]) -> None:
    assert make(schema, unknown=1) == make(schema)
    assert not hasattr(make(schema, unknown=1), "unknown")


@pytest.mark.parametrize("schema", LEAST)
def test_nothing_can_be_changed(schema: type[BaseModel]) -> None:
    made = make(schema)
    with pytest.raises(ValidationError, match="frozen"):
        setattr(made, next(iter(schema.model_fields)), None)


@pytest.mark.parametrize("schema", LEAST)
def test_a_record_survives_json(schema: type[BaseModel]) -> None:
    made = make(schema)
    assert schema.model_validate_json(made.model_dump_json()) == made


def test_lists_keep_their_order_and_their_repeats() -> None:
    assert make(Fact, tags=["b", "a", "b"]).tags == ("b", "a", "b")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_an_open_map_keeps_any_json(value: dict[str, Any]) -> None:
    assert make(Entity, attributes=value).attributes == value


def test_an_open_map_keeps_big_integers_and_nulls_and_turns_tuples_into_lists() -> None:
    kept = make(Entity, attributes={"big": 10**40, "none": None, "pair": (1, 2)}).attributes
    assert kept == {"big": 10**40, "none": None, "pair": [1, 2]}
    assert type(kept["big"]) is int


def test_an_open_map_is_copied_on_the_way_in() -> None:
    inner = {"key": [1]}
    made = make(Message, metadata=inner)
    inner["key"].append(2)
    assert made.metadata == {"key": [1]}


def test_a_map_that_contains_itself_or_has_no_bottom_is_refused() -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    assert field_of(Entity, attributes=circle) == "attributes"
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"deeper": deep}
    assert field_of(Entity, attributes=deep) == "attributes"


def test_the_same_message_read_twice_has_one_id() -> None:
    assert make(Message).id == make(Message, timestamp="2025-01-01T01:00:00+01:00", metadata={"read": "again"}).id


@pytest.mark.parametrize(
    "other",
    [
        {"role": "assistant"},
        {"content": "Hello!"},
        {"timestamp": "2025-01-01T00:00:00.000001Z"},
        {"conversation": "a"},
        {"conversation": ""},
        {"speaker": "Ada"},
    ],
)
def test_messages_that_differ_in_what_was_said_have_different_ids(other: dict[str, Any]) -> None:
    assert make(Message, **other).id != make(Message).id


def test_a_message_keeps_the_id_that_it_is_given() -> None:
    assert make(Message, id=AN_ID).id == AN_ID


def test_a_message_is_spoken_by_its_speaker_else_by_its_role() -> None:
    assert make(Message, speaker="Ada").spoken == "Ada: Hello"
    assert make(Message).spoken == "user: Hello"


def test_live_means_that_nothing_closed_it() -> None:
    assert make(Fact, invalidated_by="").is_live
    assert not make(Fact, invalidated_by="eval-gate:harmful").is_live
    assert not make(Entity, superseded_by=ANOTHER_ID).is_live
    assert not make(Entity, invalidated_at=NEW_YEAR).is_live
    assert not make(Relationship, invalidated_by=ANOTHER_ID).is_live
    assert make(Fact, tags=["quarantined"]).is_quarantined
    assert not make(Fact, tags=["candidate"]).is_quarantined


def test_build_names_the_first_wrong_argument() -> None:
    assert build(MemoryQuery, limit=5).limit == 5
    with pytest.raises(InvalidInputError) as caught:
        build(MemoryQuery, limit=0)
    assert caught.value.field == "limit"
    assert isinstance(caught.value.__cause__, ValidationError)
    with pytest.raises(InvalidInputError) as caught:
        build(Episode, **{**LEAST[Episode], "messages": [LEAST[Message], {"role": "nobody"}]})
    assert caught.value.field == "messages.1.role"


def test_a_translated_error_names_where_the_record_was() -> None:
    with pytest.raises(ValidationError) as caught:
        make(Fact, tags=["a", "x" * 1001])
    error = translated(caught.value, within="facts.3")
    assert error.field == "facts.3.tags.1"
    assert str(error) == "facts.3.tags.1: 1,001 bytes of UTF-8; keys and filters have at most 1,000"


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("  The  Acme   Corp. ", "acme corp"),
        ("A. B. Smith", "a b smith"),
        ("An apple", "apple"),
        ("the the group", "the group"),
        ("Theodore", "theodore"),
        ("O’Brien's", "obriens"),
        ("Jean-Luc (Sr)", "jean-luc (sr)"),
        ("JOSÉ", "josé"),
        ("?!", ""),
        ("", ""),
    ],
)
def test_names_meet_in_their_normal_form(name: str, normal: str) -> None:
    assert normalize_entity_name(name) == normal


def test_a_name_key_joins_equal_names_of_one_type_only() -> None:
    assert name_key("The Acme Corp.", "organization") == name_key("acme corp", "organization")
    assert name_key("Acme", "organization") != name_key("Acme", "person")
    assert name_key("?", "concept") != name_key("!", "concept")
    assert len(name_key("x" * 100_000, "concept")) == 64
