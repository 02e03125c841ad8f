"""The records of the vector index and its answers, whichever engine keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from skillroute.core.documents.collection import Collection
from skillroute.core.embedding.model import EmbeddingModel

HEAD = f"{2**63 - 1}:{2**63 - 1}:"
"""A position that no transaction reaches: a look at the feed from here sees epoch and position, and no changes."""

START = "1:1:"
"""The position of a reader that has seen nothing."""


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """One item as the index holds it.

    Only active items and skills are projected at all, so that no search needs a condition for it. Servers and agents
    are there when they are disabled too: a search may ask for them.

    Attributes
    ----------
    key : str
        The item's id as text, or the skill's key; the index derives its point id from it.
    vector : sequence of float or None
        The embedding, L2 norm 1. None when the item could not be embedded yet: it is then found lexically only.
    text : str
        What BM25 indexes.
    payload : mapping
        JSON values. Payload fields that filters use hold a string or a list of strings, or a number.
    impacts : mapping of term to float, or None
        Instead of `text`, for a collection whose words are cut and weighed before they come here.
    """

    key: str
    vector: Sequence[float] | None
    text: str
    payload: Mapping[str, Any]
    impacts: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """Conditions that run inside the index, never after it (decision 3). All of them must hold.

    Attributes
    ----------
    any_of : mapping of payload field to values
        The field, or one element of it when it is a list, equals one of the values. No values match nothing.
    all_of : mapping of payload field to values
        The field, a list, has every one of the values. No values are no condition.
    between : mapping of payload field to (least, most)
        The field, a number, is in the range, both ends included; None is no bound.
    none_of : mapping of payload field to values
        The field, or any element of it when it is a list, equals none of the values. No values are no condition.
    keys : sequence of keys, or None
        The record is one of these. No keys match nothing, None is no condition.
    either : sequence of IndexFilter, or None
        One of these holds, which have conditions of `any_of` alone. No filters match nothing, None is no condition.
    neither : sequence of IndexFilter
        None of these holds, which have conditions of `any_of` alone.
    """

    any_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    all_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    between: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    none_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keys: Sequence[str] | None = None
    either: Sequence[IndexFilter] | None = None
    neither: Sequence[IndexFilter] = ()


class IndexHit(NamedTuple):
    """A record's key and its raw score: the cosine (-1..1) or the BM25 score (0 and up).

    A tuple, as all values that a search makes hundreds of: one takes a quarter of the time of a frozen dataclass.
    """

    key: str
    score: float


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the change feed: this item of this collection changed in transaction `xid`."""

    collection: Collection
    key: str
    xid: int


@dataclass(frozen=True, slots=True)
class Models:
    """The models that vectors are kept of (docs/adr/0035).

    Attributes
    ----------
    current : EmbeddingModel or None
        None while nothing has been embedded.
    previous : EmbeddingModel or None
        The one that it took over from, while processes may still be configured for it.
    next : EmbeddingModel or None
        The one whose vectors a reindex is making.
    """

    current: EmbeddingModel | None = None
    previous: EmbeddingModel | None = None
    next: EmbeddingModel | None = None

    @property
    def searched(self) -> tuple[EmbeddingModel, ...]:
        """Those that all documents have vectors of, but for what was written a moment ago."""
        return tuple(model for model in (self.current, self.previous) if model)

    @property
    def kept(self) -> tuple[EmbeddingModel, ...]:
        """Those that vectors are stored of."""
        return (*self.searched, self.next) if self.next else self.searched

    def to_search(self, own: EmbeddingModel | None) -> EmbeddingModel | None:
        """Return the one whose vectors a process searches that embeds with `own`: its own, if they are all there."""
        return own if self.current is None or own in self.searched else self.current

    def takes(self, own: EmbeddingModel) -> bool:
        """Return whether vectors of a model are stored."""
        return self.current is None or own in self.kept


@dataclass(frozen=True, slots=True)
class FeedPage:
    """The result of one look at the change feed, all in one snapshot.

    Attributes
    ----------
    epoch : str
        Changes when everything must be read again (a reindex); an index of another epoch rebuilds.
    models : Models
        Those of the stored vectors.
    position : str
        Where to look from next time: the snapshot that this look had, as PostgreSQL writes one (docs/adr/0034).
    changes : sequence of Change
        Every change that the position asked for did not see.
    is_complete : bool
        False when there may have been others: changes after that position have been pruned, or the database was
        restored to a moment before it. An index that stands there must read everything again.
    """

    epoch: str
    models: Models
    position: str
    changes: Sequence[Change]
    is_complete: bool = True
