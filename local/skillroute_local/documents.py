"""Files of JSON objects, one a line, and files that are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from skillroute_local.errors import LocalError, Misused

Problem = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file; `size` are its bytes, `where` names it to a person."""

    where: str
    value: dict[str, Any]
    size: int


def lines_of(lines: Iterable[bytes], name: str, problem: Problem) -> Iterator[Row]:
    """Yield the objects of lines that are read already, or come through a pipe; `name` is what problems call them."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _row(f"{name}:{number}", json.loads(line), len(line))
        except (ValueError, RecursionError) as error:
            problem(f"{name}:{number}: {error}")


def _row(where: str, value: object, size: int) -> Row:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return Row(where, value, size)


def require_new(path: Path, *, force: bool | None) -> None:
    """Raise `LocalError` where a file is there and may not be overwritten, or its folder is not.

    It is called before the work whose result the file is for. None is `force` of a command that has no such option.
    """
    if not path.parent.is_dir():
        raise Misused(f"{path} cannot be written: there is no folder {path.parent}")
    if path.exists() and not force:
        hint = "" if force is None else ", or overwrite it with --force"
        raise Misused(f"{path} is there already: name another file{hint}")


def open_new(path: Path, *, force: bool = False) -> TextIO:
    """Open a file to write that is not there yet; with `force` one that is there is emptied.

    Raises
    ------
    LocalError
        It is there, or cannot be written.
    """
    require_new(path, force=force)
    try:
        return path.open("w" if force else "x", encoding="utf-8")
    except OSError as error:
        raise LocalError(f"{path} cannot be written ({error.strerror})") from error
