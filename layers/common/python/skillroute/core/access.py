"""The items that a caller sees and may change: the same errors in every slice (decision 26)."""

from __future__ import annotations

from typing import Protocol, TypeVar

from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode, Kind, not_found_code
from skillroute.core.errors.model import Forbidden, NotFound


class Owned(Protocol):
    """Something of an organisation, or global."""

    @property
    def org_id(self) -> str | None: ...


T = TypeVar("T")
OwnedT = TypeVar("OwnedT", bound=Owned)


def not_found(kind: Kind, id_: object) -> NotFound:
    """Return the error for an id that nothing has, or nothing that the caller may see."""
    return NotFound(f"no {kind} with id {id_}", not_found_code(kind))


def visible(found: T | None, kind: Kind, id_: object) -> T:
    """Return what a look with the caller's eyes has found. Raises `NotFound` for nothing: no such id, or not theirs."""
    if found is None:
        raise not_found(kind, id_)
    return found


def own(found: OwnedT, caller: Caller, kind: Kind, id_: object) -> OwnedT:
    """Return what the caller may change, of what it sees. Raises `Forbidden` when it is global."""
    if found.org_id != caller.org_id:
        raise Forbidden(f"{kind} {id_} is global; organisations change only their own", ErrorCode.GLOBAL_ITEM)
    return found
