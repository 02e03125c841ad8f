"""Questions that a search will ask, put to the index together: to an index in PostgreSQL each is a round trip.

They change nothing of what a search finds. A search says what it will ask, then asks each question as if it had not; an
index in this process does not hear of it, for it has no way to save.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import IndexFilter


@dataclass(frozen=True, slots=True)
class Nearest:
    """Stands for what `search` will ask with a vector, or `search_each` with several."""

    collection: Collection
    vectors: Sequence[Sequence[float]]
    where: IndexFilter
    limit: int


@dataclass(frozen=True, slots=True)
class ByWords:
    """Stands for what `search_text` will ask with a text, or `search_terms` with weights."""

    collection: Collection
    words: str | Mapping[str, float]
    where: IndexFilter
    limit: int


@dataclass(frozen=True, slots=True)
class Matching:
    """Stands for what `match` will ask."""

    collection: Collection
    where: IndexFilter
    limit: int


@dataclass(frozen=True, slots=True)
class Counted:
    """Stands for what `count` will ask."""

    collection: Collection
    where: IndexFilter


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Stands for what `payloads` will ask, as far as it is not known."""

    collection: Collection
    keys: Sequence[str]


Question = Nearest | ByWords | Matching | Counted | LookedUp


@runtime_checkable
class AnswersAhead(Protocol):
    """An index that hears what it will be asked."""

    def ask_ahead(self, questions: Sequence[Question]) -> None:
        """Get the answers to questions at once; each is given to the first that asks. Raises as `search` does."""
        ...

    def forget(self) -> None:
        """Forget what is remembered: another search begins."""
        ...


def ask_ahead(index: SearchedIndex, questions: Iterable[Question]) -> None:
    """Tell an index what it will be asked next, where that saves it round trips. Raises as `search` does."""
    if isinstance(index, AnswersAhead) and len(listed := list(questions)) > 1:
        index.ask_ahead(listed)


def forget(index: SearchedIndex) -> None:
    """Let an index forget what it found for one search, before it is lent to the next."""
    if isinstance(index, AnswersAhead):
        index.forget()
