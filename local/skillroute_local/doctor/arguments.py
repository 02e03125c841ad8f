"""Arguments that nothing describes: not the schema, not the tool's description, not a name that says it all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from skillroute.catalogue.text import MAX_ARGUMENTS, split_name

from skillroute_local.doctor.model import Catalogue, Code, Finding, Tool, in_order, listed
from skillroute_local.doctor.word_lists import PLAIN_ARGUMENTS

_CHOICES = ("anyOf", "oneOf", "allOf")
_BODY = "body"
_LIGHT = 5
_SCALARS = frozenset({"string", "integer", "number", "boolean"})


def undescribed(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools with top-level arguments that neither the schema nor the tool's description says anything about.

    One finding for a server, and light: descriptions of arguments change no rank that was measured (docs/doctor.md).
    They help who calls the tool.
    """
    of: dict[str, list[tuple[Tool, list[str]]]] = defaultdict(list)
    for tool in in_order(catalogue.tools):
        missing = [
            name for name, schema in _arguments(tool.input_schema).items() if not _is_described(tool, name, schema)
        ]
        if missing:
            of[tool.server].append((tool, missing))
    for found in of.values():
        number, (first, missing) = sum(len(names) for _, names in found), found[0]
        have = "tool has" if len(found) == 1 else "tools have"
        what = "an argument" if number == 1 else f"{number} arguments"
        yield Finding(
            Code.ARGUMENTS_UNDESCRIBED,
            _LIGHT + min(_LIGHT, len(found) // 4),
            f"{len(found)} {have} {what} without a description: {first.name} has {listed(missing)}",
            "describe each in the input schema: what it means, its form, an example; who calls the tool reads that",
            tuple(tool for tool, _ in found),
        )


def _arguments(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return {}
    return {name: properties[name] for name in sorted(map(str, properties))[:MAX_ARGUMENTS] if name in properties}


def _is_described(tool: Tool, name: str, schema: Any) -> bool:
    forms = list(_forms(schema, tool.input_schema or {}))
    if any(_says_what(form) for form in forms):
        return True
    # The body of an OpenAPI operation, as imports write it, is what its properties are.
    if name == _BODY and any(_values(form) for form in forms):
        return True
    # What begins with an underscore is not meant to be given.
    if name.startswith("_") or _is_explained(name, tool.description):
        return True
    types = {type_ for form in forms for type_ in _types(form)} - {"null"}
    return bool(types) and types <= _SCALARS and _is_plain(tool, name)


def _types(schema: Mapping[str, Any]) -> list[str]:
    named = schema.get("type")
    return [type_.lower() for type_ in (named if isinstance(named, list) else [named]) if isinstance(type_, str)]


def _forms(schema: Any, whole: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a schema, and those that it refers to or chooses from: one step, which is what generators write."""
    if not isinstance(schema, Mapping):
        return
    choices = [choice for word in _CHOICES if isinstance(schema.get(word), list) for choice in schema[word]]
    nested = [_referred(form, whole) for form in (*choices, schema) if isinstance(form, Mapping)]
    yield from (form for form in (schema, *choices, *nested) if isinstance(form, Mapping))


def _referred(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
    place: Any = whole
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    for part in reference[2:].split("/"):
        place = place.get(part) if isinstance(place, Mapping) else None
    return place


def _says_what(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema has a description, is one of some values, or describes the parts it is made of."""
    items = schema.get("items")
    parts = [*_values(schema), *([items, *_values(items)] if isinstance(items, Mapping) else [])]
    if any(isinstance(part, Mapping) and _is_text(part.get("description")) for part in parts):
        return True
    # Its values say what it may be; a constant is nothing that anybody chooses.
    return _is_text(schema.get("description")) or bool(schema.get("enum")) or "const" in schema


def _values(schema: Mapping[str, Any]) -> list[Any]:
    properties = schema.get("properties")
    return list(properties.values()) if isinstance(properties, Mapping) else []


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_plain(tool: Tool, name: str) -> bool:
    """Return whether a name says what to give: ``url`` of anything, ``domain`` of ``whois_domain``.

    So does ``namespace`` where the description reads "in the specified namespace".
    """
    words = split_name(name).split()
    if not words:
        return False
    if "_".join(words) in PLAIN_ARGUMENTS or set(words) <= set(split_name(tool.name).split()):
        return True
    phrase = r"\s+".join(map(re.escape, words))
    return re.search(rf"\b(?:given|provided|specific|specified)\s+{phrase}\b", tool.description.lower()) is not None


def _is_explained(name: str, description: str) -> bool:
    """Return whether a tool's description explains an argument, as docstrings do: ``path: where ...``, or in code."""
    exact = re.escape(name)
    mark = r"""[`*"']{0,3}"""
    explained = rf"(?<!\w){exact}{mark}\s*(?:\([^)\n]*\)|\[[^\]\n]*\])?{mark}\s*(?:[:：=–—]|-\s)"
    if re.search(rf"{explained}|`{exact}`", description):
        return True
    # The Autonomous System Number (ASN).
    return len(name) > 1 and re.search(rf"\({exact}\)", description, re.IGNORECASE) is not None
