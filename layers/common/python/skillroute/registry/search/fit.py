"""Fitting an answer into what Lambda carries: descriptions, schemas, agent cards, explanations (decision 36)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from skillroute.core.answer_size import SEARCH_BYTES, TEXT_BYTES, shortened, size_of
from skillroute.registry.search.model import AgentMatch, RegistryToolMatch, ScoreBreakdown, ServerMatch
from skillroute.registry.search.repository import MAX_SHOWN_LENGTH

_BESIDE = 700
"""Bytes that the names of fields, numbers and dates of a result have at most."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The parts of an answer that are shown, and those that there was no room for."""

    servers: list[ServerMatch]
    tools: list[RegistryToolMatch]
    agents: list[AgentMatch]
    explain: list[ScoreBreakdown] | None
    schemas_omitted: list[int]
    cards_omitted: list[int]
    descriptions_cut: bool
    explain_omitted: int


def fitted(
    servers: list[ServerMatch],
    tools: list[RegistryToolMatch],
    agents: list[AgentMatch],
    explain: list[ScoreBreakdown] | None,
    without_schema: Collection[int],
) -> Fitted:
    """Return as much as fits: everything that was found; of it, schemas and cards in rank order; then explanations.

    Parameters
    ----------
    without_schema : ids of tools
        Those whose schemas had no room before.
    """
    servers, tools, agents, is_cut = _with_short_texts(servers, tools, agents)
    room = _Room(SEARCH_BYTES - _size_of_all(servers, tools, agents))
    # By turns, so that neither kind takes all of it.
    for rank in range(max(len(tools), len(agents))):
        for tool in tools[rank : rank + 1]:
            room.take("tool", tool.db_id, tool.inputSchema, fits=tool.db_id not in without_schema)
        for agent in agents[rank : rank + 1]:
            # Every card says something: an empty one is one that had no room.
            room.take("agent", agent.id, [agent.skills, agent.agent_card], fits=bool(agent.agent_card))
    shown = None if explain is None else room.first(explain)
    return Fitted(
        servers=servers,
        tools=[tool.model_copy(update={"inputSchema": None}) if tool.db_id in room.tools else tool for tool in tools],
        agents=[
            agent.model_copy(update={"agent_card": None, "skills": []}) if agent.id in room.agents else agent
            for agent in agents
        ],
        explain=shown,
        schemas_omitted=room.tools,
        cards_omitted=room.agents,
        descriptions_cut=is_cut,
        explain_omitted=len(explain or ()) - len(shown or ()),
    )


@dataclass(slots=True)
class _Room:
    """The room left in an answer, and what was left out: of each kind everything from the first that did not fit."""

    left: int
    tools: list[int] = field(default_factory=list)
    agents: list[int] = field(default_factory=list)

    def take(self, kind: str, id_: int, value: object, *, fits: bool) -> None:
        omitted = self.tools if kind == "tool" else self.agents
        size = size_of(value)
        if omitted or not fits or size > self.left:
            omitted.append(id_)
        else:
            self.left -= size

    def first(self, explain: list[ScoreBreakdown]) -> list[ScoreBreakdown]:
        for number, breakdown in enumerate(explain):
            self.left -= size_of([breakdown.name, breakdown.path]) + _BESIDE
            if self.left < 0:
                return explain[:number]
        return explain


def _with_short_texts(
    servers: list[ServerMatch], tools: list[RegistryToolMatch], agents: list[AgentMatch]
) -> tuple[list[ServerMatch], list[RegistryToolMatch], list[AgentMatch], bool]:
    """Return all with descriptions that have room together, and whether any was cut, here or when it was read."""
    of_servers = [tool for server in servers for tool in server.matching_tools]
    texts = [
        *(server.description for server in servers),
        *(tool.description for tool in of_servers),
        *(tool.description for tool in tools),
        *(agent.description for agent in agents),
    ]
    shown = shortened(texts, TEXT_BYTES)
    if shown == texts:
        return servers, tools, agents, any(len(text) > MAX_SHOWN_LENGTH for text in texts)
    left = iter(shown)
    servers = [server.model_copy(update={"description": next(left)}) for server in servers]
    short_tools = iter([tool.model_copy(update={"description": next(left)}) for tool in of_servers])
    servers = [
        server.model_copy(update={"matching_tools": [next(short_tools) for _ in server.matching_tools]})
        for server in servers
    ]
    tools = [tool.model_copy(update={"description": next(left)}) for tool in tools]
    agents = [agent.model_copy(update={"description": next(left)}) for agent in agents]
    return servers, tools, agents, True


def _size_of_all(servers: list[ServerMatch], tools: list[RegistryToolMatch], agents: list[AgentMatch]) -> int:
    """Return the bytes of everything but schemas, cards and the skills that cards name."""
    entries = [
        *([server.path, server.server_name, server.description, *server.tags] for server in servers),
        *([tool.tool_name, tool.description, tool.annotations] for server in servers for tool in server.matching_tools),
        *([tool.server_path, tool.server_name, tool.tool_name, tool.description, tool.annotations] for tool in tools),
        *([agent.path, agent.agent_name, agent.description, *agent.tags] for agent in agents),
    ]
    return size_of(entries) + _BESIDE * len(entries)
