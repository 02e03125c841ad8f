"""Changes that break a template in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.template.stack import Json

Change = Callable[[Json], None]

_GONE = object()


def put(path: str, value: Any = _GONE) -> Change:
    """Return what sets (or takes away) the value at a path of keys and positions; `/` stands between them."""

    def change(template: Json) -> None:
        target: Any = template
        *parents, last = path.split("/")
        for each in parents:
            target = target[int(each) if isinstance(target, list) else each]
        place = int(last) if isinstance(target, list) else last
        if value is _GONE:
            del target[place]
        else:
            target[place] = value

    change.__name__ = f"{path} {'taken away' if value is _GONE else 'changed'}"
    return change


def properties(resource: str, path: str, value: Any = _GONE) -> Change:
    return put(f"Resources/{resource}/Properties/{path}", value)


def variable(function: str, name: str, value: Any = _GONE) -> Change:
    return properties(f"{function}Function", f"Environment/Variables/{name}", value)


def add(resource: str, kind: str, given: Json) -> Change:
    return put(f"Resources/{resource}", {"Type": kind, "Properties": given})


def name(value: Any) -> str:
    """Return what a test of a change is called."""
    return str(getattr(value, "__name__", value))
