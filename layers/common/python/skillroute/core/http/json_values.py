"""Reading JSON that anybody may send: its values are counted before it is parsed.

A byte of JSON can become 50 of memory (``[[[[``), and every value costs time in each step that follows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_STRING = re.compile(r'"[^"]*+"?')


class TooManyValues(Exception):
    """JSON that has more values than its reader takes."""


class UnreadableJson(Exception):
    """Raised for JSON that the standard library accepts and the standard does not."""


def read_json(body: bytes, most_values: int, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Parse a body.

    Raises
    ------
    TooManyValues
    json.JSONDecodeError
        Malformed.
    UnreadableJson
        It is not UTF-8, nested too deeply, or holds an integer of thousands of digits. `parse_constant`, which gets
        ``NaN`` and its like, may raise it as well.
    """
    try:
        text = body.decode("utf-8-sig")
        if has_more_values(text, most_values):
            raise TooManyValues(f"holds more than {most_values} values")
        return json.loads(text, parse_constant=parse_constant)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        reason = "the JSON is nested too deeply"
    except UnicodeDecodeError:
        reason = "the body is not valid UTF-8"
    except ValueError:
        reason = "the JSON holds a number that is too long"
    raise UnreadableJson(reason)


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
