"""Errors as the pages show them: the cause and the remedy."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import skillroute_client as api
from pydantic import ValidationError
from skillroute.core.errors.model import DependencyUnavailable, SkillrouteError

_logger = logging.getLogger(__name__)

_REMEDIES = {
    "already_decided": "Another user has decided it: reload the list.",
    "changed_meanwhile": "Try again in a moment.",
    "global_item": "It is global: the operator of the deployment changes it.",
    "insufficient_scope": "You have read access only: enter a token that has the scope named here.",
    "no_language_model": "Set SKILLROUTE_CHAT_PROVIDER and SKILLROUTE_CHAT_MODEL where Skillroute runs.",
    "outcome_unknown": "Reload the page before you repeat it: the change may have been stored.",
    "definition_changed": "Approve its changed definition first, on the page Changes or with skillroute trust approve.",
    "server_disabled": "Switch its server on first, on the page Servers.",
    "skill_deleted": "Reload the list.",
    "skill_exists": "Choose another id, or merge into the existing skill.",
    "skill_full": "Remove tools from the skill first, or choose another one.",
    "version_conflict": "Compare with the stored version, and save again.",
}
_OF_STATUS = {
    401: "Enter a token (`skillroute token` prints one for a Skillroute on this machine).",
    403: "Ask the operator of this Skillroute for the right.",
    404: "It may have been deleted: reload the list.",
    413: "Send less at once.",
    422: "Correct the fields named here.",
    429: "Too many requests: try again in a moment.",
    500: "Look into the log under the request's id.",
    503: "A dependency of Skillroute is unavailable: see the page Health, and try again.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """An error for a page.

    Parameters
    ----------
    status : int
        Of the answer.
    detail, remedy : str
        What happened; what helps.
    code, request_id : str or None
        As the API answered them.
    """

    status: int
    detail: str
    remedy: str
    code: str | None = None
    request_id: str | None = None

    def body(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


class Refused(Exception):
    """The console refuses the action; `problem` has the reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class Stale(Refused):
    """The page's state is out of date; `now` is the current one."""

    def __init__(self, detail: str, now: Any) -> None:
        super().__init__(Problem(412, detail, _REMEDIES["version_conflict"], "version_conflict"))
        self.now = now


class MissingScope(Refused):
    """The caller may not do this in the console."""

    def __init__(self, scope: str) -> None:
        detail = f"the token lacks the scope {scope!r}"
        super().__init__(Problem(403, detail, _REMEDIES["insufficient_scope"], "insufficient_scope"))


class Busy(Refused):
    """It is being done already, for another caller or in another tab."""

    def __init__(self, detail: str) -> None:
        super().__init__(Problem(409, detail, "Wait until that is done, then try again."))


class TooOld(Refused):
    """The Skillroute that is called does not identify the caller."""

    def __init__(self) -> None:
        detail = "this Skillroute does not identify the caller of a token"
        super().__init__(Problem(502, detail, "Update it: the console keeps marks for each organisation."))


def problem_of(error: Exception, url: str) -> Problem | None:
    """Return what a page shows of an error, or None for an unexpected error."""
    match error:
        case api.ApiError():
            return _of_answer(error)
        case Refused():
            return error.problem
        case ValidationError():
            fields = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors())
            return Problem(422, fields, _OF_STATUS[422], "invalid_request")
        case SkillrouteError():
            return _of_a_part(error)
        case api.SkillrouteError() | OSError():
            return _of_no_answer(error, url)
    return None


def remedy_for(code: str) -> str:
    """Return what helps where one of several decisions was refused."""
    return _REMEDIES.get(code) or "Correct the fields named here, or reload the list: others may have decided."


def words_of(error: SkillrouteError) -> str:
    """Return what a page says of the error of a part; what names hosts, users and paths is logged alone."""
    if isinstance(error, DependencyUnavailable):
        _logger.warning("dependency unavailable: %s", error)
        return error.public_message
    return str(error)


def _of_a_part(error: SkillrouteError) -> Problem:
    return Problem(503, words_of(error), "Is it up, and may you use it? `skillroute status` checks it too.")


def _of_no_answer(error: api.SkillrouteError | OSError, url: str) -> Problem:
    match error:
        case api.Unreachable():
            reason = str(error.__cause__) or type(error.__cause__).__name__
            return Problem(502, f"{url} does not answer ({reason})", "Start it, or check the address; then try again.")
        case api.UnexpectedAnswer():
            remedy = "Check the address: another service than Skillroute may answer there."
            return Problem(502, str(error).partition("\n")[0], remedy)
        case OSError():
            _logger.warning("%s: %s", error.filename, error.strerror)  # the page shows no path of the machine
            remedy = "The log names the file: free it, or start `skillroute console` with another --queries."
            return Problem(507, f"{Path(str(error.filename or 'a file')).name}: {error.strerror}", remedy)
    return Problem(400, str(error), "Start `skillroute console` again with what is missing.")


def _of_answer(error: api.ApiError) -> Problem:
    remedy = _REMEDIES.get(error.code or "") or _OF_STATUS.get(
        error.status, "Try again; if the error persists, see the log."
    )
    if error.code is None and error.status in {401, 403}:  # a gateway refused: its words say nothing
        remedy = "The gateway refused the request: check the token, or the AWS credentials and their rights."
    detail = error.detail
    if isinstance(error, api.InvalidRequest) and error.problems:
        detail = "; ".join(f"{problem.field}: {problem.msg}" for problem in error.problems)
    return Problem(error.status, detail, remedy, error.code, error.request_id)
