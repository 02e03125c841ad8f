"""Unexplained abbreviations in names, and texts in words that users do not ask with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from skillroute.catalogue.text import split_name
from skillroute.core.documents import term_weights

from skillroute_local.doctor.descriptions import is_empty
from skillroute_local.doctor.model import Catalogue, Code, Finding, Tool, listed
from skillroute_local.doctor.word_lists import EMPTY_PHRASES, FILLER, FOREIGN

_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SHORT = 4
"""Letters: an abbreviation has no more."""

_MIN_CODES = 2
_PART_OF_SERVER = 4


def unexplained(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools with an unintelligible name and description: `bil_adj2`, "Runs the GLX over KORA".

    English alone: of other languages the words that people ask with are not known.
    """
    for tool in catalogue.tools:
        if is_empty(tool.description) or not _is_english(tool.description):
            continue
        unknown = _unknown(tool)
        if unknown:
            words = listed(unknown, 4)
            yield Finding(
                Code.WORDS_UNEXPLAINED,
                90,
                f"no user asks in words such as {words}, and no other text describes it",
                "spell abbreviations and internal names out in the description, in words of those who need it",
                (tool,),
            )


def _unknown(tool: Tool) -> list[str]:
    """Return the unexplained words of a tool that has hardly any others, in the order in which they stand there."""
    of_name = _words(tool.name)
    codes = {word.lower() for word in _LETTERS.findall(tool.description.replace("_", " ")) if word.isupper()}
    of_server = _words(tool.server)
    words = [
        word
        for word in dict.fromkeys([*of_name, *_words(tool.description)])
        if not _forms(word) & (FILLER | EMPTY_PHRASES) and not _is_of(word, of_server)
    ]
    unknown = [word for word in words if not _forms(word) & _asked()]
    known = len(words) - len(unknown)
    if known == 0 and any(word in of_name and len(word) <= _SHORT for word in unknown):
        return unknown
    coded = [word for word in unknown if word in codes or len(word) <= _SHORT]
    if len(coded) >= _MIN_CODES and len(unknown) >= known:
        return unknown
    # Acronyms are jargon for certain: of these half as many are enough.
    return unknown if len(codes.intersection(unknown)) >= _MIN_CODES and 2 * len(unknown) >= known else []


def _is_of(word: str, server: list[str]) -> bool:
    """Return whether a word is part of what the server is called: of products people know the names."""
    return any(word == of or (len(of) >= _PART_OF_SERVER and (word in of or of in word)) for of in server)


def _is_english(text: str) -> bool:
    return text.isascii() and not FOREIGN.intersection(_LETTERS.findall(text.lower()))


def _words(text: str) -> list[str]:
    return [word.lower() for part in text.split() for word in _LETTERS.findall(split_name(part))]


def _forms(word: str) -> frozenset[str]:
    """Return a word and what it may be an inflection of, roughly."""
    found = {word}
    for ending, instead in (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")):
        if word.endswith(ending):
            found.add(word.removesuffix(ending) + instead)
    return frozenset(found)


@cache
def _asked() -> frozenset[str]:
    """Return the words that people ask for tools with (training/term_counts.py)."""
    lines = files(__package__).joinpath("asked_words.txt").read_text(encoding="utf-8").split()
    return frozenset(lines) | frozenset(term_weights.counts())
