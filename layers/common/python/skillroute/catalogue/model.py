"""Catalogue items: tools, prompts and resources, as MCP names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from skillroute.core.bulk.versions import version_of
from skillroute.core.hashing import COMPARED_APART

ItemType = Literal["tool", "prompt", "resource"]

JsonObject = Mapping[str, Any]

DEFAULT_TOOL_THRESHOLD = 0.3
"""The least cosine similarity at which a tool matches, where a search asks for no other (search-contract BR-003)."""


RequestSource = Literal["llm", "person", "import", "packaged"]


class ToolRequest(NamedTuple):
    """A request that a tool serves, and who wrote it."""

    text: str
    source: RequestSource


def are_packaged(requests: Sequence[ToolRequest] | None) -> bool:
    """Return whether an item's requests came with Skillroute: a list is packaged as a whole or not at all."""
    return bool(requests and requests[0].source == "packaged")


def are_peoples(requests: Sequence[ToolRequest] | None) -> bool:
    """Return whether a person wrote or imported one of an item's requests: then no language model writes any."""
    return any(request.source in {"person", "import"} for request in requests or ())


class ItemKey(NamedTuple):
    """The identity of an item within an organisation. A `server` of "" means none."""

    server: str
    type: ItemType
    name: str


@dataclass(frozen=True, slots=True)
class ItemContent:
    """The content of an item as its owner wrote it: everything that counts for whether it changed.

    Attributes
    ----------
    requests : tuple of ToolRequest or None
        None to keep those that are stored.
    """

    key: ItemKey
    description: str = ""
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    annotations: JsonObject | None = None
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict)
    requests: tuple[ToolRequest, ...] | None = field(default=None, metadata={COMPARED_APART: True})


@dataclass(frozen=True, slots=True)
class Item:
    """An item as the catalogue keeps it.

    Attributes
    ----------
    is_active : bool
        Whether searches find it: neither it nor its server is switched off, and it is not quarantined.
    is_switched_off : bool
        Whether its owner has switched it off.
    is_quarantined : bool
        Whether its definition waits to be approved.
    """

    id: int
    org_id: str | None
    content: ItemContent
    content_hash: str
    is_active: bool
    is_switched_off: bool
    is_quarantined: bool
    is_embedded: bool
    skill_ids: tuple[str, ...]
    primary_skill_id: str | None
    created_at: datetime
    updated_at: datetime

    @property
    def version(self) -> str:
        """The version of what its owner wrote or switched; neither its skills count nor the state of its server."""
        return version_of(self.updated_at, self.content_hash)


@dataclass(frozen=True, slots=True)
class ItemSchemas:
    """The three parts of an item that a search loads last and only for what it returns (search-contract BR-004)."""

    input_schema: JsonObject | None
    output_schema: JsonObject | None
    annotations: JsonObject | None


@dataclass(frozen=True, slots=True)
class NamedItem:
    """The identity of an item: its number, whose it is, and its key."""

    id: int
    org_id: str | None
    key: ItemKey


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items a listing shows. None means no condition.

    Attributes
    ----------
    skill_id : str or None
        Of a skill, or of several with commas between them: an item of any of them is shown.
    """

    type: ItemType | None = None
    server: str | None = None
    name: str | None = None
    tag: str | None = None
    skill_id: str | None = None
    is_active: bool | None = None
