"""The public sentence of an error in an answer about many items, which has one status."""

from __future__ import annotations

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import DependencyUnavailable, InvalidInput, SkillrouteError
from skillroute.core.input.encodable import encodable

_MAX_LENGTH = 2000


def public_sentence(error: SkillrouteError) -> str:
    """Return the sentence that callers may see of an error; that of an unexpected error is generic.

    Examples
    --------
    >>> from skillroute.core.errors.model import Conflict, StatementRejected
    >>> public_sentence(Conflict("skill mail is full"))
    'skill mail is full'
    >>> public_sentence(StatementRejected("relation mcp.x", state="42P01", constraint=None))
    'Internal Server Error'
    """
    if isinstance(error, DependencyUnavailable):
        return error.public_message
    if error.code is ErrorCode.INTERNAL_ERROR:
        return "Internal Server Error"
    sentence = str(error)
    if isinstance(error, InvalidInput):
        sentence = "; ".join(f"{problem.field}: {problem.message}" for problem in error.problems)
    return encodable(sentence[:_MAX_LENGTH])
