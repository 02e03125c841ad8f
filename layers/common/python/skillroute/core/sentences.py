"""What is wrong with a field, as a sentence: pydantic's own messages, but where they speak of Python or of patterns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import StringConstraints

_SENTENCES: Mapping[str, str] = {
    "dict_type": "must be an object",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "extra_forbidden": "is no field that is known here",
}
_OF_PATTERN: dict[str, str] = {}
_VALUE_ERROR = "Value error, "


def sentence_of(found: Mapping[str, Any]) -> str:
    """Return what one of pydantic's errors says.

    Parameters
    ----------
    found : mapping
        As `ValidationError.errors` returns it, or FastAPI of JSON that cannot be read.

    Examples
    --------
    >>> sentence_of({"type": "value_error", "msg": "Value error, must be lower case"})
    'must be lower case'
    """
    message: str = found["msg"]
    if found["type"] == "json_invalid":
        return f"is no JSON: {found['ctx']['error']}" if found.get("ctx") else message
    if found["type"] == "string_pattern_mismatch":
        return _OF_PATTERN.get(found["ctx"]["pattern"], message)
    return _SENTENCES.get(found["type"], message.removeprefix(_VALUE_ERROR))


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
