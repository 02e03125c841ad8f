"""The questions of message search to PostgreSQL: full text, ILIKE, listings, and what results show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.queries import statement
from skillroute.mail.model import DocKind
from skillroute.mail.search.model import SNIPPET, MailFilter
from skillroute.mail.text import search_query

_LONGEST_PATTERN = 128
"""Characters of a word that ILIKE looks for."""

_FOUND: dict[DocKind, str] = {"message": "found_messages", "agent": "found_agents", "project": "found_projects"}


class PostgresMailSearch:
    """`ports.MailSearchRepository` over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._run = connection.run

    @property
    def sql(self) -> Mapping[str, str]:
        return {
            "text_match": statement("mail_full_text"),
            "like_fallback": statement("mail_containing"),
            "filter_only": statement("mail_listed"),
            "newest": statement("mail_newest"),
        }

    def full_text(self, terms: Sequence[str], where: MailFilter, *, limit: int | None) -> list[tuple[int, float]]:
        rows = self._run("mail_full_text", query=search_query(terms), limit=limit, **_conditions(where))
        return [(id_, float(rank)) for id_, rank in rows[0][0] or ()]

    def containing(self, terms: Sequence[str], where: MailFilter, *, limit: int | None) -> list[tuple[int, float]]:
        patterns = [f"%{_literal(term)}%" for term in terms]
        rows = self._run("mail_containing", patterns=patterns, limit=limit, **_conditions(where))
        return [(id_, float(rank)) for id_, rank in rows[0][0] or ()]

    def listed(
        self, where: MailFilter, *, newest_first: bool, after: tuple[int, int] | None, limit: int
    ) -> list[tuple[int, int]]:
        after_ts, after_id = after or (None, None)
        position = {"after_id": after_id} | ({"after_ts": after_ts} if newest_first else {})
        name = "mail_newest" if newest_first else "mail_listed"
        rows = self._run(name, limit=limit, **position, **_conditions(where))
        return [(id_, created_ts) for id_, created_ts in rows[0][0] or ()]

    def count(self, where: MailFilter) -> int:
        number: int = self._run("mail_count", **_conditions(where))[0][0]
        return number

    def created(self, ids: Sequence[int]) -> dict[int, int]:
        return dict(self._run("mail_created", ids=list(ids))[0][0] or ())

    def outside(self, ids: Sequence[int], allowed: Sequence[int]) -> set[int]:
        return set(self._run("mail_outside", ids=list(ids), allowed=list(allowed))[0][0] or ())

    def found(self, kind: DocKind, ids: Sequence[int], *, room: int) -> tuple[dict[int, dict[str, Any]], int]:
        extra = {"snippet": SNIPPET} if kind == "message" else {}
        [[rows, first_without]] = self._run(_FOUND[kind], ids=list(ids), room=room, **extra)
        found = {each["id"]: each for each in rows or ()}
        for each in found.values():
            recipients = each.pop("recipients", None)
            if kind == "message":
                for role in ("to", "cc", "bcc"):
                    each[role] = [name for given, name in recipients or () if given == role]
        return found, len(ids) if first_without is None else first_without - 1

    def texts(self, ids: Sequence[int]) -> dict[int, str]:
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
    """Escape what ILIKE would take for a pattern, of as much as tells one word from the others.

    ILIKE compares the whole pattern at each place of a text, so a pattern of 10,000 letters a costs that many looks at
    each letter of a text of letters a.
    """
    return re.sub(r"([\\%_])", r"\\\1", term[:_LONGEST_PATTERN])
