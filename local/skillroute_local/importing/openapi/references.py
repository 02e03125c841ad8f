"""Resolves `$ref` within one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from skillroute_local.importing.model import Unreadable
from skillroute_local.importing.pointers import pointer
from skillroute_local.importing.values import size_of

_PLACE = re.compile(r"[0-9]{1,9}")
"""A place in a list."""

MAX_HOPS = 8
"""References to references that are followed."""


class References:
    """Looks up what references of a document mean.

    Parameters
    ----------
    document : object
    base : str
        What places of the document begin with: ``petstore.yaml#``.
    """

    def __init__(self, document: Any, base: str) -> None:
        self._document = document
        self._sizes: dict[int, int] = {}
        self._named: dict[str, str] | None = None
        self.base = base

    def target(self, ref: object, where: str) -> Any:
        """Return what stands at a reference. Raises `Unreadable`, with the place of the reference."""
        at = pointer(where, "$ref")
        if not isinstance(ref, str):
            raise Unreadable(at, "must be a text")
        path = self.path(ref)
        if path is None:
            raise Unreadable(at, f"{ref[:200]!r} leads out of the document: bundle it into one file first")
        found = self._document
        for key in path.split("/")[1:]:
            name = unquote(key).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and _PLACE.fullmatch(name) and int(name) < len(found):
                found = found[int(name)]
            else:
                raise Unreadable(at, f"{ref[:200]!r} leads nowhere: there is no {name[:64]!r}")
        return found

    def path(self, ref: str) -> str | None:
        """Return the JSON pointer of a reference, None where it leads to another file.

        A document may name itself, by its file's name or by a schema's `$id`, and a schema by its `$anchor`.
        """
        file, _, within = ref.partition("#")
        if file in {"", self.base[:-1], f"./{self.base[:-1]}"} and (not within or within.startswith("/")):
            return within
        if self._named is None:
            self._named = dict(_named(self._document))
        if ref in self._named:
            return self._named[ref]
        return f"{self._named[file]}{within}" if file in self._named and within.startswith("/") else None

    def size(self, target: Any) -> int:
        """Return how many bytes something of the document has as JSON, reckoned once."""
        if id(target) not in self._sizes:
            self._sizes[id(target)] = size_of(target)
        return self._sizes[id(target)]

    def object_at(self, value: object, where: str) -> dict[str, Any]:
        """Return an object that may stand elsewhere. Raises `Unreadable` where it is none, or references go round."""
        for _ in range(MAX_HOPS):
            if not isinstance(value, dict):
                raise Unreadable(where, "must be an object")
            if "$ref" not in value:
                return value
            value = self.target(value["$ref"], where)
        raise Unreadable(pointer(where, "$ref"), f"leads through more than {MAX_HOPS} references")

    def whole_at(self, value: object, where: str) -> dict[str, Any]:
        """Return as `object_at` does, with the siblings of a reference in place of what it leads to."""
        beside = {}
        if isinstance(value, dict) and "$ref" in value:
            beside = {key: inner for key, inner in value.items() if key != "$ref"}
        return {**self.object_at(value, where), **beside}


def _named(document: Any) -> Iterator[tuple[str, str]]:
    """Yield what schemas of a document are called by, beside their places, and the JSON pointer of each."""
    left = [("", document)]
    while left:
        path, value = left.pop()
        if isinstance(value, dict):
            for key, mark in (("$anchor", "#"), ("$dynamicAnchor", "#"), ("$id", "")):
                if isinstance(value.get(key), str):
                    yield f"{mark}{value[key]}", path
            left += [(pointer(path, key), inner) for key, inner in value.items() if isinstance(inner, dict | list)]
        elif isinstance(value, list):
            left += [(pointer(path, key), inner) for key, inner in enumerate(value)]
