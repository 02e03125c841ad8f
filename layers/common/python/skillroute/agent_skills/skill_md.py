"""`SKILL.md`: front matter, and a body that is cut into pieces for the index.

The front matter is not parsed here: it comes as JSON with the file (`frontmatter`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from skillroute.core.input.hidden_text import visible

MAX_PIECES = 64
"""Pieces of a body that are indexed; those behind them are not found."""

PIECE_BYTES = 1000
"""UTF-8 bytes that a piece has room for: 200 to 300 tokens of English, about as many of Chinese."""

MIN_BYTES = 300
"""Bytes of a piece that a heading ends: shorter sections share a piece."""

MAX_HEADING = 120
"""Characters of a heading that the pieces below it have: each has those of all levels above it."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t](.*)$")
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


class Piece(NamedTuple):
    """A part of a skill that is searched: name and description, or some of the body.

    Attributes
    ----------
    heading : str
        The headings above it, from the outermost one in: ``Refunds > Partial refunds``.
    """

    heading: str
    content: str


class _Block(NamedTuple):
    """A paragraph, a list, a fence or a heading, with the headings above it."""

    heading: str
    text: str
    is_heading: bool


def body_of(text: str) -> str | None:
    """Return what stands behind the front matter of a `SKILL.md`; None where there is no front matter.

    Examples
    --------
    >>> body_of("---\\nname: refunds\\n---\\n# Refunds\\n")
    '# Refunds\\n'
    """
    found = _FRONT_MATTER.match(text)
    return None if found is None else text[found.end() :]


def pieces_of(body: str) -> list[Piece]:
    """Return the pieces of a body, in their order, without invisible characters.

    A piece ends where it has no room for the next paragraph, and at a heading as soon as it has `MIN_BYTES`.

    Examples
    --------
    >>> pieces_of("# Refunds\\nPay it back.\\n")
    [Piece(heading='Refunds', content='# Refunds\\nPay it back.')]
    """
    pieces: list[Piece] = []
    heading, parts, size = "", list[str](), 0
    for block in _blocks(visible(body).splitlines()):
        length = len(block.text.encode("utf-8", "replace"))
        if parts and (size + length > PIECE_BYTES or (block.is_heading and size >= MIN_BYTES)):
            pieces.append(Piece(heading, "\n".join(parts)))
            parts, size = [], 0
        if not parts:
            heading = block.heading
        parts.append(block.text)
        size += length + 1
    if parts:
        pieces.append(Piece(heading, "\n".join(parts)))
    return pieces


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    above: dict[int, str] = {}
    paragraph: list[str] = []
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        title = None if fence or found else _HEADING.match(line)
        if title is not None or (not line.strip() and not fence):
            yield from _cut(" > ".join(above.values()), paragraph)
            paragraph = []
        if title is not None:
            level = len(title[1])
            above = {depth: text for depth, text in above.items() if depth < level}
            if text := _title(title[2]):
                above[level] = text[:MAX_HEADING].rstrip()
                for nth, block in enumerate(_cut(" > ".join(above.values()), [line.strip()])):
                    yield block._replace(is_heading=nth == 0)
        elif line.strip():
            paragraph.append(line.rstrip())
        if found is not None and not fence:
            fence = found[1]
        elif found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
    yield from _cut(" > ".join(above.values()), paragraph)


def _title(text: str) -> str:
    """Return the text of a heading without the `#` that may close it, which stand behind a blank."""
    # By hand: a pattern with blanks, then `#`, then blanks takes the cube of their number.
    text = text.strip(" \t")
    bare = text.rstrip("#")
    return text if bare and not bare.endswith((" ", "\t")) else bare.rstrip(" \t")


def _cut(heading: str, lines: Sequence[str]) -> Iterator[_Block]:
    """Yield lines as one block, or as several where they are too long for one."""
    some: list[str] = []
    size = 0
    for part in (part for line in lines for part in _short(line)):
        length = len(part.encode("utf-8", "replace")) + 1
        if some and size + length > PIECE_BYTES:
            yield _Block(heading, "\n".join(some), is_heading=False)
            some, size = [], 0
        some.append(part)
        size += length
    if some:
        yield _Block(heading, "\n".join(some), is_heading=False)


def _short(line: str) -> Iterator[str]:
    """Yield a line in parts that have room in a piece, cut at blanks where there are some."""
    # A character has four bytes at most.
    step = PIECE_BYTES if line.isascii() else PIECE_BYTES // 4
    start = 0
    while len(line) - start > step:
        end = line.rfind(" ", start + step // 2, start + step)
        end = start + step if end == -1 else end
        yield line[start:end]
        start = end + (line[end : end + 1] == " ")
    yield line[start:]
