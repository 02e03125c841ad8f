"""Tables of text: whole and wide for a pipe, within the width of a terminal for people.

A terminal never gets an id or a name cut, nor a word broken that fits into a line: columns that hold sentences give
way first, then the rows are shown as blocks, one below the other.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from skillroute_local.commands.shared import out

_GAP = "  "
_NARROWEST = 24
_LINES = 2
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    title : str
        Its heading.
    sentences : bool
        It holds sentences, of which a terminal shows two lines. Any other is shown whole.
    """

    title: str
    sentences: bool = False


def show_table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[str]],
    console: Console = out,
    *,
    details: Sequence[Sequence[str]] = (),
) -> None:
    """Print a table; without rows nothing, not even its headings. `details` has the lines below each row."""
    width = console.width if console.is_terminal else None
    for number, line in enumerate(table_lines(columns, list(rows), width, details)):
        is_heading = number == 0 and console.is_terminal
        console.print(Text(line, "bold" if is_heading else ""), soft_wrap=True, highlight=False)


def table_lines(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    width: int | None,
    details: Sequence[Sequence[str]] = (),
) -> list[str]:
    """Return the lines of a table that is `width` cells wide at most; None means as wide as it gets.

    A word that is longer than a line is the only one to be broken.
    """
    if not rows:
        return []
    cells = [[plain(cell) for cell in row] for row in rows]
    titles = [column.title for column in columns]
    natural = [max(map(cell_len, column)) for column in zip(titles, *cells, strict=True)]
    widths = natural if width is None else _narrowed(columns, natural, width)
    short = [column.title for column in columns if not column.sentences]
    lines = [_GAP.join(short) if widths is None else _joined(titles, widths)]
    for number, row in enumerate(cells):
        lines += _block(columns, row, width or 0) if widths is None else _row(columns, row, widths)
        for detail in details[number] if details else ():
            lines += _indented(plain(detail), width)
    return lines


def _row(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> list[str]:
    wrapped = [
        textwrap.wrap(cell, size, max_lines=_LINES, placeholder=" …", break_on_hyphens=False) or [""]
        if column.sentences and cell_len(cell) > size
        else [cell]
        for column, cell, size in zip(columns, row, widths, strict=True)
    ]
    return [
        _joined([part[number] if number < len(part) else "" for part in wrapped], widths)
        for number in range(max(map(len, wrapped)))
    ]


def _block(columns: Sequence[Column], row: Sequence[str], width: int) -> list[str]:
    """Return a row as a block: short cells beside each other, sentences indented under them."""
    named = list(zip(columns, row, strict=True))
    short = _GAP.join(cell for column, cell in named if cell and not column.sentences)
    lines = textwrap.wrap(short, width, subsequent_indent=_INDENT, break_on_hyphens=False, break_long_words=False)
    for column, cell in named:
        if column.sentences:
            lines += _indented(cell, width, most=_LINES)
    return lines


def _indented(text: str, width: int | None, most: int | None = None) -> list[str]:
    if width is None:
        return [f"{_INDENT}{text}"]
    return textwrap.wrap(
        text,
        width,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        max_lines=most,
        placeholder=" …",
        break_on_hyphens=False,
    )


def plain(text: str) -> str:
    """Return what others wrote on one line: nothing in it steers a terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _narrowed(columns: Sequence[Column], natural: Sequence[int], width: int) -> list[int] | None:
    """Return the widths of the columns, None where they do not fit beside each other."""
    left = width - len(_GAP) * (len(columns) - 1)
    left -= sum(size for column, size in zip(columns, natural, strict=True) if not column.sentences)
    widths = list(natural)
    # The narrowest take what they need, the others share what is left.
    wide = sorted((size, place) for place, size in enumerate(natural) if columns[place].sentences)
    for number, (size, place) in enumerate(wide):
        share = left // (len(wide) - number)
        if size > share < _NARROWEST:
            return None
        widths[place] = min(size, share)
        left -= widths[place]
    return widths if left >= 0 else None


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (size - cell_len(cell)) for cell, size in zip(cells, widths, strict=True)]
    return _GAP.join(padded).rstrip()
