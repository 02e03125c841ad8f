"""Texts of tools that read as instructions to the model, not as descriptions (docs/prompt-injection.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.errors.problems import FieldProblem

READS_AS_INSTRUCTION = "reads_as_instruction"
"""The type of a warning about one."""

FIELDS = ("title", "description", "input_schema", "inputSchema", "output_schema", "outputSchema", "annotations")
"""The fields of an item whose texts models read, by both their spellings."""

_MAX_TEXT, _AROUND = 20_000, 30
_DEPTH = 12

RULES: Mapping[str, re.Pattern[str]] = {
    "asks to leave other instructions aside": re.compile(
        r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+)?"
        r"(?:previous|prior|above|earlier|other)\s+(?:instructions?|prompts?|rules|messages)",
        re.IGNORECASE,
    ),
    "asks to keep something from the user": re.compile(
        r"\b(?:do\s+not|don't|never|without)\s+(?:tell|telling|inform|informing|mention(?:ing)?(?:\s+\w+){0,3}\s+to|"
        r"show(?:ing)?(?:\s+\w+){0,3}\s+to|alert|alerting|notify|notifying)\s+(?:this\s+to\s+)?(?:the\s+)?user",
        re.IGNORECASE,
    ),
    "has a tag that marks text for models": re.compile(
        r"<\s*/?\s*(?:system|important|instructions?|assistant)\s*>|\[/?INST\]|<\|im_start\|>",
        re.IGNORECASE,
    ),
    "asks for a file of keys": re.compile(
        r"~/\.(?:ssh|aws|cursor)\b|\bid_rsa\b(?![-.])|(?<![\w.])/etc/(?:passwd|shadow)\b", re.IGNORECASE
    ),
    "has a comment that pages do not show": re.compile(r"<!--"),
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """A text that reads as an instruction to the model.

    Attributes
    ----------
    place : str
        The field and the way into it: ``input_schema.properties.a.description``.
    says : str
        What it does, one of `RULES`.
    words : str
        What says so, with some words around it.
    """

    place: str
    says: str
    words: str


def instructions(raw: Mapping[str, Any], place: str = "") -> Iterator[Instruction]:
    """Yield what in the texts of an item reads as an instruction; of one text the first match of each rule."""
    for where, text in texts_of(raw, place):
        for says, pattern in RULES.items():
            if found := pattern.search(text, 0, _MAX_TEXT):
                yield Instruction(where, says, words_around(text, found))


def instruction_warnings(raw: Mapping[str, Any], place: str = "") -> Iterator[FieldProblem]:
    """Yield a warning for each text of an item that reads as an instruction, with the words around it."""
    for found in instructions(raw, place):
        message = f"{found.says}: {found.words!r}. Look at who wrote it before agents read it"
        yield FieldProblem(found.place, message, READS_AS_INSTRUCTION)


def texts_of(raw: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts of an item that models read, each with its place."""
    for field in FIELDS:
        yield from _texts(raw.get(field), f"{place}{field}", _DEPTH)


def words_around(text: str, found: re.Match[str]) -> str:
    """Return what was found in a text, with some words before and after it, on one line."""
    words = text[max(0, found.start() - _AROUND) : found.end() + _AROUND]
    return " ".join(words.split())


def _texts(value: object, place: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping) and depth:
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{name}", depth - 1)
    elif isinstance(value, list) and depth:
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{place}.{number}", depth - 1)
