"""The answers of the API of MCP registries, revision 2025-12-01."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class PublishedServer(BaseModel):
    """A version of a server, and its place in the registry."""

    server: dict[str, Any] = Field(
        description="As a `server.json`: https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    )
    meta: dict[str, Any] = Field(
        alias="_meta",
        description="Under `io.modelcontextprotocol.registry/official` its status, when it was registered and changed, "
        "and whether it is the latest version.",
    )


class ListMetadata(BaseModel):
    """The number of servers of a page, and where the next one begins."""

    count: int = Field(description="The servers of this page.")
    next_cursor: str | None = Field(
        None, alias="nextCursor", description="What `cursor` takes for the next page; absent on the last one."
    )


class PublishedServers(BaseModel):
    """A page of servers."""

    servers: list[PublishedServer] = Field(description="By name, of one name the newest version first.")
    metadata: ListMetadata = Field(description="The size of the page, and where the next one begins.")
