"""The clauses of a long request: one may ask for several tools, each in a part of it (docs/adr/0038)."""

from __future__ import annotations

import re

MAX_CLAUSES = 8
"""Each costs an embedding and two searches of the index."""

_MIN_CLAUSES = 3
_MIN_WORDS = 3
_BREAK = re.compile(r"[.;:!?\n]\s|,\s|\s(?:and|then|also|plus|but|or)(?=\s)", re.IGNORECASE)
_LEADING_WORD = re.compile(r"(?:and|then|also|plus|but|or)\s", re.IGNORECASE)


def clauses(query: str) -> list[str]:
    """Return the parts of a request between sentences, commas and conjunctions; none for fewer than three.

    Parts of one or two words say too little. A request of two parts is found as well by the whole of it.

    Examples
    --------
    >>> clauses("Find flights to Oslo, book a hotel near the station and then mail me the plan.")
    ['Find flights to Oslo', 'book a hotel near the station', 'mail me the plan.']
    >>> clauses("Find flights to Oslo and book a hotel.")
    []
    """
    parts = (_without_leading_word(part.strip()) for part in _BREAK.split(query))
    found = [part for part in dict.fromkeys(parts) if len(part.split()) >= _MIN_WORDS]
    return found[:MAX_CLAUSES] if len(found) >= _MIN_CLAUSES else []


def _without_leading_word(part: str) -> str:
    while match := _LEADING_WORD.match(part):
        part = part[match.end() :].lstrip()
    return part
