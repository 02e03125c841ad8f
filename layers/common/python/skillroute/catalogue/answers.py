"""What the catalogue routes take and answer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from skillroute.catalogue.model import Item, ItemType, JsonObject
from skillroute.catalogue.schemas import ItemInput
from skillroute.catalogue.sync import MAX_ITEMS, ItemOutcome, SyncReport
from skillroute.core.http.errors import shortened
from skillroute.core.outcomes import Outcome, Report, Status


def _items_of(body: object) -> object:
    """Accept a bare list, and the answer of an MCP server's tools/list, beside ``{"items": [...]}``."""
    if isinstance(body, list):
        return {"items": body}
    if isinstance(body, dict) and "items" not in body:
        for type_ in ("tool", "prompt", "resource"):
            listed = body.get(f"{type_}s")
            if isinstance(listed, list) and len(body) == 1:
                return {"items": [{"type": type_, **each} if isinstance(each, dict) else each for each in listed]}
    return body


def bare_list_of(name: str) -> BeforeValidator:
    """Return what accepts a bare list as a body beside ``{name: [...]}``."""
    return BeforeValidator(lambda body: {name: body} if isinstance(body, list) else body)


# Each item is checked on its own later, so that one that is wrong does not refuse the rest; the document says what one
# looks like.
_AnyItem = Annotated[Any, WithJsonSchema({**ItemInput.model_json_schema(by_alias=False), "title": "Item"})]


class UpsertRequest(BaseModel):
    """Items to write: ``{"items": [...]}``, a bare list, or what ``tools/list`` of an MCP server answers."""

    model_config = ConfigDict(extra="forbid")

    items: list[_AnyItem] = Field(max_length=MAX_ITEMS)


UpsertBody = Annotated[UpsertRequest, BeforeValidator(_items_of)]


class ItemProblem(BaseModel):
    """Why an item was not written."""

    field: str
    message: str

    @classmethod
    def of(cls, field: str, message: str) -> ItemProblem:
        """Return what the API says is wrong; a field's name comes from the caller and may not even be encodable."""
        return cls(field=shortened(field), message=shortened(message))


class Result(BaseModel):
    """What became of one thing that was written."""

    index: int = Field(description="Its place in the request, from 0.")
    status: Status
    id: int | None
    error: ItemProblem | None

    @staticmethod
    def shared(outcome: Outcome, kind: str) -> dict[str, Any]:
        """Return what the API says of any outcome; where nothing else is named, `kind` is what is wrong."""
        return {
            "index": outcome.index,
            "status": outcome.status,
            "id": outcome.id,
            "error": None if outcome.reason is None else ItemProblem.of(outcome.field or kind, outcome.reason),
        }


class ItemResult(Result):
    """What became of one item."""

    server: str | None
    type: ItemType | None
    name: str | None

    @classmethod
    def of(cls, outcome: ItemOutcome) -> ItemResult:
        """Return what the API says of an outcome."""
        key = outcome.key
        return cls(
            **cls.shared(outcome, "item"),
            server=(key.server or None) if key else None,
            type=key.type if key else None,
            name=key.name if key else None,
        )


class UpsertCounts(BaseModel):
    """How many of a call ended how."""

    created: int
    updated: int
    unchanged: int
    failed: int
    degraded: list[Literal["embedding_unavailable"]] = Field(
        description="embedding_unavailable: stored, but found by words only until the model is back."
    )

    @staticmethod
    def counted(report: Report[Outcome]) -> dict[str, Any]:
        """Return what the API says of any report."""
        degraded = ["embedding_unavailable"] if report.embedding_unavailable else []
        return {status: report.count(status) for status in get_args(Status)} | {"degraded": degraded}


class UpsertResponse(UpsertCounts):
    """What became of all items, in the order of the request."""

    results: list[ItemResult]

    @classmethod
    def of(cls, report: SyncReport) -> UpsertResponse:
        """Return what the API says of a report."""
        return cls(**cls.counted(report), results=[ItemResult.of(outcome) for outcome in report.outcomes])


class ItemOut(BaseModel):
    """A catalogue item."""

    id: int
    org_id: str | None
    server: str | None
    type: ItemType
    name: str
    description: str
    input_schema: JsonObject | None
    output_schema: JsonObject | None
    annotations: JsonObject | None
    tags: list[str]
    metadata: JsonObject
    is_active: bool = Field(description="False while its server is disabled: no search finds it.")
    is_embedded: bool = Field(description="False while the item waits for its vector; it is found by words meanwhile.")
    skill_ids: list[str]
    primary_skill_id: str | None
    content_hash: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, item: Item) -> ItemOut:
        """Return what the API says of an item."""
        content = item.content
        return cls(
            id=item.id,
            org_id=item.org_id,
            server=content.key.server or None,
            type=content.key.type,
            name=content.key.name,
            description=content.description,
            input_schema=content.input_schema,
            output_schema=content.output_schema,
            annotations=content.annotations,
            tags=list(content.tags),
            metadata=content.metadata,
            is_active=item.is_active,
            is_embedded=item.is_embedded,
            skill_ids=list(item.skill_ids),
            primary_skill_id=item.primary_skill_id,
            content_hash=item.content_hash,
            created_at=item.created_at,
            updated_at=item.updated_at,
        )
