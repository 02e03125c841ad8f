"""Requests as a language model wrote them: read without trusting it, and no copies of what the tool says itself."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillroute.catalogue.schemas import RequestInput
from skillroute.catalogue.text import split_name
from skillroute.core.errors.model import InvalidInput
from skillroute.core.input.hidden_text import visible
from skillroute.core.input.json_input import validated
from skillroute.skills.classification.model import ToolProfile
from skillroute.skills.text import stems

MAX_WRITTEN = 3
"""Requests that a language model writes for a tool."""

COPIED = 0.8
"""From this share of common words on, of all that either text has, a request is a copy (Jaccard)."""

_MAX_READ = 16  # of what a model answers for one tool
_UNSTORABLE = frozenset({"Cc", "Cs"})  # control characters, and lone surrogates
_NO_LETTER = re.compile(r"[\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_MAX_DESCRIPTION_LENGTH = 2000


class Dropped(StrEnum):
    """Why a request was not kept."""

    MALFORMED = "malformed"  # no text, too long, with hidden characters, or none that the embedding model takes
    COPY = "copy"  # of what the tool says of itself
    REPEATED = "repeated"
    TOO_MANY = "too many"
    STRAY = "nearer to another tool"
    OVERTAKEN = "the tool changed, or a person wrote requests"


@dataclass(frozen=True, slots=True)
class Read:
    """The requests of an answer that can be stored, and why the others cannot."""

    texts: tuple[str, ...]
    dropped: Counter[Dropped]


def read_requests(raw: Sequence[object], tool: ToolProfile) -> Read:
    """Read what a language model wrote for a tool. What is wrong with one request costs only that one."""
    kept: list[str] = []
    dropped: Counter[Dropped] = Counter()
    said = list(_said(tool))
    for one in raw[:_MAX_READ]:
        text = _storable(one)
        if text is None:
            dropped[Dropped.MALFORMED] += 1
        elif _is_copy(text, said):
            dropped[Dropped.COPY] += 1
        elif _is_copy(text, kept):
            dropped[Dropped.REPEATED] += 1
        elif len(kept) == MAX_WRITTEN:
            dropped[Dropped.TOO_MANY] += 1
        else:
            kept.append(text)
    if len(raw) > _MAX_READ:
        dropped[Dropped.TOO_MANY] += len(raw) - _MAX_READ
    return Read(tuple(kept), dropped)


def _storable(raw: object) -> str | None:
    """Return a request as `PUT` would store it; None where it would be refused, or lose something."""
    if not isinstance(raw, str) or visible(raw) != raw:
        return None
    if any(unicodedata.category(c) in _UNSTORABLE and not c.isspace() for c in raw):
        return None
    try:
        return validated(RequestInput, {"text": raw, "source": "llm"}, whole="request").text
    except InvalidInput:
        return None


def _said(tool: ToolProfile) -> Iterator[str]:
    """Yield what a tool says of itself: its name, and its description whole and by sentences."""
    name, description = split_name(tool.name), tool.description[:_MAX_DESCRIPTION_LENGTH]
    yield from (tool.name, name, f"{split_name(tool.server)} {name}", description)
    yield from _SENTENCE_END.split(description)


def _is_copy(text: str, others: Iterable[str]) -> bool:
    plain, words = _plain(text), stems(text)
    if not plain:
        return True
    return any(plain == _plain(other) or _overlap(words, stems(other)) >= COPIED for other in others)


def _plain(text: str) -> str:
    """Return letters and digits alone, in one case."""
    return _NO_LETTER.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
