"""The part of a message that a query is about, without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from skillroute.core.postgres.database import Database
from skillroute.mail.search.model import SNIPPET
from skillroute.mail.search.repository import MailSearchRepository
from skillroute.mail.text import query_terms

MAX_SNIPPETS = 50
"""Results of an answer that have one, the best: to read the texts of 1,000 messages takes long."""

_BEFORE = 80  # characters before the word that was found


def snippets(database: Database, ids: Sequence[int], query: str) -> Mapping[int, str]:
    """Return snippets of the first messages, by id. Raises `DatabaseUnavailable`.

    They are cut out of what is searched, in which no secret is left, and which is there for what a search has found.
    """
    if not ids:
        return {}
    texts = database.read(lambda session: MailSearchRepository(session).texts(ids[:MAX_SNIPPETS]))
    terms = query_terms(query)
    words = sorted(terms, key=terms.__getitem__, reverse=True)  # stable: else in the order of the query
    return {id_: snippet(text.partition("\n")[2], words) for id_, text in texts.items()}


def snippet(body: str, words: Sequence[str]) -> str:
    """Return a body around the first of the words that it has, the weightiest first; else its beginning.

    Examples
    --------
    >>> snippet("Water the roses.", ["roses"])
    'Water the roses.'
    """
    found = (re.search(rf"(?<!\w){re.escape(word)}", body, re.IGNORECASE) for word in words)
    place = next((match.start() for match in found if match is not None), 0)
    start = 0 if place <= _BEFORE or len(body) <= SNIPPET else body.find(" ", place - _BEFORE, place) + 1 or place
    text = " ".join(body[start : start + SNIPPET].split())
    return f"{'…' if start else ''}{text}{'…' if start + SNIPPET < len(body) else ''}"
