"""The prefixes that models behind an OpenAI-compatible endpoint expect before queries and documents."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefix of a query, and that of a document."""

    query: str = ""
    document: str = ""


_E5 = Prefixes("query: ", "passage: ")
_E5_INSTRUCT = Prefixes("Instruct: Given a request, retrieve the tool that serves it\nQuery: ")
_OF_MODELS = (
    (re.compile(r"\be5-(?:small|base|large)-instruct\b"), _E5_INSTRUCT),
    (re.compile(r"\be5-(?:small|base|large)\b"), _E5),
)
"""Told by the model's name as its publishers spell it (https://huggingface.co/intfloat/multilingual-e5-large)."""


def prefixes_of(name: str) -> Prefixes:
    """Return the prefixes of a model; none where it has none, or is not known.

    Examples
    --------
    >>> prefixes_of("intfloat/multilingual-e5-large").document
    'passage: '
    >>> prefixes_of("BAAI/bge-m3")
    Prefixes(query='', document='')
    """
    return next((prefixes for pattern, prefixes in _OF_MODELS if pattern.search(name.lower())), Prefixes())
