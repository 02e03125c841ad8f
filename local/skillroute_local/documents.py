"""Files of JSON objects: one a line, or a single document as registries and agents publish theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from skillroute_local.errors import LocalError

Problem = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file; `size` are its bytes, `where` names it to a person."""

    where: str
    value: dict[str, Any]
    size: int


def read_lines(path: Path, problem: Problem) -> Iterator[Row]:
    """Yield the objects of a file with one a line.

    Parameters
    ----------
    problem : callable
        Called for each line that is no object, with its number.
    """
    with path.open("rb") as lines:
        yield from lines_of(lines, path.name, problem)


def lines_of(lines: Iterable[bytes], name: str, problem: Problem) -> Iterator[Row]:
    """Yield the objects of lines that are read already, or come through a pipe; `name` is what problems call them."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _row(f"{name}:{number}", json.loads(line), len(line))
        except (ValueError, RecursionError) as error:
            problem(f"{name}:{number}: {error}")


def read_objects(path: Path, within: str, problem: Problem) -> Iterator[Row]:
    """Yield the objects of a file with one a line, or of one JSON document: an object, or a list of them.

    Parameters
    ----------
    within : str
        The key of a document that holds a list of objects instead of being one itself, as a registry lists its servers.
    problem : callable
        Called for whatever is no object, with its place.
    """
    if not _is_document(path):
        yield from read_lines(path, problem)
        return
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        problem(f"{path.name}: {error}")
        return
    if isinstance(document, dict) and isinstance(document.get(within), list):
        document = document[within]
    if not isinstance(document, list):
        document = [document]
    for index, value in enumerate(document):
        where = f"{path.name}[{index}]" if len(document) > 1 else path.name
        try:
            yield _row(where, value, len(json.dumps(value)))
        except ValueError as error:
            problem(f"{where}: {error}")


def _row(where: str, value: object, size: int) -> Row:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return Row(where, value, size)


def _is_document(path: Path) -> bool:
    """Return whether a file is one document: its first line is no object of its own, or it is the only one."""
    with path.open("rb") as file:
        lines = (line for line in file if line.strip())
        first = next(lines, b"")
        if first and next(lines, None) is None:
            return True
    return first.strip() == b"{" or first.lstrip().startswith(b"[")


def require_new(path: Path, *, force: bool) -> None:
    """Raise `LocalError` where a file is there and may not be overwritten, or its folder is not.

    It is called before the work whose result the file is for.
    """
    if not path.parent.is_dir():
        raise LocalError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.exists() and not force:
        raise LocalError(f"{path} is there already: name another file, or overwrite it with --force")


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
