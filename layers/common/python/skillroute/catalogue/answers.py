"""The request and answer models of the catalogue routes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from skillroute.catalogue.model import Item, ItemType, JsonObject, RequestSource
from skillroute.catalogue.schemas import ItemInput
from skillroute.catalogue.sync import MAX_ITEMS
from skillroute.catalogue.write import ItemOutcome
from skillroute.core.http.bulk_answers import Result, UpsertCounts
from skillroute.core.input.shown_as import ShownAs


def _items_of(body: object) -> object:
    """Accept a bare list, and the answer of an MCP server's tools/list, beside ``{"items": [...]}``."""
    if isinstance(body, list):
        return {"items": body}
    if isinstance(body, dict) and "items" not in body:
        for type_ in ("tool", "prompt", "resource"):
            listed = body.get(f"{type_}s")
            if isinstance(listed, list) and len(body) == 1:
                return {"items": [{"type": type_, **item} if isinstance(item, dict) else item for item in listed]}
    return body


# Each item is checked on its own later, so that one that is wrong does not refuse the rest; the document says what one
# looks like.
_AnyItem = Annotated[Any, ShownAs(ItemInput, "Item")]


class UpsertRequest(BaseModel):
    """Items to write: ``{"items": [...]}``, a bare list, or what ``tools/list`` of an MCP server answers."""

    model_config = ConfigDict(extra="forbid")

    items: list[_AnyItem] = Field(max_length=MAX_ITEMS)


UpsertBody = Annotated[UpsertRequest, BeforeValidator(_items_of)]


ItemBody = Annotated[dict[str, Any], ShownAs(ItemInput, "ItemOfId", of_path=True)]


class ItemResult(Result):
    """The result of one item."""

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


class UpsertResponse(UpsertCounts):
    """The results of all items, in the order of the request."""

    results: list[ItemResult]
    result_type: ClassVar = ItemResult


class ItemRequest(BaseModel):
    """A request that an item serves, and who wrote it."""

    text: str = Field(description="In the words of a user who needs the item.")
    source: RequestSource = Field(
        description="Who wrote it: `llm`, `person`, `import`; `packaged` ones came with Skillroute."
    )


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
    requests: list[ItemRequest] | None = Field(
        description="Requests that the item serves; its vector includes them. Null: none were written."
    )
    is_active: bool = Field(
        description="False while it is switched off, quarantined, or its server is disabled: no search finds it."
    )
    is_switched_off: bool = Field(
        description="Whether it was switched off itself; it stays so when its server is enabled."
    )
    is_quarantined: bool = Field(
        description="Whether its definition changed and waits to be approved: it is neither found nor called."
    )
    is_embedded: bool = Field(
        description="False while it has no vector, because it waits or the model refuses its text; its words find it."
    )
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
            requests=None
            if content.requests is None
            else [ItemRequest(**request._asdict()) for request in content.requests],
            is_active=item.is_active,
            is_switched_off=item.is_switched_off,
            is_quarantined=item.is_quarantined,
            is_embedded=item.is_embedded,
            skill_ids=list(item.skill_ids),
            primary_skill_id=item.primary_skill_id,
            content_hash=item.content_hash,
            created_at=item.created_at,
            updated_at=item.updated_at,
        )
