"""Calls as the agents' door has them made: in this process, on an event loop of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Protocol

from skillroute.calling.call import CallTool
from skillroute.calling.in_flight import CallsInFlight
from skillroute.calling.model import JsonObject, Progress
from skillroute.calling.tool_call import ToolCall, failed
from skillroute.core.caller import Caller

_LOOK_S = 0.2
"""How often a call looks whether its client has gone."""
_THREADS = 200
"""More than the calls of several organisations need: what lets a caller in is looked up on threads, for as long as an
identity provider takes. With asyncio's default, four more than there are processors, few such calls stopped all others.
"""


class Calls(Protocol):
    """Makes calls, and cancels them. Safe to use from several threads."""

    def __call__(
        self,
        call: ToolCall,
        caller: Caller,
        progress: Progress | None = None,
        is_gone: Callable[[], bool] | None = None,
    ) -> JsonObject:
        """Return the result of a call; `is_gone` says whether its client still waits. Raises nothing foreseen."""
        ...

    def cancel(self, key: str) -> None:
        """Cancel the calls of a key, in whichever process they are. Raises `DependencyUnavailable`."""
        ...


class CallsHere:
    """Makes calls in this process.

    Parameters
    ----------
    call_tool : CallTool
    in_flight : CallsInFlight
    """

    def __init__(self, call_tool: CallTool, in_flight: CallsInFlight) -> None:
        self._call_tool = call_tool
        self._in_flight = in_flight
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(
        self,
        call: ToolCall,
        caller: Caller,
        progress: Progress | None = None,
        is_gone: Callable[[], bool] | None = None,
    ) -> JsonObject:
        """Return the result of a call. It is made on the loop's thread; this one waits."""
        made = asyncio.run_coroutine_threadsafe(self._call_tool(call, caller, progress), self._running())
        while True:
            try:
                return made.result(None if is_gone is None else _LOOK_S)
            except TimeoutError:
                if made.done():
                    raise
                if is_gone is not None and is_gone():
                    made.cancel()
            except CancelledError:
                return failed("the call was cancelled")

    def cancel(self, key: str) -> None:
        """Cancel the calls of a key, in whichever process they are. Raises `DependencyUnavailable`."""
        self._in_flight.cancel(key)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="calls"))
                # A daemon: a call that hangs must not keep the process from its end.
                threading.Thread(target=self._loop.run_forever, name="calls", daemon=True).start()
            return self._loop
