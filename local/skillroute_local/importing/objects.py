"""Servers, agents and agent mail as the API takes them: one a line, or a document, as registries list theirs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skillroute_local.client import Written
from skillroute_local.documents import read_objects
from skillroute_local.importing.model import Reading, Refuse, Row


def read_named(path: Path, kind: Written, refuse: Refuse) -> Reading:
    """Return the objects of a file whose kind is named on the command line."""
    return Reading(kind, _rows(path, kind, refuse), path.stat().st_size, partial=f"{kind} are not removed by an import")


def _rows(path: Path, kind: Written, refuse: Refuse) -> Iterator[Row]:
    within = "agents" if kind == "mail_agents" else kind
    for row in read_objects(path, within, lambda problem: refuse(*problem.split(": ", 1))):
        yield Row(kind, row.where, row.value, row.size)
