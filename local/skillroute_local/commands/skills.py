"""`skillroute skills`: a first set of skills, proposed from the tools that are there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from skillroute.core.caller import Caller

from skillroute_local.commands.shared import QUEUES, AsJson, err, out, parts_here, print_json
from skillroute_local.errors import LocalError

if TYPE_CHECKING:
    from skillroute.wiring import Parts

    from skillroute_local.proposing.proposal import Applied, Proposal, Report

app = typer.Typer(
    help="Skills from the tools that are there.\n\n"
    "`propose` groups the tools by what they say of themselves and shows a skill for each group; with --apply it "
    "creates them.",
    no_args_is_help=True,
)

_SHOWN = 5
_EXISTS = " (exists)"


@app.callback()
def skills() -> None:
    """Keep `propose` a command of its own, though it is the only one."""


@app.command(epilog=QUEUES)
def propose(
    skills: Annotated[
        int | None,
        typer.Option(help="How many skills at most; default: as many as tell the tools apart well.", min=1, max=1000),
    ] = None,
    min_tools: Annotated[int, typer.Option(help="A group of fewer tools is no skill.", min=1)] = 3,
    all_tools: Annotated[
        bool, typer.Option("--all", help="Group all tools; default: only those that have no skill.")
    ] = False,
    org: Annotated[str | None, typer.Option(help="An organisation's tools and skills; default: global ones.")] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Create the skills, and classify the tools that have none.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --apply: do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Propose skills for the tools that are in the catalogue.

    Tools are grouped by their embeddings; each group becomes a skill with an id, a name, a description, keywords and
    examples. A language model words them where one is configured (SKILLROUTE_CHAT_PROVIDER), else they are worded from
    what tells the group's words from the others'. Tools too far from every group fit none. The same tools give the same
    groups. "alike" is the mean cosine of the tools of a group with their centre: where it is low, they share little.

    Without --apply nothing is written. With it the skills are created, except those whose id there is already, and the
    tools without any skill wait to be classified into the new ones: the classifier decides, not the grouping.
    """
    if apply and as_json and not yes:
        raise LocalError("--json cannot ask: give --yes with --apply")
    with parts_here() as parts:
        proposal = _propose(parts, org=org, all_tools=all_tools, min_tools=min_tools, skills=skills)
        if not as_json:
            _show(proposal)
        agreed = apply and bool(proposal.skills) and (yes or _agreed(proposal))
        applied = _apply(parts, proposal, org) if agreed else None
    if as_json:
        print_json(_as_json(proposal, applied))
    elif applied is not None:
        _show_applied(applied)
    elif proposal.skills:
        out.print("nothing was written" + ("" if apply else "; --apply creates them"), highlight=False)


def _propose(parts: Parts, *, org: str | None, all_tools: bool, min_tools: int, skills: int | None) -> Proposal:
    from skillroute.core.settings import ClassifierSettings  # noqa: PLC0415

    from skillroute_local.proposing.proposal import Wanted  # noqa: PLC0415
    from skillroute_local.proposing.propose import propose  # noqa: PLC0415 (numpy, for this command alone)

    timeout_s = parts.of(ClassifierSettings).chat_timeout_s
    with _reported() as report:
        wanted = Wanted(org, all_tools, min_tools, skills)
        return propose(parts.database, parts.chat, wanted, timeout_s=timeout_s, report=report)


def _apply(parts: Parts, proposal: Proposal, org: str | None) -> Applied:
    from skillroute_local.proposing.propose import apply  # noqa: PLC0415

    with _reported() as report:
        return apply(proposal, parts.database, parts.create_skill, parts.dispatch, Caller(org_id=org), report=report)


@contextmanager
def _reported() -> Iterator[Report]:
    """Show a bar for each thing that is done, on stderr, so that the answer can be piped."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True) as progress:
        bars: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = progress.add_task(what)
            progress.update(bars[what], completed=done, total=total)

        yield report


def _agreed(proposal: Proposal) -> bool:
    new = sum(not proposed.exists for proposed in proposal.skills)
    if not sys.stdin.isatty():
        raise LocalError("nobody can be asked here: give --yes with --apply")
    return typer.confirm(f"create {new} skills?", err=True)


def _show(proposal: Proposal) -> None:
    if not proposal.skills:
        out.print(_nothing(proposal), highlight=False)
        return
    longest = sum(
        max(
            len(getattr(proposed.skill, field)) + (field == "id" and proposed.exists) * len(_EXISTS)
            for proposed in proposal.skills
        )
        for field in ("id", "name")
    )
    table = Table("tools", "servers", "alike", "id", "name", pad_edge=False, box=None)
    for shortened in ("keywords", "examples"):
        table.add_column(shortened, no_wrap=True, max_width=max(12, (out.width - longest - 30) // 2))
    for proposed in proposal.skills:
        skill = proposed.skill
        id_ = f"{skill.id}{_EXISTS}" if proposed.exists else skill.id
        keywords, examples = ", ".join(skill.keywords[:_SHOWN]), ", ".join(skill.examples[:_SHOWN])
        # What others wrote is no markup of ours, whatever brackets stand in it.
        numbers = (str(proposed.tool_count), str(proposed.server_count), f"{proposed.cohesion:.2f}")
        table.add_row(*numbers, *map(escape, (id_, skill.name, keywords, examples)))
    out.print(table)
    placed = sum(proposed.tool_count for proposed in proposal.skills)
    out.print(
        f"{len(proposal.skills)} skills for {placed} of {proposal.tool_count} tools; "
        f"silhouette {proposal.silhouette:.2f}",
        highlight=False,
    )
    if proposal.fits_none:
        more = ", ..." if len(proposal.fits_none) > _SHOWN else ""
        names = ", ".join(proposal.fits_none[:_SHOWN])
        out.print(f"{len(proposal.fits_none)} tools fit none: {names}{more}", highlight=False, markup=False)
    if proposal.without_embedding:
        err.print(f"{proposal.without_embedding} tools have no vector yet and were left out", highlight=False)
    for problem in proposal.problems:
        err.print(problem, highlight=False, markup=False)


def _nothing(proposal: Proposal) -> str:
    if proposal.without_embedding and not proposal.tool_count:
        return f"{proposal.without_embedding} tools wait for the embedding model; there is nothing to group yet"
    if not proposal.tool_count:
        return "there are no tools without a skill; --all groups those that have one, too"
    return f"{proposal.tool_count} tools, and no group of them is large enough: try a smaller --min-tools"


def _show_applied(applied: Applied) -> None:
    for reason in applied.skipped:
        err.print(f"not created: {reason}", highlight=False, markup=False)
    out.print(f"{len(applied.created)} skills created; {applied.queued} tools wait to be classified", highlight=False)
    if applied.queued:
        out.print("`skillroute status` shows how many still wait", highlight=False)


def _as_json(proposal: Proposal, applied: Applied | None) -> dict[str, Any]:
    return {
        "skills": [
            {
                **proposed.skill.model_dump(mode="json", exclude={"org_id", "parent_domain"}),
                "tool_count": proposed.tool_count,
                "server_count": proposed.server_count,
                "cohesion": proposed.cohesion,
                "worded_by": proposed.worded_by,
                "exists": proposed.exists,
            }
            for proposed in proposal.skills
        ],
        "tool_count": proposal.tool_count,
        "fits_none": proposal.fits_none,
        "without_embedding": proposal.without_embedding,
        "silhouette": proposal.silhouette,
        "problems": proposal.problems,
        "applied": asdict(applied) if applied else None,
    }
