"""Optional fields of an answer: explanations, duplicates, unknown servers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skillroute.core.answer_size import size_of
from skillroute.search.answer.explanation import (
    DetailedSearchResponse,
    DetailedTool,
    Duplicate,
    LimitedDetailedSearchResponse,
    LimitedSearchResponse,
    ToolExplanation,
)
from skillroute.search.candidates.candidate import Found, Hit
from skillroute.search.model import SearchRequest, SearchResponse
from skillroute.search.needs.answer import with_needs


def asks_for_more(request: SearchRequest) -> bool:
    """Tell whether an answer has any of them."""
    return _asks_for_details(request) or request.server is not None or request.needs is not None


def _asks_for_details(request: SearchRequest) -> bool:
    return request.explain or request.collapse_duplicates or request.used_with


def size_beside(found: Found) -> int:
    """Return how many bytes the details have on the way, which schemas then have no room in."""
    duplicates = [_duplicate(other).model_dump() for hit in found.hits for other in hit.duplicates]
    explained = [explanation.model_dump() for explanation in found.explained]
    of_all = found.explanation.model_dump() if found.explanation else None
    needs = [[need.text, need.explanation and need.explanation.model_dump()] for need in found.needs]
    together = [each.model_dump() for tools in found.used_with for each in tools]
    return size_of([duplicates, explained, of_all, list(found.unknown_servers), needs, together])


def with_more(answer: SearchResponse, request: SearchRequest, found: Found) -> SearchResponse:
    """Return an answer with what was asked for beside it; of the details of hits either both or neither are there."""
    limits: dict[str, Any] = {} if request.server is None else {"unknown_servers": list(found.unknown_servers)}
    together = [[*tools] for tools in found.used_with] if request.used_with else [None] * len(found.hits)
    if request.needs is not None:
        shown = [[*map(_duplicate, hit.duplicates)] if request.collapse_duplicates else None for hit in found.hits]
        return with_needs(answer, found, duplicates=shown, used_with=together).model_copy(update=limits)
    if not _asks_for_details(request):
        return LimitedSearchResponse.model_construct(**dict(answer), **limits)
    explained: Iterable[ToolExplanation | None] = found.explained or [None] * len(found.hits)
    tools = [
        DetailedTool.model_construct(
            **dict(tool),
            explain=explanation,
            duplicates=[*map(_duplicate, hit.duplicates)] if request.collapse_duplicates else None,
            used_with=others,
        )
        for tool, explanation, hit, others in zip(answer.tools, explained, found.hits, together, strict=True)
    ]
    fields = dict(answer) | {"tools": tools, "explain": found.explanation} | limits
    kind = LimitedDetailedSearchResponse if limits else DetailedSearchResponse
    return kind.model_construct(**fields)


def _duplicate(hit: Hit) -> Duplicate:
    candidate, payload = hit.candidate, hit.payload
    return Duplicate(
        id=candidate.key,
        db_id=payload["db_id"],
        name=payload["name"],
        server=payload["server"] or None,
        score=candidate.score,
    )
