"""`/api/v1/search/batch`: several searches in one call (docs/adr/0054)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.one_at_a_time import OneAtATime
from skillroute.core.http.search_headers import SEARCHED, search_headers
from skillroute.core.http.use_cases import given, require
from skillroute.core.rationing.work import Work
from skillroute.core.time.timing import Stopwatch
from skillroute.search.batch.model import BatchMetadata, BatchRequest, BatchResponse, read_searches, to_json
from skillroute.search.batch.search import MAX_SEARCHES, Answered, BatchSearch
from skillroute.search.cost import cost_of_batch
from skillroute.search.model import SearchRequest

router = APIRouter(prefix="/api/v1/search", tags=["search"], route_class=SafeJsonRoute, responses=ERRORS | BUDGET)


class SearchBatches(OneAtATime):
    """Runs batches of searches, apart from what other slices run one at a time."""


@router.post(
    "/batch",
    response_model=BatchResponse,
    summary=f"Find tools for up to {MAX_SEARCHES} requests",
    responses=SEARCHED,
)
async def search_tools_in_batch(
    request: BatchRequest,
    caller: Annotated[Caller, Depends(require(Scope.SEARCH))],
    batch: Annotated[BatchSearch, given(BatchSearch)],
    batches: Annotated[SearchBatches, given(SearchBatches)],
    work: Annotated[Work, given(Work)],
) -> Response:
    """Carry out several searches as `POST /api/v1/search` does, each with its own answer or error, in order.

    The index is brought up to date once, and all queries are embedded together. What the call has no time or no
    room for is 503 with code `not_begun`. Together they may cost 60 plain searches: more
    is 422.
    """
    searches = read_searches(request.searches)
    units = cost_of_batch(searches)
    return await batches.run(caller, partial(_answer, batch, work, searches, units, caller))


def _answer(
    batch: BatchSearch,
    work: Work,
    searches: Sequence[SearchRequest | SkillrouteError],
    units: float,
    caller: Caller,
) -> Response:
    with work(caller, units):
        watch = Stopwatch()
        results = batch(searches, caller, watch)
        answered = [result.metadata for result in results if isinstance(result, Answered)]
        metadata = BatchMetadata(
            answered=len(answered),
            failed=len(results) - len(answered),
            index_sync_time_ms=watch.ms("index_sync"),
            query_embedding_time_ms=watch.ms("query_embedding"),
            total_time_ms=watch.total_ms(),
        )
        modes, degraded = _distinct([one.search_mode] for one in answered), _distinct(one.degraded for one in answered)
        headers = search_headers(", ".join(modes), degraded) if answered else {}
        return Response(to_json(results, metadata), media_type="application/json", headers=headers)


def _distinct(names: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(name for some in names for name in some))
