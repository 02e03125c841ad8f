"""Sentences for pydantic's errors, without Python's types and patterns."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from pydantic import StringConstraints

UNKNOWN_FIELD_ERROR = "extra_forbidden"
"""pydantic's type of an error about a field that a model does not have."""

_LIST, _OBJECT, _WHOLE, _NUMBER = "must be a list", "must be an object", "must be a whole number", "must be a number"
_FLAG, _TEXT = "must be true or false", "must be a string"
_TIME = "must be a time in RFC 3339 format with its zone, such as 2026-01-31T12:00:00Z"
_SENTENCES: Mapping[str, str] = {
    "missing": "is missing",
    "dict_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "model_type": _OBJECT,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "must be a smaller number",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _FLAG,
    "bool_parsing": _FLAG,
    "string_type": _TEXT,
    "string_unicode": "must not contain lone surrogates",
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "timezone_aware": _TIME,
    UNKNOWN_FIELD_ERROR: "is not a known field",
}
_OF_CONTEXT: Mapping[str, str] = {
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
}
_OF_PATTERN: dict[str, str] = {}
_VALUE_ERROR = "Value error, "
_MAX_NAMES = 30


def sentence_of(found: Mapping[str, Any], known: Set[str] = frozenset(), meant: str | None = None) -> str:
    """Return what one of pydantic's errors says.

    Parameters
    ----------
    found : mapping
        As `ValidationError.errors` returns it, or FastAPI of JSON that cannot be read.
    known : set of str
        Of an unknown field: the fields that there are.
    meant : str, optional
        Of an unknown field: the one that was probably meant.

    Examples
    --------
    >>> sentence_of({"type": "value_error", "msg": "Value error, must be lower case"})
    'must be lower case'
    >>> sentence_of({"type": "extra_forbidden", "msg": "..."}, {"name", "id"})
    'is not a known field; known are id, name'
    """
    kind, message, context = found["type"], str(found["msg"]), found.get("ctx") or {}
    if kind in {"json_invalid", "string_pattern_mismatch"}:
        is_json = kind == "json_invalid" and context
        return f"is not JSON: {context['error']}" if is_json else _OF_PATTERN.get(context.get("pattern", ""), message)
    if kind in {"too_short", "too_long", "string_too_short", "string_too_long"}:
        return _of_length(kind, context)
    if kind in _OF_CONTEXT:
        return _OF_CONTEXT[kind].format(**context)
    sentence = _SENTENCES.get(kind, message.removeprefix(_VALUE_ERROR))
    return sentence + _hint(known, meant) if kind == UNKNOWN_FIELD_ERROR else sentence


def _hint(known: Set[str], meant: str | None) -> str:
    if meant is not None:
        return f": did you mean {meant}?"
    return f"; known are {', '.join(sorted(known))}" if 0 < len(known) <= _MAX_NAMES else ""


def _of_length(kind: str, context: Mapping[str, Any]) -> str:
    # Of a text whose length is checked behind a check of ours, pydantic speaks of a value.
    is_text = kind.startswith("string") or context.get("field_type") == "Value"
    unit = "character" if is_text else "entry"
    if kind.endswith("short"):
        least = context["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {_counted(least, unit)}"
    return f"must have at most {_counted(context['max_length'], unit)}"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit if number == 1 else {'character': 'characters', 'entry': 'entries'}[unit]}"


def spelt(pattern: str, sentence: str) -> StringConstraints:
    """Return how a text must be spelt: the pattern for the OpenAPI document, the sentence for people.

    Examples
    --------
    >>> from typing import Annotated
    >>> Code = Annotated[str, spelt("^[a-z]+$", "must consist of small letters")]

    Raises
    ------
    ValueError
        The pattern has another sentence already: an error names only the pattern.
    """
    if _OF_PATTERN.setdefault(pattern, sentence) != sentence:
        raise ValueError(f"{pattern} has the sentence {_OF_PATTERN[pattern]!r} already")
    return StringConstraints(pattern=pattern)
