"""The keeper of PostgreSQL goes on when looking, starting or telling fails."""

from __future__ import annotations

import errno
import threading
from typing import Any, cast

import psutil
import pytest
from skillroute_local import supervisor
from skillroute_local.errors import LocalError
from skillroute_local.supervisor import PostgresKeeper

FAILURES = [OSError(errno.EMFILE, "too many open files"), psutil.AccessDenied(7), LocalError("no room")]


class Ended:
    """PostgreSQL that has ended: looks and starts fail first, then one start brings it back."""

    def __init__(self, *, looks: list[Exception], starts: list[Exception]) -> None:
        self._looks, self._starts = looks, starts
        self.is_back = threading.Event()

    def is_running(self) -> bool:
        if self._looks:
            raise self._looks.pop(0)
        return self.is_back.is_set()

    def start_again(self) -> None:
        if self._starts:
            raise self._starts.pop(0)
        self.is_back.set()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_LOOK_EVERY_S", "_MIN_PAUSE_S", "_MAX_PAUSE_S"):
        monkeypatch.setattr(supervisor, name, 0.001)


def kept(postgres: Ended, say: Any) -> bool:
    """Return whether it came back within a time that is long enough for any machine."""
    with PostgresKeeper(cast(Any, postgres), say):
        return postgres.is_back.wait(10)


def test_failed_looks_and_starts_are_told_and_tried_again() -> None:
    said: list[str] = []
    assert kept(Ended(looks=list(FAILURES), starts=list(FAILURES)), said.append)
    assert [line for line in said if "cannot determine" in line] == [
        f"cannot determine whether PostgreSQL runs: {error}" for error in FAILURES
    ]
    assert [line for line in said if "not back" in line] == [
        f"PostgreSQL is not back yet: {error}" for error in FAILURES
    ]


@pytest.mark.parametrize("failure", [OSError(errno.EIO, "the terminal is gone"), SystemExit(1)], ids=["EIO", "pipe"])
def test_a_terminal_that_is_gone_keeps_nothing_from_being_started(failure: BaseException) -> None:
    def say(_: str) -> None:
        raise failure

    assert kept(Ended(looks=[], starts=[LocalError("no room")]), say)
