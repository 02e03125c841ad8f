"""Redaction: which parts of a result are shown, and which a placeholder stands for (message-search, section 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skillroute.mail.model import DocKind
from skillroute.mail.search.answers import MessageResult
from skillroute.mail.search.model import MAX_PROJECTS, Method, Redaction
from skillroute.mail.search.scope import Projects
from skillroute.mail.search.scores import Match

_BODY: dict[DocKind, tuple[str, ...]] = {
    "message": ("key", "subject", "snippet"),
    "agent": ("description",),
    "project": ("key", "name", "description"),
}
_NAMES: dict[DocKind, tuple[str, ...]] = {
    "message": ("sender", "to", "cc", "bcc"),
    "agent": ("name", "contact"),
    "project": (),
}


def result(
    kind: DocKind,
    match: Match,
    row: dict[str, Any],
    rights: Projects,
    redaction: Redaction | None,
    explained: Method | None,
) -> MessageResult:
    """Return a result.

    Parameters
    ----------
    row : dict
        What is stored, by the fields of `MessageResult`.
    rights : tuple of int or None
        The projects that the caller may see: of an agent's no others are shown.
    redaction : Redaction or None
        None for what lies within the scope.
    explained : Method or None
        How it was found, where that is to be shown.
    """
    shown = dict(row) if redaction is None else _redacted(kind, row, redaction)
    if rights is not None and kind == "agent":
        shown["project_ids"] = [project_id for project_id in shown["project_ids"] if project_id in rights]
    if kind == "agent":
        shown["project_ids"] = shown["project_ids"][:MAX_PROJECTS]
    if explained is not None:
        shown |= {"raw_score": match.raw, "reason_codes": _codes(match, explained), "score_factors": match.factors}
    return MessageResult.model_validate({**shown, "doc_kind": kind, "score": match.score})


def _redacted(kind: DocKind, row: dict[str, Any], redaction: Redaction) -> dict[str, Any]:
    hidden: list[str] = []
    if redaction.redact_body:
        hidden += _BODY[kind]
    if redaction.redact_agent_names:
        hidden += _NAMES[kind]
    if redaction.redact_thread_ids and row.get("thread_id") is not None:
        hidden.append("thread_id")
    return {**row, **_hidden(row, hidden, redaction.placeholder), "redacted": True}


def _hidden(row: dict[str, Any], names: Iterable[str], placeholder: str) -> dict[str, Any]:
    return {name: [placeholder] * len(row[name]) if isinstance(row[name], list) else placeholder for name in names}


def _codes(match: Match, method: Method) -> list[str]:
    """Return why something was found."""
    if method == "filter_only":
        return ["filter_match"]
    by_words = "like_match" if method == "like_fallback" else "lexical_match"
    conditions = {
        by_words: match.lexical_rank is not None,
        "semantic_match": match.semantic_rank is not None,
        "reranked": match.is_reranked,
    }
    return [code for code, applies in conditions.items() if applies]
