"""A store for LangGraph's agents that keeps what they put into it in a memory: in Neo4j, across threads and restarts.

    store = RemembrancerStore(memory)
    graph = builder.compile(checkpointer=..., store=store)

Items are records of the memory's own namespace (`remembrancer.integrations.items` says which), so that a recall finds
them too and Neo4j Browser shows them. Needs the extra `langgraph`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
)

from remembrancer.integrations.awaiting import Bridge
from remembrancer.integrations.filters import check_filter, matches
from remembrancer.integrations.items import Path, StoredItem
from remembrancer.integrations.shelf import Place, Put, Shelf
from remembrancer.memory import Memory
from remembrancer.ports.arguments import whole_number
from remembrancer.ports.tracing import span
from remembrancer.records import Clock, InvalidInputError, system_clock
from remembrancer.records.key import check_text, require_keys
from remembrancer.sync import SyncMemory

__all__ = ["RemembrancerStore"]

_WHOLE = "$"
_LONGEST = 1_000_000_000  # minutes, 1,900 years: an end that a clock can still tell


class RemembrancerStore(BaseStore):
    """A `BaseStore` over an open memory; closing the memory ends it.

    Over a `SyncMemory` every method works everywhere. Over a `Memory` use the methods with a leading `a`; the others
    work from threads beside its event loop, which is where LangGraph runs nodes that are plain functions.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory | SyncMemory,
        *,
        fields: Sequence[str] = (_WHOLE,),
        ttl: TTLConfig | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Make a store.

        Args:
            memory: Where items live. With an embedder, searches with a query go by similarity.
            fields: Which parts of a value make an item found, as LangGraph's paths (`text`, `notes[*].content`);
                `$` is all of it, as JSON. `put(..., index=...)` says otherwise for one item.
            ttl: `default_ttl` in minutes for items that are put without one, and `refresh_on_read`. Expired items are
                never read; `sweep_ttl` removes them for good.
            clock: Tells what now is.

        Raises:
            InvalidInputError: Not a memory, or fields that are no texts.
        """
        self._bridge = Bridge(memory)
        self._shelf = Shelf(memory.store, memory.index, memory.embedder, clock=clock)
        self._fields = require_keys(fields, field="fields")
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things at once: reads first, as it was before; then all writes, in one transaction.

        Raises:
            InvalidNamespaceError: A namespace is not one; nothing was written.
            InvalidInputError: A value, filter or number is wrong, and names it; nothing was written.
            RemembranceError: A blocking call on the event loop of the memory itself.
        """
        listed = list(ops)
        return self._bridge.block(lambda: self._run(listed))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things at once, as `batch`."""
        listed = list(ops)
        return await self._bridge.wait(lambda: self._run(listed))

    def sweep_ttl(self) -> int:
        """Remove expired items for good; how many there were."""
        return self._bridge.block(self._shelf.sweep)

    async def asweep_ttl(self) -> int:
        """Remove expired items for good, as `sweep_ttl`."""
        return await self._bridge.wait(self._shelf.sweep)

    async def _run(self, given: list[Op]) -> list[Result]:
        ops = [_checked(op) for op in given]
        puts = {(op.namespace, op.key): self._put(op) for op in ops if isinstance(op, PutOp)}
        with span("remembrancer.langgraph.batch", attributes={"remembrancer.operations": len(ops)}):
            got = await self._shelf.get((op.namespace, op.key) for op in ops if isinstance(op, GetOp))
            used: dict[Place, StoredItem] = {}
            answers = [await self._answer(op, got, used) for op in ops]
            await self._shelf.write(puts, used=used.values())
        return answers

    async def _answer(self, op: Op, got: Mapping[Place, StoredItem], used: dict[Place, StoredItem]) -> Result:
        if isinstance(op, GetOp):
            item = got.get((op.namespace, op.key))
            if item is None:
                return None
            if op.refresh_ttl:
                used[item.path, item.key] = item
            return Item(**_fields_of(item))
        if isinstance(op, SearchOp):
            found = await self._shelf.search(
                op.namespace_prefix,
                query=op.query,
                wanted=op.filter or {},
                limit=op.limit,
                offset=op.offset,
            )
            if op.refresh_ttl:
                used.update(((item.path, item.key), item) for item, _ in found)
            return [SearchItem(**_fields_of(item), score=score) for item, score in found]
        if isinstance(op, ListNamespacesOp):
            return _matching(await self._shelf.paths(), op)
        return None

    def _put(self, op: PutOp) -> Put | None:
        if op.value is None:
            return None
        value = _json(op.value)
        fields: Sequence[str] = self._fields if op.index is None else (op.index or ())
        texts = [text for field in fields for text in get_text_at_path(value, _tokens(field)) if text.strip()]
        return Put(value, list(dict.fromkeys(texts)), op.ttl)


def _fields_of(item: StoredItem) -> dict[str, Any]:
    return {
        "namespace": item.path,
        "key": item.key,
        "value": item.value,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }


def _tokens(field: str) -> str | list[str]:
    return field if field == _WHOLE else tokenize_path(field)


def _json(value: Mapping[str, Any]) -> dict[str, Any]:
    """The value as it will be read back.

    Raises:
        InvalidInputError: It is no JSON object: names `value`.
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInputError("value", "expected a map with text as keys")
    try:
        copied: dict[str, Any] = json.loads(check_text(json.dumps(dict(value), allow_nan=False, ensure_ascii=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError("value", f"not storable as JSON: {error}") from error
    return copied


def _matching(paths: Sequence[Path], op: ListNamespacesOp) -> list[Path]:
    found = [path for path in paths if all(_fits(path, one) for one in op.match_conditions or ())]
    if op.max_depth is not None:
        found = sorted({path[: op.max_depth] for path in found})
    return found[op.offset : op.offset + op.limit]


def _fits(path: Path, condition: MatchCondition) -> bool:
    return matches(path, condition.path, at_end=condition.match_type == "suffix")


def _checked(op: Op) -> Op:
    """The operation with paths as tuples; refuses what cannot be done, before anything is.

    The methods of `BaseStore` check namespaces themselves, operations handed to `batch` come unchecked.
    """
    if isinstance(op, GetOp):
        _check_key(op.key)
        return op._replace(namespace=_path(op.namespace))
    if isinstance(op, PutOp):
        _check_key(op.key)
        _check_put(op)
        return op._replace(namespace=_path(op.namespace))
    if isinstance(op, SearchOp):
        check_filter(op.filter)
        _check_page(op)
        if op.query is not None and not isinstance(op.query, str):
            raise InvalidInputError("query", f"expected text, got {type(op.query).__name__}")
        return op._replace(namespace_prefix=_path(op.namespace_prefix))
    if isinstance(op, ListNamespacesOp):
        _check_page(op)
        if op.max_depth is not None:
            whole_number(op.max_depth, field="max_depth")
        return op._replace(match_conditions=tuple(map(_condition, op.match_conditions or ())))
    raise InvalidInputError("ops", f"not an operation: {type(op).__name__}")


def _condition(condition: MatchCondition) -> MatchCondition:
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInputError("match_type", f"expected prefix or suffix, got {condition.match_type!r}")
    # A lone label is often written without its tuple, and a path of letters is never meant.
    path = (condition.path,) if isinstance(condition.path, str) else condition.path
    return condition._replace(path=_path(path))


def _check_page(op: SearchOp | ListNamespacesOp) -> None:
    whole_number(op.limit, field="limit")
    whole_number(op.offset, field="offset")


def _check_key(key: object) -> None:
    if not isinstance(key, str):
        raise InvalidInputError("key", f"expected text, got {type(key).__name__}")
    try:
        check_text(key)
    except ValueError as error:
        raise InvalidInputError("key", str(error)) from error


def _check_put(op: PutOp) -> None:
    if not op.namespace:
        raise InvalidNamespaceError("a namespace needs at least one label")
    ttl = op.ttl
    if ttl is not None and (isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl <= _LONGEST):
        raise InvalidInputError("ttl", f"expected minutes, more than 0 and at most {_LONGEST:,}, got {ttl!r}")
    if op.index not in (None, False):
        require_keys(op.index, field="index")


def _path(labels: object) -> Path:
    if not isinstance(labels, tuple | list):
        raise InvalidNamespaceError(f"a namespace is a tuple of labels, got {type(labels).__name__}")
    for label in labels:
        if not isinstance(label, str) or not label or "." in label or "\x00" in label:
            raise InvalidNamespaceError(f"a label is a text without full stops, got {label!r} in {labels!r}")
        try:
            check_text(label)
        except ValueError as error:
            raise InvalidNamespaceError(f"{error}: {label!r}") from error
    return tuple(labels)
