"""Schemas of tools without what makes them none: one odd keyword is no reason to do without a tool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from skillroute_local.importing.input_schemas import OF_ARGUMENTS, SchemaProblem, schema_problem
from skillroute_local.importing.openapi.dialect import of_former_drafts

MAX_MENDED = 50
"""Places of an item: one that has more is refused."""

_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})

Lost = Callable[[SchemaProblem], None]
"""Notes what was left out of a schema, and why."""


def mended(item: dict[str, Any], lost: Lost) -> tuple[dict[str, Any], SchemaProblem | None]:
    """Return an item with schemas that are JSON Schemas, and what is wrong with it where that cannot be done.

    What a former draft says otherwise is said as draft 2020-12 says it; what is no JSON Schema of any draft is left
    out. Arguments that are no object cannot be: no client could send them.
    """
    for _ in range(MAX_MENDED):
        problem = schema_problem(item)
        if problem is None:
            return item, None
        if len(problem.path) < 2 or (problem.path[0] in OF_ARGUMENTS and problem.path[1:] == ("type",)):
            return item, problem
        *above, key = problem.path
        newer = _changed(item, above, lambda holder: of_former_drafts(holder) if isinstance(holder, dict) else holder)
        if newer == item:
            lost(problem)
            place = above[-1]
            newer = _changed(item, above, lambda holder, key=key, place=place: _without(holder, key, place))  # type: ignore[misc]
        item = newer
    return item, schema_problem(item)


def _changed(value: Any, path: Sequence[str | int], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    inner = _changed(value[path[0]], path[1:], change)
    if isinstance(value, list):
        return [inner if place == path[0] else other for place, other in enumerate(value)]
    return {**value, path[0]: inner}


def _without(holder: Any, key: str | int, place: str | int) -> Any:
    """Return what holds something without it; a property stays, and may be anything."""
    if isinstance(holder, list):
        return [inner for nth, inner in enumerate(holder) if nth != key]
    if place in _NAMED:
        return {**holder, key: {}}
    return {name: inner for name, inner in holder.items() if name != key}
