"""Conversations with branches: nodes that name their parents, of which one path is the current one."""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.records import InvalidInputError


def current_path(parents: Mapping[str, str | None], leaf: str | None, *, place: str) -> list[str]:
    """The nodes from the root down to the leaf; a parent that is not among the nodes is as none.

    Args:
        parents: Parent by node, in the order of the export.
        leaf: The last node of the branch that was shown last; unknown: the last node that is nobody's parent.
        place: Of the conversation, for errors.

    Raises:
        InvalidInputError: A node is its own ancestor.
    """
    if leaf not in parents:
        inner = set(parents.values())
        leaf = next((node for node in reversed(list(parents)) if node not in inner), None)
        if leaf is None:
            if parents:
                raise InvalidInputError(place, "every message is before another one: they form a ring")
            return []
    path: list[str] = []
    seen: set[str] = set()
    node: str | None = leaf
    while node is not None and node in parents:
        if node in seen:
            raise InvalidInputError(place, f"{node} is before itself: the messages form a ring")
        seen.add(node)
        path.append(node)
        node = parents[node]
    return path[::-1]


def every_path(parents: Mapping[str, str | None], *, place: str) -> list[str]:
    """All nodes, parents before children, branches one after the other.

    Raises:
        InvalidInputError: A node is its own ancestor.
    """
    children: dict[str | None, list[str]] = {}
    for node, parent in parents.items():
        children.setdefault(parent if parent in parents else None, []).append(node)
    order: list[str] = []
    pending = children.get(None, [])[::-1]
    while pending:
        node = pending.pop()
        order.append(node)
        pending.extend(children.get(node, [])[::-1])
    if len(order) < len(parents):
        reached = set(order)
        lost = next(node for node in parents if node not in reached)
        raise InvalidInputError(place, f"{lost} is before itself: the messages form a ring")
    return order
