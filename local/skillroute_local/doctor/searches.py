"""The searches that show whether tools are found: what is asked, and what an answer means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute_local.doctor.descriptions import is_empty
from skillroute_local.doctor.findable import LOOKED_AT, WITHIN
from skillroute_local.doctor.model import Tool

MAX_QUERY_LENGTH = 1000
"""Characters: search-contract."""

_FIRST = 3
_HARMLESS = frozenset({"schema_load_failed", "reranker_unavailable"})
"""Parts without which tools are found and ranked."""


def is_asked(tool: Tool) -> bool:
    """Return whether a tool has a description that can be a request."""
    return not is_empty(tool.description)


def request_of(tool: Tool) -> dict[str, Any]:
    """Return the body of a search for a tool by its own description, with the deployment's own settings."""
    return {
        "query": _cut(" ".join(tool.description.split())),
        "limit": WITHIN,
        "include_schemas": False,
        # The best of near-duplicates stands for all of them: the others are a finding of their own.
        "collapse_duplicates": True,
    }


def deeper_request_of(tool: Tool, search_mode: str) -> dict[str, Any]:
    """Return the same for `LOOKED_AT` results, of as many skills as the first search matched in this mode."""
    # In the hybrid modes more results would match more skills, and the places would be those of another search.
    skills = {"skill_limit": WITHIN} if search_mode.startswith("hybrid") else {}
    return request_of(tool) | {"limit": LOOKED_AT} | skills


def direct_request_of(tool: Tool) -> dict[str, Any]:
    """Return the same over all tools, of any skill."""
    return request_of(tool) | {"limit": LOOKED_AT, "strategy": "direct"}


def why_not(answer: Mapping[str, Any]) -> str | None:
    """Return why an answer says nothing about the tool, None where it does."""
    failed = [part for part in answer["metadata"]["degraded"] if part not in _HARMLESS]
    return f"the search was degraded: {', '.join(failed)}" if failed else None


def rank_of(tool: Tool, answer: Mapping[str, Any]) -> int | None:
    """Return a tool's place in an answer, from 1, as itself or as a near-duplicate of a result; None without one."""
    for place, hit in enumerate(answer["tools"], 1):
        if tool.id in {hit["tool_id"], *(other["db_id"] for other in hit.get("duplicates") or ())}:
            return place
    return None


def first_of(tool: Tool, answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the titles of the first results that are not the tool."""
    hits = [hit for hit in answer["tools"] if hit["tool_id"] != tool.id]
    return tuple(f"{hit['server']}/{hit['name']}" if hit["server"] else hit["name"] for hit in hits[:_FIRST])


def _cut(text: str) -> str:
    if len(text) <= MAX_QUERY_LENGTH:
        return text
    cut = text[:MAX_QUERY_LENGTH]
    return cut.rpartition(" ")[0] or cut
