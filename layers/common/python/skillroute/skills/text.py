"""Words that tools and skills have in common."""

from __future__ import annotations

import re

from skillroute.catalogue.text import split_name
from skillroute.skills.classification.model import ToolProfile

_WORD = re.compile(r"[^\W_]+")
_MAX_DESCRIPTION_LENGTH = 2000  # of what a tool says of itself (skill-contract EC-006)
# fmt: off
# Words without a subject: that a description has them says nothing.
_STOP = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "if", "in", "is", "it", "its", "of", "on",
    "or", "that", "the", "their", "this", "to", "use", "used", "using", "was", "when", "which", "with", "you", "your",
})
# fmt: on


def stem(word: str) -> str:
    """Take the plural off an English word, roughly: both sides of a comparison are treated alike.

    Examples
    --------
    >>> [stem(word) for word in ("invoices", "queries", "status", "access", "k8s")]
    ['invoice', 'query', 'status', 'access', 'k8s']
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words, lower case, without those that mean nothing."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP)


def term_stems(term: str) -> frozenset[str]:
    """Return the stems that a keyword or a name asks for: all of them must occur.

    Examples
    --------
    >>> sorted(term_stems("Tasks & Projects"))
    ['project', 'task']
    """
    return stems(split_name(term))


def name_stems(tool: ToolProfile) -> frozenset[str]:
    """Return the stems of a tool's name and of its server's."""
    return stems(f"{split_name(tool.name)} {tool.server}")


def description_stems(tool: ToolProfile) -> frozenset[str]:
    """Return the stems of a tool's description, as far as it is read."""
    return stems(tool.description[:_MAX_DESCRIPTION_LENGTH])
