"""The bodies and answers of the feedback routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator

from skillroute.core.errors.model import InvalidInput
from skillroute.core.http.bulk_answers import bare_list_of
from skillroute.core.http.item_errors import ItemError
from skillroute.core.input.json_input import validated
from skillroute.core.input.shown_as import ShownAs
from skillroute.learning.model import OutcomeKind, Source
from skillroute.learning.outcomes.report import MAX_OUTCOMES, Reported

_MAX_ID = 2**63 - 1
_ID = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": _MAX_ID},
        {"type": "string", "pattern": "^[0-9]{1,19}$"},
        {"type": "null"},
    ]
}


def _as_number(value: object) -> object:
    is_id = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(_MAX_ID))
    return int(str(value)) if is_id else value


_ToolId = Annotated[Annotated[int, Field(ge=1, le=_MAX_ID)] | None, BeforeValidator(_as_number), WithJsonSchema(_ID)]


class OutcomeReport(BaseModel):
    """The outcome of a tool that a search showed, or that nothing of the answer fits."""

    model_config = ConfigDict(extra="forbid", strict=True)

    search_id: Annotated[UUID, Field(strict=False)] = Field(
        description="The search that showed it: `metadata.search_id` of its answer, over MCP in `_meta`."
    )
    outcome: OutcomeKind = Field(
        description="`called`: the agent chose it. `succeeded` and `failed`: how the call ended. `wrong`: it does not "
        "serve the request. `nothing_fits`: no tool of the answer does."
    )
    tool_id: _ToolId = Field(
        None,
        validate_default=True,
        description="The tool, as `tool_id` or `id` of a search result; required unless the outcome is `nothing_fits`.",
    )
    source: Source = Field("program", description="`person` for a person's mark.")

    @field_validator("tool_id")
    @classmethod
    def _fits_outcome(cls, tool_id: int | None, info: ValidationInfo) -> int | None:
        outcome = info.data.get("outcome")
        if outcome == "nothing_fits" and tool_id is not None:
            raise ValueError("is not allowed with nothing_fits, which is about all tools of the answer: leave it out")
        if outcome not in (None, "nothing_fits") and tool_id is None:
            raise ValueError(f"is required with {outcome}: take tool_id or id of the search result")
        return tool_id

    def reported(self) -> Reported:
        """Return it as the use case takes it."""
        return Reported(self.search_id, self.outcome, self.tool_id, self.source)


# Each is checked on its own later, so that one that is wrong does not refuse the rest.
_AnyReport = Annotated[Any, ShownAs(OutcomeReport)]


class FeedbackRequest(BaseModel):
    """Outcomes: ``{"outcomes": [...]}`` or a bare list."""

    model_config = ConfigDict(extra="forbid")

    outcomes: list[_AnyReport] = Field(
        min_length=1, max_length=MAX_OUTCOMES, description="The outcomes, 500 at most, in the order in which they came."
    )

    def read(self) -> list[Reported | InvalidInput]:
        """Return each outcome as the use case takes it, or what is wrong with it."""
        return list(map(_read, self.outcomes))


def _read(raw: object) -> Reported | InvalidInput:
    try:
        return validated(OutcomeReport, raw, whole="outcome").reported()
    except InvalidInput as error:
        return error


FeedbackBody = Annotated[FeedbackRequest, bare_list_of("outcomes")]


class FeedbackResponse(BaseModel):
    """Whether an outcome is kept."""

    kept: bool = Field(description="False where the deployment keeps no receipts (`SKILLROUTE_RECEIPTS=off`).")


class FeedbackResult(BaseModel):
    """The result of one outcome."""

    index: int = Field(description="Its place in the request, from 0.")
    status: Literal["accepted", "failed"]
    error: ItemError | None = Field(description="What is wrong with it; null where it was accepted.")


class FeedbackManyResponse(FeedbackResponse):
    """The results of all outcomes, in the order of the request."""

    accepted: int = Field(description="How many could be read.")
    failed: int = Field(description="How many are wrong; they are not stored.")
    results: list[FeedbackResult]

    @classmethod
    def of(cls, read: Sequence[Reported | InvalidInput], *, kept: bool) -> Self:
        """Return what the API says of outcomes as they were read."""
        results = [
            FeedbackResult(index=index, status="failed", error=ItemError.of(one))
            if isinstance(one, InvalidInput)
            else FeedbackResult(index=index, status="accepted", error=None)
            for index, one in enumerate(read)
        ]
        failed = sum(result.error is not None for result in results)
        return cls(kept=kept, accepted=len(results) - failed, failed=failed, results=results)
