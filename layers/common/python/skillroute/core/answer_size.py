"""How many bytes an answer may have (decision 36).

Lambda carries 6 MB both ways. An answer travels as a string within JSON, so each quote and each backslash of it is two
bytes on the way; everything else is itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

MAX_ANSWER_BYTES = 6 * 1024 * 1024
"""The most that Lambda takes as the answer of one invocation."""

PAGE_BYTES = 4_500_000
"""The most that a page's rows have on the way. A row that is larger by itself is still returned: none reaches 3 MB."""

SEARCH_BYTES = PAGE_BYTES
"""The most that the results of a search have on the way."""

TEXT_BYTES = 2_000_000
"""The most that the descriptions among them have; if all of them were the longest possible, they would have 20 MB."""


# Made once: `json.dumps` makes an encoder for each call.
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

MAX_ON_THE_WAY = 7
"""The most bytes that one byte of text becomes: a control character is \\u0001, with its backslash twice."""


def on_the_way(data: bytes) -> int:
    """Return how many bytes JSON has as part of Lambda's answer.

    Examples
    --------
    >>> on_the_way(b'{"a": 1}')
    10
    """
    return len(data) + data.count(b'"') + data.count(b"\\")


def size_of(value: object) -> int:
    """Return how many bytes a value has as JSON on the way.

    Examples
    --------
    >>> size_of('say "é"')
    18
    """
    text = _to_json(value)
    return len(text.encode("utf-8", "replace")) + text.count('"') + text.count("\\")


def shortened(texts: Sequence[str], room: int) -> list[str]:
    """Return texts as they are where they have room together; else the longest cut to an equal share, each ending in …

    Examples
    --------
    >>> shortened(["short", "x" * 100], 200) == ["short", "x" * 100]
    True
    >>> shortened(["short", "x" * 100, "y" * 100], 60)
    ['short', 'xxxxxxxxxxxxxxxxxx…', 'yyyyyyyyyyyyyyyyyy…']
    """
    if MAX_ON_THE_WAY * sum(map(len, texts)) <= room:
        return list(texts)
    sizes = [size_of(text) for text in texts]
    if sum(sizes) <= room:
        return list(texts)
    share = _equal_share(sizes, room)
    return [text if size <= share else _cut(text, share) for text, size in zip(texts, sizes, strict=True)]


def _equal_share(sizes: Sequence[int], room: int) -> int:
    """Return the size to which the larger ones must be cut so that all have room; smaller ones leave them theirs."""
    left = room
    for number, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - number)
        if size > share:
            return share
        left -= size
    return room


def _cut(text: str, size: int) -> str:
    """Return as much of a text as has the size, with a mark of the cut."""
    room = size - size_of("…")
    kept = text[: max(0, room)]
    while kept and (now := size_of(kept) - size_of("")) > room:
        kept = kept[: min(len(kept) - 1, len(kept) * room // now)] if room > 0 else ""
    return f"{kept}…"
