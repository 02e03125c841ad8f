"""Agent Skills that their sources no longer have, and the resources that they were before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus

from skillroute_local.errors import Refused
from skillroute_local.importing.agent_skills import skill_path
from skillroute_local.importing.model import Reading
from skillroute_local.importing.pruning import Pruning, too_many
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.source import Source
from skillroute_local.importing.stored import Catalogue, Stored


def gone_skills(
    sources: Sequence[Source], catalogue: Catalogue, pruning: Pruning, report: ImportReport
) -> Iterator[tuple[str, Stored]]:
    """Yield the stored Agent Skills that no source has, of those that one lists in full, with its name.

    Why something stays is noted in the report; that more is gone than may be removed is a problem of it.
    """
    for source in sources:
        reading = source.reading
        if reading is None or reading.kind != "agent_skills":
            continue
        if why := _why_not(source, reading):
            report.notes.append(f"{source.name}: nothing is removed: {why}")
            continue
        other = next((each for each in sources if _may_have_more(each, reading.below)), None)
        if other is not None:
            report.notes.append(f"{source.name}: nothing is removed: {other.name} has only a part of {reading.below}")
            continue
        below = f"{reading.below}/"
        stored = catalogue.agent_skills().values()
        there = _removable([row for row in stored if row["path"].startswith(below)], catalogue)
        rows = [row for row in there if not any(each.seen.has_skill(row["path"]) for each in sources)]
        if problem := too_many(len(rows), len(there), f"Agent Skills below {below}", pruning):
            report.problems.append(f"{source.name}: {problem}")
            continue
        yield from ((source.name, row) for row in rows)


def former_resources(
    sources: Sequence[Source], catalogue: Catalogue, report: ImportReport
) -> Iterator[tuple[str, Stored]]:
    """Yield the resources as which former imports wrote what are Agent Skills now, with their source's name."""
    for source in sources:
        reading = source.reading
        if reading is None or reading.former is None or not source.seen.paths:
            continue
        server, kind, tag = reading.former
        try:
            catalogue.agent_skills()  # shows whether the caller has something of an organisation
            rows = [row for row in catalogue.items(server).values() if row["type"] == kind and tag in row["tags"]]
        except Refused as error:
            if error.status != HTTPStatus.FORBIDDEN:  # who may write need not be allowed to read
                raise
            report.notes.append(f"{source.name}: what former imports wrote of it cannot be listed: {error.detail}")
            return
        yield from ((source.name, row) for row in _removable(rows, catalogue))


def _why_not(source: Source, reading: Reading) -> str | None:
    """Return why nothing of a source can be taken for gone; None where it can."""
    if reading.partial:
        return reading.partial
    if reading.below is None:
        return "its skills are below no name of their own: give them one with --server"
    if None in source.seen.refused:
        return "a part of it could not be read, so what is missing may be there"
    return None if source.seen.paths else "it lists no Agent Skill"


def _may_have_more(source: Source, below: str | None) -> bool:
    """Return whether a source may have skills below a name that were not read."""
    reading = source.reading
    if reading is not None and reading.kind == "agent_skills" and reading.below == below and reading.partial:
        return True
    # A server that failed, or of which something was refused, is known by its name.
    return any(isinstance(about, str) and skill_path(about) == below for about in source.seen.refused)


def _removable(rows: Iterable[Stored], catalogue: Catalogue) -> list[Stored]:
    """Return what is the caller's: who has something of an organisation cannot remove what is global."""
    return [row for row in rows if row["org_id"] is not None or not catalogue.has_own]
