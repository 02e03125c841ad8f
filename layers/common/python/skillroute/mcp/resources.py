"""Resources by the schemes of their URIs: groups of tools, and the files of Agent Skills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.core.caller import Caller
from skillroute.mcp.agent_skills import AgentSkillResources
from skillroute.mcp.fit import Json
from skillroute.mcp.revisions import STATELESS, Revision
from skillroute.mcp.rpc import INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError, quoted
from skillroute.mcp.tool_groups import ToolGroups


class Resources:
    """Lists and reads resources. Agent Skills are not in the list: `skills/list` has them."""

    def __init__(self, tool_groups: ToolGroups, agent_skills: AgentSkillResources) -> None:
        self.agent_skills = agent_skills
        self._tool_groups = tool_groups

    def page(self, params: Mapping[str, Any], caller: Caller, revision: Revision) -> Json:
        """Answer `resources/list`."""
        return self._tool_groups.page(params, caller, revision)

    def read(self, params: Mapping[str, Any], caller: Caller, revision: Revision) -> Json:
        """Answer `resources/read`.

        Raises
        ------
        RpcError
            The caller sees no resource of the URI.
        """
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(INVALID_PARAMS, "params.uri must be the URI of a resource")
        content = self._tool_groups.read(uri, caller) or self.agent_skills.read(uri, caller)
        if content is None:
            code = INVALID_PARAMS if revision == STATELESS else RESOURCE_NOT_FOUND
            there = "resources/list and skills/list have those that there are"
            raise RpcError(code, f"there is no resource {quoted(uri)}; {there}")
        return {"contents": [content]}
