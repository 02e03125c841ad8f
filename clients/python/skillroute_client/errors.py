"""The exceptions that calls raise.

SkillrouteError
├── ConfigurationError       the client was made in a way that cannot work: a token and a signature, no credentials
├── Unreachable              no answer: connection refused, broken or timed out
├── UnexpectedAnswer         an answer came that is not Skillroute's: no JSON, or without what it must have
└── ApiError                 Skillroute, or the gateway before it, refused: `status`, `code`, `detail`, `request_id`
    ├── BadRequest           400
    ├── Unauthenticated      401
    ├── Forbidden            403
    ├── NotFound             404
    ├── Conflict             409
    ├── VersionConflict      412, with the version of today as `current`
    ├── TooLarge             413
    ├── InvalidRequest       422, with what is wrong with each field as `problems`
    ├── RateLimited          429, with `retry_after_s`
    └── ServerError          500 and above
        └── Unavailable      503, with `retry_after_s`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class SkillrouteError(Exception):
    """Any failure of a call."""


class ConfigurationError(SkillrouteError):
    """The client cannot work as it was made."""


class Unreachable(SkillrouteError):
    """No answer came, after all attempts. A change may have been made, unless the connection was refused."""


class UnexpectedAnswer(SkillrouteError):
    """The answer is not what Skillroute answers: another service may have answered in its place."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one field of a request.

    Parameters
    ----------
    loc : tuple of str and int
        Where it is: ``("body", "query")``.
    msg : str
        A sentence for people.
    type : str
        What programs go by.
    """

    loc: tuple[str | int, ...]
    msg: str
    type: str

    @property
    def field(self) -> str:
        """The field without the part of the request that it is in: ``items.0.name``."""
        return ".".join(map(str, self.loc[1:])) or ".".join(map(str, self.loc))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The body of an error answer."""

    status: int
    call: str
    detail: str
    code: str | None = None
    request_id: str | None = None
    current: str | None = None
    retry_after_s: float | None = None
    problems: tuple[Problem, ...] = ()


class ApiError(SkillrouteError):
    """An error that Skillroute answered.

    Attributes
    ----------
    status : int
        The HTTP status.
    code : str or None
        What programs go by, such as ``skill_not_found`` (docs/api.md lists them); None where a gateway before
        Skillroute refused.
    detail : str
        A sentence for people, which may be worded otherwise tomorrow.
    request_id : str or None
        What the log has the request under.
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.status = refusal.status
        self.code = refusal.code
        self.detail = refusal.detail
        self.request_id = refusal.request_id
        self._refusal = refusal

    def __str__(self) -> str:
        code = f" {self.code}" if self.code else ""
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.status}{code}: {self.detail} ({self._refusal.call}{request})"


class BadRequest(ApiError):
    """400: the request cannot be read."""


class Unauthenticated(ApiError):
    """401: there is no token or signature, or it is not taken."""


class Forbidden(ApiError):
    """403: the caller may not do this."""


class NotFound(ApiError):
    """404: the object does not exist, or the caller may not see it."""


class Conflict(ApiError):
    """409: it exists already, or its state does not allow the change."""


class VersionConflict(ApiError):
    """412: the object has changed since the version that `if_match` names."""

    @property
    def current(self) -> str | None:
        """The version of today, as `if_match` takes it; read the thing again before you use it."""
        return self._refusal.current


class TooLarge(ApiError):
    """413: the body is larger than the route takes; send fewer at once."""


class InvalidRequest(ApiError):
    """422: fields or parameters are wrong."""

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems, one for each field."""
        return self._refusal.problems


class RateLimited(ApiError):
    """429, after all attempts."""

    @property
    def retry_after_s(self) -> float | None:
        """How long the server asked to be left alone, in seconds."""
        return self._refusal.retry_after_s


class ServerError(ApiError):
    """500 and above: the log has it under `request_id`."""


class Unavailable(ServerError):
    """503, after all attempts: something that Skillroute needs is away."""

    @property
    def retry_after_s(self) -> float | None:
        """How long the server asked to be left alone, in seconds."""
        return self._refusal.retry_after_s


_OF_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: VersionConflict,
    413: TooLarge,
    422: InvalidRequest,
    429: RateLimited,
    503: Unavailable,
}


def api_error(refusal: Refusal) -> ApiError:
    """Return the exception of a refusal: that of its status."""
    type_ = _OF_STATUS.get(refusal.status, ServerError if refusal.status >= 500 else ApiError)
    return type_(refusal)


def problems_of(detail: Any) -> tuple[Problem, ...]:
    """Return the problems that a 422 names; none where `detail` is no list of them."""
    found = detail if isinstance(detail, list) else []
    return tuple(
        Problem(tuple(entry.get("loc", ())), str(entry.get("msg", "")), str(entry.get("type", "")))
        for entry in found
        if isinstance(entry, dict)
    )
