"""The signals that end `connect`, on every system."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import ExitStack

# Windows has no SIGHUP, and sends SIGBREAK where a window is closed.
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


async def on_signal(act: Callable[[], object]) -> None:
    """Do something once SIGTERM, Ctrl-C or the end of the terminal comes; then signals do what they did before."""
    loop, came = asyncio.get_running_loop(), asyncio.Event()
    with ExitStack() as afterwards:
        for number in _ENDING:
            try:
                loop.add_signal_handler(number, came.set)
                afterwards.callback(loop.remove_signal_handler, number)
            except NotImplementedError:  # by Windows' loop, which wakes up for handlers of Python's own
                before = signal.signal(number, lambda *_: loop.call_soon_threadsafe(came.set))
                afterwards.callback(signal.signal, number, before)
        await came.wait()
        act()
