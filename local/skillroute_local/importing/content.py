"""The content of a source: a folder, lines of JSON, or one document of JSON or YAML, bounded in size."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from skillroute_local.importing.model import Unreadable
from skillroute_local.importing.yaml_text import load_yaml

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
"""Of a document, which is read as a whole; a file of lines may be of any size."""

SKILL_FILE = "SKILL.md"
"""The file that makes a folder an Agent Skill; named as a source, it stands for its folder."""

_LOOKED_AT = 20  # lines that show what a file is
_MAX_FIRST_LINE = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder."""

    path: Path


@dataclass(frozen=True, slots=True)
class Archive:
    """A file that is a `.zip` or `.tar.gz` by its first bytes."""

    path: Path


@dataclass(frozen=True, slots=True)
class Lines:
    """A file with one JSON object a line."""

    path: Path


@dataclass(frozen=True, slots=True)
class Document:
    """A file that is one document, and its value."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that is neither, and why: a format that allows more than JSON does may read it."""

    path: Path
    error: Unreadable


Content = Folder | Archive | Lines | Document | Broken


def document_of(content: Content) -> Any:
    """Return a document's value; None of what is no document, which is none of any format's."""
    return content.value if isinstance(content, Document) else None


def content_of(path: Path) -> Content:
    """Return what a source holds."""
    if path.is_dir():
        return Folder(path)
    if path.name == SKILL_FILE:
        return Folder(path.parent)
    if is_archive(path):
        return Archive(path)
    try:
        return Lines(path) if _is_lines(path) else Document(path, _value(path))
    except Unreadable as error:
        return Broken(path, error)


def is_archive(path: Path) -> bool:
    """Return whether a file is an archive by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(4).startswith((b"PK\x03\x04", b"\x1f\x8b"))
    except OSError:
        return False


def _value(path: Path) -> Any:
    data = read_bounded(path, MAX_DOCUMENT_BYTES)
    start = data.removeprefix(BOM_UTF8).lstrip()[:1]
    try:
        return json.loads(data) if start in {b"{", b"[", b""} or b"\0" in data[:4] else load_yaml(data, path.name)
    except json.JSONDecodeError as error:
        at = f"{path.name}:{error.lineno}:{error.colno}"
        raise Unreadable(at, "the file is empty" if not start else f"is not JSON: {error.msg}") from None
    except RecursionError:
        raise Unreadable(path.name, "is nested too deeply to be read") from None
    except ValueError as error:  # not UTF-8, an integer of thousands of digits
        raise Unreadable(path.name, f"cannot be read: {error}") from None


def read_bounded(path: Path, most: int) -> bytes:
    """Return a file's bytes. Raises `Unreadable` where it has more than `most`, or cannot be opened."""
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        raise Unreadable(path.name, "is not a file that can be read")
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise Unreadable(path.name, f"cannot be read: {error.strerror}") from None
    if len(data) > most:
        raise Unreadable(path.name, f"is larger than {most >> 20} MB: split it, or write one object a line")
    return data


def _is_lines(path: Path) -> bool:
    """Return whether a file has several lines of which each is an object of its own.

    The first one shows it. Where that one is broken, most of those behind it do, and it is one line that is refused
    instead of the file. In a document most lines end with a comma.
    """
    try:
        with path.open("rb") as file:
            first = [bare for line in islice(file, _LOOKED_AT) if (bare := line.removeprefix(BOM_UTF8).strip())]
    except OSError as error:
        raise Unreadable(path.name, f"cannot be read: {error.strerror}") from None
    if len(first) < 2 or not first[0].startswith(b"{"):
        return False
    if _is_object(first[0]):
        return True
    return sum(map(_is_object, first[1:])) * 2 > len(first) - 1


def _is_object(line: bytes) -> bool:
    if not line.startswith(b"{") or len(line) > _MAX_FIRST_LINE:
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
