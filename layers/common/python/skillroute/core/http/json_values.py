"""How many values a JSON text has, counted before it is parsed.

A byte of JSON can become 50 of memory (``[[[[``), and every value costs time in each step that follows.
"""

from __future__ import annotations

import re

_STRING = re.compile(r'"[^"]*+"?')


def has_more_values(text: str, most: int) -> bool:
    """Return whether a JSON text has more than `most` values; of a text that is no JSON, whether it looks like it.

    Each value but the first stands behind a comma or an opening bracket. Nearly always there are few of these even
    when those within strings are counted; only else the strings are taken out.

    Examples
    --------
    >>> has_more_values('[1, {"a": "x, y, z"}]', 4), has_more_values("[1, 2, 3, 4]", 4)
    (False, True)
    """
    if _openings(text) < most:
        return False
    bare = text.replace("\\\\", "").replace('\\"', "")
    # Every string is a key or a value, and has two quotes.
    if bare.count('"') > 4 * most:
        return True
    return _openings(_STRING.sub("", bare)) >= most


def _openings(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")
