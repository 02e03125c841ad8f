"""When a query contains a tool's exact name (decisions 11)."""

from __future__ import annotations

import re

LONGEST_NAME_WORDS = 12
"""Runs of more words are not looked for. Names of tools are one word nearly always, those of prompts a few."""

_MOST_QUERY_WORDS = 200
_EDGE_PUNCTUATION = re.compile(r"^[^\w]+|[^\w]+$")


def name_key(name: str) -> str:
    """Return what a name is recognised by: its words in lower case, without punctuation at their edges.

    Names and queries go through the same reading, so a name is found however it is quoted or followed by a comma.

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
    words = _words(query)[:_MOST_QUERY_WORDS]
    runs = (
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + LONGEST_NAME_WORDS, len(words)) + 1)
    )
    return list(dict.fromkeys(runs)) or [query.casefold()]


def _words(text: str) -> list[str]:
    stripped = (_EDGE_PUNCTUATION.sub("", word) for word in text.casefold().split())
    return [word for word in stripped if word]
