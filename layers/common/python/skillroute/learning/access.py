"""Rights that callers without an organisation need: what use teaches them, all organisations go by."""

from __future__ import annotations

from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden


def require_operator_of_what_is_global(caller: Caller, what: str) -> None:
    """Refuse a caller that has no organisation and is not the operator.

    Parameters
    ----------
    what : str
        The part that is the operator's, with its verb: "the state of the global catalogue is changed".

    Raises
    ------
    Forbidden
        With the code `operator_only`.
    """
    if caller.org_id is None and not caller.runs_deployment:
        raise Forbidden(f"{what} by the operator alone: send a token with scope admin", ErrorCode.OPERATOR_ONLY)
