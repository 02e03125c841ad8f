"""Texts of tools that read as instructions to the model, not as descriptions (docs/prompt-injection.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillroute.core.errors.problems import FieldProblem

READS_AS_INSTRUCTION = "reads_as_instruction"
"""The type of a warning about one."""

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


def instruction_warnings(raw: Mapping[str, Any], place: str = "") -> Iterator[FieldProblem]:
    """Yield what in an item's description and schemas reads as an instruction, with the words around it."""
    for field in ("description", "input_schema", "inputSchema", "output_schema", "outputSchema"):
        for where, text in _texts(raw.get(field), f"{place}{field}", _DEPTH):
            for says, pattern in RULES.items():
                if found := pattern.search(text, 0, _MAX_TEXT):
                    words = text[max(0, found.start() - _AROUND) : found.end() + _AROUND]
                    message = f"{says}: {' '.join(words.split())!r}. Look at who wrote it before agents read it"
                    yield FieldProblem(where, message, READS_AS_INSTRUCTION)


def _texts(value: object, place: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping) and depth:
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{name}", depth - 1)
    elif isinstance(value, list) and depth:
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{place}.{number}", depth - 1)
