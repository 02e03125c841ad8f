"""The tools that an agent sees, and what answers them: searching, details, calls, and what is pinned."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from mcp.shared.dispatcher import ProgressFnT
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.core.embedding.port import Embedder
from skillroute.mcp.arguments import parsed
from skillroute.mcp.fit import Json
from skillroute.mcp.rpc import to_text
from skillroute.mcp.tool import ToolError
from skillroute.mcp.tools.search_tools import SearchToolsArguments

from skillroute_local.connect import answers
from skillroute_local.connect.calls import Calls, tool_error
from skillroute_local.connect.catalogue import Catalogue
from skillroute_local.connect.kept import KeptAnswers, Session
from skillroute_local.connect.offer import Offer
from skillroute_local.connect.own_tools import (
    CALL,
    CALL_ARGUMENTS,
    DETAILS,
    READ,
    READ_ON,
    SEARCH,
    call_names,
    instructions,
    own_names,
    own_tools,
)
from skillroute_local.connect.permissions import only_reads
from skillroute_local.connect.pins import unknown_pins
from skillroute_local.connect.store import Store
from skillroute_local.connect.upstream import Upstream
from skillroute_local.connect.use import Use
from skillroute_local.connect.visible import Visible
from skillroute_local.mcp_servers.model import EVERY_KIND, Limits, Listed, Listing, McpServer

logger = logging.getLogger(__name__)

ONE_AGENT: Session = ""
"""The session of an agent that has this process for itself."""

_FIRST_LISTINGS_S = 6.0
"""A search waits no longer for servers of which nothing is known yet."""


class Front:
    """One server in the place of many.

    Parameters
    ----------
    servers : sequence of McpServer
        Their names are distinct.
    offer : Offer
        What agents are shown.
    embedder : Embedder
    count_tokens : callable
    store : Store or None
    known : KnownRequests
        See `Catalogue`.
    use : Use or None
        Keeps searches and outcomes of calls.
    """

    def __init__(
        self,
        servers: Sequence[McpServer],
        embedder: Embedder,
        count_tokens: Callable[[str], int],
        *,
        offer: Offer = Offer(),  # noqa: B008 (it cannot be changed)
        store: Store | None = None,
        limits: Limits | None = None,
        known: KnownRequests = NOTHING_KNOWN,
        use: Use | None = None,
    ) -> None:
        self._offer = offer
        self._store = store
        self._count_tokens = count_tokens
        self._catalogue = Catalogue(embedder, store, known)
        self._upstreams = {server.name: Upstream(server, self._take, limits) for server in servers}
        self._calls = Calls(self._catalogue, self._upstreams, use)
        self._use = use
        self._kept = KeptAnswers(offer.shown_chars) if offer.shown_chars is not None else None
        self._known: set[str] = set()  # servers of which a listing is in the catalogue, be it the last start's
        self._shown: list[Json] | None = None  # the tools of servers that an agent has seen last
        self._visible = Visible(offer, self._catalogue, own_names(offer))
        self._taking = anyio.Lock()
        self._restored = anyio.Event()
        self._patience_ends = math.inf
        self.on_tools_changed: Callable[[], object] = lambda: None
        self.on_found: Callable[[Session], object] = lambda session: None

    @property
    def instructions(self) -> str:
        """The words of this server about itself, for clients."""
        return instructions(self._offer, self._upstreams)

    async def run(self) -> None:
        """Keep servers connected until this task is cancelled: at first those of which nothing is known of late."""
        self._patience_ends = anyio.current_time() + _FIRST_LISTINGS_S
        fresh = await anyio.to_thread.run_sync(self._fresh)
        async with anyio.create_task_group() as tasks:
            for name, upstream in self._upstreams.items():
                tasks.start_soon(partial(upstream.run, is_known=name in fresh))
            await anyio.to_thread.run_sync(self._restore)
            self._restored.set()
            await self.settled()
            for pin in unknown_pins(self._offer.pins, self._catalogue.items()):
                logger.warning("--pin %s: no tool has this id or name, and no server", pin)

    async def settled(self) -> None:
        """Wait, at first and not for ever, until something is known of every server, or that this cannot be had."""
        with anyio.CancelScope(deadline=self._patience_ends):
            await self._restored.wait()
            for name, upstream in self._upstreams.items():
                if name not in self._known:
                    await upstream.settled.wait()

    async def tools(self, session: Session = ONE_AGENT) -> list[Json]:
        """Return the tools that are shown: always the same of our own, then what is pinned, exposed or found."""
        if self._offer.shows_tools:
            await self.settled()
        self._shown = await self._definitions(None)
        seen = await self._definitions(session) if self._offer.found else self._shown
        return [*own_tools(self._upstreams, self._offer), *seen]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressFnT | None = None,
        session: Session = ONE_AGENT,
    ) -> Json:
        """Return the result of a call of a tool that is shown. Raises `MCPError` where the tool's server does."""
        try:
            if name == SEARCH:
                return await self._search(arguments, session)
            if name == DETAILS:
                return await self._details(arguments)
            if name == READ_ON and self._kept is not None:
                return self._kept.read(arguments, session)
        except ToolError as error:
            return tool_error(str(error))
        result = await self._called(name, arguments, progress, session)
        if self._kept is None:
            return result
        return await anyio.to_thread.run_sync(self._kept.shortened, result, session)  # some are of many megabytes

    async def _called(
        self, name: str, arguments: Mapping[str, Any], progress: ProgressFnT | None, session: Session
    ) -> Json:
        """Return the result of a call of a server's item, by one of our tools or by its own name."""
        if name in call_names(self._offer):
            result = await self._call(name, arguments, progress, session)
            self._note_found(session, [str(arguments.get("id"))])
            return result
        if not self._visible.was_shown(name, session):  # an agent may call what it has not listed
            await anyio.to_thread.run_sync(self._visible.tools, session)
        item = self._visible.item(name, session)
        if item is None:
            others = " or ".join(call_names(self._offer)) if name == CALL else f"{SEARCH} to find one"
            return tool_error(f"There is no tool {name[:200]}: call {others}.")
        return await self._calls(item.id, arguments, progress, session=session)

    async def _call(
        self, name: str, arguments: Mapping[str, Any], progress: ProgressFnT | None, session: Session
    ) -> Json:
        given = {key: value for key, value in arguments.items() if value is not None}
        if others := [key for key in given if key not in CALL_ARGUMENTS]:
            return tool_error(
                f"{name} takes {' and '.join(CALL_ARGUMENTS)}, not {', '.join(others)[:200]}: what the tool takes "
                'belongs into arguments, as in {"id": "...", "arguments": {...}}'
            )
        if self._catalogue.item(str(given.get("id"))) is None:
            await self.settled()
        return await self._calls(given.get("id"), given.get("arguments"), progress, reads=name == READ, session=session)

    async def _search(self, arguments: Mapping[str, Any], session: Session) -> Json:
        given = parsed(SearchToolsArguments, arguments)
        await self.settled()
        search = partial(self._catalogue.search, answers.search_request(given))
        response, ids = await anyio.to_thread.run_sync(search)
        self._note_found(session, ids)
        reading = {id_ for id_ in ids if self._offer.called != "one" and self._reads(id_)}
        result = _result(answers.found(response, ids, given, self._notes(), self._count_tokens, reading))
        if self._use is not None:
            search_id = self._use.searched(session, answers.asked(response, ids, self._catalogue.content_hash), ids)
            result["_meta"] = {"skillroute/search_id": search_id}
        return result

    def _note_found(self, session: Session, ids: Sequence[str]) -> None:
        if self._offer.found and self._visible.note_found(session, ids):
            self.on_found(session)

    def _reads(self, id_: str) -> bool:
        item = self._catalogue.item(id_)
        return item is not None and only_reads(item)

    async def _details(self, arguments: Mapping[str, Any]) -> Json:
        given = parsed(answers.DetailsArguments, arguments)
        await self.settled()
        details = partial(answers.details, self._catalogue, given, self._calls.unknown)
        answer, is_there = await anyio.to_thread.run_sync(details)  # the nearest of ids take a while
        return _result(answer) if is_there else tool_error(" ".join(answer["missing"]))

    def _notes(self) -> Json:
        """Return which servers an answer leaves out: nothing is known of them yet, or they do not work."""
        unknown = [upstream for name, upstream in self._upstreams.items() if name not in self._known]
        starting = [upstream.server.name for upstream in unknown if upstream.problem is None]
        failed = [upstream.server.name for upstream in unknown if upstream.problem is not None]
        logins = [upstream.login_needed for upstream in unknown if upstream.login_needed is not None]
        return {
            **({"servers_starting": starting} if starting else {}),
            **({"servers_failed": failed} if failed else {}),
            **({"logins_needed": logins} if logins else {}),
        }

    def _fresh(self) -> set[str]:
        """Return the servers that need not be started before they are called."""
        return {
            name
            for name, upstream in self._upstreams.items()
            if self._store is not None and self._store.is_fresh(upstream.server)
        }

    def _restore(self) -> None:
        """Put into the catalogue what the servers listed when they were connected last."""
        for name, upstream in self._upstreams.items():
            listed = self._store.listing(upstream.server) if self._store is not None else None
            if listed is not None:
                self._catalogue.put(name, listed)
                self._known.add(name)

    async def _take(self, server: McpServer, listing: Listing) -> None:
        def put() -> list[Session]:
            before = self._listed_by(server.name)
            for problem in self._catalogue.put(server.name, listing.items, listing.complete):
                logger.warning("%s", problem)
            if self._store is not None:
                is_whole = listing.complete == EVERY_KIND
                self._store.keep_listing(server, self._catalogue.listed(server.name), is_whole=is_whole)
            after = self._listed_by(server.name)
            changed = {id_ for id_ in before | after if before.get(id_) != after.get(id_)}
            return self._visible.sessions_that_found(changed)

        await self._restored.wait()
        async with self._taking:  # in threads they would wait for each other, and leave none for searches
            told = await anyio.to_thread.run_sync(put)
        self._known.add(server.name)
        for session in told:
            self.on_found(session)
        if self._shown is not None and self._shown != await self._definitions(None):
            self.on_tools_changed()

    def _listed_by(self, server: str) -> dict[str, Listed]:
        """Return what a server lists by ids, where sessions can have found some of it."""
        if not self._offer.found:
            return {}
        return {item.id: item.listed for item in self._catalogue.items() if item.server == server}

    async def _definitions(self, session: Session) -> list[Json]:
        """Return the tools of servers that are listed. Schemas of thousands are not read in the event loop."""
        if not self._offer.shows_tools:
            return []
        return await anyio.to_thread.run_sync(self._visible.definitions, session)


def _result(answer: Json) -> Json:
    return {"content": [{"type": "text", "text": to_text(answer)}], "structuredContent": answer}
