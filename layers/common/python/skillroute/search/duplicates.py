"""Near-duplicates of one tool from several servers: the best of them is a result, the others are named beside it.

Two items are near-duplicates when their type is the same, their names have the same words but for those of their
servers' names, and their descriptions share `ALIKE` of their words (docs/adr/0042).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skillroute.catalogue.text import name_words
from skillroute.core.caller import Caller
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import Collection
from skillroute.search.found import Hit, tool_hits, with_payloads, with_skills_and_servers
from skillroute.search.model import SearchRequest
from skillroute.search.retrieve import Candidate

ALIKE = 0.8
"""The least share of the words of two descriptions that both have. On 1,151 servers' tools all pairs of one name are at
1.0 or below 0.73, where those of different products begin."""


def collapse(hits: Iterable[Hit], limit: int, give_way: Callable[[], None] = lambda: None) -> list[Hit]:
    """Return the first `limit` hits that are no near-duplicates of one before, each with its own, in rank order.

    `give_way` is called before each hit is looked at.
    """
    from skillroute.core.documents.index.bm25 import Bm25Encoder  # noqa: PLC0415 - the index has loaded it

    encoder = Bm25Encoder()
    words_of: dict[str, frozenset[int]] = {}

    def words(hit: Hit) -> frozenset[int]:
        if hit.candidate.key not in words_of:
            found = encoder.document(hit.payload["description"])
            words_of[hit.candidate.key] = frozenset(found.indices) if found else frozenset()
        return words_of[hit.candidate.key]

    groups: list[list[Hit]] = []
    of_name: dict[tuple[str, frozenset[str]], list[list[Hit]]] = {}
    for hit in hits:
        give_way()
        named_alike = of_name.setdefault(_name(hit.payload), [])
        group = next((group for group in named_alike if _are_alike(words(group[0]), words(hit))), None)
        if group is not None:
            group.append(hit)
        else:
            # One that has no place on the page still takes its own duplicates.
            named_alike.append([hit])
            groups.append(named_alike[-1])
    return [replace(first, duplicates=tuple(others)) for first, *others in groups[:limit]]


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
    every = with_payloads(index, Collection.TOOLS, candidates)
    return with_skills_and_servers(index, collapse(every, request.limit, give_way), caller)
