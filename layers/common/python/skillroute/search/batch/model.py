"""The request and the answer of `POST /api/v1/search/batch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from skillroute.core.errors import outage
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import DependencyUnavailable, InvalidInput, SkillrouteError
from skillroute.core.errors.public import public_sentence
from skillroute.core.http.docs import FieldProblem
from skillroute.core.http.errors import first_problems, problem
from skillroute.core.input.json_input import validated
from skillroute.core.input.shown_as import ShownAs
from skillroute.search.answer.mcp_format import AnySearchResponse
from skillroute.search.batch.search import MAX_SEARCHES, Answered, BatchResult, NotReached
from skillroute.search.model import SearchRequest

_LACKED = {
    "time": "the call had no time left for it: send it again, with fewer others",
    "room": "the answer had no room left for it: send it again, with fewer others or a lower limit",
}

# Each search is checked on its own later, so that one that is wrong does not refuse the rest.
_AnySearch = Annotated[Any, ShownAs(SearchRequest)]


class BatchRequest(BaseModel):
    """Searches to carry out, each as `POST /api/v1/search` takes it."""

    model_config = ConfigDict(extra="forbid")

    searches: list[_AnySearch] = Field(min_length=1, max_length=MAX_SEARCHES)


class SearchError(BaseModel):
    """Why a search of a batch has no answer: what the search alone would have been answered with."""

    status: int = Field(description="The HTTP status.")
    code: str = Field(description="What programs go by: docs/api.md has the table.")
    detail: str | list[FieldProblem] = Field(description="A sentence; for 422 a list, an entry for each field.")


class BatchSearchResult(BaseModel):
    """The result of one search: its answer or its error, and null for the other."""

    answer: AnySearchResponse | None
    error: SearchError | None


class BatchMetadata(BaseModel):
    """How the batch came about. Times are milliseconds of wall clock."""

    answered: int = Field(description="Searches that have an answer.")
    failed: int = Field(description="Searches that have an error.")
    index_sync_time_ms: float = Field(description="Bringing the index up to date, once for all.")
    query_embedding_time_ms: float = Field(description="Embedding all queries together.")
    total_time_ms: float


class BatchResponse(BaseModel):
    """The results of all searches, in the order of the request."""

    results: list[BatchSearchResult]
    metadata: BatchMetadata


def read_searches(searches: Sequence[object]) -> list[SearchRequest | SkillrouteError]:
    """Return each search as it was read, or why it could not be."""
    return [_read(search) for search in searches]


def _read(search: object) -> SearchRequest | SkillrouteError:
    try:
        return validated(SearchRequest, search, whole="")
    except InvalidInput as error:
        return error


def to_json(results: Sequence[BatchResult], metadata: BatchMetadata) -> bytes:
    """Return the answer as JSON, of what is JSON already."""
    shown = b",".join(map(_result, results))
    return b'{"results":[' + shown + b'],"metadata":' + metadata.model_dump_json().encode() + b"}"


def _result(result: BatchResult) -> bytes:
    if isinstance(result, Answered):
        return b'{"answer":' + result.body + b',"error":null}'
    return b'{"answer":null,"error":' + _error(result).model_dump_json().encode() + b"}"


def _error(result: NotReached | SkillrouteError) -> SearchError:
    if isinstance(result, NotReached):
        code = ErrorCode.NOT_BEGUN
        return SearchError(status=code.status, code=code.value, detail=_LACKED[result.lacked])
    detail: Any = public_sentence(result)
    if isinstance(result, InvalidInput):
        problems = [
            problem(["body", *filter(None, one.field.split("."))], one.message, one.type) for one in result.problems
        ]
        detail = first_problems(problems)
    elif isinstance(result, DependencyUnavailable):
        outage.note(result)
    return SearchError(status=result.code.status, code=result.code.value, detail=detail)
