"""Shared parts of the commands: exit statuses and error messages."""

from __future__ import annotations

import sys
from typing import Any

import typer
from skillroute.core.errors.model import SkillrouteError
from typer.core import TyperGroup

from skillroute_local.commands.exit_codes import ExitCode
from skillroute_local.commands.failures import asks_for_json, show_error, show_failure

# Its own of Typer's, or click's, as the version of Typer has it: what a command line is that cannot be read.
_Unreadable: type[Any] = typer.BadParameter.__bases__[0]


class CommandLine(TyperGroup):
    """Ends every command with one of `ExitCode`, and shows every error in one way: a line, or JSON with ``--json``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _let_help_flow(self)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and exit."""
        given = kwargs.get("args", args[0] if args else None)
        as_json = asks_for_json(sys.argv[1:] if given is None else list(given))
        kwargs |= {"standalone_mode": False, "obj": as_json}
        try:
            status = super().main(*args, **kwargs)
        except SkillrouteError as error:
            status = show_error(error, as_json=as_json)
        except _Unreadable as error:
            status = _show_unreadable(error, as_json=as_json)
        except typer.Abort:  # a question got no answer
            show_failure("nothing was answered, and nothing was done", ExitCode.REFUSED, as_json=as_json)
            status = ExitCode.REFUSED
        if status == ExitCode.INTERRUPTED and as_json:
            show_failure("interrupted: what was done until then stays", ExitCode.INTERRUPTED, as_json=True)
        sys.exit(status if isinstance(status, int) else ExitCode.OK)


def _let_help_flow(group: Any) -> None:
    """Join the lines of each paragraph that commands say of themselves: a terminal breaks them where it is narrow."""
    for command in group.commands.values():
        if command.help:
            command.help = "\n\n".join(_joined(part) for part in command.help.split("\n\n"))
        if hasattr(command, "commands"):
            _let_help_flow(command)


def _joined(paragraph: str) -> str:
    is_as_it_stands = paragraph.lstrip("\n").startswith("\b")
    return paragraph if is_as_it_stands else " ".join(paragraph.split("\n"))


def _show_unreadable(error: Any, *, as_json: bool) -> ExitCode:
    message = error.format_message().replace("Value error, ", "")
    if type(error).__name__ == "NoArgsIsHelpError":
        if not as_json:
            error.show()
            return ExitCode.USAGE
        message = "no command was given"
    command = error.ctx.command_path if error.ctx else "skillroute"
    show_failure(f"{message.rstrip('.')}: see `{command} --help`", ExitCode.USAGE, as_json=as_json)
    return ExitCode.USAGE
