"""Reading an item as its owner sends it: MCP's names and ours, checked so that whatever passes can be stored.

Each item is read on its own, so that one that is wrong never spoils the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, field_validator

from skillroute.catalogue.model import ItemContent, ItemKey, ItemType
from skillroute.core.errors import InvalidInput
from skillroute.core.json_input import check_json, validated
from skillroute.core.known_fields import KnownFields, names_of

MAX_BYTES = 256 * 1024
"""Bytes of an item as JSON."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]


class ItemInput(BaseModel):
    """A tool, prompt or resource as `PUT /api/v1/tools` takes it.

    What `tools/list`, `prompts/list` and `resources/list` of an MCP server answer is accepted as it is: camel case is
    understood, and fields that are not listed here (title, uri, arguments, _meta, ...) are kept in `metadata`.
    """

    model_config = ConfigDict(extra="allow", strict=True)

    type: ItemType = Field("tool", description="tool, prompt or resource.")
    name: Name = Field(description="The item's name, unique for its server and type.")
    description: Annotated[str, StringConstraints(max_length=50_000)] | None = None
    input_schema: dict[str, Any] | None = Field(
        None, validation_alias=AliasChoices("input_schema", "inputSchema"), description="JSON Schema of the arguments."
    )
    output_schema: dict[str, Any] | None = Field(
        None, validation_alias=AliasChoices("output_schema", "outputSchema"), description="JSON Schema of the result."
    )
    annotations: dict[str, Any] | None = Field(None, description="MCP's annotations, such as readOnlyHint.")
    server: Annotated[str, StringConstraints(strip_whitespace=True, max_length=256)] | None = Field(
        None, description="The MCP server that offers the item."
    )
    tags: list[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]] | None = Field(
        None, max_length=50
    )
    metadata: dict[str, Any] | None = Field(None, description="Anything else; it is given back as it came.")

    @field_validator("name", "server")
    @classmethod
    def _printable(cls, value: str | None) -> str | None:
        if value is not None and any(ord(character) < 32 or ord(character) == 127 for character in value):
            raise ValueError("control characters are not allowed")
        return value

    def content(self) -> ItemContent:
        """Return the item as the catalogue knows it."""
        return ItemContent(
            key=ItemKey(self.server or "", self.type, self.name),
            description=(self.description or "").strip(),
            input_schema=self.input_schema,
            output_schema=self.output_schema,
            annotations=self.annotations,
            tags=tuple(dict.fromkeys(self.tags or ())),
            metadata={**(self.model_extra or {}), **(self.metadata or {})},
        )


ITEM_FIELDS = KnownFields(
    taken=names_of(ItemInput),
    shown=frozenset(
        [
            "id",
            "org_id",
            "is_active",
            "is_switched_off",
            "is_embedded",
            "skill_ids",
            "primary_skill_id",
            "content_hash",
            "created_at",
            "updated_at",
        ]
    ),
)
"""Of an item."""


def read_item(raw: object) -> ItemContent:
    """Check one item and return its content. What only answers have of it is left aside.

    Raises
    ------
    InvalidInput
        Something is wrong with it; `field` is relative to the item, such as ``input_schema.properties.a``.
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput("item", "must be an object")
    raw = ITEM_FIELDS.without_shown(raw)
    size = check_json(raw)
    if size > MAX_BYTES:
        raise InvalidInput("item", f"is {size} bytes as JSON; at most {MAX_BYTES} are allowed")
    return validated(ItemInput, raw, whole="item").content()
