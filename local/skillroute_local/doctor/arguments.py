"""Arguments that nothing describes: not the schema, not the tool's description, not a name that says it all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillroute.catalogue.text import MAX_ARGUMENTS, split_name

from skillroute_local.doctor.model import Catalogue, Code, Finding, Tool, listed
from skillroute_local.doctor.word_lists import PLAIN_ARGUMENTS

_SCALARS = frozenset({"string", "integer", "number", "boolean"})


def undescribed(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools with top-level arguments that neither the schema nor the tool's description says anything about."""
    for tool in catalogue.tools:
        arguments = _arguments(tool.input_schema)
        missing = [name for name, schema in arguments.items() if not _is_described(tool, name, schema)]
        if not missing:
            continue
        required = _required(tool.input_schema)
        needed = [name for name in missing if name in required]
        of = f"{len(missing)} of {len(arguments)} arguments have" if len(arguments) > 1 else "its argument has"
        must = f"; {len(needed)} of them must be given" if needed and len(missing) > 1 else ""
        yield Finding(
            Code.ARGUMENTS_UNDESCRIBED,
            10 + min(20, 4 * len(missing)) + (10 if needed else 0),
            f"{of} no description: {listed(missing, 6)}{must}",
            "describe each in the input schema: what it means, its form, an example; searches read that, too",
            (tool,),
        )


def _arguments(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return {}
    return {name: properties[name] for name in sorted(map(str, properties))[:MAX_ARGUMENTS] if name in properties}


def _required(schema: Mapping[str, Any] | None) -> frozenset[str]:
    required = schema.get("required") if isinstance(schema, Mapping) else None
    return frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()


def _is_described(tool: Tool, name: str, schema: Any) -> bool:
    if isinstance(schema, Mapping):
        text = schema.get("description")
        if isinstance(text, str) and text.strip():
            return True
        # Its values say what it may be; a constant is nothing that anybody chooses.
        if schema.get("enum") or "const" in schema:
            return True
        if str(schema.get("type")).lower() in _SCALARS and _is_plain(tool, name):
            return True
    # What begins with an underscore is not meant to be given.
    return name.startswith("_") or _is_explained(name, tool.description)


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
    return re.search(rf"{explained}|`{exact}`", description) is not None
