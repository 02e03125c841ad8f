"""Reading what PostgreSQL sends faster than pg8000 does, for the two types that lists are full of; and sending arrays.

pg8000 reads times with `strptime` and arrays character by character: for a page of 100 skills that was 6.3 of 7.6 ms
(benchmarks/standing/skills.py), and a quarter of the time of a classification.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

_ELEMENT = re.compile(r'"((?:[^"\\]++|\\.)*+)"|([^,{}"]+)', re.DOTALL)

TIMESTAMPTZ = 1184
TEXT_ARRAY = 1009


def timestamptz(text: str) -> datetime:
    """Read a time as the datestyle ISO has it.

    Examples
    --------
    >>> timestamptz("2026-11-21 13:08:28.695949+00").isoformat()
    '2026-11-21T13:08:28.695949+00:00'
    """
    return datetime.fromisoformat(text)


def text_array(text: str) -> list[str | None]:
    r"""Read a one-dimensional text[] (PostgreSQL manual, section 8.15.6).

    Examples
    --------
    >>> text_array('{}'), text_array('{a,b}'), text_array(r'{"a b","",NULL,"NULL","say \"x\"","c,d"}')
    ([], ['a', 'b'], ['a b', '', None, 'NULL', 'say "x"', 'c,d'])
    """
    if '"' not in text:
        body = text[1:-1]
        return [None if element == "NULL" else element for element in body.split(",")] if body else []
    return [
        (None if bare == "NULL" else bare) if bare else _unescaped(quoted) for quoted, bare in _ELEMENT.findall(text)
    ]


def _unescaped(quoted: str) -> str:
    # Whole texts at a time: a step for each character that is escaped was 4 µs, and a page can have a million. No text
    # of PostgreSQL has a NUL, which stands for the backslashes that stay.
    if "\\" not in quoted:
        return quoted
    return quoted.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")


def array(elements: Sequence[str | float | None]) -> str:
    r"""Write an array of texts or numbers, each text quoted: pg8000 sends ``null`` bare, and it arrives as NULL.

    Examples
    --------
    >>> print(array(["null", 'a "b"', None]), array([1, 0.5]), array([]))
    {"null","a \"b\"",NULL} {1,0.5} {}
    """
    return f"{{{','.join(map(_element, elements))}}}"


def _element(element: str | float | None) -> str:
    if element is None:
        return "NULL"
    if isinstance(element, int | float):
        return str(element)
    escaped = element.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


ADAPTERS = {TIMESTAMPTZ: timestamptz, TEXT_ARRAY: text_array}
"""By the type's oid."""
