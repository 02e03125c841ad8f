"""Searches that are limited to some servers: which of these have nothing, and which skills have tools of them."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import Caller
from skillroute.core.documents.index.ahead import Counted, Matching, ask_ahead
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.search.candidates.candidate import MatchedSkill
from skillroute.search.model import SearchRequest
from skillroute.search.plan import tools_where, wanted_tools


def unknown_servers(index: SearchedIndex, servers: Sequence[str] | None, caller: Caller) -> list[str]:
    """Return which of these servers have no active item that the caller sees, whatever others have under the name."""
    wheres = {name: tools_where(caller, servers=[name]) for name in servers or ()}
    ask_ahead(index, (Matching(TOOL_DOCUMENTS, where, 1) for where in wheres.values()))
    return [name for name in servers or () if not index.match(TOOL_DOCUMENTS, where=wheres[name], limit=1)]


def offering(
    index: SearchedIndex, skills: list[MatchedSkill], request: SearchRequest, caller: Caller
) -> list[MatchedSkill]:
    """Return the skills that have something of the servers which a request is limited to; all where it is not."""
    if request.server is None:
        return skills
    wheres = [wanted_tools(caller, request, [skill.key]) for skill in skills]
    ask_ahead(index, (Counted(TOOL_DOCUMENTS, where) for where in wheres))
    return [skill for skill, where in zip(skills, wheres, strict=True) if index.count(TOOL_DOCUMENTS, where=where) > 0]
