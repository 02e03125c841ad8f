"""The collections of searched documents: a slice declares its own in its `collection.py`; the core names none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Self

from skillroute.core.embedding.port import Embedder


@dataclass(frozen=True, slots=True)
class CountedAs:
    """The names of a collection's documents where they are counted.

    Attributes
    ----------
    place : int
        Among the counts, which are shown in this order.
    field : str
        Of `/health`, behind ``index_``, and of `/api/v1/verify`.
    words : str
        In what commands print.
    description : str or None
        Of the field, where it does not say by itself what is counted.
    verified_field : str or None
        Of `/api/v1/verify`, where it is another one.
    """

    place: int
    field: str
    words: str
    description: str | None = None
    verified_field: str | None = None


class Collection(str):
    """A collection of searched documents, by its name.

    Attributes
    ----------
    place : int
        Among all collections: indexes are filled in this order, which a new version does not change.
    short : str
        What commands call it.
    counted_as : CountedAs
    keyword_fields : tuple of str
        Payload fields with a keyword index: whose a document is, and what searches filter by beside it. A filter on
        any other field works too, by reading every payload.
    number_fields : tuple of str
        Payload fields with an index over numbers, as doubles: microseconds since the epoch fit until the year 2255.
    row_fields : frozenset of str
        Further fields that PostgreSQL filters by without reading payloads (mcp.search_filters).
    remembered_bytes : int
        Of its payloads, how much an index in the process remembers between searches; 0 where it remembers none.
    embedder_of : callable
        The embedder of its documents, of the deployment's.
    """

    place: int
    short: str
    counted_as: CountedAs
    keyword_fields: tuple[str, ...]
    number_fields: tuple[str, ...]
    row_fields: frozenset[str]
    remembered_bytes: int
    embedder_of: Callable[[Embedder], Embedder]

    def __new__(
        cls,
        name: str,
        counted_as: CountedAs,
        *,
        place: int,
        short: str,
        filtered_by: tuple[str, ...],
        number_fields: tuple[str, ...] = (),
        row_fields: frozenset[str] = frozenset(),
        remembered_bytes: int = 0,
        embedder_of: Callable[[Embedder], Embedder] = lambda embedder: embedder,
    ) -> Self:
        collection = super().__new__(cls, name)
        collection.place, collection.short, collection.counted_as = place, short, counted_as
        collection.keyword_fields = ("org_id", *filtered_by)
        collection.number_fields = number_fields
        collection.row_fields = row_fields
        collection.remembered_bytes = remembered_bytes
        collection.embedder_of = embedder_of
        return collection

    @property
    def value(self) -> str:
        """The name, as plain text."""
        return str(self)

    def __reduce__(self) -> tuple[Callable[[str], Collection], tuple[str]]:
        return collection_named, (str(self),)


@cache
def collections() -> tuple[Collection, ...]:
    """Return all collections, in their order: whatever slice has a `collection.py` has one."""
    found: list[Collection] = []
    for folder in files("skillroute").iterdir():
        if folder.is_dir() and folder.joinpath("collection.py").is_file():
            found.append(import_module(f"skillroute.{folder.name}.collection").COLLECTION)
    if len({collection.place for collection in found}) < len(found):
        raise ValueError("two collections have the same place")
    return tuple(sorted(found, key=lambda collection: collection.place))


@cache
def counted_as() -> dict[Collection, CountedAs]:
    """Return what each collection is counted as, in the order of the counts."""
    return {one: one.counted_as for one in sorted(collections(), key=lambda one: one.counted_as.place)}


@cache
def _by_name() -> dict[str, Collection]:
    return {str(collection): collection for collection in collections()}


def is_collection(name: str) -> bool:
    """Tell whether a collection of the name is declared: a newer program may have written of another one."""
    return name in _by_name()


def collection_named(name: str) -> Collection:
    """Return the collection of a name. Raises `KeyError` where none is declared."""
    return _by_name()[name]
