"""Request and answer models of routes that write many things in one call."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from fastapi import Query
from pydantic import BaseModel, BeforeValidator, Field

from skillroute.core.bulk.outcomes import Outcome, Report, Status
from skillroute.core.errors.model import TextRefused
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.http.errors import shortened

DryRun = Annotated[
    bool,
    Query(
        description="Writes nothing: the answer says what would be created, updated, unchanged and failed. What would "
        "be created has no id yet, and nothing is embedded."
    ),
]
"""The parameter `dry_run` of a bulk route."""


def bare_list_of(name: str) -> BeforeValidator:
    """Return what accepts a bare list as a body in addition to ``{name: [...]}``."""
    return BeforeValidator(lambda body: {name: body} if isinstance(body, list) else body)


class ItemProblem(BaseModel):
    """Why an item was not written."""

    field: str
    message: str


class ItemNote(ItemProblem):
    """One thing that is wrong with an item, or questionable."""

    type: str = Field(description="What programs go by: `missing`, `value_error`, `unknown_field`, ...")

    @classmethod
    def of(cls, problem: FieldProblem, whole: str) -> ItemNote:
        """Return what the API says; a field's name comes from the caller and may not even be encodable."""
        field = shortened(problem.field or whole)
        return cls(field=field, message=shortened(problem.message), type=problem.type)


class Result(BaseModel):
    """The result of one thing that was written."""

    index: int = Field(description="Its place in the request, from 0.")
    status: Status
    id: int | None
    error: ItemProblem | None = Field(description="The first of `errors`.")
    errors: list[ItemNote] = Field(description="All that is wrong with it; empty unless it failed.")
    warnings: list[ItemNote] = Field(description="Fields that are unknown, probably misspelt, or left out.")
    refusal: str | None = Field(
        description="Why it is stored and has no vector for good: the embedding model does not take its text."
    )

    @staticmethod
    def shared(outcome: Outcome, kind: str) -> dict[str, Any]:
        """Return what the API says of any outcome; where nothing else is named, `kind` is what is wrong."""
        errors = [ItemNote.of(problem, kind) for problem in outcome.problems]
        return {
            "index": outcome.index,
            "status": outcome.status,
            "id": outcome.id,
            "error": ItemProblem(field=errors[0].field, message=errors[0].message) if errors else None,
            "errors": errors,
            "warnings": [ItemNote.of(warning, kind) for warning in outcome.warnings],
            "refusal": TextRefused.public_message if outcome.is_refused else None,
        }


class UpsertCounts(BaseModel):
    """How many of a call ended how."""

    created: int
    updated: int
    unchanged: int
    failed: int
    degraded: list[Literal["embedding_unavailable", "embedding_refused"]] = Field(
        description="embedding_unavailable: stored, but found by words only until the model is back. "
        "embedding_refused: found by words only until the text is another; `refusal` says of which."
    )

    result_type: ClassVar[Any]

    @classmethod
    def of(cls, report: Report[Any]) -> Self:
        """Return what the API says of a report; of each outcome `result_type.of` does."""
        happened = {
            "embedding_unavailable": report.embedding_unavailable,
            "embedding_refused": report.embedding_refused,
        }
        counts = {status: report.count(status) for status in get_args(Status)}
        degraded = [what for what, is_so in happened.items() if is_so]
        results = [cls.result_type.of(outcome) for outcome in report.outcomes]
        return cls.model_validate({**counts, "degraded": degraded, "results": results})
