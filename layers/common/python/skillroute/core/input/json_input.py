"""JSON that callers send: checked, and refused with the place where it is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.errors.sentences import UNKNOWN_FIELD_ERROR, sentence_of
from skillroute.core.input.near_names import names_at, nearest

MAX_DEPTH = 64
"""Levels of nesting in a schema, annotations or metadata. Real schemas stay below 20."""

MAX_PROBLEMS = 20
"""Wrong fields of one thing that are named."""

_SHOWN = 64  # characters of a key in the name of a place
# NUL as JSON writes it: behind an even number of backslashes.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*+\\u0000")


Model = TypeVar("Model", bound=BaseModel)
T = TypeVar("T")


def validated(model: type[Model], value: object, *, whole: str) -> Model:
    """Return what a model makes of a value.

    Parameters
    ----------
    whole : str
        What the value is called where no field of it is wrong but all of it.

    Raises
    ------
    InvalidInput
        Names all fields that are wrong, `MAX_PROBLEMS` at most.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:MAX_PROBLEMS]
        raise InvalidInput.of(
            [
                FieldProblem(".".join(map(str, each["loc"])) or whole, said_of(each, model, each["loc"]), each["type"])
                for each in found
            ]
        ) from None


def said_of(found: Mapping[str, Any], kind: Any, place: Sequence[str | int]) -> str:
    """Return what one of pydantic's errors says; of an unknown field also which there are, or which was meant.

    Parameters
    ----------
    kind : type
        Of the whole.
    place : sequence of str and int
        The path to the field within the whole.
    """
    if found["type"] != UNKNOWN_FIELD_ERROR:
        return sentence_of(found)
    known = names_at(kind, place)
    return sentence_of(found, known, nearest(str(place[-1]), known))


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON whose texts went through `change`. Keys stay as they are, for callers send them back."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: with_texts(inner, change) for key, inner in value.items()}
    return [with_texts(inner, change) for inner in value] if isinstance(value, list) else value


def changed_places(value: Any, change: Callable[[str], str], place: str = "", levels: int = MAX_DEPTH) -> Iterator[str]:
    """Yield the places of texts that `with_texts` changes, ``remotes.0.url``: none below `levels`, which is refused."""
    if levels == 0:
        return
    if isinstance(value, str):
        if change(value) != value:
            yield place
    elif isinstance(value, Mapping | list):
        for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from changed_places(inner, change, f"{place}.{key}" if place else str(key), levels - 1)


def together(problems: Sequence[FieldProblem], read: Callable[[], T]) -> T:
    """Return what `read` returns, unless problems are known already: then it only says what else is wrong.

    Raises
    ------
    InvalidInput
        Names all of it, `MAX_PROBLEMS` at most, a field once.
    """
    try:
        made = read()
    except InvalidInput as error:
        known = {problem.field for problem in problems}
        others = [problem for problem in error.problems if problem.field not in known]
        raise InvalidInput.of([*problems, *others][:MAX_PROBLEMS]) from None
    if problems:
        raise InvalidInput.of(problems[:MAX_PROBLEMS])
    return made


def check_json(value: object, *, whole: str = "item") -> int:
    """Refuse what JSON can carry but PostgreSQL or an answer cannot: NUL, lone surrogates, NaN, endless nesting.

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
        Names the places, `MAX_PROBLEMS` at most.
    """
    size, problems = examined_json(value, whole=whole)
    if problems:
        raise InvalidInput.of(problems)
    return size


def examined_json(
    value: object, *, whole: str = "item", most_bytes: int | None = None
) -> tuple[int, list[FieldProblem]]:
    """Return the bytes of a value as JSON, and what of it `check_json` refuses; 0 bytes where it is no JSON at all.

    Nearly everything passes, so it is written out and looked at as a whole; only what does not is walked through, to
    say where, which takes three times as long.

    Parameters
    ----------
    whole : str
        What the value is called where nothing in it is wrong but all of it.
    most_bytes : int, optional
        More of them are a problem too.
    """
    size = 0
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, check_circular=False)
        size = len(text.encode("utf-8"))
        fits = _NUL.search(text) is None and not _is_too_deep(value)
    except (ValueError, RecursionError):  # NaN, a lone surrogate; more levels than the interpreter allows
        fits = False
    problems = [] if fits else list(islice(_what_is_wrong(value, whole), MAX_PROBLEMS))
    if most_bytes is not None and size > most_bytes:
        problems.append(FieldProblem(whole, f"is {size} bytes as JSON; at most {most_bytes} are allowed"))
    return size, problems


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


def _what_is_wrong(value: object, whole: str) -> Iterator[FieldProblem]:
    """Walk to the things that are wrong; without recursion, since the input may be nested as deeply as it likes."""
    path: list[object] = []
    left: list[Iterator[tuple[object, object]]] = [iter([(whole, value)])]
    while left:
        for key, current in left[-1]:
            path[len(left) - 1 :] = [key]
            if len(left) > MAX_DEPTH + 1:
                yield FieldProblem(_place(path), f"is nested deeper than {MAX_DEPTH} levels")
                left.pop()  # once for all that is so deep there
                break
            if isinstance(current, str):
                yield from _wrong_text(path, current)
            elif isinstance(current, float) and not math.isfinite(current):
                yield FieldProblem(_place(path), "NaN and Infinity are not JSON numbers")
            elif isinstance(current, Mapping):
                for inner in current:
                    yield from _wrong_text([*path, "<key>"], inner)
                left.append(iter(current.items()))
                break
            elif isinstance(current, list):
                left.append(iter(enumerate(current)))
                break
        else:
            left.pop()


def _wrong_text(path: Sequence[object], text: str) -> Iterator[FieldProblem]:
    if "\x00" in text:
        yield FieldProblem(_place(path), "NUL characters are not allowed")
    # Lone surrogates are the only text that UTF-8 cannot carry.
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        yield FieldProblem(_place(path), "lone surrogates are not allowed")


def _place(path: Sequence[object]) -> str:
    """Spell out where a value stands, shortened where it is deep or a key is long; the first is the whole's own."""
    keys = [str(key)[:_SHOWN] for key in path[1:7]]
    return ".".join(keys if len(path) <= 7 else [*keys[:3], "..."]) or str(path[0])
