"""Erasure: what is to be forgotten, and what was."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from remembrancer.records.base import Listed, Record, Request
from remembrancer.records.batch import IdsByKind
from remembrancer.records.key import Id, Key
from remembrancer.records.provenance import ProvenanceSource


class Source(Request):
    """Where records came from; all that is given must match, and something must be given.

    Attributes:
        source: As in `Provenance`.
        agent_id: As in `Provenance`.
        tool_name: As in `Provenance`.
        run_id: As in `Provenance`.
        node_id: As in `Provenance`.
        conversation: Messages of this conversation, and no other record by itself.
    """

    source: ProvenanceSource | None = None
    agent_id: Key | None = None
    tool_name: Key | None = None
    run_id: Key | None = None
    node_id: Key | None = None
    conversation: Key | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if all(value is None for value in dict(self).values()):
            raise ValueError("say at least one thing of the source; everything is forgotten by everything=True")
        return self


class Erasure(Record):
    """What was forgotten, or would be.

    Attributes:
        erased: Ids of what is gone for good, by kind; when the whole namespace was forgotten, `counts` alone tells.
        closed: Ids of what was closed instead, where nothing was to be erased.
        rewritten: Ids of what stays and was made anew without what is gone: episodes with fewer messages and another
            topic, themes with fewer facts and another label, facts that another message supports.
        kept: Ids of what holds the text still: messages, where nothing was to be erased.
        counts: How many records of each kind are gone or closed.
        is_hard: Whether it was erasure; otherwise things were closed.
        is_dry_run: Whether nothing was written.
        pass_id: The pass that did it; `None`: there was nothing to do, or nothing was written.
    """

    erased: IdsByKind = {}
    closed: IdsByKind = {}
    rewritten: IdsByKind = {}
    kept: IdsByKind = {}
    counts: dict[str, int] = {}
    is_hard: bool = True
    is_dry_run: bool = False
    pass_id: Id | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to forget."""
        return not any(self.counts.values()) and not self.rewritten


class Dependents(Record):
    """Who names some records; ids, each once, in order.

    Attributes:
        citing_facts: Facts that cite one of the messages.
        facts_of_episodes: Facts that were read from one of the episodes.
        facts_of_entities: Facts that mention one of the entities.
        derived_facts: Facts that were made from none but these facts.
        holding_episodes: Episodes that hold one of the messages.
        listing_episodes: Episodes that list one of the facts.
        listing_themes: Themes that list one of the facts.
        relationships: Relationships at one of the entities.
    """

    citing_facts: Listed[str] = ()
    facts_of_episodes: Listed[str] = ()
    facts_of_entities: Listed[str] = ()
    derived_facts: Listed[str] = ()
    holding_episodes: Listed[str] = ()
    listing_episodes: Listed[str] = ()
    listing_themes: Listed[str] = ()
    relationships: Listed[str] = ()
