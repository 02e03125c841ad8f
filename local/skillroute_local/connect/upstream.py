"""A server behind this one: connected when it is needed, listed at each change, started again when it dies."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.shared.dispatcher import ProgressFnT

from skillroute_local.mcp_servers.client import connected
from skillroute_local.mcp_servers.connection import Connection
from skillroute_local.mcp_servers.errors import SessionLostError
from skillroute_local.mcp_servers.model import Limits, Listing, LoginNeededError, McpServer, ServerError

logger = logging.getLogger(__name__)

_FIRST_PAUSE_S, _MAX_PAUSE_S = 1.0, 60.0
"""Between two listings of a server that says again and again that its lists have changed."""

Listed = Callable[[McpServer, Listing], Awaitable[None]]
Sleep = Callable[[float], Awaitable[None]]
Ask = Callable[[Connection], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a server that ended is left alone: twice as long each time, until it has lived for a while.

    A call does not wait for that: it starts the server at once.
    """

    first_s: float = 0.5
    most_s: float = 60.0
    lived_s: float = 30.0

    def pause_s(self, last_s: float, lived_s: float) -> float:
        """Return how long to wait for after the end of a server that lived so long; `last_s` was the wait before it.

        Examples
        --------
        >>> [Backoff().pause_s(last_s, lived_s=1.0) for last_s in (0.0, 0.5, 1.0, 40.0)]
        [0.5, 1.0, 2.0, 60.0]
        >>> Backoff().pause_s(60.0, lived_s=100.0)
        0.5
        """
        return self.first_s if last_s == 0 or lived_s >= self.lived_s else min(2 * last_s, self.most_s)


class Upstream:
    """One server. `run` lives as long as this process; the other methods are for other tasks.

    Parameters
    ----------
    listed : callable
        Called with what it lists, each time.
    sleep : callable
        Waits between two listings.
    """

    def __init__(
        self,
        server: McpServer,
        listed: Listed,
        limits: Limits | None = None,
        backoff: Backoff | None = None,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self.server = server
        self._listed = listed
        self._limits = limits or Limits()
        self._backoff = backoff or Backoff()
        self._sleep = sleep
        self._connection: Connection | None = None
        self._failure: ServerError | None = None
        self._starts = 0
        self._is_starting = False
        self._asking = 0  # calls that are under way
        self._used_at = 0.0
        self._changed = anyio.Event()
        self._wanted = anyio.Event()
        self._turned = anyio.Event()  # set, and replaced, whenever it connects or fails
        self.settled = anyio.Event()
        """Set once it is known what it lists, or that this cannot be known."""

    @property
    def problem(self) -> str | None:
        """The error of the server; None while it works or starts."""
        return str(self._failure) if self._failure is not None else None

    @property
    def login_needed(self) -> str | None:
        """The sentence that names the command which logs in at the server, where that is what is missing."""
        return self._failure.brief if isinstance(self._failure, LoginNeededError) else None

    async def run(self, *, is_known: bool = False) -> None:
        """Keep it connected until this task is cancelled.

        Parameters
        ----------
        is_known : bool
            Whether its listing is known, so that it rests until the first call.
        """
        pause_s = 0.0
        rests = is_known
        if is_known:
            self.settled.set()
        while True:
            if rests:
                await self._wanted.wait()
                self._wanted = anyio.Event()
            started_at = anyio.current_time()
            self._starts += 1
            self._is_starting = True
            rests = False
            try:
                await self._serve()
                rests = True
            except ServerError as error:
                logger.warning("%s", error)
                self._turn(None, error)
            except Exception as error:  # any error: the other servers go on
                logger.exception("%s: lost", self.server.name)
                self._turn(None, ServerError(f"{self.server.name}: lost ({type(error).__name__})"))
            finally:
                self._connection = None
                self.settled.set()
            if rests:
                pause_s = 0.0
                continue
            pause_s = self._backoff.pause_s(pause_s, anyio.current_time() - started_at)
            with anyio.move_on_after(pause_s):
                await self._wanted.wait()
            self._wanted = anyio.Event()

    async def call(self, name: str, arguments: Mapping[str, Any], progress: ProgressFnT | None) -> dict[str, Any]:
        """Call a tool, and return its result as it came; a server that is down is started first.

        Raises
        ------
        MCPError
            Its own, of the protocol.
        ServerError
            It cannot be started, is lost meanwhile, or does not answer in time.
        """
        return await self.ask(f"tool {name}", lambda connection: connection.call(name, arguments, progress=progress))

    async def ask(self, what: str, ask: Ask) -> dict[str, Any]:
        """Return an answer within the time that a call may take, a start of the server included; raises as `call`."""
        connection: Connection | None = None
        self._asking += 1
        try:
            with anyio.fail_after(self._limits.call_s):
                connection = await self._ready()
                try:
                    return await ask(connection)
                except SessionLostError:  # it was not carried out, so that it may be asked for once more
                    connection = None
                    connection = await self._ready()
                    return await ask(connection)
        except TimeoutError as error:
            why = (
                "it is still starting: call again in a moment"
                if connection is None
                else f"no answer to {what} within {self._limits.call_s:g} s"
            )
            raise ServerError(f"{self.server.name}: {why}") from error
        finally:
            self._asking -= 1
            self._used_at = anyio.current_time()

    async def _ready(self) -> Connection:
        """Return a connection that lasts, as far as is known; it waits for the start that is under way, or the next."""
        enough = self._starts if self._is_starting else self._starts + 1
        while True:
            if self._connection is not None and not self._connection.has_ended:
                return self._connection
            if self._failure is not None and self._starts >= enough and not self._is_starting:
                raise self._failure
            turned = self._turned
            self._wanted.set()
            await turned.wait()

    async def _serve(self) -> None:
        """Connect, list it, and list it again at each change, until no call has come for long.

        Raises
        ------
        ServerError
            It cannot be connected, or has ended.
        """
        is_idle = False
        async with connected(self.server, self._limits, on_change=self._note_change, show=self._show) as connection:
            self._changed = anyio.Event()
            await self._list(connection)
            self._turn(connection, None)
            self.settled.set()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connection.follow_changes)
                tasks.start_soon(self._list_again, connection)
                tasks.start_soon(self._wait_ended, connection, tasks.cancel_scope)
                is_idle = await self._wait_idle()
                tasks.cancel_scope.cancel()
            if is_idle:
                return
        raise ServerError(f"{self.server.name}: its program ended, or closed the connection")

    async def _wait_ended(self, connection: Connection, until: anyio.CancelScope) -> None:
        await connection.wait_ended()
        until.cancel()

    async def _wait_idle(self) -> bool:
        """Wait until no call has come for long, and take the connection from those that come now."""
        idle_s = self._limits.idle_s
        if idle_s is None:
            await anyio.sleep_forever()
            return False
        self._used_at = anyio.current_time()
        while self._asking or (left_s := self._used_at + idle_s - anyio.current_time()) > 0:
            await anyio.sleep(idle_s if self._asking else left_s)
        # Without a pause between: a call that comes meanwhile waits for the next start.
        self._connection, self._wanted = None, anyio.Event()
        logger.info("%s: stopped, for no call has come for %g s", self.server.name, idle_s)
        return True

    async def _list_again(self, connection: Connection) -> None:
        """List it at each change: the first one at once, further ones after longer and longer pauses."""
        pause_s = _FIRST_PAUSE_S
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            try:
                await self._list(connection)
            except ServerError as error:  # what it listed before stays
                logger.warning("changes are not read: %s", error)
            await self._sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S) if self._changed.is_set() else _FIRST_PAUSE_S

    async def _list(self, connection: Connection) -> None:
        listing = await connection.list_all()
        for problem in listing.problems:
            logger.warning("%s", problem)
        await self._listed(self.server, listing)

    def _note_change(self) -> None:
        self._changed.set()

    def _turn(self, connection: Connection | None, failure: ServerError | None) -> None:
        self._connection, self._failure, self._is_starting = connection, failure, False
        turned, self._turned = self._turned, anyio.Event()
        turned.set()

    def _show(self, line: str) -> None:
        logger.info("%s wrote: %s", self.server.name, line)
