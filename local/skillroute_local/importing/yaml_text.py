"""YAML as JSON can carry it: texts, numbers, true, false and null, with text keys; aliases unfold within bounds."""

from __future__ import annotations

import re
from typing import Any

import yaml

from skillroute_local.importing.model import Unreadable

MAX_VALUES = 2_000_000
"""Values of a document once its aliases are unfolded: a few lines of YAML can mean billions."""

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _JsonLoader(_Loader):  # type: ignore[misc,valid-type]
    """Reads the values that JSON has, as it writes them: what looks like a date, `yes` and `12:30:00` stay texts."""


_TAG = "tag:yaml.org,2002:"
_JsonLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in {f"{_TAG}null", f"{_TAG}merge"}]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"-?(?:0|[1-9][0-9]*)", "-0123456789"),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", "-0123456789"),
):
    _JsonLoader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"^(?:{_pattern})$"), _first)


def load_yaml(data: bytes | str, name: str, *, first_line: int = 1) -> Any:
    """Return the value of one YAML document.

    Parameters
    ----------
    name : str
        The file, for errors.
    first_line : int
        The line of the file that the text begins with.

    Raises
    ------
    Unreadable
        With the line and the column.
    """
    try:
        value = yaml.load(data, Loader=_JsonLoader)  # noqa: S506 (a safe loader with fewer types)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = f"{name}:{mark.line + first_line}:{mark.column + 1}" if mark else name
        raise Unreadable(at, f"is not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise Unreadable(name, f"is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise Unreadable(name, "is nested too deeply to be read") from None
    except ValueError as error:  # a number of thousands of digits
        raise Unreadable(name, f"cannot be read: {error}") from None
    return _Plain(name)(value)


class _Plain:
    """Copies a value with its aliases unfolded and its keys as texts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left = MAX_VALUES

    def __call__(self, value: Any) -> Any:
        try:
            return self._copy(value)
        except RecursionError:  # an alias within what it stands for, too
            raise Unreadable(self._name, "is nested too deeply to be read") from None

    def _copy(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise Unreadable(self._name, f"has more than {MAX_VALUES} values once its aliases are unfolded")
        if isinstance(value, dict):
            return {_key(key): self._copy(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._copy(inner) for inner in value]
        if value is None or isinstance(value, str | bool | int | float):
            return value
        return str(value)


def _key(key: object) -> str:
    """Return a key as JSON has it: ``200`` of an OpenAPI document's responses is a number to YAML."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)
