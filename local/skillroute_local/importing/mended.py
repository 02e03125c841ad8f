"""Schemas of tools without what makes them none: one odd keyword is no reason to do without a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from skillroute_local.importing.dialect import of_former_drafts
from skillroute_local.importing.input_schemas import OF_ARGUMENTS, SchemaProblem, schema_problems

_MAX_ROUNDS = 20
"""Of an item: what is wrong beneath what was mended shows in the next one."""

_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})

Step = str | int
Lost = Callable[[SchemaProblem], None]
"""Notes what was left out of a schema, and why."""


@dataclass(slots=True)
class _Holder:
    """A place that has wrong keys, or leads to one that has."""

    keys: set[Step] = field(default_factory=set)
    inner: dict[Step, _Holder] = field(default_factory=dict)


Change = Callable[[Any, set[Step], Step | None], Any]
"""Returns a place that has wrong keys without what is wrong, from its value, these keys and its own."""


def mended(item: dict[str, Any], lost: Lost) -> tuple[dict[str, Any], SchemaProblem | None]:
    """Return an item with schemas that are JSON Schemas, and what is wrong with it where that cannot be done.

    What a former draft says otherwise is said as draft 2020-12 says it; what is no JSON Schema of any draft is left
    out. Arguments that are no object cannot be: no client could send them.
    """
    item = _with_arguments(item)
    for _ in range(_MAX_ROUNDS):
        problems = schema_problems(item)
        if not problems:
            return item, None
        for problem in problems:
            if len(problem.path) < 2 or (problem.path[0] in OF_ARGUMENTS and problem.path[1:] == ("type",)):
                return item, problem
        newer = _changed(item, _holders(problem.path for problem in problems), _newer)
        if newer == item:
            wrong = _innermost(problems)
            for problem in wrong:
                lost(problem)
            newer = _changed(item, _holders(problem.path for problem in wrong), _without)
        item = newer
    return item, next(iter(schema_problems(item)), None)


def _with_arguments(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item whose arguments are an object where they may be one: nothing else can be sent."""
    for name in OF_ARGUMENTS:
        schema = item.get(name)
        if isinstance(schema, dict) and isinstance(schema.get("type"), list) and "object" in schema["type"]:
            item = {**item, name: {**schema, "type": "object"}}
    return item


def _innermost(problems: list[SchemaProblem]) -> list[SchemaProblem]:
    """Return the problems that have no other one beneath them: those may be gone with it."""
    above = {problem.path[:length] for problem in problems for length in range(len(problem.path))}
    return [problem for problem in problems if problem.path not in above]


def _holders(paths: Iterable[tuple[Step, ...]]) -> _Holder:
    root = _Holder()
    for path in paths:
        place = root
        for step in path[:-1]:
            place = place.inner.setdefault(step, _Holder())
        place.keys.add(path[-1])
    return root


def _changed(value: Any, place: _Holder, change: Change, key: Step | None = None) -> Any:
    """Return a value with all its places changed that have wrong keys, the inner ones first."""
    if isinstance(value, list):
        value = [
            _changed(inner, place.inner[nth], change, nth) if nth in place.inner else inner
            for nth, inner in enumerate(value)
        ]
    else:
        value = {**value, **{step: _changed(value[step], inner, change, step) for step, inner in place.inner.items()}}
    return change(value, place.keys, key) if place.keys else value


def _newer(holder: Any, _keys: set[Step], _place: Step | None) -> Any:
    return of_former_drafts(holder) if isinstance(holder, dict) else holder


def _without(holder: Any, keys: set[Step], place: Step | None) -> Any:
    """Return what holds something without it; a property stays, and may be anything."""
    if isinstance(holder, list):
        return [inner for nth, inner in enumerate(holder) if nth not in keys]
    if place in _NAMED:
        return {**holder, **{key: {} for key in keys}}
    return {name: inner for name, inner in holder.items() if name not in keys}
