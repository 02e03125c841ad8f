"""How a command shows what went wrong: one line for people, one JSON object for programs, on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import SkillrouteError

from skillroute_local.commands.exit_codes import ExitCode, exit_code_of
from skillroute_local.commands.shared import err
from skillroute_local.errors import Refused

_CODES = {
    ExitCode.REFUSED: "refused",
    ExitCode.USAGE: "usage",
    ExitCode.UNREACHABLE: "unreachable",
    ExitCode.INTERRUPTED: "interrupted",
}
"""Codes of errors that no Skillroute answered."""


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON. What comes after ``--`` is no option."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def show_error(error: SkillrouteError, *, as_json: bool) -> ExitCode:
    """Show why a command ended, and return its status."""
    ends_with = exit_code_of(error)
    if as_json:
        _write_json(as_object(error) | {"exit_code": int(ends_with)})
    else:
        _write_line(str(error))
    return ends_with


def show_failure(message: str, ends_with: ExitCode, *, as_json: bool) -> None:
    """Show a failure that is no exception of ours."""
    if as_json:
        _write_json({"detail": message, "code": _CODES[ends_with], "exit_code": int(ends_with)})
    else:
        _write_line(message)


def as_object(error: SkillrouteError) -> dict[str, Any]:
    """Return an error for programs, in the shape of those of the API; `status` is there where one answered."""
    if isinstance(error, Refused):
        found = {
            "detail": error.detail,
            "code": error.error_code or _CODES[exit_code_of(error)],
            "status": error.status,
            "request_id": error.request_id,
        }
        return {name: value for name, value in found.items() if value is not None}
    code = _CODES[exit_code_of(error)] if error.code == ErrorCode.INTERNAL_ERROR else error.code.value
    return {"detail": str(error), "code": code}


def _write_json(value: dict[str, Any]) -> None:
    sys.stderr.write(json.dumps(value, ensure_ascii=False) + "\n")


def _write_line(message: str) -> None:
    err.print(f"[red]skillroute:[/] {escape(message)}", highlight=False, soft_wrap=True)
