"""Descriptions that are missing, too long, made of words for anything, or say what the name has said."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

from skillroute.catalogue.text import split_name

from skillroute_local.doctor.model import Catalogue, Code, Finding, Tool
from skillroute_local.doctor.word_lists import EMPTY_PHRASES, FILLER, GRAMMAR
from skillroute_local.doctor.words import Words, has_letters, normalised, words_of, words_of_name

READ_TOKENS = 256
"""The length of a tool's text that the default embedding model reads (docs/adr/0003)."""

TOO_LONG_TOKENS = 400
_MAX_WORDS_OF_A_REPETITION = 8
_CHARACTERS_OF_A_TOKEN = 4

# fmt: off
_PLACEHOLDERS = frozenset({
    "description", "description here", "fixme", "lorem ipsum", "missing", "n a", "na", "nil", "no description",
    "no description available", "no description provided", "none", "null", "placeholder", "tba", "tbd", "tbw", "test",
    "to be done", "todo", "todo add description", "todo description", "tool", "tool description", "undefined",
    "unknown",
})
# fmt: on


def is_empty(description: str) -> bool:
    """Return whether a description says nothing at all: no letter, or a placeholder such as TODO."""
    return not has_letters(description) or normalised(description) in _PLACEHOLDERS


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has: one for four letters of ASCII, or for one of any other script.

    Counted without a tokenizer, which callers of a deployment need not have. Runs of spaces are one.
    """
    line = " ".join(text.split())
    others = sum(not character.isascii() for character in line)
    return others + math.ceil((len(line) - others) / _CHARACTERS_OF_A_TOKEN)


def empty(catalogue: Catalogue) -> Iterator[Finding]:
    """Find tools without a description."""
    for tool in catalogue.tools:
        if is_empty(tool.description):
            stands = f"the description is only {tool.description.strip()!r}" if tool.description.strip() else ""
            yield Finding(
                Code.DESCRIPTION_EMPTY,
                75,
                stands or "there is no description: searches and agents have only the name and the arguments to go by",
                "say in one sentence what it does and what it works on, then when to use it",
                (tool,),
            )


def too_long(catalogue: Catalogue) -> Iterator[Finding]:
    """Find descriptions that are long enough to cost more than they give."""
    for tool in catalogue.tools:
        tokens = tokens_of(tool.description)
        if tokens > TOO_LONG_TOKENS:
            yield Finding(
                Code.DESCRIPTION_TOO_LONG,
                min(25, 10 + 5 * round(math.log2(tokens / TOO_LONG_TOKENS))),
                f"the description has about {tokens} tokens, which every answer with it costs; the default embedding "
                f"model reads the first {READ_TOKENS}",
                "keep what tells it from other tools, first of all; move examples, formats and notes on arguments "
                "into the input schema or the server's documentation",
                (tool,),
            )


def boilerplate(catalogue: Catalogue) -> Iterator[Finding]:
    """Find descriptions that would suit any tool, such as "This tool is used to perform operations"."""
    for tool in catalogue.tools:
        said = words_of(tool.description)
        if said and said <= _words_of_list(FILLER | EMPTY_PHRASES) and not said & _subject(tool):
            yield Finding(
                Code.DESCRIPTION_BOILERPLATE,
                75,
                f"the description would suit any tool: {' '.join(tool.description.split())!r}",
                "say in one sentence what it does and what it works on, then when to use it",
                (tool,),
            )


def repeats_name(catalogue: Catalogue) -> Iterator[Finding]:
    """Find short descriptions all of whose words are in the name and the server's name, phrases for anything aside."""
    for tool in catalogue.tools:
        if is_empty(tool.description) or not (said := words_of(tool.description)):
            continue
        left = said - _words_of_list(EMPTY_PHRASES)
        phrases = len(said) - len(left)
        if left and len(tool.description.split()) <= _MAX_WORDS_OF_A_REPETITION + 2 * phrases and left <= _own(tool):
            yield Finding(
                Code.DESCRIPTION_REPEATS_NAME,
                50,
                f"the description says no more than the name: {' '.join(tool.description.split())!r}",
                "describe what it returns or changes, of which objects, and when to use it",
                (tool,),
            )


def _subject(tool: Tool) -> Words:
    """Return the words of a name behind its verb: "Delete a task" says something of `delete_task`."""
    return words_of(" ".join(word for word in split_name(tool.name).split()[1:] if word not in GRAMMAR))


def _own(tool: Tool) -> Words:
    return words_of_name(tool.name) | words_of(tool.name) | words_of(tool.server)


@cache
def _words_of_list(words: frozenset[str]) -> Words:
    return words_of(" ".join(sorted(words)))
