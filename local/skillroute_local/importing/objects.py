"""Servers, agents and agent mail as the API takes them: one a line, or a document, as registries list theirs."""

from __future__ import annotations

from pathlib import Path

from skillroute_local.client import Written
from skillroute_local.importing.content import Broken, Lines, content_of, document_of
from skillroute_local.importing.items import rows_of_lines
from skillroute_local.importing.model import Reading, Refuse
from skillroute_local.importing.values import entries, rows_of


def read_named(path: Path, kind: Written, refuse: Refuse) -> Reading:
    """Return the objects of a file whose kind is named on the command line. Raises `Unreadable`."""
    content, partial = content_of(path), f"{kind} are not removed by an import"
    if isinstance(content, Broken):
        raise content.error
    if isinstance(content, Lines):
        return Reading(kind, rows_of_lines(kind, path, refuse), path.stat().st_size, partial=partial)
    named = entries(document_of(content), path.name, "agents" if kind == "mail_agents" else kind)
    rows = list(rows_of(kind, named, refuse))
    return Reading(kind, rows, sum(row.size for row in rows), partial=partial)
