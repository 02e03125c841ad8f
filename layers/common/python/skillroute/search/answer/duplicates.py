"""Near-duplicates of one tool from several servers: the best of them is a result, the others are named with it.

Two items are near-duplicates when their type is the same, their names have the same words but for those of their
servers' names, and their descriptions share `ALIKE` of their words (docs/adr/0042).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.text import name_words
from skillroute.core.caller import Caller
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.search.candidates.candidate import Hit, tool_hits, with_payloads, with_skills_and_servers
from skillroute.search.candidates.retrieve import Candidate
from skillroute.search.model import SearchRequest

ALIKE = 0.8
"""The least share of the words of two descriptions that both have. On 1,151 servers' tools all pairs of one name are at
1.0 or below 0.73, where those of different products begin."""


class NearDuplicates:
    """Tells what hits are near-duplicates of, out of those that were added."""

    def __init__(self) -> None:
        from skillroute.core.documents.index.bm25 import Bm25Encoder  # noqa: PLC0415 - the index has loaded it

        self._encoder = Bm25Encoder()
        self._words: dict[str, frozenset[int]] = {}
        self._of_name: dict[tuple[str, frozenset[str]], list[Hit]] = {}

    def of(self, hit: Hit) -> Hit | None:
        """Return the first that was added of which this is a near-duplicate."""
        named_alike = self._of_name.get(_name(hit.payload), ())
        return next((first for first in named_alike if _are_alike(self._words_of(first), self._words_of(hit))), None)

    def add(self, hit: Hit) -> None:
        """Let what comes later be a near-duplicate of this."""
        self._of_name.setdefault(_name(hit.payload), []).append(hit)

    def _words_of(self, hit: Hit) -> frozenset[int]:
        key = hit.candidate.key
        if key not in self._words:
            found = self._encoder.document(hit.payload["description"])
            self._words[key] = frozenset(found.indices) if found else frozenset()
        return self._words[key]


def collapse(hits: Iterable[Hit], limit: int | None = None, give_way: Callable[[], None] = lambda: None) -> list[Hit]:
    """Return the first `limit` hits that are no near-duplicates of one before, each with its own, in rank order.

    `give_way` is called before each hit is looked at.
    """
    alike = NearDuplicates()
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        give_way()
        first = alike.of(hit)
        if first is not None:
            groups[first.candidate.key].append(hit)
        else:
            # One that has no place on the page still takes its own duplicates.
            alike.add(hit)
            groups[hit.candidate.key] = [hit]
    shown = list(groups.values())[:limit]
    return [replace(first, duplicates=(*first.duplicates, *_all(others))) for first, *others in shown]


def _all(hits: Iterable[Hit]) -> Iterator[Hit]:
    return (one for hit in hits for one in (hit, *hit.duplicates))


def _name(payload: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    return payload["type"], name_words(payload["name"], payload["server"])


def _are_alike(one: frozenset[int], other: frozenset[int]) -> bool:
    # Without a word of a description the name alone would decide.
    return bool(one) and len(one & other) >= ALIKE * len(one | other)


def hits_of(
    index: SearchedIndex,
    candidates: Sequence[Candidate],
    request: SearchRequest,
    caller: Caller,
    give_way: Callable[[], None] = lambda: None,
) -> list[Hit]:
    """Look up the candidates that a page shows, with their near-duplicates where the request asks for that."""
    if not request.collapse_duplicates:
        return tool_hits(index, candidates[: request.limit], caller)
    every = with_payloads(index, TOOL_DOCUMENTS, candidates)
    return with_skills_and_servers(index, collapse(every, request.limit, give_way), caller)
