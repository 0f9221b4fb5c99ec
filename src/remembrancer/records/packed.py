"""Many ids in little memory: 36 bytes each instead of some ninety, and 8 more once one is looked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_LENGTH = 36  # of every id, all of it ASCII


class PackedIds(Sequence[str]):
    """Ids in order, each of which can be found again without a set of them all; only to be added to."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._text = bytearray()
        self._array: NDArray[Any] | None = None
        self._order: NDArray[np.intp] | None = None
        for one in ids:
            self.append(one)

    def append(self, record_id: str) -> None:
        """Add an id, which must be one."""
        self._array = self._order = None  # first: bytes that an array shows cannot grow
        self._text += record_id.encode("ascii")

    def __len__(self) -> int:
        return len(self._text) // _LENGTH

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self._at(one) for one in range(len(self))[place]]
        return self._at(range(len(self))[place])

    def __contains__(self, record_id: object) -> bool:
        return isinstance(record_id, str) and self.place(record_id) is not None

    def place(self, record_id: str) -> int | None:
        """Where an id is; `None`: nowhere."""
        if not len(self):
            return None
        packed = self._packed()
        if self._order is None:
            self._order = np.argsort(packed, kind="stable")
        found = int(np.searchsorted(packed, np.bytes_(record_id.encode()), sorter=self._order))
        if found == len(self):
            return None
        place = int(self._order[found])
        return place if self._at(place) == record_id else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedIds) and self._text == other._text

    __hash__ = None  # type: ignore[assignment]  # it can be added to

    def __repr__(self) -> str:
        return f"PackedIds({list(self)!r})"

    def without(self, others: PackedIds) -> list[str]:
        """Those that are not among others, in order."""
        if not len(self):
            return []
        lacking = ~np.isin(self._packed(), others._packed()) if len(others) else np.ones(len(self), dtype=bool)
        return [self._at(int(place)) for place in np.flatnonzero(lacking)]

    def _at(self, place: int) -> str:
        return self._text[place * _LENGTH : (place + 1) * _LENGTH].decode("ascii")

    def _packed(self) -> NDArray[Any]:
        if self._array is None:
            self._array = np.frombuffer(self._text, dtype=f"S{_LENGTH}")
        return self._array
