"""`connect` starts where POSIX is not: without its modules, its signals, and a loop that reads pipes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest
from skillroute_local.connect import stdio
from skillroute_local.connect.signals import on_signal

# As on Windows: what cannot be imported there, and what `signal`, `os` and `socket` do not have. Libraries that choose
# by the system what they load have done so before.
_WINDOWS = """
import asyncio, mcp, os, psutil, signal, socket, sys
from importlib.abc import MetaPathFinder

class Refusing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "uvloop"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refusing())
for name in ("fcntl", "resource", "pwd", "grp", "termios", "uvloop"):
    sys.modules.pop(name, None)
kept = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM"}
for name in [name for name in vars(signal) if name.startswith("SIG") and name.isupper() and name not in kept]:
    delattr(signal, name)
for name in ("fork", "geteuid", "getuid", "killpg", "setsid"):
    delattr(os, name)
del socket.AF_UNIX
"""
_CONNECT = "import skillroute_local.cli, skillroute_local.connect.start, skillroute_local.commands.connect"


def run_as_on_windows(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", _WINDOWS + code], capture_output=True, text=True, check=False)


def test_connect_and_the_command_line_are_imported_without_what_only_posix_has() -> None:
    done = run_as_on_windows(_CONNECT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", ["import fcntl", "import signal; signal.SIGHUP", "import os; os.geteuid"])
def test_what_only_posix_has_is_refused_in_these_tests(code: str) -> None:
    assert run_as_on_windows(code).returncode == 1


def test_a_signal_is_seen_by_a_loop_that_has_no_handlers_of_signals() -> None:
    """As Windows' loop: what was done on the signal before is done again afterwards."""

    def refuse(*_: Any) -> None:
        raise NotImplementedError

    async def wait() -> list[str]:
        loop, seen = asyncio.get_running_loop(), list[str]()
        loop.add_signal_handler = refuse  # type: ignore[assignment]
        waiting = asyncio.create_task(on_signal(lambda: seen.append("end")))
        await asyncio.sleep(0)
        if not waiting.done():  # else it has failed, and the signal would end the tests
            signal.raise_signal(signal.SIGTERM)
        await waiting
        return seen

    before = signal.getsignal(signal.SIGTERM)
    assert asyncio.run(wait()) == ["end"]
    assert signal.getsignal(signal.SIGTERM) is before


async def _echo(opened: Any, lines: list[bytes], answers: int) -> bytes:
    """Send lines to a reader as an agent does, write each in capitals to a pipe; return what was read at the end."""
    own_in, of_agent = os.pipe()
    reader = asyncio.StreamReader()
    with os.fdopen(of_agent, "wb") as agent:
        async with opened(reader, own_in, answers) as (out, stop):
            for line in lines:
                agent.write(line)
                agent.flush()
                await out.write((await reader.readline()).decode().upper())
                await out.flush()
            stop()
            return await asyncio.wait_for(reader.read(), 10)


@pytest.mark.parametrize("opened", ["_opened_by_the_loop", "_opened_by_threads"])
def test_lines_are_read_and_written_by_the_loop_and_by_threads_alike(opened: str) -> None:
    reading, writing = os.pipe()
    rest = asyncio.run(_echo(getattr(stdio, opened), [b"hello\n", b"l\xc3\xa4rm\n"], writing))
    with os.fdopen(reading, "rb") as answers:
        assert answers.read() == b"HELLO\nL\xc3\x84RM\n"
    assert rest == b""
    for thread in threading.enumerate():  # the agent has closed its side
        if thread.name == "stdin":
            thread.join(10)
            assert not thread.is_alive()
