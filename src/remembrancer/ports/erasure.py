"""What a store must be able to look up so that something can be forgotten with everything that was made from it.

The writing is done by `MemoryStore.write` with `RecordBatch.scrub`: in the same transaction the audit trail of the
erased records is emptied of texts, audit edges at them go, and words of speakers who no longer speak are unlearnt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from remembrancer.records import IdsByKind
from remembrancer.records.erasure import Dependents, Source


@runtime_checkable
class Erases(Protocol):
    """A store in which something can be forgotten for good."""

    async def find_dependents(
        self,
        *,
        messages: Sequence[str] = (),
        episodes: Sequence[str] = (),
        facts: Sequence[str] = (),
        entities: Sequence[str] = (),
    ) -> Dependents:
        """Who names these records, closed ones too; the records themselves need not be stored."""
        ...

    async def find_from(self, source: Source) -> IdsByKind:
        """Everything that came from a source, closed ones too."""
        ...

    async def find_texts_with(self, name: str) -> IdsByKind:
        """Messages and facts with this text somewhere in them, in what they say or in who says it, in any case."""
        ...

    async def count_mentions(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """For each group of entities how many facts, closed ones too, mention all of them."""
        ...

    async def count_all(self) -> dict[str, int]:
        """How many records of each kind the namespace holds, closed ones too."""
        ...

    async def forget_all(self) -> dict[str, int]:
        """Remove everything in the namespace, and its list of speakers; how many records of each kind there were."""
        ...


def holds_name(text: str, name: str) -> bool:
    """Whether a text has a name in it, not as a part of a longer word, in any case."""
    pattern = rf"(?<!\w){re.escape(name.lower())}(?!\w)"
    return re.search(pattern, text.lower()) is not None
