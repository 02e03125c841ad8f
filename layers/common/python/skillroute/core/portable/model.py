"""Lines: what an organisation has, one JSON object each, in a form that another Skillroute takes (docs/adr/0052).

Each slice says in its ``portable.py`` how its rows become lines and how lines become rows. What is here goes over kinds
of lines without knowing any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from skillroute.core.bulk.outcomes import Report
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.postgres.database import Session

PAGE_END, END = "page", "end"
"""The `kind` of the last line of a page, and of an export: no rows, but where to go on."""

Line = Mapping[str, Any]


class ExportedRow(NamedTuple):
    """A row as a line, without its kind, and the key after which the next page begins."""

    key: int
    line: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Slice:
    """Which rows a page takes: an organisation's own (None: global ones) after a key.

    Attributes
    ----------
    limit, max_bytes : int
        The first row is returned at any size.
    """

    org_id: str | None
    after: int
    limit: int
    max_bytes: int

    @property
    def params(self) -> dict[str, object]:
        """The parameters of a statement that reads a page."""
        return {"org_id": self.org_id, "after": self.after, "limit": self.limit, "max_bytes": self.max_bytes}


class Portable(Protocol):
    """One kind of lines.

    Attributes
    ----------
    kind : str
        What its lines have as their `kind`.
    most : int
        Lines of one `write`.
    """

    @property
    def kind(self) -> str: ...

    @property
    def most(self) -> int: ...

    def version(self, session: Session, org_id: str | None) -> str:
        """Return what differs as soon as a row of the organisation's own was written or deleted."""
        ...

    def page(self, session: Session, where: Slice) -> list[ExportedRow]:
        """Return rows in the order of their keys; those that were made first come first."""
        ...

    def write(self, lines: Sequence[Line], caller: Caller, *, dry_run: bool) -> Report[Any]:
        """Write lines as the caller's own, in one transaction, and return what became of each.

        A line that is stored as it is already changes nothing, so that lines may be sent again. With `dry_run` the
        transaction is taken back (`Database.taken_back`).
        """
        ...


def moment(line: Line, field: str) -> datetime | None:
    """Return a time of a line; None where it says none. Raises `InvalidInput`."""
    text = line.get(field)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise InvalidInput(field, "must be a time in RFC 3339 format, such as 2026-11-23T20:00:00Z") from None
    if found.tzinfo is None:
        raise InvalidInput(field, "must be a time with its zone, such as 2026-11-23T20:00:00Z")
    return found


def shown_moment(found: datetime | None) -> str | None:
    """Return a time as lines have it, to the microsecond."""
    return None if found is None else found.astimezone(UTC).isoformat().replace("+00:00", "Z")


def iso(found: datetime | None) -> str | None:
    """Return a time as a parameter within JSON."""
    return None if found is None else found.isoformat()
