"""Tools, servers and agents, and what comes of writing many of something."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from skillroute_client.models.base import Answer


class Tool(Answer):
    """A tool, prompt or resource."""

    id: int
    org_id: str | None = None
    server: str | None = None
    type: str = "tool"
    name: str
    description: str = ""
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    tags: list[str] = []
    metadata: dict[str, Any] = {}
    is_active: bool = True
    is_embedded: bool = False
    skill_ids: list[str] = []
    primary_skill_id: str | None = None
    content_hash: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


class Server(Answer):
    """An MCP server; `server_json` is the document that it was written as."""

    id: int
    org_id: str | None = None
    path: str
    name: str
    description: str = ""
    tags: list[str] = []
    is_enabled: bool = True
    is_embedded: bool = False
    tool_count: int = 0
    tools_server: str = ""
    server_json: dict[str, Any] = {}
    created_at: datetime | None = None
    updated_at: datetime | None = None


class AgentSkill(Answer):
    """What an agent can do."""

    name: str
    description: str = ""


class Agent(Answer):
    """An A2A agent; `agent_card` is the document that it was written as."""

    id: int
    org_id: str | None = None
    path: str
    name: str
    description: str = ""
    tags: list[str] = []
    is_enabled: bool = True
    is_embedded: bool = False
    capabilities: list[str] = []
    skills: list[AgentSkill] = []
    agent_card: dict[str, Any] = {}
    created_at: datetime | None = None
    updated_at: datetime | None = None


class Note(Answer):
    """What is wrong with a field of an item, or was probably meant otherwise."""

    field: str
    message: str
    type: str = ""


class WriteResult(Answer):
    """What came of one of several things, which stands at `index` of the request.

    `status` is ``created``, ``updated``, ``unchanged`` or ``failed``; of the last, `errors` says why.
    """

    index: int
    status: str
    id: int | None = None
    name: str | None = None
    errors: list[Note] = []
    warnings: list[Note] = []
    refusal: str | None = None


class Written(Answer):
    """What came of writing several things: of each its own result, in the order of the request."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    degraded: list[str] = []
    results: list[WriteResult] = []

    @property
    def failures(self) -> list[WriteResult]:
        """Those that were not written."""
        return [result for result in self.results if result.status == "failed"]


class NewTool(BaseModel):
    """A tool, prompt or resource to be written; a mapping does as well, and may have more fields."""

    name: str
    description: str = ""
    type: str = "tool"
    server: str | None = None
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    tags: list[str] = []
    metadata: dict[str, Any] = {}
