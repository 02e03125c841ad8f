"""What `$ref` means within one document."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from skillroute_local.importing.model import Unreadable
from skillroute_local.importing.pointers import pointer
from skillroute_local.importing.values import size_of

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
        self.base = base

    def target(self, ref: object, where: str) -> Any:
        """Return what stands at a reference. Raises `Unreadable`, with the place of the reference."""
        at = pointer(where, "$ref")
        if not isinstance(ref, str):
            raise Unreadable(at, "must be a text")
        if ref != "#" and not ref.startswith("#/"):
            raise Unreadable(at, f"{ref[:200]!r} leads out of the document: bundle it into one file first")
        found = self._document
        for key in ref[1:].split("/")[1:]:
            name = unquote(key).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isascii() and name.isdigit() and int(name) < len(found):
                found = found[int(name)]
            else:
                raise Unreadable(at, f"{ref[:200]!r} leads nowhere: there is no {name[:64]!r}")
        return found

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
