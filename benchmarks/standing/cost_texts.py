"""Texts that cost more than others, or did once: for `cost.py`, each as long as a field takes.

A pattern that begins again at each character, a split that makes a thing of every character, a normal form that makes
eighteen of one: anyone who may write a text may write these.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

_WORDS = (
    *("find", "merge", "request", "branch", "deploy", "invoice", "water", "garden", "calendar", "translate"),
    *(
        "retrieve",
        "message",
        "release",
        "customer",
        "database",
        "schedule",
        "picture",
        "weather",
        "report",
        "summarise",
    ),
)

# Of each text what is repeated. What stands for nothing known is there because its kind is (quantifiers, escapes).
_UNITS: dict[str, str] = {
    "one long word": "a",
    "words of one letter": "a ",
    "words of a hyphen": "a-",
    "tags": "#a ",
    "one long tag": "#a:b.c/d+",
    "dots and letters": "a.",
    "quotes": '"',
    "backslashes": "\\",
    "wildcards": "%_",
    "nested quantifiers": "(a+)+$",
    "open brackets": "([{<",
    "open quotes after names": 'password="',
    "names of secrets": "password: token=secret, ",
    "a name of a secret without end": "api_key_",
    "keys that begin": "-----BEGIN PRIVATE KEY-----",
    "base64 without end": "QUFB/+=",
    "tokens that begin": "eyJeyJ.",
    "users in URLs": "http://a:b",
    "quotes of quotes": "\\'\"\\\\",
    "tables": "| password | a ",
    "digits": "7",
    "operators": "AND OR NOT NEAR ",
    "accents": "e\u0301\u0323",
    "one letter with accents": "\u0301",
    "eighteen letters of one": "\ufdfa",
    "capitals that grow": "\u0130\u00df",
    "no blanks": "天気予報",
    "pictures": "👩‍🚀",
    "right to left": "שלום \u202e",
    "separators": "\u2028\u00a0\t",
    "control characters": "x\u0001",
}

HOSTILE: dict[str, Callable[[int], str]] = {
    "words": lambda length: _cut(" ".join(itertools.islice(itertools.cycle(_WORDS), length // 4)), length),
    "different words": lambda length: _cut(" ".join(f"{_WORDS[n % 20]}{n}" for n in range(length // 6)), length),
    "a word in punctuation": lambda length: "a" + "." * (length - 2) + "a",
    "punctuation around a word": lambda length: "." * (length // 2) + "a" + "." * (length - length // 2 - 1),
    "punctuation": lambda length: "." * length,
    "blanks in a word": lambda length: "a" + " " * (length - 2) + "a",
    **{name: lambda length, unit=unit: _cut(unit * length, length) for name, unit in _UNITS.items()},  # type: ignore[misc]
}
"""Texts by their names, made for a number of characters."""


def _cut(text: str, length: int) -> str:
    # What is trimmed would be shorter than the field takes.
    return (text[: length - 1].rstrip() + "z" * length)[:length] if text[length - 1].isspace() else text[:length]
