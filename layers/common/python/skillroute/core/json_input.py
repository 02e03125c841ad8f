"""JSON that callers send: checked, and refused with the place where it is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from skillroute.core.errors import FieldProblem, InvalidInput
from skillroute.core.sentences import sentence_of

MAX_DEPTH = 64
"""Levels of nesting in a schema, annotations or metadata. Real schemas stay below 20."""

MOST_PROBLEMS = 20
"""Wrong fields of one thing that are named."""

_SHOWN = 64  # characters of a key in the name of a place
# NUL as JSON writes it: behind an even number of backslashes.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*+\\u0000")


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], value: object, *, whole: str) -> Model:
    """Return what a model makes of a value.

    Parameters
    ----------
    whole : str
        What the value is called where no field of it is wrong but all of it.

    Raises
    ------
    InvalidInput
        Names all fields that are wrong, `MOST_PROBLEMS` at most.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:MOST_PROBLEMS]
        raise InvalidInput.of(
            [FieldProblem(".".join(map(str, each["loc"])) or whole, sentence_of(each), each["type"]) for each in found]
        ) from None


def check_json(value: object, *, whole: str = "item") -> int:
    """Refuse what JSON can carry but PostgreSQL or an answer cannot: NUL, lone surrogates, NaN, endless nesting.

    Nearly everything passes, so it is written out and looked at as a whole; only what does not is walked through, to
    say where, which takes three times as long.

    Parameters
    ----------
    whole : str
        What the value is called where nothing in it is wrong but all of it.

    Returns
    -------
    int
        Its bytes as JSON.

    Raises
    ------
    InvalidInput
        Names the place.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, check_circular=False)
        size = len(text.encode("utf-8"))
    except (ValueError, RecursionError):  # NaN, a lone surrogate; more levels than the interpreter allows
        _refuse_what_is_wrong(value, whole)
        raise
    if _NUL.search(text) is not None or _is_too_deep(value):
        _refuse_what_is_wrong(value, whole)
    return size


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return any(level)


def _refuse_what_is_wrong(value: object, whole: str) -> None:
    """Walk to the first thing that is wrong; without recursion, since the input may be nested as deeply as it likes."""
    path: list[object] = []
    left: list[Iterator[tuple[object, object]]] = [iter([(whole, value)])]
    while left:
        for key, current in left[-1]:
            path[len(left) - 1 :] = [key]
            if len(left) > MAX_DEPTH + 1:
                raise InvalidInput(_place(path), f"is nested deeper than {MAX_DEPTH} levels")
            if isinstance(current, str):
                _check_text(path, current)
            elif isinstance(current, float) and not math.isfinite(current):
                raise InvalidInput(_place(path), "NaN and Infinity are not JSON numbers")
            elif isinstance(current, Mapping):
                for inner in current:
                    _check_text([*path, "<key>"], inner)
                left.append(iter(current.items()))
                break
            elif isinstance(current, list):
                left.append(iter(enumerate(current)))
                break
        else:
            left.pop()


def _check_text(path: Sequence[object], text: str) -> None:
    if "\x00" in text:
        raise InvalidInput(_place(path), "NUL characters are not allowed")
    # Lone surrogates are the only text that UTF-8 cannot carry.
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(_place(path), "lone surrogates are not allowed") from None


def _place(path: Sequence[object]) -> str:
    """Spell out where a value stands, shortened where it is deep or a key is long; the first is the whole's own."""
    keys = [str(key)[:_SHOWN] for key in path[1:7]]
    return ".".join(keys if len(path) <= 7 else [*keys[:3], "..."]) or str(path[0])
