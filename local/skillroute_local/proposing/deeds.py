"""Finds the verbs and objects of a group's tools, and how many of them its name covers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from skillroute.catalogue.text import VERBS, split_name
from skillroute.skills.suggestions.drafts import MORE_VERBS

from skillroute_local.proposing.words import ToolText, singular, topic_text

_WORD = re.compile(r"[^\W\d_][^\W_]*")
_MAX_DEEDS = 3
_NO_DEEDS = frozenset({"bulk", "execute", "fetch", "make", "manage", "query", "read", "retrieve", "run", "set", "show"})
"""Such as nobody says of a purpose where there are others."""


def deeds_of(group: Sequence[ToolText]) -> tuple[str, ...]:
    """Return the verbs that most names of a group begin with, three at most, the most frequent first.

    Examples
    --------
    >>> tools = [ToolText(f"{verb}_order") for verb in ("create", "list", "create", "get")]
    >>> deeds_of(tools)
    ('create', 'get', 'list')
    """
    counts: Counter[str] = Counter()
    for tool in group:
        # Behind a prefix of the server's, such as the product of `zia_list_rules`.
        words = _WORD.findall(split_name(tool.name).lower())
        counts.update([word for word in words[:-1] if word in VERBS | MORE_VERBS][:1])
    ranked = sorted(counts, key=lambda verb: (verb in _NO_DEEDS, -counts[verb], verb))
    return tuple(ranked[:_MAX_DEEDS])


def covered(group: Sequence[ToolText], name: str) -> float:
    """Return the share of a group's tools that speak of what its name says: one of its phrases, in whole.

    Examples
    --------
    >>> covered([ToolText("list_pull_requests"), ToolText("x")], "Pull Requests")
    0.5
    """
    texts = [set(_words(f"{split_name(tool.name)} {topic_text(tool.description)}")) for tool in group]
    known = {word for text in texts for word in text}
    said = [_singulars(text, known) for text in texts]
    # The name of a product may stand before it.
    servers = {tool.server or "" for tool in group}
    product = set(_words(split_name(servers.pop()))) if len(servers) == 1 else set()
    phrases = [_singulars(set(_words(phrase)), known) for phrase in name.split(" & ")]
    phrases = [phrase - product or phrase for phrase in phrases]
    return sum(any(phrase <= words for phrase in phrases) for words in said) / len(group)


def _singulars(words: set[str], known: Collection[str]) -> set[str]:
    return {singular(word, known) for word in words}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
