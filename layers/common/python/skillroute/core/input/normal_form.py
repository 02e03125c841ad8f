"""Unicode's one spelling of what can be spelt in several ways, at a cost that grows with the text and no faster."""

from __future__ import annotations

import re
import unicodedata

MAX_MARKS = 30
"""Marks on one letter that count, as in Unicode's stream-safe text (UAX #15, section 13); no language has that many."""

MAX_GROWTH = 2
"""How much longer a long text may become: one character can be written out as 18, a text of them is no language."""

_ROOM = 18 * 256
"""Characters that any text may grow by: names are written out whole."""

# What can be a mark: no letter, nothing of the first pages. The two letters are marks once they are normalised.
_MANY_MARKS = re.compile(rf"(?:[^\w\s\x00-\u02ff]|[\uff9e\uff9f]){{{MAX_MARKS + 1},}}")


def nfkc(text: str) -> str:
    """Return a text in NFKC, with 30 marks on one letter at most, and no more than twice as long.

    Normalising sorts the marks of a letter by insertion: 100,000 of them took 8 s. And what is cut off would only be
    more of what no language has.

    Examples
    --------
    >>> nfkc("ﬁx ½"), len(nfkc("a" + "\\u0316\\u0301" * 500))
    ('fix 1⁄2', 30)
    """
    if text.isascii():
        return text
    limited = _MANY_MARKS.sub(_with_few_marks, text)
    return unicodedata.normalize("NFKC", limited)[: MAX_GROWTH * len(text) + _ROOM]


def _with_few_marks(found: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in found[0]:
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _is_mark(character: str) -> bool:
    return bool(unicodedata.combining(unicodedata.normalize("NFKD", character)[0]))
