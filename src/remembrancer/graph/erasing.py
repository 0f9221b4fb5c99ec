"""Erasure in Neo4j: what hangs on what is to be forgotten, and the texts that the audit trail holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from remembrancer.graph import queries
from remembrancer.graph.connection import Database, Row, Transaction, first
from remembrancer.graph.receipts import ReceiptDraft
from remembrancer.ports.erasure import holds_name
from remembrancer.records import IdsByKind, Scrub
from remembrancer.records.batch import ids_by_kind
from remembrancer.records.erasure import Dependents, Source
from remembrancer.records.recall_copies import name_words


class _Store(Protocol):
    database: Database

    @property
    def namespace(self) -> str: ...

    async def _read(self, name: str, **parameters: Any) -> list[Row]: ...

    async def clear(self) -> None: ...

    async def count_all(self) -> dict[str, int]: ...


class ErasureSurvey:
    """The part of a store in Neo4j that looks up what to erase; fulfils `remembrancer.ports.erasure.Erases`."""

    async def find_dependents(
        self: _Store,
        *,
        messages: Sequence[str] = (),
        episodes: Sequence[str] = (),
        facts: Sequence[str] = (),
        entities: Sequence[str] = (),
    ) -> Dependents:
        """Who names these records, closed ones too."""
        named = {"messages": messages, "episodes": episodes, "facts": facts, "entities": entities}
        found = await self._read("erase.dependents", **{name: list(ids) for name, ids in named.items()})
        return Dependents.model_validate(first(found))

    async def find_from(self: _Store, source: Source) -> IdsByKind:
        """Everything that came from a source, closed ones too."""
        found = await self._read("erase.of_source", source=source.model_dump())
        return ids_by_kind((row["kind"], [row["id"]]) for row in found)

    async def find_texts_with(self: _Store, name: str) -> IdsByKind:
        """Messages and facts with this text somewhere in them."""
        found = await self._read("erase.texts_with", text=name.lower())
        return ids_by_kind((row["kind"], [row["id"]]) for row in found if holds_name(row["text"], name))

    async def count_mentions(self: _Store, groups: Sequence[Sequence[str]]) -> list[int]:
        """For each group of entities how many facts mention all of them."""
        asked = [{"place": n, "first": group[0], "others": list(group[1:])} for n, group in enumerate(groups)]
        return [row["facts"] for row in await self._read("erase.count_mentions", rows=asked)] if asked else []

    async def count_all(self: _Store) -> dict[str, int]:
        """How many records of each kind the namespace holds."""
        return {row["kind"]: row["stored"] for row in await self._read("doctor.counts")}

    async def forget_all(self: _Store) -> dict[str, int]:
        """Remove everything in the namespace, and its list of speakers."""
        counts = await self.count_all()
        await self.clear()

        async def unlearn(transaction: Transaction) -> None:
            parameters = {"namespace": self.namespace, "words": []}
            await transaction.run(queries.load("erase.set_speakers"), parameters)

        await self.database.write(unlearn)
        return counts


class Scrubber:
    """Empties what an erasure must not leave behind, in the transaction that it is handed."""

    def __init__(self, transaction: Transaction, *, namespace: str) -> None:
        self._transaction = transaction
        self._namespace = namespace

    async def scrub(self, scrub: Scrub, draft: ReceiptDraft) -> None:
        """Empty the trail of the records, take audit edges away, and unlearn who no longer speaks."""
        ids = {"touched": sorted(scrub.touched), "erased": sorted(scrub.erased)}
        edges = first(await self._run("erase.scrub_edges", **ids))
        draft.placeholders_gone(edges["removed"])
        await self._run("erase.scrub_entries", **ids)
        if scrub.unlearns_speakers:
            speakers = [row["speaker"] for row in await self._run("erase.speakers")]
            words = sorted({word for speaker in speakers for word in name_words(speaker)})
            await self._run("erase.set_speakers", words=words)

    async def _run(self, name: str, **parameters: Any) -> list[Row]:
        return await self._transaction.run(queries.load(name), {"namespace": self._namespace, **parameters})
