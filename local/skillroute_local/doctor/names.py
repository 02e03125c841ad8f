"""Names that say nothing about what a tool does."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from skillroute.catalogue.text import split_name

from skillroute_local.doctor.model import Catalogue, Code, Finding, Tool, listed
from skillroute_local.doctor.word_lists import GRAMMAR, NOUNS, VERBS

_SHORT = re.compile(r"[a-z0-9_]{1,2}", re.IGNORECASE)
_NO_WORD = re.compile(r"[\W\d_]+")
_NUMBERED = re.compile(r"(?:tool|function|func|fn|action|method|op|api|test|untitled|unnamed)[\W_]*\d+", re.I)
_HASH = re.compile(r"[0-9a-f]{8}(?:[0-9a-f-]*)", re.IGNORECASE)


def says_nothing(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools whose name has no word that is about anything: ``run``, ``get_data``, ``tool_7``."""
    servers: dict[str, set[str]] = defaultdict(set)
    for tool in catalogue.tools:
        servers[_same(tool)].add(tool.server)
    for tool in catalogue.tools:
        what = _empty_name(tool.name, tool.server)
        if what is None:
            continue
        others = sorted(servers[_same(tool)] - {tool.server, ""})
        shared = f"; {listed(others, 3)} {'has' if len(others) == 1 else 'have'} one of this name too" if others else ""
        yield Finding(
            Code.NAME_SAYS_NOTHING,
            50 if others else 40,
            f"the name {tool.name!r} {what}{shared}",
            "name what it works on: `search_invoices` instead of `search`",
            (tool,),
        )


def _same(tool: Tool) -> str:
    return split_name(tool.name) or tool.name


def _empty_name(name: str, server: str) -> str | None:
    """Return why a name says nothing, None where it says something."""
    words = split_name(name).split()
    if _SHORT.fullmatch(name) and name.lower() != server.lower():
        return "is too short to mean anything"
    if _NO_WORD.fullmatch(name):
        return "has no word in it"
    if _NUMBERED.fullmatch(name):
        return "is a noun with a number"
    if _HASH.fullmatch(name) and any(character.isdigit() for character in name):
        return "is a key of a machine"
    words = [word for word in words if word not in GRAMMAR and not word.isdigit()]
    verbs = {word for word in words if word in VERBS}
    # Two verbs tell a tool from others: `read_query` and `write_query` of a database.
    if words and len(verbs) <= 1 and all(word in VERBS or word in NOUNS for word in words):
        return "does not say what it works on"
    return None
