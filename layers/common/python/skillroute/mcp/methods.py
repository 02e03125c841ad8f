"""The methods of the protocol, by name: what each revision has, and who answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from skillroute import __version__
from skillroute.core.caller import Caller
from skillroute.core.errors import outage
from skillroute.core.errors.model import BudgetSpent, DependencyUnavailable
from skillroute.core.rationing.work import Work
from skillroute.mcp.cost import cost_of, is_call
from skillroute.mcp.fit import Json
from skillroute.mcp.headers import handshake
from skillroute.mcp.resource_templates import TEMPLATES
from skillroute.mcp.revisions import ALL, STATELESS, Revision, titled
from skillroute.mcp.rpc import INVALID_PARAMS, METHOD_NOT_FOUND, Message, RpcError, quoted
from skillroute.mcp.tool import Asked
from skillroute.mcp.toolbox import Toolbox, failed

if TYPE_CHECKING:
    from skillroute.mcp.prompts import CataloguePrompts
    from skillroute.mcp.resources import Resources

_NAME, _TITLE = "skillroute", "Skillroute"

INSTRUCTIONS = (
    "Skillroute knows the tools of many servers and shows the few that a task needs. Ask search_tools in plain words, "
    "and get_tool_details for the schema of what you want to call."
)
CAPABILITIES: Json = {"tools": {}, "resources": {}, "prompts": {}}

SKILLS_EXTENSION = "io.modelcontextprotocol/skills"
"""Of revisions from 2026-07-28 on: https://github.com/modelcontextprotocol/ext-skills."""

LISTS_TTL_MS = 60_000
"""How long clients may keep lists: they change when the catalogue does."""

DISCOVERY_TTL_MS = 3_600_000
"""How long clients may keep what changes with the server's version."""

_PRIVATE: Json = {"ttlMs": LISTS_TTL_MS, "cacheScope": "private"}  # what is listed depends on who asks
_PUBLIC: Json = {"ttlMs": DISCOVERY_TTL_MS, "cacheScope": "public"}

Answer = Callable[[Mapping[str, Any], Asked, Revision], Json]


class Methods:
    """Answers requests, whichever revision they are of.

    Parameters
    ----------
    toolbox : Toolbox
    work : Work
        Charges for each request, before it is answered.
    resources, prompts : callable
        Return what answers their methods: a start that is asked for neither must not load what stands behind them.
    summary : callable
        Returns what the instructions end with: what a caller finds here. Raises `DependencyUnavailable`.
    cancel : callable, optional
        Cancels the calls of a key; without it no tool of other servers is called here. Raises `DependencyUnavailable`.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        resources: Callable[[], Resources],
        prompts: Callable[[], CataloguePrompts],
        work: Work,
        summary: Callable[[Caller], str],
        cancel: Callable[[str], None] | None = None,
    ) -> None:
        self._work = work
        self._cancel = cancel
        self._summary = summary
        self._shared: dict[str, tuple[Answer, Json]] = {
            "tools/list": (lambda _, asked, of: _tools(toolbox, asked, of), _PRIVATE),
            "tools/call": (toolbox.call, {}),
            "resources/list": (lambda params, asked, of: resources().page(params, asked.caller, of), _PRIVATE),
            "resources/read": (lambda params, asked, of: resources().read(params, asked.caller, of), _PRIVATE),
            "resources/templates/list": (lambda *_: {"resourceTemplates": TEMPLATES}, _PUBLIC),
            "prompts/list": (lambda params, asked, of: prompts().page(params, asked.caller, of), _PRIVATE),
            "prompts/get": (lambda params, asked, _: prompts().get(params, asked.caller), {}),
        }
        self._of_handshake: dict[str, tuple[Answer, Json]] = {
            "initialize": (lambda params, asked, _: _initialized(params, self._instructions(asked)[0]), {}),
            "ping": (lambda *_: {}, {}),
        }
        self._of_stateless: dict[str, tuple[Answer, Json]] = {
            "server/discover": (lambda _, asked, __: _discovered(*self._instructions(asked)), _PRIVATE),
            "skills/list": (lambda params, asked, _: resources().agent_skills.page(params, asked.caller), _PRIVATE),
            "skills/get": (lambda params, asked, _: resources().agent_skills.get(params, asked.caller), _PRIVATE),
            "resources/directory/read": (
                lambda params, asked, _: resources().agent_skills.directory(params, asked.caller),
                {},
            ),
        }

    def answer(self, message: Message, asked: Asked, revision: Revision) -> Json:
        """Return the result of a request.

        Raises
        ------
        RpcError
            The revision has no such method, or something is wrong with the parameters.
        BudgetSpent
            The caller has none left, or its organisation; of a call of a tool it is the result.
        DependencyUnavailable
            What is to be listed cannot be read.
        """
        own = self._of_stateless if revision == STATELESS else self._of_handshake
        found = self._shared.get(message.method) or own.get(message.method)
        if found is None:
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {quoted(message.method)} in {revision}")
        answer, caching = found
        try:
            if is_call(message):
                self._work.charge(asked.caller, cost_of(message))
                result = answer(message.params, asked, revision)
            else:
                with self._work(asked.caller, cost_of(message)):
                    result = answer(message.params, asked, revision)
        except BudgetSpent as error:
            if message.method != "tools/call":
                raise
            result = failed(str(error))
        if revision != STATELESS:
            return result
        stamp = {"io.modelcontextprotocol/serverInfo": _server(revision)}
        return {"resultType": "complete", **caching, **result, "_meta": {**stamp, **result.get("_meta", {})}}

    @property
    def has_sessions(self) -> bool:
        """Whether clients are given a session: within it their calls can be cancelled."""
        return self._cancel is not None

    def notified(self, message: Message, asked: Asked) -> None:
        """Do what a notification says, if anything: a call that is taken back is cancelled."""
        id_ = message.params.get("requestId")
        if message.method != "notifications/cancelled" or self._cancel is None or not isinstance(id_, str | int):
            return
        from skillroute.calling.in_flight import call_key  # noqa: PLC0415

        try:
            if (key := call_key(asked.caller, asked.session, id_)) is not None:
                self._work.charge(asked.caller, 1.0)
                self._cancel(key)
        except BudgetSpent:
            return
        except DependencyUnavailable as error:
            outage.note(error)

    def _instructions(self, asked: Asked) -> tuple[str, bool]:
        """Return the instructions, and whether they are whole: a greeting does not fail for want of the summary."""
        try:
            with self._work(asked.caller, 1.0):
                return f"{INSTRUCTIONS} {self._summary(asked.caller)}", True
        except BudgetSpent:
            return INSTRUCTIONS, False
        except DependencyUnavailable as error:
            outage.note(error)
            return INSTRUCTIONS, False


def _tools(toolbox: Toolbox, asked: Asked, revision: Revision) -> Json:
    """Return the list of tools; one whose descriptions lack something is not to be kept."""
    tools, is_whole = toolbox.listed(asked, revision)
    return {"tools": tools, **({} if is_whole or revision != STATELESS else {"ttlMs": 0})}


def _initialized(params: Mapping[str, Any], instructions: str) -> Json:
    for name, type_, what in (
        ("protocolVersion", str, "a string"),
        ("capabilities", dict, "an object"),
        ("clientInfo", dict, "an object"),
    ):
        if not isinstance(params.get(name), type_):
            raise RpcError(INVALID_PARAMS, f"params.{name} must be {what}{'' if name in params else ': it is missing'}")
    revision = handshake(params["protocolVersion"])
    return {
        "protocolVersion": revision,
        "capabilities": CAPABILITIES,
        "serverInfo": _server(revision),
        "instructions": instructions,
    }


def _server(revision: Revision) -> Json:
    return {"name": _NAME, **titled(revision, _TITLE), "version": __version__}


def _discovered(instructions: str, is_whole: bool) -> Json:
    capabilities = {**CAPABILITIES, "extensions": {SKILLS_EXTENSION: {"directoryRead": True}}}
    found = {"supportedVersions": list(ALL), "capabilities": capabilities, "instructions": instructions}
    return found if is_whole else {**found, "ttlMs": 0}
