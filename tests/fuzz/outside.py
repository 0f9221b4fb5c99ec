"""What outside data may look like: odd values, and good documents of which a part is wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

DEPTHS = (90, 150, 600, 950, 10_000)

ODD_TEXTS = [
    "", " ", "\t\n", "\x00", "a\x00b", "\ufeff", "\ufeffa", "\ud800", "a\udfff", "\u202e", "\r\n", "\r", "\u2028",
        "\x85", "\x1b[2J",
    "x" * 1_001, "é" * 600, "x" * 20_000, "2025-01-01", "2025-13-01", "2025-01-01T25:00", "20250101T000000Z",
    "2025-W01-1",
    "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00",
    "2025-01-01T00:00:00.1234567Z",
    "2025-01-01T00:00:00.123456789+01:00", "1e999", "NaN", "Infinity", "-0", "1_0", "١٢", "²", "9" * 5_000, "0x10",
    "1" * 400,
    "maſt", "Aprıl", "frİday", "K", "null", "true", "{}", "[]", '"', "\\", "'", "```", "```json", "<think>",
    "</think>", "%s", "{0}", "$x",
    "a:b", "../..", "/dev/null", "-", "--", "=", "a=b", "a=", "=1", "00000000-0000-0000-0000-000000000000", "{" * 50,
    "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "urn:uuid:6ba7b810-9dad-41d1-80b4-00c04fd430c8", "user", "assistant",
    "conversations",
]  # fmt: skip
"""Texts on which something has been known to stumble."""

odd_texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=12)
odd_numbers = st.sampled_from(
    [0, -1, 1, 2**31, 2**53, 2**63, 2**64, 10**400, -(10**400), 0.0, -0.0, 0.5, 1e308, 1e18, 5e-324, float("nan"),
     float("inf"), float("-inf"), 1.7e9, 253402300799.999999, -62135596800.0]
)  # fmt: skip
odd_values = st.recursive(
    st.none() | st.booleans() | odd_numbers | odd_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(odd_texts, inner, max_size=3),
    max_leaves=6,
)
"""Any value of JSON, and some that Python's reader takes besides."""

_deep = st.sampled_from([f"(deep {how} {depth})" for depth in DEPTHS for how in "[{"])
"""Stands for something nested, which is put in when the document is written: Python cannot write what is so deep."""


class Pairs(list[tuple[str, Any]]):
    """An object in which a key may be given twice."""


def written(value: Any) -> str:
    """A document as JSON; `Pairs` as objects, and the marks of what is nested as that."""
    text = _dumped(value)
    for depth in DEPTHS:
        text = text.replace(f'"(deep [ {depth})"', "[" * depth + "]" * depth)
        text = text.replace(f'"(deep {{ {depth})"', '{"a":' * depth + "1" + "}" * depth)
    return text


def _dumped(value: Any) -> str:
    if isinstance(value, Pairs | dict):
        pairs = value if isinstance(value, Pairs) else value.items()
        return "{" + ", ".join(f"{json.dumps(name)}: {_dumped(one)}" for name, one in pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_dumped, value)) + "]"
    return json.dumps(value)


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        holder = pending.pop()
        if isinstance(holder, Pairs):
            continue
        keys: Sequence[Any] = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                pending.append(holder[key])
    return found


@st.composite
def changed(draw: st.DrawFn, document: Any, *, most: int = 3) -> Any:
    """A document of which up to `most` parts are something else, are missing, or are there twice."""
    held = [copy.deepcopy(document)]
    for _ in range(draw(st.integers(0, most))):
        holder, key = draw(st.sampled_from(_places(held)))
        match draw(st.sampled_from(["other", "other", "deep", "gone", "twice", "wrapped", "named"])):
            case "other":
                holder[key] = draw(odd_values)
            case "deep":
                holder[key] = draw(_deep)
            case "gone" if holder is not held:
                del holder[key]
            case "twice" if isinstance(holder[key], dict) and holder[key]:
                name = draw(st.sampled_from(list(holder[key])))
                holder[key] = Pairs([*holder[key].items(), (name, draw(odd_values))])
            case "twice" if isinstance(holder, list) and holder is not held:
                holder.append(copy.deepcopy(holder[key]))
            case "wrapped":
                holder[key] = draw(st.sampled_from([[holder[key]], {"a": holder[key]}]))
            case "named" if isinstance(holder, dict):
                holder[draw(odd_texts)] = draw(odd_values)
    return held[0]


@st.composite
def damaged(draw: st.DrawFn, raw: bytes) -> bytes:
    """Bytes as they were, cut off anywhere, or with something wrong in them."""
    place = draw(st.integers(0, len(raw)))
    match draw(st.sampled_from(["whole", "whole", "cut", "put in", "changed", "marked", "lines", "twice"])):
        case "cut":
            return raw[:place]
        case "put in":
            odd = [b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n", b"\x1a", b'"', b",", b"]", b"}"]
            return raw[:place] + draw(st.sampled_from(odd)) + raw[place:]
        case "changed":
            return raw[:place] + bytes([draw(st.integers(0, 255))]) + raw[place + 1 :]
        case "marked":
            return b"\xef\xbb\xbf" + raw
        case "lines":
            return raw.replace(b"\n", draw(st.sampled_from([b"\r\n", b"\r", b"\n\n", b"\n\r\n"])))
        case "twice":
            return raw + raw
    return raw


def documents(document: Any) -> st.SearchStrategy[bytes]:
    """One JSON document as bytes, good or not."""
    return changed(document).flatmap(lambda value: damaged(written(value).encode("utf-8", "surrogatepass")))


def lines(records: Sequence[Any]) -> st.SearchStrategy[bytes]:
    """JSON Lines as bytes, good or not."""
    return changed(list(records)).flatmap(
        lambda values: damaged(
            "".join(f"{written(one)}\n" for one in (values if isinstance(values, list) else [values])).encode(
                "utf-8", "surrogatepass"
            )
        )
    )
