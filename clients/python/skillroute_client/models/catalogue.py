"""Tools, servers and agents."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from skillroute_client.models.base import Answer
from skillroute_client.models.written import Failure


class ToolRequest(Answer):
    """A request that a tool serves, and who wrote it: `llm`, `person`, `import`, or `packaged` with Skillroute."""

    text: str
    source: str = "import"


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
    requests: list[ToolRequest] | None = None
    is_active: bool = True
    is_switched_off: bool = False
    is_quarantined: bool = False
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
    item_servers: list[str] = []
    seen_outcome: str | None = None
    seen_at: datetime | None = None
    seen_error: str | None = None
    server_json: dict[str, Any] = {}
    created_at: datetime | None = None
    updated_at: datetime | None = None


class AgentSkill(Answer):
    """A skill of an agent card."""

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


class DeleteResult(Answer):
    """The outcome of one tool; `error` says why it is not deleted."""

    index: int = 0
    id: int
    status: str
    server: str | None = None
    type: str | None = None
    name: str | None = None
    error: Failure | None = None


class Deleted(Answer):
    """The outcome of deleting several tools: of each its own result; `more` where the server has further ones."""

    deleted: int = 0
    failed: int = 0
    more: bool = False
    results: list[DeleteResult] = []

    def add(self, other: Deleted) -> None:
        """Add what came of a further call; whether there are more is what that one says."""
        self.deleted += other.deleted
        self.failed += other.failed
        self.more = other.more
        for result in other.results:
            result.index += len(self.results)
        self.results = [*self.results, *other.results]

    @property
    def failures(self) -> list[DeleteResult]:
        """Those that were not deleted."""
        return [result for result in self.results if result.status == "failed"]


class NewTool(BaseModel):
    """A tool, prompt or resource to be written; a mapping does as well, and may have more fields.

    Attributes
    ----------
    requests : list of str or mapping, or None
        Requests that it serves, texts or text and source; None leaves those that are stored.
    """

    name: str
    description: str = ""
    type: str = "tool"
    server: str | None = None
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    tags: list[str] = []
    metadata: dict[str, Any] = {}
    requests: list[str | dict[str, Any]] | None = None
