"""Programs that are watched end when the process that watches is gone, whatever has ended it; others do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
from skillroute_local.mcp_servers.watchdog import Watchdog

from tests.e2e.processes import eventually

_STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(600)"
_WATCHING = f"""
import subprocess, sys
from skillroute_local.mcp_servers.watchdog import WATCHDOG
def start():
    program = subprocess.Popen([sys.executable, "-c", {_STUBBORN!r}], stdout=subprocess.PIPE, start_new_session=True)
    program.stdout.readline()
    WATCHDOG.watch(program.pid)
    return program.pid
watched, released = start(), start()
WATCHDOG.release(released)
print(watched, released, WATCHDOG._process.pid, flush=True)
sys.stdin.readline()
"""


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def program() -> Iterator[subprocess.Popen[bytes]]:
    """What starts a program in a group of its own that does not end when it is asked to."""
    with subprocess.Popen([sys.executable, "-c", _STUBBORN], stdout=subprocess.PIPE, start_new_session=True) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started
        started.kill()


@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "ended"])
def test_what_is_watched_ends_with_the_process_that_watches(*, is_killed: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", _WATCHING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        watched, released, watchdog = map(int, process.stdout.readline().split())
        if is_killed:
            process.kill()
        else:
            process.stdin.write(b"\n")
            process.stdin.flush()
    try:
        eventually(lambda: not is_running(watched), "the program that is watched has ended")
        eventually(lambda: not is_running(watchdog), "the watchdog has ended")
        assert is_running(released)
    finally:
        os.kill(released, signal.SIGKILL)


def test_a_watchdog_that_was_killed_is_started_again_with_all_that_it_watched() -> None:
    watchdog = Watchdog()
    with program() as first, program() as second:
        watchdog.watch(first.pid)
        assert watchdog._process is not None
        watchdog._process.kill()
        watchdog._process.wait()
        watchdog.watch(second.pid)
        watchdog.close()
        assert (first.wait(20), second.wait(20)) == (-signal.SIGKILL, -signal.SIGKILL)


def test_a_process_that_is_forked_does_not_keep_the_watchdog() -> None:
    watchdog = Watchdog()
    with program() as one:
        watchdog.watch(one.pid)
        process = watchdog._process
        watchdog.forget()  # as the forked process does
        assert watchdog._process is None
        assert process is not None
        assert process.stdin is not None
        assert process.stdin.closed
        assert one.wait(20) == -signal.SIGKILL, "in this test the pipe had no other end"
        os.waitpid(process.pid, 0)
