"""How every command ends: the statuses that scripts go by."""

from __future__ import annotations

from enum import IntEnum

import typer
from skillroute.core.errors.model import ConfigurationError, DependencyUnavailable, SkillrouteError

from skillroute_local.errors import Misused, Refused, Unreachable

_PASSING = frozenset({429, 502, 503, 504})


class ExitCode(IntEnum):
    """An exit status.

    `REFUSED` is also the end of a command that measured or checked something and found it wanting. `UNREACHABLE` is
    the only one after which the same command may be tried again as it is.
    """

    OK = 0
    REFUSED = 1
    USAGE = 2
    UNREACHABLE = 3
    PARTIAL = 4
    INTERRUPTED = 130


def exit_code_of(error: SkillrouteError) -> ExitCode:
    """Return how a command ends that an error has ended."""
    if isinstance(error, Misused | ConfigurationError):
        return ExitCode.USAGE
    if isinstance(error, Unreachable | DependencyUnavailable):
        return ExitCode.UNREACHABLE
    if isinstance(error, Refused) and error.status in _PASSING:
        return ExitCode.UNREACHABLE
    return ExitCode.REFUSED


def end(*, done: int, failed: int) -> None:
    """End a command that did several things: with 4 where some of them failed, with 1 where all did.

    Raises
    ------
    typer.Exit
        Something failed.
    """
    if failed:
        raise typer.Exit(ExitCode.PARTIAL if done else ExitCode.REFUSED)
