"""Reading an item as its owner sends it: MCP's names and ours, checked so that the result can be stored.

Each item is read on its own, so that one that is wrong never spoils the others.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    field_validator,
)

from skillroute.catalogue.model import ItemContent, ItemKey, ItemType, RequestSource, ToolRequest
from skillroute.catalogue.trust.lint import instruction_warnings
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.hidden_text import hidden_warnings, name_warnings, seen_name, visible_fields
from skillroute.core.input.json_input import examined_json, together, validated
from skillroute.core.input.known_fields import MAX_WARNINGS, UNKNOWN_FIELD, KnownFields

MAX_BYTES = 256 * 1024
"""Bytes of an item as JSON."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]


MAX_REQUESTS = 8
"""Requests of one tool."""

_RequestText = Annotated[
    str,
    AfterValidator(lambda text: unicodedata.normalize("NFC", " ".join(text.split()))),
    StringConstraints(min_length=1, max_length=300),
]


class RequestInput(BaseModel):
    """A request that a tool serves: ``{"text": ..., "source": ...}``, or the text alone."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: _RequestText = Field(description="In the words of a user who needs the tool.")
    source: RequestSource = Field(
        "import", description="Who wrote it: llm, person or import; packaged ones came with Skillroute."
    )


_Request = Annotated[
    RequestInput,
    BeforeValidator(lambda value: {"text": value} if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1, "maxLength": 300}, RequestInput.model_json_schema()]}),
]


class ItemInput(BaseModel):
    """A tool, prompt or resource as `PUT /api/v1/tools` takes it.

    What `tools/list`, `prompts/list` and `resources/list` of an MCP server answer is accepted as it is: camel case is
    understood, and fields that are not listed here (title, uri, arguments, _meta, ...) are kept in `metadata`.
    """

    model_config = ConfigDict(extra="allow", strict=True)

    type: ItemType = Field(
        "tool", validation_alias=AliasChoices("type", "item_type"), description="tool, prompt or resource."
    )
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
    requests: list[_Request] | None = Field(
        None,
        max_length=MAX_REQUESTS,
        description="Requests that the item serves, of which its vector is made too: texts, or text and source. "
        "Left out or null, those that are stored stay; an empty list takes them away.",
    )

    @field_validator("name", "server")
    @classmethod
    def _seen(cls, value: str | None) -> str | None:
        return None if value is None else seen_name(value)

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
            requests=None if self.requests is None else _each_once(self.requests),
        )


def _each_once(requests: list[RequestInput]) -> tuple[ToolRequest, ...]:
    """Return requests, of those with the same text the first.

    Packaged ones among others are imported like these: a list in the database is packaged as a whole or not at all.
    """
    all_packaged = all(given.source == "packaged" for given in requests)
    first: dict[str, ToolRequest] = {}
    for given in requests:
        source = "import" if given.source == "packaged" and not all_packaged else given.source
        first.setdefault(given.text, ToolRequest(given.text, source))
    return tuple(first.values())


ITEM_FIELDS = KnownFields.of(
    ItemInput,
    [
        "id",
        "org_id",
        "is_active",
        "is_switched_off",
        "is_quarantined",
        "is_embedded",
        "skill_ids",
        "primary_skill_id",
        "content_hash",
        "created_at",
        "updated_at",
    ],
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
    named, problems = ITEM_FIELDS.with_one_name(ITEM_FIELDS.without_shown(raw))
    _, unfit = examined_json(named, most_bytes=MAX_BYTES)
    cleaned = named if unfit else visible_fields(named, {"name", "server"})  # which may be nested without end
    return together([*problems, *unfit], lambda: validated(ItemInput, cleaned, whole="item").content())


SWITCHES = {"is_active": True, "is_switched_off": False}
"""Fields that say whether an item is switched on, and what they say of a new one: no `PUT` changes them (ADR 53)."""

UNCHANGEABLE_FIELD = "unchangeable_field"
"""The type of a warning about one."""


def switch_problems(raw: Mapping[str, Any], stored: Mapping[str, bool], place: str = "") -> list[FieldProblem]:
    """Return where an item says otherwise than is stored whether it is switched on."""
    message = "is not changed here: PATCH /api/v1/tools/{item_id} switches an item off and on"
    return [
        FieldProblem(f"{place}{name}", message, UNCHANGEABLE_FIELD)
        for name, value in stored.items()
        if isinstance(raw.get(name), bool) and raw[name] is not value
    ]


def lost_problems(raw: Mapping[str, Any], place: str = "") -> list[FieldProblem]:
    """Return the unknown fields that are lost, as `metadata` has them with another value."""
    metadata = raw.get("metadata")
    if not isinstance(metadata, Mapping):
        return []
    message = "is in metadata too, with another value, which counts: give one of them"
    unknown = ITEM_FIELDS.unknown(raw)
    return [
        FieldProblem(f"{place}{name}", message, UNKNOWN_FIELD)
        for name in unknown
        if name in metadata and metadata[name] != raw[name]
    ]


def item_warnings(raw: object, place: str = "") -> list[FieldProblem]:
    """Return what is questionable about an item: the names of its fields, and texts with what nobody sees."""
    if not isinstance(raw, Mapping):
        return []
    texts = [*name_warnings(raw, ("name", "server"), place), *hidden_warnings(raw, place)]
    texts += instruction_warnings(raw, place)
    return [*ITEM_FIELDS.warnings(raw, place), *lost_problems(raw, place), *texts][:MAX_WARNINGS]
