"""`skillroute learn run`: learning by hand, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillroute_local.commands.eval_ import quiet
from skillroute_local.commands.output import counted, print_line
from skillroute_local.commands.shared import AsJson, err, parts_here, print_json
from skillroute_local.commands.tables import Column, show_table

if TYPE_CHECKING:
    from skillroute.learning.learn.learn import LearnReport

DryRun = Annotated[bool, typer.Option("--dry-run", help="Measure and report; store nothing.")]
Organisation = Annotated[
    str | None,
    typer.Option("--org", metavar="ORG", help="The organisation that learns; default: the global catalogue."),
]

_COMPARISONS = {"compared_with_live": "what was live", "compared_with_none": "nothing learned"}


def run(dry_run: DryRun = False, org: Organisation = None, as_json: AsJson = False) -> None:
    """Learn of receipts and outcomes now; what is measured to find better goes live.

    Searches are split in time: what the first ones teach is measured on the last ones. It runs in this process, over
    the database of the Skillroute that runs here, or the one that the environment names. `skillroute learn` alone is
    the same.
    """
    if org == "":
        org = None
    with quiet(), parts_here(queues=False, query_cache_size=0) as parts, err.status("learning"):
        report = parts.learn(org, dry_run=dry_run)
    if as_json:
        print_json(
            {
                "org_id": report.org_id,
                "dry_run": dry_run,
                "state_id": report.state_id,
                "is_live": report.is_live and not dry_run,
                "is_better": report.is_live,
                "reason": report.reason,
            }
            | {name: value for name, value in report.details.items() if name != "reason"}
        )
        return
    _show(report, dry_run=dry_run)


def _show(report: LearnReport, *, dry_run: bool) -> None:
    found = report.details
    print_line(
        f"{counted(found['requests'], 'request')} of {counted(found['tools'], 'tool')} learned of "
        f"{counted(found['counted'], 'outcome')} that count, of {found['outcomes']}: "
        f"{counted(found['searches'], 'search', 'searches')}, {counted(found['callers'], 'caller')}"
    )
    for name, other in _COMPARISONS.items():
        if name in found and (name == "compared_with_live" or found[name] != found["compared_with_live"]):
            print_line("")
            print_line(f"compared with {other}, on {counted(found['held_out'], 'later search', 'later searches')}:")
            show_comparison(found[name])
    if any(name in found for name in _COMPARISONS):
        print_line("")
    print_line(f"{_result(report, dry_run=dry_run)}: {report.reason}")


def _result(report: LearnReport, *, dry_run: bool) -> str:
    if dry_run:
        return "would go live; nothing was stored" if report.is_live else "would not go live; nothing was stored"
    if report.state_id is None:
        return "nothing was stored"
    return f"state {report.state_id} is live" if report.is_live else f"state {report.state_id} is kept, not live"


def show_comparison(comparison: dict[str, Any]) -> None:
    """Print the measures of a state next to those of what it was compared with."""
    rows = []
    for name, before in comparison["before"].items():
        change = comparison["differences"][name]
        rows.append(
            (
                name,
                f"{before:.3f}",
                f"{comparison['after'][name]:.3f}",
                f"{change['mean']:+.3f}",
                f"{change['low']:+.3f} to {change['high']:+.3f}",
            )
        )
    show_table([*map(Column, ("measure", "before", "after", "change", "95 % interval"))], rows)
