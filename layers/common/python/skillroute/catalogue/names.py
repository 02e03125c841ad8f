"""The exact names that a query may contain: of tools (decision 11), of servers and of agents (docs/registry.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_NAME_WORDS = 12
"""Runs of more words are not looked for. Names of tools are one word nearly always, those of prompts a few."""

LONGEST_KEY = 3 * 256
"""Characters: a name has 256 at most, and case folding makes three of one. Longer runs are not looked for."""

_MOST_QUERY_WORDS = 200
# A word without the punctuation at its edges. It matches where the first letter is or nowhere, so the time grows with
# the word's length. "[^\w]+$" starts again at each character in front of a letter: 1.65 s for 10,000 of them.
_CORE = re.compile(r"\w.*\w|\w", re.DOTALL)


def name_key(name: str) -> str:
    """Return what a name is recognised by: its words in lower case, without punctuation at their edges.

    Names and queries go through the same reading, so a name is found however it is quoted or followed by a comma.

    It is stored, in `mcp.tools` and `mcp.registry_entities`, and writes of unchanged rows leave it as it is: another
    rule needs a migration that writes the column of all rows again.

    Examples
    --------
    >>> name_key("@acme/Deploy"), name_key("my  tool"), name_key("C++"), name_key("***")
    ('acme/deploy', 'my tool', 'c', '***')
    """
    return " ".join(_words(name)) or name.casefold()


def possible_names(query: str) -> list[str]:
    """Return the keys of all names that the query may contain: every run of its words.

    Examples
    --------
    >>> possible_names("use create_event, please")
    ['use', 'use create_event', 'use create_event please', 'create_event', 'create_event please', 'please']
    """
    words = _words(query)
    if not words:
        return [query.casefold()]
    return list(dict.fromkeys(_runs(words[:_MOST_QUERY_WORDS])))


def _runs(words: list[str]) -> Iterator[str]:
    for start in range(len(words)):
        run = ""
        for word in words[start : start + LONGEST_NAME_WORDS]:
            run = f"{run} {word}" if run else word
            if len(run) > LONGEST_KEY:
                break
            yield run


def _words(text: str) -> list[str]:
    cores = (_CORE.search(word) for word in text.casefold().split())
    return [core[0] for core in cores if core]
