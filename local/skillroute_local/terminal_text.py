"""Text of strangers on a terminal: what would move its cursor, colour it or hide something is shown as an escape."""

from __future__ import annotations

import unicodedata

_COMMANDS = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})


def harmless(text: str, *, lines: bool = False) -> str:
    """Return a text whose control and invisible characters are written out, so that a terminal does nothing with them.

    Parameters
    ----------
    lines : bool
        Whether ends of lines stay.

    Examples
    --------
    >>> harmless("\\x1b[2Jgone\\rover\\u202eback")
    '\\\\x1b[2Jgone\\\\x0dover\\\\u202eback'
    >>> harmless("grüße, 東京")
    'grüße, 東京'
    """
    if text.isprintable():
        return text
    return "".join(_written(character, lines=lines) for character in text)


def _written(character: str, *, lines: bool) -> str:
    if (lines and character == "\n") or unicodedata.category(character) not in _COMMANDS:
        return character
    if character == "\t":
        return " "
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
