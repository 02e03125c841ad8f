"""The methods of the client itself: searches, health, and any other call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Unpack

import httpx
from pydantic import TypeAdapter

from skillroute_client.calls import Body, Call, Calls, given, many, one, path_of, plain_list
from skillroute_client.engines import M
from skillroute_client.lines import Earlier
from skillroute_client.models.agent_skills import AgentSkillAnswer
from skillroute_client.models.batch import BatchAnswer
from skillroute_client.models.feedback import Feedback, FeedbackResults
from skillroute_client.models.search import Matches, McpAnswer, RegistryAnswer, SearchAnswer, SkillMatch, ToolMatch
from skillroute_client.models.status import Health, Verification
from skillroute_client.models.trace import TraceEvent
from skillroute_client.models.written import Imported
from skillroute_client.operations import Resource, operation, paged
from skillroute_client.pages import Listing
from skillroute_client.resources.access import Access
from skillroute_client.resources.agent_skills import AgentSkills
from skillroute_client.resources.catalogue import Agents, Servers, Tools
from skillroute_client.resources.learning import Learning
from skillroute_client.resources.mail import MailAgents, Messages, Products, Projects
from skillroute_client.resources.options import (
    McpSearchOptions,
    RegistryOptions,
    SearchOptions,
    SearchRequest,
    SkillSearchOptions,
    ToolSearchOptions,
    TraceOptions,
)
from skillroute_client.resources.portable import Export, Line, export_call, import_calls
from skillroute_client.resources.skills import Skills, Suggestions
from skillroute_client.resources.trust import Trust
from skillroute_client.retrying import Repeat

_SKILLS = TypeAdapter(list[SkillMatch])
_TOOLS = TypeAdapter(list[ToolMatch])


class Root(Resource[M]):
    """The operations of a client."""

    @operation
    def search(
        self, query: str | None = None, *, receipt: bool | None = None, **options: Unpack[SearchOptions]
    ) -> Call[SearchAnswer]:
        """Find the tools that fit a request in plain words, or that serve several needs: skills first, then theirs.

        With `receipt=False` the search is no use, and nothing is learned of it.
        """
        body, params = given({"query": query, **options}), given({"receipt": receipt})
        return Call(method="POST", path=path_of("search"), params=params, body=body, read=one(SearchAnswer))

    @operation
    def search_mcp(
        self, query: str | None = None, *, receipt: bool | None = None, **options: Unpack[McpSearchOptions]
    ) -> Call[McpAnswer]:
        """Find the tools that fit a request, ready for a model: each as MCP has it, under a name of its own."""
        body, params = {**given({"query": query, **options}), "format": "mcp"}, given({"receipt": receipt})
        return Call(method="POST", path=path_of("search"), params=params, body=body, read=one(McpAnswer))

    @operation
    def search_batch(self, searches: Iterable[SearchRequest]) -> Call[BatchAnswer]:
        """Carry out up to 20 searches in one call, each with its own answer or error."""
        body = {"searches": [given(search) for search in searches]}
        return Call(method="POST", path=path_of("search", "batch"), body=body, read=one(BatchAnswer))

    @operation
    def search_tools(self, query: str, **options: Unpack[ToolSearchOptions]) -> Call[Matches[ToolMatch]]:
        """Find tools without their schemas, of some skills or servers where they are named."""
        params = {"query": query, **given(options)}
        return Call(method="GET", path=path_of("search", "tools"), params=params, read=_tools)

    @operation
    def search_skills(self, query: str, **options: Unpack[SkillSearchOptions]) -> Call[Matches[SkillMatch]]:
        """Find skills."""
        params = {"query": query, **given(options)}
        return Call(method="GET", path=path_of("search", "skills"), params=params, read=_skills)

    @operation
    def search_registry(self, query: str, **options: Unpack[RegistryOptions]) -> Call[RegistryAnswer]:
        """Find MCP servers, their tools, and A2A agents; ``#tag`` in the query filters."""
        body = {"query": query, **given(options)}
        return Call(method="POST", path=path_of("search", "registry"), body=body, read=one(RegistryAnswer))

    @operation
    def search_agent_skills(self, query: str, *, limit: int | None = None) -> Call[AgentSkillAnswer]:
        """Find Agent Skills by their descriptions and bodies."""
        body = {"query": query, **given({"limit": limit})}
        return Call(method="POST", path=path_of("search", "agent-skills"), body=body, read=one(AgentSkillAnswer))

    @operation
    def feedback(
        self, search_id: str, outcome: str, tool_id: int | str | None = None, *, source: str | None = None
    ) -> Call[Feedback]:
        """Report what became of a tool that a search showed: ``called``, ``succeeded``, ``failed`` or ``wrong``.

        ``nothing_fits`` is of the whole answer, and has no tool. `search_id` is ``metadata.search_id`` of the answer;
        `source` is ``person`` where a person says so.
        """
        body = {"search_id": search_id, "outcome": outcome, **given({"tool_id": tool_id, "source": source})}
        return Call(method="POST", path=path_of("feedback"), body=body, read=one(Feedback))

    @operation
    def feedback_batch(self, outcomes: Iterable[Body]) -> Call[FeedbackResults]:
        """Report up to 500 outcomes, each judged on its own."""
        body = {"outcomes": plain_list(outcomes)}
        return Call(method="POST", path=path_of("feedback", "batch"), body=body, read=one(FeedbackResults))

    @operation
    def trace(self, **where: Unpack[TraceOptions]) -> Call[list[TraceEvent]]:
        """Return events of the trace, the latest first; with `after` those that follow it, the oldest first."""
        return Call(method="GET", path=path_of("trace"), params=given(where), read=many(TraceEvent))

    @operation
    def health(self) -> Call[Health]:
        """Return how the parts stand; an answer as long as the process answers."""
        return Call(method="GET", path="/health", read=one(Health))

    @operation
    def ready(self) -> Call[Health]:
        """Return how the parts stand, at once: a 503, which means that searches are not answered, is no error here."""
        return Call(method="GET", path="/ready", read=one(Health), repeat=Repeat.NEVER, accepted=frozenset({503}))

    @operation
    def verify(self) -> Call[Verification]:
        """Check that everything that is stored is as it must be."""
        return Call(method="GET", path=path_of("verify"), read=one(Verification))

    @operation
    def export_page(
        self, *, kinds: Sequence[str] = (), after: str | None = None, limit: int | None = None
    ) -> Call[list[bytes]]:
        """Return a page of all that an organisation has, each line a JSON object, the last one about the page.

        The last line's ``after`` is where the next page begins; it names the kinds, so that they are for the first.
        """
        return export_call(kinds, after, limit)

    @paged
    def export(
        self, *, kinds: Sequence[str] = (), after: str | None = None, limit: int | None = None
    ) -> Listing[bytes]:
        """Export all that an organisation has, a JSON object a line; `limit` is how many a call returns.

        The last line, of kind ``end``, names in ``changed`` the kinds that others wrote meanwhile, whose lines are of
        several moments: from its ``after`` on, these are exported once more.
        """
        return Export(kinds, after, limit)

    @operation
    def import_lines(
        self,
        lines: Iterable[Line],
        *,
        dry_run: bool | None = None,
        progress: Callable[[Imported], None] | None = None,
        earlier: Earlier | None = None,
    ) -> Calls[Imported]:
        """Write the lines of an export, however many, and report what came of each; what is there is left alone.

        They go in calls of up to 200 lines; `progress` is called with the report of each. Where a call fails, those
        before it are done, and the same again does the rest. A dry run only says what would become of each; `earlier`
        has the lines that were tried before, where they are tried by several calls of this method.
        """
        return import_calls(lines, progress, dry_run=dry_run, earlier=earlier)

    @operation
    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        repeat: Repeat | None = None,
    ) -> Call[Any]:
        """Make any call and return its JSON, None without a body: for what there is no method for yet.

        Unless `repeat` says otherwise, all methods but POST and PATCH are tried again when it is not known what came
        of an attempt.
        """
        chosen = repeat or (Repeat.IF_REFUSED if method.upper() in {"POST", "PATCH"} else Repeat.ALWAYS)
        return Call(
            method=method.upper(),
            path=path,
            params=params or {},
            body=json,
            headers=headers or {},
            read=_json,
            repeat=chosen,
        )

    @cached_property
    def skills(self) -> Skills[M]:
        """Skills."""
        return Skills(self._engine)

    @cached_property
    def suggestions(self) -> Suggestions[M]:
        """Suggestions of skills."""
        return Suggestions(self._engine)

    @cached_property
    def tools(self) -> Tools[M]:
        """Tools, prompts and resources."""
        return Tools(self._engine)

    @cached_property
    def agent_skills(self) -> AgentSkills[M]:
        """Agent Skills: folders with a `SKILL.md`."""
        return AgentSkills(self._engine)

    @cached_property
    def servers(self) -> Servers[M]:
        """MCP servers."""
        return Servers(self._engine)

    @cached_property
    def agents(self) -> Agents[M]:
        """A2A agents."""
        return Agents(self._engine)

    @cached_property
    def access(self) -> Access[M]:
        """Rules of access."""
        return Access(self._engine)

    @cached_property
    def trust(self) -> Trust[M]:
        """Definitions that changed."""
        return Trust(self._engine)

    @cached_property
    def learning(self) -> Learning[M]:
        """Receipts, and what they show."""
        return Learning(self._engine)

    @cached_property
    def messages(self) -> Messages[M]:
        """Messages of agent mail."""
        return Messages(self._engine)

    @cached_property
    def projects(self) -> Projects[M]:
        """Projects of agent mail."""
        return Projects(self._engine)

    @cached_property
    def products(self) -> Products[M]:
        """Products of agent mail."""
        return Products(self._engine)

    @cached_property
    def mail_agents(self) -> MailAgents[M]:
        """Agents of agent mail."""
        return MailAgents(self._engine)


def _tools(response: httpx.Response) -> Matches[ToolMatch]:
    return Matches(_TOOLS.validate_json(response.content), response.headers)


def _skills(response: httpx.Response) -> Matches[SkillMatch]:
    return Matches(_SKILLS.validate_json(response.content), response.headers)


def _json(response: httpx.Response) -> Any:
    return response.json() if response.content else None
