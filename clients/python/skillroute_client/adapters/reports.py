"""Reporting calls of tools that a search found, so that Skillroute learns which requests they serve."""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from collections.abc import Mapping
from queue import Empty, Full, Queue
from typing import Any

from skillroute_client.adapters.tools import AgentTool, AsyncCaller, Caller, field, logger
from skillroute_client.client import Skillroute
from skillroute_client.errors import SkillrouteError
from skillroute_client.models.search import SearchAnswer

_MAX_REMEMBERED = 10_000
"""Tools of which the last search is known."""
_MAX_WAITING = 1_000
"""Outcomes that wait to be sent; further ones are lost."""
_A_CALL = 100
_LAST_S = 2.0


class Reports:
    """Reports what became of tools: ``called``, then ``succeeded`` or ``failed``; of a cancelled call nothing more.

    One is of one conversation: a call is reported on the last search of any that found its tool.
    A thread sends what has gathered. No call waits for it, and none fails because of it.

    Parameters
    ----------
    client : Skillroute
        With the token of the searches: outcomes of another organisation's searches count for nothing.
    is_on : bool
        False reports nothing.

    Examples
    --------
    >>> reports = Reports(skillroute)
    >>> registry = tool_registry(skillroute.tools.list(type="tool"), call=reports.calling(call_over_mcp))
    >>> retrieve = retrieve_tools(skillroute, registry, reports=reports)
    """

    def __init__(self, client: Skillroute, *, is_on: bool = True) -> None:
        self._is_on = is_on
        self._client = client
        self._searches: OrderedDict[str, str] = OrderedDict()  # by the key of a tool, the last search that found it
        self._waiting: Queue[dict[str, Any]] = Queue(_MAX_WAITING)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def found(self, answer: SearchAnswer) -> None:
        """Note which search found its tools; without an id, as where receipts are off, nothing will be reported."""
        search_id = getattr(answer.metadata, "search_id", None)  # older ones of Skillroute have none
        if not self._is_on or not isinstance(search_id, str):
            return
        with self._lock:
            for tool in answer.tools:
                self._searches[str(tool.db_id)] = search_id
                self._searches.move_to_end(str(tool.db_id))
            while len(self._searches) > _MAX_REMEMBERED:
                self._searches.popitem(last=False)

    def calling(self, call: Caller) -> Caller:
        """Return what calls a tool as `call` does, and reports it."""

        def reported(tool: AgentTool, arguments: Mapping[str, Any]) -> Any:
            search_id = self._begun(tool)
            try:
                result = call(tool, arguments)
            except Exception:
                self._note(search_id, tool, "failed")
                raise
            self._note(search_id, tool, "failed" if field(result, "isError") is True else "succeeded")
            return result

        return reported

    def acalling(self, acall: AsyncCaller) -> AsyncCaller:
        """Return what calls a tool as `acall` does, and reports it."""

        async def reported(tool: AgentTool, arguments: Mapping[str, Any]) -> Any:
            search_id = self._begun(tool)
            try:
                result = await acall(tool, arguments)
            except Exception:
                self._note(search_id, tool, "failed")
                raise
            self._note(search_id, tool, "failed" if field(result, "isError") is True else "succeeded")
            return result

        return reported

    def around(self, call: Caller | None, acall: AsyncCaller | None) -> tuple[Caller | None, AsyncCaller | None]:
        """Return both of an adapter's callers, as far as they are given, so that they report."""
        return call and self.calling(call), acall and self.acalling(acall)

    def flush(self) -> None:
        """Wait until what was noted so far is sent, or is lost."""
        self._waiting.join()

    def _begun(self, tool: AgentTool) -> str | None:
        with self._lock:
            search_id = self._searches.get(tool.key)
        self._note(search_id, tool, "called")
        return search_id

    def _note(self, search_id: str | None, tool: AgentTool, outcome: str) -> None:
        if search_id is None:
            return
        try:
            self._waiting.put_nowait({"search_id": search_id, "tool_id": tool.key, "outcome": outcome})
        except Full:
            logger.warning("outcomes of calls are lost: Skillroute does not take them as fast as they come")
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="skillroute-reports", daemon=True)
                self._thread.start()
                atexit.register(self._end)

    def _send_all(self) -> None:
        while True:
            outcomes = [self._waiting.get()]
            try:
                while len(outcomes) < _A_CALL:
                    outcomes.append(self._waiting.get_nowait())
            except Empty:
                pass
            try:
                self._client.feedback_batch(outcomes)
            except SkillrouteError as error:
                logger.warning("outcomes of calls were not taken: %s", error)
            except Exception:  # noqa: BLE001 (a client that is closed; the next outcomes may be taken)
                logger.warning("outcomes of calls were not sent", exc_info=True)
            finally:
                for _ in outcomes:
                    self._waiting.task_done()

    def _end(self) -> None:
        """Wait a little for what is on its way as the process ends."""
        waiter = threading.Thread(target=self._waiting.join, daemon=True)
        waiter.start()
        waiter.join(_LAST_S)
