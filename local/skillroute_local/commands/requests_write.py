"""`skillroute requests write`: requests by a language model, for the tools that are there."""

from __future__ import annotations

from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from skillroute.core.errors.model import DependencyUnavailable

from skillroute_local.commands.exit_codes import end
from skillroute_local.commands.output import counted, note, print_line
from skillroute_local.commands.shared import AsJson, parts_here, print_json, progress_bar
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillroute.core.chat.port import ChatModel
    from skillroute.skills.tool_requests.ask import Estimate
    from skillroute.skills.tool_requests.in_bulk import BulkReport, WantedTools
    from skillroute.wiring import Parts

Server = Annotated[str | None, typer.Option(help="Only tools of this server.")]
Organisation = Annotated[str | None, typer.Option(help="An organisation's own tools; default: global ones.")]
Limit = Annotated[int | None, typer.Option(help="So many tools at most.", min=1)]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Only say how many tools, calls and tokens it would be."),
]
Again = Annotated[
    bool,
    typer.Option(
        "--again",
        help="Also replace requests that a language model wrote. An interrupted run begins again from the first tool.",
    ),
]

NO_MODEL = (
    "no language model is configured: name one with SKILLROUTE_CHAT_PROVIDER and SKILLROUTE_CHAT_MODEL, or write "
    "requests yourself with `skillroute requests set` or `skillroute import`"
)


def write(
    server: Server = None,
    limit: Limit = None,
    dry_run: DryRun = False,
    again: Again = False,
    org: Organisation = None,
    as_json: AsJson = False,
) -> None:
    """Have a language model write three requests for each tool that has none.

    The model is the one of SKILLROUTE_CHAT_PROVIDER and SKILLROUTE_CHAT_MODEL. What it writes is kept unless it is a
    copy of what the tool says itself, or nearer to another tool. Requests of people and imported ones stay as they are.
    What is done stays done: after an interruption the same command goes on.
    """
    from skillroute.skills.tool_requests.in_bulk import BulkReport, WantedTools  # noqa: PLC0415

    wanted = WantedTools(org, server, limit, again)
    report = BulkReport()
    with parts_here() as parts, _chat_of(parts) as chat:
        if chat is None and not dry_run:
            raise Misused(NO_MODEL)
        found = parts.requests.in_bulk.find(wanted)
        if dry_run or chat is None:
            _show_estimate(parts.requests.in_bulk.estimate(found), as_json=as_json)
            return
        try:
            if found:
                _write(parts, chat, found, wanted, report)
        except (DependencyUnavailable, KeyboardInterrupt):
            if not as_json:
                _show(report, as_json=False)
                note("what was written stays: run the same command again to go on")
            raise
        _show(report, as_json=as_json)
        end(done=report.tools + report.none_kept, failed=report.unanswered)


@contextmanager
def _chat_of(parts: Parts) -> Iterator[ChatModel | None]:
    """Lend the language model that is configured, if any."""
    from skillroute.core.settings import ClassifierSettings  # noqa: PLC0415
    from skillroute.wiring import make_chat_model  # noqa: PLC0415

    chat = make_chat_model(parts.of(ClassifierSettings))
    with closing(chat) if chat else nullcontext():
        yield chat


def _write(parts: Parts, chat: ChatModel, found: Sequence[int], wanted: WantedTools, report: BulkReport) -> None:
    from skillroute.core.settings import ClassifierSettings  # noqa: PLC0415
    from skillroute.skills.classification.classifiers import llm  # noqa: PLC0415

    settings = parts.of(ClassifierSettings)
    with progress_bar("{task.completed}/{task.total}") as progress:
        task = progress.add_task("writing requests", total=len(found))
        parts.requests.in_bulk(
            chat,
            found,
            wanted,
            report=report,
            timeout_s=settings.chat_timeout_s,
            concurrency=llm.CONCURRENCY,
            step=lambda tools: progress.advance(task, tools),
        )


def _show_estimate(estimate: Estimate, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(estimate))
        return
    print_line(
        f"{counted(estimate.tools, 'tool')}, {counted(estimate.calls, 'call')}, about {estimate.input_tokens} "
        f"tokens of input and {estimate.output_tokens} of output; nothing was asked or written"
    )


def _show(report: BulkReport, *, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(report))
        return
    print_line(f"{counted(report.requests, 'request')} written for {counted(report.tools, 'tool')}")
    if report.dropped:
        reasons = ", ".join(f"{number} {reason.value}" for reason, number in sorted(report.dropped.items()))
        note(f"dropped: {reasons}")
    if report.none_kept:
        note(f"{counted(report.none_kept, 'tool')} left without new requests, as none was kept")
    if report.unanswered:
        note(f"{counted(report.unanswered, 'tool')} without an answer of the model that could be read")


def _as_json(report: BulkReport) -> dict[str, Any]:
    dropped = {reason.name.lower(): number for reason, number in sorted(report.dropped.items())}
    return {
        "tools": report.tools,
        "requests": report.requests,
        "dropped": dropped,
        "none_kept": report.none_kept,
        "unanswered": report.unanswered,
    }
