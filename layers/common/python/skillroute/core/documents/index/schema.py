"""Names, point ids, payloads and the order of keys, the same for both engines.

A point of either engine can therefore be read by the other, and an index can move between them.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.core.documents.model import IndexFilter, IndexRecord

DENSE = "dense"
BM25 = "bm25"

HNSW_M = 16
"""Edges of a point in the graph over dense vectors (registry-search-design, Performance Considerations)."""

HNSW_EF_CONSTRUCT = 128
"""Candidates that are kept while the graph is built (same place)."""

KEY_FIELD = "_key"
"""Reserved payload field: the key of a point whose id does not spell it. Never seen outside this package."""

PointId = int | str
"""A number, or a UUID in its usual spelling: the two kinds of id that Qdrant knows."""

Range = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Values that a field must not have."""

    values: list[str]


@dataclass(frozen=True, slots=True)
class PointIds:
    """Points, of which a record must be one."""

    ids: list[PointId]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Conditions, each of several fields that hold one of some values: one must hold, or none may."""

    each: list[list[tuple[str, list[str]]]]
    may_hold: bool


Asked = list[str] | Range | NoneOf | PointIds | Alternatives

Conditions = Sequence[tuple[str, Asked]]
"""A filter made ready for an engine: each field holds one of the values of a list, is in the range of a tuple, or holds
none of some values; under the name "", which points it may be, and alternatives."""

_NAMESPACE = uuid.UUID("7f1d3c0e-5b0a-5b52-9d0b-0c6f1a2e4d90")  # ours; changing it orphans every stored point
_LARGEST_ID = 2**64 - 1


def point_id(key: str) -> PointId:
    """Derive a point's id: a decimal key is its own number, any other key a UUID of version 5.

    Only the canonical spelling counts as a number, so that "7" and "07" stay two records.

    Examples
    --------
    >>> point_id("42")
    42
    >>> point_id("web-search")
    '1159c485-e04b-5669-8558-b71abae78fa0'
    """
    number = _number(key)
    if number is not None:
        return number
    # uuid.uuid5 takes only encodable text until Python 3.12; a key with a lone surrogate is merely unknown.
    digest = hashlib.sha1(_NAMESPACE.bytes + key.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest[:16], version=5))


def sort_key(key: str) -> tuple[int, int, str]:
    """Order keys: numbers first, as numbers (9 before 10), then all others as text."""
    number = _number(key)
    return (0, number, "") if number is not None else (1, 0, key)


def point_order(point: PointId, key: str) -> tuple[int, int, str]:
    """Return `sort_key` of a point's key; a number need not be read again."""
    return (0, point, "") if isinstance(point, int) else sort_key(key)


def _number(key: str) -> int | None:
    if not (key.isascii() and key.isdigit()) or len(key) > 20 or (key[0] == "0" and key != "0"):
        return None
    number = int(key)
    return number if number <= _LARGEST_ID else None


def to_payload(record: IndexRecord) -> dict[str, Any]:
    """Return the payload to store: the record's own, with its key where the point id does not spell it."""
    payload = dict(record.payload)
    if isinstance(point_id(record.key), str):
        payload[KEY_FIELD] = record.key
    return payload


def key_of(point: PointId, payload: Mapping[str, Any]) -> str:
    """Return the key of a stored point."""
    return str(point) if isinstance(point, int) else str(payload[KEY_FIELD])


def from_payload(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored payload as it was given to `to_payload`."""
    return {name: value for name, value in stored.items() if name != KEY_FIELD}


def conditions(where: IndexFilter | None) -> Conditions | None:
    """Make a filter ready for an engine, or return None when nothing can pass it.

    A value that is not valid Unicode (a lone surrogate out of a JSON escape) equals nothing that is stored, and both
    engines would refuse the whole request for it, so it is left out.
    """
    if where is None:
        return []
    keywords = [(name, [value for value in values if encodable(value)]) for name, values in where.any_of.items()]
    keywords += [
        (name, [value] if encodable(value) else []) for name, values in where.all_of.items() for value in values
    ]
    if not all(values for _, values in keywords) or (where.keys is not None and not where.keys):
        return None
    either = None if where.either is None else alternatives(where.either)
    if either is not None and not either:
        return None
    neither = alternatives(where.neither)
    if any(not each for each in neither):
        return None
    refused = [(name, [value for value in values if encodable(value)]) for name, values in where.none_of.items()]
    return [
        *keywords,
        *where.between.items(),
        *((name, NoneOf(values)) for name, values in refused if values),
        *([("", PointIds([point_id(key) for key in where.keys]))] if where.keys else ()),
        *([("", Alternatives(either, may_hold=True))] if either and all(either) else ()),
        *([("", Alternatives(neither, may_hold=False))] if neither else ()),
    ]


def alternatives(
    filters: Sequence[IndexFilter], *, can_be: Callable[[str], bool] | None = None
) -> list[list[tuple[str, list[str]]]]:
    """Return what each of several filters asks of fields, without filters that nothing can pass; all pass an empty one.

    Parameters
    ----------
    can_be : callable, optional
        Tells whether a value can be stored at all; by default whether it is valid Unicode.
    """
    known = can_be or encodable
    found = []
    for where in filters:
        if where != IndexFilter(where.any_of):
            raise ValueError("an alternative has conditions of any_of alone")
        asked = [(name, [value for value in values if known(value)]) for name, values in where.any_of.items()]
        if all(values for _, values in asked):
            found.append(asked)
    return found


def encodable(value: str) -> bool:
    """Tell whether a text is valid Unicode; one that is not equals nothing that is stored."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
