"""Hints for clients that hold tools back and search them by themselves."""

from __future__ import annotations

import re
from typing import Any

from skillroute.mcp.fit import Json

from skillroute_local.connect.catalogue import Item

MAX_HINT = 240
"""Characters of a hint: a client may keep the hints of all tools in view."""

_MAX_SENTENCE = 120
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")


def search_hint(item: Item) -> str:
    """Return what a tool is found by: the first sentence of its description, and the requests that it is known for."""
    text = " ".join(_SENTENCE.split(item.content.description.strip(), maxsplit=1)[0].split())
    parts = [_cut(text)] if text else []
    for request in item.requests:
        if len("; ".join([*parts, request])) > MAX_HINT:
            break
        parts.append(request)
    return "; ".join(parts)


def hinted(definition: Json, item: Item, *, is_pinned: bool) -> Json:
    """Return the definition of a tool with hints in its `_meta`; what its server has put there stays."""
    hint = search_hint(item)
    meta: dict[str, Any] = {
        **({"anthropic/searchHint": hint} if hint else {}),
        **({"anthropic/alwaysLoad": True} if is_pinned else {}),
        **(definition.get("_meta") or {}),
    }
    return {**definition, "_meta": meta} if meta else definition


def _cut(sentence: str) -> str:
    """Return a sentence, at a word where it is too long."""
    if len(sentence) <= _MAX_SENTENCE:
        return sentence
    return sentence[:_MAX_SENTENCE].rsplit(" ", 1)[0] + "…"
