from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from remembrancer.ports import MemoryStore
from remembrancer.testing import OpenStore

AREA = "cycgraph/store"

_DIRECTIONS = {"outgoing": "out", "incoming": "in", "both": "both"}
_PLURALS = {
    "entity": "entities",
    "relationship": "relationships",
    "episode": "episodes",
    "fact": "facts",
    "theme": "themes",
}


async def test_the_golden_script(case: Any, golden: Any, open_store: OpenStore) -> None:
    store = await open_store()
    answers = [await _run(store, golden, *operation) for operation in case.input["ops"]]
    if case.get("insertion_order") or "sets" in case.get("note", ""):
        # Only the reference lists in the order of insertion.
        assert [_sorted(answer) for answer in answers] == [_sorted(answer) for answer in case.expected]
    else:
        assert answers == case.expected


async def _run(store: MemoryStore, golden: Any, name: str, *arguments: Any) -> Any:
    verb, _, rest = name.partition("_")
    if verb == "put":
        await getattr(store, name)(golden.record(_PLURALS[rest], arguments[0]))
        return None
    if verb == "delete":
        return await getattr(store, name)(*arguments)
    if name == "get_usage":
        return await _usage(store, *arguments)
    if name == "relationships_for":
        return await _relationships_for(store, golden, *arguments)
    if name in ("touch_facts", "clear"):
        await (store.touch_facts(arguments[0], at=arguments[1]) if arguments else store.clear())
        return None
    options = golden.snake_case(arguments[0]) if arguments and isinstance(arguments[0], Mapping) else None
    found = await (getattr(store, name)(*arguments) if options is None else getattr(store, name)(**options))
    return _ids(found)


async def _usage(store: MemoryStore, fact_id: str) -> list[Any] | None:
    await store.flush_usage()
    fact = await store.get_fact(fact_id)
    if fact is None:
        return None
    at = fact.last_accessed_at
    # A record that was written without a count has 0 here, where the reference shows none.
    used = at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
    return [fact.access_count or None, used]


async def _relationships_for(
    store: MemoryStore, golden: Any, entity_id: str, options: Mapping[str, Any]
) -> Sequence[str]:
    named = golden.snake_case(options)
    if "direction" in named:
        named["direction"] = _DIRECTIONS[named["direction"]]
    return [edge.id for edge in await store.get_relationships_for_entity(entity_id, **named)]


def _ids(found: Any) -> Any:
    if isinstance(found, Mapping):
        return list(found)
    if isinstance(found, list):
        return [record.id for record in found]
    return None if found is None else found.id


def _sorted(answer: Any) -> Any:
    return sorted(answer) if isinstance(answer, list) and all(isinstance(item, str) for item in answer) else answer
