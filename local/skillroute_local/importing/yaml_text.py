"""YAML as JSON can carry it: texts, numbers, true, false and null, with text keys; aliases unfold within bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from skillroute_local.importing.model import Unreadable

MAX_VALUES = 2_000_000
"""Values of a document once its aliases and merge keys are unfolded: a few lines of YAML can mean billions."""

MAX_DEPTH = 200
"""Levels of a document as it is written: the parser calls itself for each, and dies of too many."""

# More levels than that opened in one line, with nothing between: a parser reads so far ahead there that it may give up
# by a limit of its own, or die, before it says anything. A text of so many brackets is refused as well.
_OPENED_AT_ONCE = re.compile(rf"(?:[\[{{][ \t]*|[-?][ \t]+){{{MAX_DEPTH + 1}}}")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _JsonLoader(_Loader):  # type: ignore[misc,valid-type]
    """Resolves the types that JSON has, as it writes them: what looks like a date, `yes` and `12:30:00` stay texts."""


_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_JsonLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in {f"{_TAG}null", _MERGE}]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
_NUMBERS = {
    f"{_TAG}int": re.compile(r"^-?(?:0|[1-9][0-9]*)$"),
    f"{_TAG}float": re.compile(r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"),
}
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
for _tag, _pattern, _first in (
    (f"{_TAG}bool", _BOOL, "tTfF"), *((tag, pattern, "-0123456789") for tag, pattern in _NUMBERS.items()),
):  # fmt: skip
    _JsonLoader.add_implicit_resolver(_tag, _pattern, _first)


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
    place = _Place(name, first_line)
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    if opened := _OPENED_AT_ONCE.search(text):
        line_start = text.rfind("\n", 0, opened.start()) + 1
        mark = yaml.Mark(name, opened.start(), text.count("\n", 0, line_start), opened.start() - line_start, None, 0)
        raise Unreadable(place.of(mark), f"is nested deeper than {MAX_DEPTH} levels")
    try:
        _require_shallow(data, place)
        node = yaml.compose(data, Loader=_JsonLoader)
        return None if node is None else _Values(place).of(node)
    except yaml.MarkedYAMLError as error:
        raise Unreadable(place.of(error.problem_mark), f"is not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise Unreadable(name, f"is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:  # an alias within what it stands for, too
        raise Unreadable(name, "is nested too deeply to be read") from None
    except ValueError as error:  # a number of thousands of digits
        raise Unreadable(name, f"cannot be read: {error}") from None


class _Place:
    """Names places of a file."""

    def __init__(self, name: str, first_line: int) -> None:
        self.name = name
        self._first_line = first_line

    def of(self, mark: Any) -> str:
        """Return the file with line and column, without where the parser knows none."""
        return f"{self.name}:{mark.line + self._first_line}:{mark.column + 1}" if mark else self.name


def _require_shallow(data: bytes | str, place: _Place) -> None:
    """Raise `Unreadable` where a document is nested too deeply, before anything calls itself for its levels."""
    depth = 0
    for event in yaml.parse(data, Loader=_JsonLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable(place.of(event.start_mark), f"is nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


class _Values:
    """Makes values of nodes, within bounds however often aliases and merge keys repeat a node."""

    def __init__(self, place: _Place) -> None:
        self._place = place
        self._left = MAX_VALUES

    def of(self, node: yaml.Node) -> Any:
        """Return a node's value. Raises `Unreadable`."""
        self._left -= 1
        if self._left < 0:
            reason = f"has more than {MAX_VALUES} values once its aliases are unfolded"
            raise Unreadable(self._place.name, reason)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.of(inner) for inner in node.value]
        raise self._foreign(node)

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                for mapping in self._merged(value):
                    for name, inner in mapping.items():
                        merged.setdefault(name, inner)
            elif isinstance(key, yaml.ScalarNode):
                own[_key(self._scalar(key))] = self.of(value)
            else:
                raise Unreadable(self._place.of(key.start_mark), "must be a text: it is a key")
        return {**merged, **own}

    def _merged(self, node: yaml.Node) -> Iterator[dict[str, Any]]:
        """Yield what a merge key stands for, the mappings that go first in front."""
        for mapping in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(mapping, yaml.MappingNode):
                raise Unreadable(self._place.of(mapping.start_mark), "must be a mapping: << merges it into another one")
            yield self.of(mapping)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text = node.value
        match node.tag.removeprefix(_TAG):
            case "str":
                return text
            case "null":
                return None
            case "bool" if _BOOL.match(text):
                return text.lower() == "true"
            case "int" if _NUMBERS[node.tag].match(text):
                return int(text)
            case "float" if _NUMBERS[node.tag].match(text):
                return float(text)
        raise self._foreign(node)

    def _foreign(self, node: yaml.Node) -> Unreadable:
        tag = node.tag.replace(_TAG, "!!")
        return Unreadable(self._place.of(node.start_mark), f"is of a type that JSON does not have: {tag[:100]}")


def _key(key: object) -> str:
    """Return a key as JSON has it: ``200`` of an OpenAPI document's responses is a number to YAML."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)
