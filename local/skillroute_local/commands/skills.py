"""`skillroute skills`: one in an editor, and a first set, proposed from the tools that are there."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from skillroute.core.caller import Caller

from skillroute_local.commands import skills_options as options
from skillroute_local.commands.eval_ import read_queries
from skillroute_local.commands.exit_codes import ExitCode
from skillroute_local.commands.output import counted, note, print_line
from skillroute_local.commands.shared import QUEUES, AsJson, parts_here, print_json
from skillroute_local.commands.skills_edit import edit
from skillroute_local.commands.skills_trial import Judged, Trial, find, reported, show_judged, show_moves
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillroute.wiring import Parts

    from skillroute_local.proposing.moves import Move
    from skillroute_local.proposing.proposal import Applied, Proposal

app = typer.Typer(
    help="Skills, and a first set of them.\n\n"
    "`edit` changes one in an editor. `propose` groups the tools by what they say of themselves and shows a skill for "
    "each group; with --apply it creates them. `skillroute list skills` shows those that there are.",
    no_args_is_help=True,
)

_SHOWN = 5
_COLUMNS = (
    *map(Column, ("tools", "servers", "alike", "id", "name")),
    Column("keywords", sentences=True),
    Column("examples", sentences=True),
)
_EXISTS = " (exists)"


app.command()(edit)


@app.command(epilog=QUEUES)
def propose(
    skills: options.Skills = None,
    min_tools: options.MinTools = 3,
    all_tools: options.AllTools = False,
    org: options.Organisation = None,
    apply: options.Apply = False,
    reclassify: options.Reclassify = False,
    queries: options.Queries = None,
    tolerance: options.Tolerance = 0.01,
    wait_s: options.WaitS = 900,
    yes: options.Yes = False,
    as_json: AsJson = False,
) -> None:
    """Propose skills for the tools that are in the catalogue.

    Tools are grouped by their embeddings; each group becomes a skill with an id, a name, a description, keywords and
    examples. A language model words them where one is configured (SKILLROUTE_CHAT_PROVIDER), else they are worded from
    the words that distinguish a group, and only groups whose name occurs in half of their tools are proposed.
    No group has more tools than twice the root of their number, or twenty. Tools too far from every group fit none. The
    same tools give the same groups. "alike" is the mean cosine of the tools of a group with their centre: where it is
    low, they share little.

    Without --apply nothing is written. With it the skills are created, except those whose id there is already, and the
    tools without any skill wait to be classified into the new ones: the classifier decides, not the grouping. Those
    that have one by a classifier's decision keep it; --reclassify shows those for which it would choose another one
    now, and with --apply they are classified again.
    """
    if apply and as_json and not yes:
        raise Misused("--json cannot ask for confirmation; pass --yes with --apply")
    if queries is not None and not apply:
        raise Misused("--queries measures what --apply does: give --apply too, or measure with `skillroute eval`")
    rows = read_queries(queries) if queries is not None else None
    applied, judged = None, None
    with parts_here() as parts:
        proposal = _propose(parts, org=org, all_tools=all_tools, min_tools=min_tools, skills=skills)
        moves = find(parts, proposal, org) if reclassify else []
        if not as_json:
            _show(proposal)
            show_moves(moves, asked=reclassify)
        if apply and (proposal.skills or moves) and (yes or _agreed(proposal, len(moves))):
            trial = Trial(parts, org, rows, tolerance=tolerance, wait_s=wait_s)
            applied, judged = trial.run(lambda: _apply(parts, proposal, org), moves)
    if as_json:
        print_json(_as_json(proposal, applied, moves, judged))
    elif applied is not None:
        _show_applied(applied, judged)
    elif proposal.skills or moves:
        print_line("nothing was written" + ("" if apply else "; --apply does it"))
    if judged is not None and judged.taken_back:
        raise typer.Exit(ExitCode.REFUSED)


def _propose(parts: Parts, *, org: str | None, all_tools: bool, min_tools: int, skills: int | None) -> Proposal:
    from skillroute.core.settings import ClassifierSettings  # noqa: PLC0415

    from skillroute_local.proposing.proposal import Wanted  # noqa: PLC0415
    from skillroute_local.proposing.propose import propose  # noqa: PLC0415 (numpy, for this command alone)

    timeout_s = parts.of(ClassifierSettings).chat_timeout_s
    with reported() as report:
        wanted = Wanted(org, all_tools, min_tools, skills)
        return propose(parts.database, parts.chat, wanted, timeout_s=timeout_s, report=report)


def _apply(parts: Parts, proposal: Proposal, org: str | None) -> Applied:
    from skillroute_local.proposing.propose import apply  # noqa: PLC0415

    with reported() as report:
        return apply(proposal, parts.database, parts.skills.create, parts.dispatch, Caller(org_id=org), report=report)


def _agreed(proposal: Proposal, moves: int) -> bool:
    new = sum(not proposed.exists for proposed in proposal.skills)
    if not sys.stdin.isatty():
        raise Misused("no terminal to confirm in; pass --yes with --apply")
    return typer.confirm(f"create {new} skills{f', classify {moves} tools again' if moves else ''}?", err=True)


def _show(proposal: Proposal) -> None:
    if not proposal.skills:
        print_line(_nothing(proposal))
        _say_without_model(proposal)
        return
    rows = []
    for proposed in proposal.skills:
        skill = proposed.skill
        rows.append(
            (
                str(proposed.tool_count),
                str(proposed.server_count),
                f"{proposed.cohesion:.2f}",
                f"{skill.id}{_EXISTS}" if proposed.exists else skill.id,
                skill.name,
                ", ".join(skill.keywords[:_SHOWN]),
                ", ".join(skill.examples[:_SHOWN]),
            )
        )
    show_table(_COLUMNS, rows)
    placed = sum(proposed.tool_count for proposed in proposal.skills)
    print_line(
        f"{counted(len(proposal.skills), 'skill')} for {placed} of {proposal.tool_count} tools; "
        f"silhouette {proposal.silhouette:.2f}"
    )
    if proposal.fits_none:
        more = ", ..." if len(proposal.fits_none) > _SHOWN else ""
        names = ", ".join(proposal.fits_none[:_SHOWN])
        print_line(f"{len(proposal.fits_none)} tools fit none: {names}{more}")
    if proposal.without_embedding:
        note(f"{proposal.without_embedding} tools have no vector yet and were left out")
    _say_without_model(proposal)
    for problem in proposal.problems:
        note(problem)


def _say_without_model(proposal: Proposal) -> None:
    if not proposal.by_words or not proposal.tool_count:
        return
    why = "no language model is configured (SKILLROUTE_CHAT_PROVIDER): names and descriptions are made of tools' words"
    if proposal.loose_groups:
        why += f"; not proposed: {counted(proposal.loose_groups, 'group')} of {proposal.loose_tools} tools, as no word "
        why += "says what half of them are for"
    note(why)


def _nothing(proposal: Proposal) -> str:
    if proposal.without_embedding and not proposal.tool_count:
        return f"{proposal.without_embedding} tools wait for the embedding model; there is nothing to group yet"
    if not proposal.tool_count:
        return "there are no tools without a skill; --all groups those that have one, too"
    if proposal.loose_groups:
        return f"{proposal.tool_count} tools, and no group of them has one purpose that words show"
    return f"{proposal.tool_count} tools, and no group of them is large enough: try a smaller --min-tools"


def _show_applied(applied: Applied, judged: Judged | None) -> None:
    for reason in applied.skipped:
        note(f"not created: {reason}")
    print_line(f"{counted(len(applied.created), 'skill')} created; {applied.queued} tools wait to be classified")
    if applied.queued and judged is None:
        print_line("`skillroute status` shows how many still wait")
    show_judged(judged)


def _as_json(
    proposal: Proposal, applied: Applied | None, moves: Sequence[Move], judged: Judged | None
) -> dict[str, Any]:
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
        "left_out": {"groups": proposal.loose_groups, "tools": proposal.loose_tools},
        "applied": {"created": applied.created, "skipped": applied.skipped, "queued": applied.queued}
        if applied
        else None,
        "moves": [asdict(move) for move in moves],
        "measured": asdict(judged) if judged else None,
    }
