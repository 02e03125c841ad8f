"""Texts as the rules compare them."""

from __future__ import annotations

import re
from functools import cache

from skillroute.catalogue.text import split_name
from skillroute.core.documents.index.bm25 import Bm25Encoder

Words = frozenset[int]
"""The distinct words of a text as BM25 counts them: stems without stop words, in any language."""

_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"\w+")
_MAX_LENGTH = 64_000


@cache
def _encoder() -> Bm25Encoder:
    return Bm25Encoder()


def words_of(text: str) -> Words:
    """Return the words of a text; none for one of stop words alone."""
    found = _encoder().document(text[:_MAX_LENGTH])
    return frozenset(found.indices) if found else frozenset()


def words_of_name(name: str) -> Words:
    """Return the words of a name that may be written in one: ``getUser``, ``get_user``."""
    return words_of(split_name(name))


def normalised(text: str) -> str:
    """Return the words of a text in their order, lower case, without punctuation.

    Examples
    --------
    >>> normalised("Fill out  an input-field.") == normalised("fill out an input field")
    True
    """
    return " ".join(_WORD.findall(text.lower()))


def has_letters(text: str) -> bool:
    """Return whether a text has a letter of any script."""
    return _LETTER.search(text) is not None
