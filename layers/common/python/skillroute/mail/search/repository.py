"""The questions of message search to PostgreSQL: full text, ILIKE, listings, and what results show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.postgres.database import Session
from skillroute.core.postgres.queries import statement
from skillroute.mail.model import DocKind
from skillroute.mail.search.model import SNIPPET, MailFilter
from skillroute.mail.text import search_query

_MAX_PATTERN_LENGTH = 128
"""Characters of a word that ILIKE looks for."""

_FOUND: dict[DocKind, str] = {"message": "found_messages", "agent": "found_agents", "project": "found_projects"}


class MailSearchRepository:
    """The questions of message search to PostgreSQL. Figures are the engine's own, best first, ties by id."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    @property
    def sql(self) -> Mapping[str, str]:
        """The statements by method, with placeholders: ``text_match``, ``like_fallback``, ``filter_only``.

        And ``newest``, which is ``filter_only`` by recency.
        """
        return {
            "text_match": statement("mail_full_text"),
            "like_fallback": statement("mail_containing"),
            "filter_only": statement("mail_listed"),
            "newest": statement("mail_newest"),
        }

    def full_text(self, terms: Sequence[str], where: MailFilter, *, limit: int | None) -> list[tuple[int, float]]:
        """Return documents that have any of the terms. Raises `StatementRejected` for what full text cannot ask."""
        rows = self._run("mail_full_text", query=search_query(terms), limit=limit, **_conditions(where))
        return [(id_, float(rank)) for id_, rank in rows[0][0] or ()]

    def containing(self, terms: Sequence[str], where: MailFilter, *, limit: int | None) -> list[tuple[int, float]]:
        """Return documents that contain every one of the terms, literally, in any case, each with 1.0, by id."""
        patterns = [f"%{_literal(term)}%" for term in terms]
        rows = self._run("mail_containing", patterns=patterns, limit=limit, **_conditions(where))
        return [(id_, float(rank)) for id_, rank in rows[0][0] or ()]

    def listed(
        self, where: MailFilter, *, newest_first: bool, after: tuple[int, int] | None, limit: int
    ) -> list[tuple[int, int]]:
        """Return id and created_ts of what passes: by id, or the newest first; after (created_ts, id)."""
        after_ts, after_id = after or (None, None)
        position = {"after_id": after_id} | ({"after_ts": after_ts} if newest_first else {})
        name = "mail_newest" if newest_first else "mail_listed"
        rows = self._run(name, limit=limit, **position, **_conditions(where))
        return [(id_, created_ts) for id_, created_ts in rows[0][0] or ()]

    def count(self, where: MailFilter) -> int:
        """Return how many documents pass."""
        number: int = self._run("mail_count", **_conditions(where))[0][0]
        return number

    def created(self, ids: Sequence[int]) -> dict[int, int]:
        """Return created_ts of the documents that exist."""
        return dict(self._run("mail_created", ids=list(ids))[0][0] or ())

    def outside(self, ids: Sequence[int], allowed: Sequence[int]) -> set[int]:
        """Return which of these documents belong to none of the allowed projects."""
        return set(self._run("mail_outside", ids=list(ids), allowed=list(allowed))[0][0] or ())

    def found(self, kind: DocKind, ids: Sequence[int], *, room: int) -> tuple[dict[int, dict[str, Any]], int]:
        """Return what results show, by id, and how many of the ids were looked at until there was no room.

        The fields of `MessageResult`, and `bytes`: what they have of text. What is gone is left out. The first one has
        room whatever it has.
        """
        extra = {"snippet": SNIPPET} if kind == "message" else {}
        [[rows, first_without]] = self._run(_FOUND[kind], ids=list(ids), room=room, **extra)
        found = {row["id"]: row for row in rows or ()}
        for row in found.values():
            recipients = row.pop("recipients", None)
            if kind == "message":
                for role in ("to", "cc", "bcc"):
                    row[role] = [name for given, name in recipients or () if given == role]
        return found, len(ids) if first_without is None else first_without - 1

    def texts(self, ids: Sequence[int]) -> dict[int, str]:
        """Return what is searched of documents, for a reranker: title and body, without secrets."""
        return {row[0]: row[1] for row in self._run("mail_texts", ids=list(ids))}


def _conditions(where: MailFilter) -> dict[str, object]:
    return {
        "kind": where.kind,
        "org_id": where.org_id,
        "project_ids": None if where.project_ids is None else list(where.project_ids),
        "importance": list(where.importance) or None,
        "sender": where.sender,
        "recipients": list(where.recipients) or None,
        "party": where.party,
        "thread_id": where.thread_id,
        "ack_required": where.ack_required,
        "min_ts": where.min_ts,
        "max_ts": where.max_ts,
    }


def _literal(term: str) -> str:
    """Escape what ILIKE would take for a pattern, of as much as distinguishes one word from the others.

    ILIKE compares the whole pattern at each place of a text, so a pattern of 10,000 letters a costs that many looks at
    each letter of a text of letters a.
    """
    return re.sub(r"([\\%_])", r"\\\1", term[:_MAX_PATTERN_LENGTH])
