"""Schemas of an OpenAPI document as JSON Schemas that stand alone: references resolved, within bounds.

A reference is replaced by what it means. Where that has no end, as in a tree, or would be too large, it leads to the
tool's own `$defs` instead: nothing is lost either way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skillroute_local.importing.dialect import DYNAMIC, KEPT_BESIDE_REF, NOT_JSON_SCHEMA, as_json_schema
from skillroute_local.importing.model import Unreadable
from skillroute_local.importing.openapi.references import References
from skillroute_local.importing.pointers import pointer

MAX_INLINED = 1_000
"""Schemas of one tool that references are replaced by; beyond, they lead to `$defs`."""

MAX_INLINED_BYTES = 64 * 1024
"""Of what the references of one tool are replaced by, as the document has it."""

MAX_NESTED = 6
"""References within references that are replaced."""

MAX_DEFINITIONS = 300
"""Schemas in the `$defs` of one tool."""

MAX_DEFINED_BYTES = 192 * 1024
"""Of the schemas in the `$defs` of one tool, as the document has them: the catalogue takes no item of over 256 KB."""

MAX_DEPTH = 60
"""Levels of a schema: the catalogue takes 64."""

_ONE = (
    "items", "additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties", "not", "if",
    "then", "else", "contains", "propertyNames", "contentSchema",
)  # fmt: skip
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")


_TOO_MUCH = f"its schemas lead to more than {MAX_DEFINITIONS} others, or to others of {MAX_DEFINED_BYTES >> 10} KB"

Lost = Callable[[str, str], None]
"""Notes what of a schema cannot be kept, with its place and the reason."""


class Schemas:
    """Makes the schemas of one tool.

    Parameters
    ----------
    references : References
        Of the document.
    inline : bool
        False leads every reference to `$defs`.
    lost : callable
        Called with the place and the reason of what cannot be kept; in its place anything goes.
    """

    def __init__(self, references: References, *, inline: bool = True, lost: Lost = lambda where, reason: None) -> None:
        self._references = references
        self._lost = lost
        self._inline = inline
        self._inlined = self._inlined_bytes = 0
        self._names: dict[str, str] = {}

    def of(self, schema: object, where: str) -> Any:
        """Return a schema as one that stands alone, but for `$defs`."""
        return self._schema(schema, where, ())

    def definitions(self) -> dict[str, Any]:
        """Return what the schemas made so far lead to, `{}` where they need nothing."""
        made: dict[str, Any] = {}
        self._inline = False
        size = 0
        while left := [(ref, name) for ref, name in self._names.items() if name not in made]:
            for ref, name in left:
                target = self._references.target(ref, self._references.base)
                size += self._references.size(target)
                if len(made) >= MAX_DEFINITIONS or size > MAX_DEFINED_BYTES:
                    size -= self._references.size(target)
                    self._lost(self._at(ref), _TOO_MUCH)
                    made[name] = {}
                else:
                    made[name] = self._schema(target, self._at(ref), (ref,))
        return made

    def _at(self, ref: str) -> str:
        return self._references.base + (self._references.path(ref) or "")

    def _schema(self, schema: object, where: str, within: tuple[str, ...], depth: int = 0) -> Any:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            self._lost(where, "must be a schema: an object, true or false")
            return {}
        if depth > MAX_DEPTH:
            self._lost(where, f"is nested deeper than {MAX_DEPTH} levels")
            return {}
        if ref := self._ref(schema, where, within):
            return self._referred(schema, ref, where, within, depth)
        made: dict[str, Any] = {}
        for key, value in schema.items():
            at = pointer(where, key)
            if key in NOT_JSON_SCHEMA or key.startswith("x-"):
                continue
            if key == "items" and isinstance(value, list):  # a tuple of former drafts
                made[key] = [
                    self._schema(inner, pointer(at, nth), within, depth + 2) for nth, inner in enumerate(value)
                ]
            elif key in _NAMED and isinstance(value, dict):
                made[key] = {
                    name: self._schema(inner, pointer(at, name), within, depth + 2) for name, inner in value.items()
                }
            elif key in _MANY and isinstance(value, list):
                made[key] = [
                    self._schema(inner, pointer(at, place), within, depth + 2) for place, inner in enumerate(value)
                ]
            elif key in _ONE and isinstance(value, dict | bool):
                made[key] = self._schema(value, at, within, depth + 1)
            else:
                made[key] = value
        return as_json_schema(made)

    def _ref(self, schema: dict[str, Any], where: str, within: tuple[str, ...]) -> object:
        """Return what a schema refers to, None where it stands for itself.

        A dynamic reference is to what the author of the document extends, and nobody does: it is to the schema around
        it, or to the one that has its anchor.
        """
        if "$ref" in schema:
            return schema["$ref"]
        for key in DYNAMIC:
            ref = schema.get(key)
            if isinstance(ref, str):
                if ref == "#" and within:
                    return within[-1]
                if ref != "#" and self._references.path(ref) is not None:
                    return ref
                self._lost(pointer(where, key), f"{ref[:200]!r} leads to no schema of the document")
        return None

    def _referred(self, schema: dict[str, Any], ref: Any, where: str, within: tuple[str, ...], depth: int) -> Any:
        beside = {key: value for key, value in schema.items() if key in KEPT_BESIDE_REF}
        try:
            target = self._references.target(ref, where)
        except Unreadable as error:
            self._lost(error.where, error.reason)
            return beside
        ref = f"#{self._references.path(ref)}"  # by whatever name: it is one schema
        if self._inline and ref not in within and len(within) < MAX_NESTED and self._has_room(target):
            found = self._schema(target, self._at(ref), (*within, ref), depth)
            return {**found, **beside} if isinstance(found, dict) else found
        return {"$ref": f"#/$defs/{self._name(ref)}", **beside}

    def _has_room(self, target: Any) -> bool:
        """Return whether one more reference may be replaced by what it leads to, and count it."""
        size = self._references.size(target)
        if self._inlined >= MAX_INLINED or self._inlined_bytes + size > MAX_INLINED_BYTES:
            return False
        self._inlined += 1
        self._inlined_bytes += size
        return True

    def _name(self, ref: str) -> str:
        if ref not in self._names:
            last = "".join(char if char.isalnum() else "_" for char in ref.rpartition("/")[2]) or "schema"
            taken = set(self._names.values())
            self._names[ref] = last if last not in taken else f"{last}_{len(taken)}"
        return self._names[ref]
