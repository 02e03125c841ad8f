"""Halves of surrogate pairs: JSON's escapes and Python's strings can hold them, UTF-8 cannot."""

from __future__ import annotations


def encodable(text: str) -> str:
    """Return a text as UTF-8 can carry it, with `?` for each half of a surrogate pair.

    Examples
    --------
    >>> encodable("caf\\u00e9 \\ud83d")
    'café ?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")
