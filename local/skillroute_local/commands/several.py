"""Commands that do the same to several things: each is done on its own, and the end says how many were."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import typer
from skillroute.core.errors.model import SkillrouteError

from skillroute_local.commands.exit_codes import ExitCode, end, exit_code_of
from skillroute_local.commands.failures import as_object
from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.shared import print_json
from skillroute_local.errors import Misused


@dataclass
class Results:
    """The outcome of each argument, in the order of the command line."""

    done: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)


def for_each(things: Sequence[str], work: Callable[[str], dict[str, Any]], *, alone: bool | None = None) -> Results:
    """Do something to each thing. One that is refused keeps no other from being done.

    Parameters
    ----------
    alone : bool or None
        Whether the command is about one thing only; None: where there is one.

    Raises
    ------
    SkillrouteError
        Nothing answers: the others would end the same way. Of one thing alone its own error is raised.
    """
    results = Results()
    alone = len(things) == 1 if alone is None else alone
    for thing in things:
        try:
            results.done.append({"id": thing} | work(thing))
        except SkillrouteError as error:
            nothing_was_done = not results.done and not results.failed
            if alone or (nothing_was_done and exit_code_of(error) == ExitCode.UNREACHABLE):
                raise
            results.failed.append({"id": thing} | as_object(error))
    return results


def show_results(results: Results, describe: Callable[[dict[str, Any]], str], *, as_json: bool) -> None:
    """Show what became of each, and end the command. Raises `typer.Exit` where anything failed."""
    if as_json:
        print_json({"done": results.done, "failed": results.failed})
    else:
        for done in results.done:
            print_line(describe(done))
        for failed in results.failed:
            note(f"{failed['id']}: {failed['detail']}")
    end(done=len(results.done), failed=len(results.failed))


def require_answer(*, yes: bool, as_json: bool) -> None:
    """Raise `Misused` where a question would have no answer: there is none yet, and no terminal to ask on."""
    if not yes and (as_json or not can_be_asked()):
        raise Misused("no terminal to confirm in; pass --yes")


def require_agreement(question: str, *, yes: bool, as_json: bool) -> None:
    """Ask before something is done that cannot be taken back, unless `yes` answers it.

    Raises
    ------
    Misused
        No terminal to ask on.
    typer.Exit
        The answer is no.
    """
    require_answer(yes=yes, as_json=as_json)
    if not yes and not typer.confirm(question, err=True):
        note("nothing was done")
        raise typer.Exit(ExitCode.REFUSED)


def can_be_asked() -> bool:
    """Return whether a person uses this terminal."""
    return sys.stdin.isatty()


def listed_names(names: Iterable[str], most: int = 5) -> str:
    """Return names for a question: the first ones, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
