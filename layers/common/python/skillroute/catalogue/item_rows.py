"""Items as rows of mcp.tools have them."""

from __future__ import annotations

from typing import Any

from skillroute.catalogue.model import Item, ItemContent, ItemKey, NamedItem, ToolRequest
from skillroute.catalogue.names import name_key


def to_row(content: ItemContent, content_hash: str) -> dict[str, Any]:
    """Return an item as `upsert_items` takes it."""
    return {
        **content.key._asdict(),
        "name_key": name_key(content.key.name),
        "description": content.description,
        "input_schema": content.input_schema,
        "output_schema": content.output_schema,
        "annotations": content.annotations,
        "tags": list(content.tags),
        "metadata": content.metadata,
        "content_hash": content_hash,
        "requests": None if content.requests is None else [request._asdict() for request in content.requests],
    }


def to_requests(stored: list[dict[str, Any]] | None) -> tuple[ToolRequest, ...]:
    """Return the requests of a row; none where it has null."""
    return tuple(ToolRequest(**request) for request in stored or ())


def to_named(row: list[Any]) -> NamedItem:
    """Return what names an item."""
    id_, org_id, *key = row
    return NamedItem(id_, org_id, ItemKey(*key))


def to_item(row: list[Any]) -> Item:
    """Return an item of `get_item`, `get_items` or `list_items`."""
    (id_, org_id, server, type_, name, description, input_schema, output_schema, annotations, tags, metadata,
     requests, content_hash, is_active, is_switched_off, is_quarantined, is_embedded, skill_ids,
     primary_skill_id, created_at, updated_at) = row  # fmt: skip
    content = ItemContent(
        key=ItemKey(server, type_, name),
        description=description,
        input_schema=input_schema,
        output_schema=output_schema,
        annotations=annotations,
        tags=tuple(tags),
        metadata=metadata,
        requests=None if requests is None else to_requests(requests),
    )
    return Item(
        id=id_,
        org_id=org_id,
        content=content,
        content_hash=content_hash,
        is_active=is_active,
        is_switched_off=is_switched_off,
        is_quarantined=is_quarantined,
        is_embedded=is_embedded,
        skill_ids=tuple(skill_ids or ()),
        primary_skill_id=primary_skill_id,
        created_at=created_at,
        updated_at=updated_at,
    )
