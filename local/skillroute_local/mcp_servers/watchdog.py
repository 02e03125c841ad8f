"""A small process that ends the programs of servers when this one is gone, `kill -9` included.

Most programs end when their input is closed. Others do not, nor what they have started, and no signal tells them that
their client was killed: `PR_SET_PDEATHSIG` is Linux' alone, and reaches none but the first program. The process here
holds the end of a pipe, which the system closes in every case. On Windows a job object does the same.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

logger = logging.getLogger(__name__)

_EOF_S, _TERM_S = 1.0, 2.0
"""How long a program is left to end by itself, and then to end when it is asked to."""

_POLL_S = 0.02
_EXIT_S = 5.0


class Watchdog:
    """Watches over process groups. Its process is started with the first of them, and ends with this one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def watch(self, group: int) -> None:
        """End a process group when this process is gone."""
        self._groups.add(group)
        self._send(f"+{group}\n")

    def release(self, group: int) -> None:
        """Leave a process group alone from now on: it has ended, and its number may be given to another one."""
        self._groups.discard(group)
        if self._process is not None:
            self._send(f"-{group}\n")

    def close(self) -> None:
        """End the watchdog's process, and with it the groups that are left."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                process.communicate(timeout=_EXIT_S)

    def forget(self) -> None:
        """Let go of the pipe in a process that was forked off this one: it would keep the watchdog waiting."""
        process, self._process = self._process, None
        self._groups.clear()
        if process is not None and process.stdin is not None:
            process.returncode = 0  # it is no child of this process
            with suppress(OSError):
                process.stdin.close()

    def _send(self, line: str) -> None:
        try:
            if self._process is None:
                self._start()
            else:
                self._write(line)
        except BrokenPipeError:  # it was killed
            self.close()
            with suppress(OSError):
                self._start()
        except OSError as error:
            logger.warning("programs of servers may outlive this one if it is killed: no process watches (%s)", error)

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (this file)
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, bufsize=0,
        )  # fmt: skip
        for group in sorted(self._groups):
            self._write(f"+{group}\n")

    def _write(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(line.encode())


WATCHDOG = Watchdog()
if os.name == "posix":
    atexit.register(WATCHDOG.close)
    os.register_at_fork(after_in_child=WATCHDOG.forget)


def main() -> None:
    """Read which groups there are until the other side is gone, and end those that are left."""
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        change = groups.add if line.startswith(b"+") else groups.discard
        change(int(line[1:]))
    left = _left_after(groups, _EOF_S)
    for group in left:
        _signal(group, signal.SIGTERM)
    for group in _left_after(left, _TERM_S):
        _signal(group, signal.SIGKILL)


def _left_after(groups: set[int], wait_s: float) -> set[int]:
    """Return the groups that are still there after a time, or none as soon as none is."""
    ends_at = time.monotonic() + wait_s
    while (left := {group for group in groups if _signal(group, 0)}) and time.monotonic() < ends_at:
        time.sleep(_POLL_S)
    return left


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group, and return whether it is there."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # what is left of it has ended, or is another user's
        pass
    return True


if __name__ == "__main__":
    main()
