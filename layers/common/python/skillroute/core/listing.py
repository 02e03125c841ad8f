"""In which order a list is read, from where on, and since when: what all lists share (docs/adr/0053).

Statements take what `Order.params` returns, and name each order that they have: nothing of a request becomes SQL.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from skillroute.core.input.encodable import encodable

T_co = TypeVar("T_co", covariant=True)

_LARGEST = 2**63 - 1


class InvalidCursor(Exception):
    """A cursor that no list has made, or one of another order."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of a page: its id, and what else the list is ordered by.

    Attributes
    ----------
    sort : str
        The order of the list, as callers name it.
    id : int or str
    value : str, datetime or None
        None where the list is ordered by its ids alone.
    """

    sort: str
    id: int | str
    value: str | datetime | None = None

    def encoded(self) -> str:
        """Return it as callers get it: letters that fit into a URL and mean nothing to them.

        Examples
        --------
        >>> Cursor.decoded(Cursor("-name", 7, "mail").encoded(), "-name", int)
        Cursor(sort='-name', id=7, value='mail')
        """
        value = [self.value.isoformat()] if isinstance(self.value, datetime) else self.value
        text = json.dumps([self.sort, self.id, value], ensure_ascii=False, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode("utf-8")).decode("ascii").rstrip("=")

    @classmethod
    def decoded(cls, text: str, sort: str, ids: type[int | str]) -> Cursor:
        """Return what a caller sent back, for a list of an order, whose rows have such ids. Raises `InvalidCursor`."""
        try:
            given = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
            of, id_, value = given
            if isinstance(value, list):
                [moment] = value
                value = datetime.fromisoformat(moment)
                value = value if value.tzinfo is None else value.astimezone(UTC)
        except (binascii.Error, ValueError, TypeError, OverflowError, RecursionError):
            raise InvalidCursor("is not a cursor of this list") from None
        if of != sort:
            raise InvalidCursor("is of another order: sort must stay the same from page to page")
        if not (_is_of(ids, id_) and _is_of(_kind_of(sort), value)):
            raise InvalidCursor("is not a cursor of this list")
        return cls(sort, id_, value)


def _kind_of(sort: str) -> type:
    """Return the type of the value that a list is ordered by before its ids."""
    return {"id": type(None), "updated_at": datetime, "asked_at": datetime}.get(sort.removeprefix("-"), str)


def _is_of(kind: type, value: object) -> bool:
    """Return whether a value is of exactly this type, and one that a statement can carry."""
    if type(value) is not kind:
        return False
    if isinstance(value, str):
        return "\x00" not in value and encodable(value) == value
    if isinstance(value, datetime):
        return value.tzinfo is not None
    return value is None or (isinstance(value, int) and 0 <= value <= _LARGEST)


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a list, and the rows of it that are asked for.

    Attributes
    ----------
    sort : str
        What it is ordered by, with a ``-`` before it the other way round. Rows that are the same in it come by id.
    after : Cursor or None
        The row that the page comes behind.
    updated_since : datetime or None
        Only rows that were written at this moment or later.
    """

    sort: str
    after: Cursor | None = None
    updated_since: datetime | None = None

    def cursor(self, id_: int | str, **values: str | datetime) -> Cursor:
        """Return the cursor of a row: its id, and what the list may be ordered by, by the names of these orders.

        Examples
        --------
        >>> Order("-name").cursor(7, name="mail")
        Cursor(sort='-name', id=7, value='mail')
        """
        return Cursor(self.sort, id_, values.get(self.sort.removeprefix("-")))

    def params(self) -> dict[str, Any]:
        """Return the parameters of a statement that lists or counts.

        Examples
        --------
        >>> Order("-name", Cursor("-name", 7, "mail")).params()["after_text"]
        'mail'
        """
        value = self.after.value if self.after else None
        return {
            "sort": self.sort.removeprefix("-"),
            "is_descending": self.sort.startswith("-"),
            "after_id": self.after.id if self.after else None,
            "after_text": value if isinstance(value, str) else None,
            "after_time": value if isinstance(value, datetime) else None,
            "updated_since": self.updated_since,
        }


@dataclass(frozen=True, slots=True)
class Listed(Generic[T_co]):
    """Rows of a list.

    Attributes
    ----------
    total : int
        How many there are in all.
    remaining : int
        How many there are from the first of these rows on.
    """

    rows: Sequence[T_co]
    total: int
    remaining: int
