"""Which names meet, in any script."""

from __future__ import annotations

import pytest

from remembrancer.records import name_key, normalize_entity_name
from remembrancer.records.entity import folded_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Acme, Inc.", " the ACME   Inc"),
        ("Straße", "STRASSE"),
        ("ＡＣＭＥ", "acme"),
        ("ΟΔΟΣ", "οδοσ"),
        ("Café", "Cafe\N{COMBINING ACUTE ACCENT}"),
        ("株式会社 日本", "株式会社\N{IDEOGRAPHIC SPACE}日本"),
        ("ﬁnance", "Finance"),
        ("O’Brien", "O'Brien"),
    ],
)
def test_names_that_meet(one: str, other: str) -> None:
    assert name_key(one, "x") == name_key(other, "x")
    assert name_key(one, "x") != name_key(other, "y")


@pytest.mark.parametrize(
    ("one", "other"),
    [("José", "Jose"), ("Foo-Bar", "Foo Bar"), ("Foo (Bar)", "Foo Bar"), ("...", "!?"), ("दिल्ली", "दिल")],
)
def test_names_that_do_not(one: str, other: str) -> None:
    assert name_key(one, "x") != name_key(other, "x")


def test_the_plain_form_of_an_ascii_name_is_what_it_is_folded_to() -> None:
    for name in ("The Annual Report", "a an the x", "U.S.A.", "semi;colon:s", "  Alice   Smith "):
        assert folded_name(name) == normalize_entity_name(name)


def test_names_of_which_nothing_is_left_fold_to_nothing() -> None:
    assert [folded_name(name) for name in ("", "...", "A ", "“", "．")] == ["", "", "", "“", ""]
