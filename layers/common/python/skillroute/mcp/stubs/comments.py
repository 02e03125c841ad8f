"""Descriptions as comments, which nothing in them can end."""

from __future__ import annotations

_MAX_CHARS = 1000


def lines(text: str, most: int = _MAX_CHARS) -> list[str]:
    """Return a text's lines without what could end a comment; a long one is cut.

    Examples
    --------
    >>> lines("Add */ it.\\r\\n\\x00 Now.")
    ['Add *\\u200b/ it.', 'Now.']
    """
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    printable = ("".join(char if char.isprintable() else " " for char in line) for line in shown.splitlines())
    return [line.strip().replace("*/", "*\u200b/") for line in printable if line.strip()]


def line(text: str, most: int) -> str:
    """Return a text in one line."""
    return " ".join(lines(text, most))
