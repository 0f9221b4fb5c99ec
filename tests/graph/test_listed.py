"""The lists in which a retrieval sends records leave no field of them out."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from pydantic import BaseModel

from remembrancer.graph import listed
from remembrancer.records import Entity, Episode, Fact, Message, Provenance, Relationship, Theme
from remembrancer.testing.samples import sample_id


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (Entity, [*listed.ENTITY[0], *listed.ENTITY[1]]),
        (Relationship, [*listed.RELATIONSHIP[0], *listed.RELATIONSHIP[1]]),
        (Episode, [*listed.EPISODE, "fact_ids", "messages"]),
        (Message, [*listed.MESSAGE, "provenance"]),
        (Fact, [*listed.FACT[0], *listed.FACT[1], *listed.EDGES.values()]),
        (Theme, listed.THEME),
        (Provenance, [*listed.PROVENANCE[0], *listed.PROVENANCE[1]]),
    ],
)
def test_a_list_holds_every_field_but_the_vector(record: type[BaseModel], fields: Iterable[str]) -> None:
    in_one = {"edges", "contents"}  # what they hold is named beside them
    assert sorted({*fields} - in_one) == sorted(set(record.model_fields) - {"embedding"})


def test_an_episode_is_read_in_the_order_of_its_places() -> None:
    first, second = sample_id("message", 1), sample_id("message", 2)
    made = ["human", "2026-01-01T00:00:00Z", ["a", "t", "r", "n", 0.5]]
    full = [f'1 tool 2026-01-01T00:00:01Z {second}\n:c\\\\n\\n\n:Ada\n{{"k": [1]}}\ntwo\nlines', made]
    bare = f"0 user 2026-01-01T00:00:00Z {first}\n\n:\n{{}}\n"
    facts = [f"1 {sample_id('fact', 3)}", f"0 {sample_id('fact', 4)}"]
    row = [sample_id("episode", 1), "topic", None, "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", made]
    episode = listed.episode([*row, [facts[0], full, facts[1], bare]])
    assert tuple(episode.fact_ids) == (sample_id("fact", 4), sample_id("fact", 3))
    assert [message.id for message in episode.messages] == [first, second]
    one, two = episode.messages
    assert set(Message.model_fields) - two.model_fields_set == {"embedding"}
    assert (one.speaker, one.conversation, one.metadata, one.provenance) == ("", None, {}, None)
    assert two.provenance == Provenance(
        source="human", created_at=two.timestamp.replace(second=0), agent_id="a", tool_name="t", run_id="r",
        node_id="n", confidence=0.5,
    )  # fmt: skip
    assert (two.role, two.content, two.metadata) == ("tool", "two\nlines", {"k": [1]})
    assert (two.conversation, two.speaker, one.content) == ("c\\n\n", "Ada", "")
