"""Keys and ids: the limit in bytes, lone surrogates, and which texts are UUIDs."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.records import MAX_KEY_BYTES, InvalidInputError, random_id
from remembrancer.records.key import (
    check_id,
    check_key,
    derived_id,
    require_id,
    require_ids,
    require_key,
    require_keys,
    without_repeats,
)

AN_ID = "f0000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize(("letter", "size"), [("a", 1), ("é", 2), ("東", 3), ("😀", 4)])
def test_a_key_has_at_most_a_thousand_bytes_of_utf_8(letter: str, size: int) -> None:
    longest = letter * (MAX_KEY_BYTES // size)
    assert check_key(longest) == longest
    with pytest.raises(ValueError, match="1,000"):
        check_key(longest + letter)


@pytest.mark.parametrize("text", ["\ud800", "before\udfffafter", "\ude00\ud83d"])
def test_a_lone_surrogate_is_no_key(text: str) -> None:
    with pytest.raises(ValueError, match="surrogate"):
        check_key(text)


@pytest.mark.parametrize("value", ["", None, 1, b"bytes", "x" * 1001, "\ud800"])
def test_a_wrong_key_is_refused_by_the_name_of_the_argument(value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^namespace: "):
        require_key(value, field="namespace")


def test_a_wrong_key_in_a_list_is_named_by_its_place() -> None:
    assert require_keys(iter(["a", "b"]), field="tags") == ("a", "b")
    with pytest.raises(InvalidInputError) as caught:
        require_keys(["a", "", "c"], field="tags")
    assert caught.value.field == "tags.1"


@pytest.mark.parametrize("value", ["ab", b"ab", 5, None])
def test_a_lone_text_is_no_list(value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^tags: "):
        require_keys(value, field="tags")
    with pytest.raises(InvalidInputError, match=r"^ids: "):
        require_ids(value, field="ids")


@pytest.mark.parametrize("version", "12345678")
def test_each_version_of_a_uuid_is_an_id_and_its_case_is_kept(version: str) -> None:
    text = f"F0000000-0000-{version}000-Bfff-000000000001"
    assert check_id(text) == text


@pytest.mark.parametrize("text", [str(uuid.UUID(int=0)), "f" * 8 + "-ffff-ffff-ffff-" + "f" * 12])
def test_the_all_zero_and_the_all_one_uuid_are_ids(text: str) -> None:
    assert check_id(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        AN_ID.replace("-", ""),
        "{" + AN_ID + "}",
        "urn:uuid:" + AN_ID,
        AN_ID + "\n",
        " " + AN_ID,
        AN_ID.replace("-4", "-9", 1),
        AN_ID.replace("-4", "-0", 1),
        AN_ID.replace("-8", "-7", 1),
        AN_ID.replace("-8", "-c", 1),
        AN_ID.replace("1", "١"),
    ],
)
def test_other_texts_are_no_ids(text: str) -> None:
    with pytest.raises(ValueError, match="UUID"):
        check_id(text)


def test_a_wrong_id_is_refused_by_the_name_of_the_argument() -> None:
    with pytest.raises(InvalidInputError, match=r"^fact_id: "):
        require_id("nope", field="fact_id")
    with pytest.raises(InvalidInputError, match=r"^fact_id: "):
        require_id(None, field="fact_id")
    with pytest.raises(InvalidInputError, match=r"^ids\.1: "):
        require_ids([AN_ID, 7], field="ids")


@given(st.uuids())
def test_every_random_uuid_of_python_is_an_id(value: uuid.UUID) -> None:
    if value.variant == uuid.RFC_4122 and value.version in range(1, 9):
        assert check_id(str(value)) == str(value)


def test_random_ids_are_ids_and_differ() -> None:
    assert check_id(random_id()) != check_id(random_id())


parts = st.lists(st.none() | st.text(alphabet="ab:-1é😀", max_size=4), max_size=4)


@given(parts, parts)
def test_derived_ids_are_equal_exactly_when_all_parts_are(one: list[str | None], other: list[str | None]) -> None:
    assert check_id(derived_id(*one))
    assert (derived_id(*one) == derived_id(*other)) == (one == other)


def test_a_derived_id_never_changes_between_releases() -> None:
    assert derived_id("conversation", "user", None, "2025-01-01T00:00:00+00:00", "Hello") == (
        "62354dfc-18df-5b83-b7f2-f19867b960a4"
    )


@given(st.lists(st.sampled_from("abc")))
def test_without_repeats_each_value_stands_where_it_came_first(values: list[str]) -> None:
    kept = without_repeats(values)
    assert set(kept) == set(values)
    assert list(kept) == sorted(set(values), key=values.index)
