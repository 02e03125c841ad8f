"""Errors on a laptop, as one line that says what to do.

LocalError
├── Misused         options contradict each other, or name what is not there: the command must be given otherwise
├── Unreachable     nothing answers, or something that is needed is away: the same command may work later
├── Refused         a Skillroute answered that it does not do it: `status`, `code` and `request_id` of its answer
└── ProgramError    initdb, postgres or pg_ctl ended with an error; carries its last line

`skillroute_local.commands.exit_codes` has the exit status of each.
"""

from __future__ import annotations

from typing import Self

from skillroute.core.errors.model import SkillrouteError


class LocalError(SkillrouteError):
    """Skillroute cannot run here as asked. `str(error)` is one line, with the way out."""

    def extended(self, hint: str) -> Self:
        """Return the same error with something more to say."""
        return type(self)(f"{self}; {hint}")


class Misused(LocalError):
    """A command was given options that contradict each other, or that name what is not there."""


class Unreachable(LocalError):
    """Nothing answers, or something that is needed is away."""


class Refused(LocalError):
    """A Skillroute, or a gateway before it, answered with an error.

    Attributes
    ----------
    status : int
        The HTTP status.
    error_code : str or None
        What programs go by, such as ``skill_not_found``; None where a gateway refused.
    detail : str
        The sentence of the answer alone, without the status and what may help.
    request_id : str or None
        What the log of that Skillroute has the request under.
    current : str or None
        The version of today, where the one that was named is not it any more (412).
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        detail: str,
        error_code: str | None = None,
        request_id: str | None = None,
        current: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail
        self.error_code = error_code
        self.request_id = request_id
        self.current = current

    def extended(self, hint: str) -> Self:
        """Return the same error with something more to say, to programs as well."""
        return self.replaced(f"{self}; {hint}", f"{self.detail}; {hint}")

    def replaced(self, message: str, detail: str) -> Self:
        """Return the same answer in other words."""
        return type(self)(
            message,
            status=self.status,
            detail=detail,
            error_code=self.error_code,
            request_id=self.request_id,
            current=self.current,
        )


class ProgramError(LocalError):
    """A program of PostgreSQL ended with an error."""
