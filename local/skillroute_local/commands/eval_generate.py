"""`skillroute eval --generate`: a first set of judged requests, by a language model or a person."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from skillroute_local.commands.eval_shown import show_lines
from skillroute_local.commands.output import print_line
from skillroute_local.commands.shared import err, out, progress_bar
from skillroute_local.errors import LocalError, Misused

if TYPE_CHECKING:
    from skillroute_local.evaluating.catalogue import Tool
    from skillroute_local.evaluating.generate import Draft
    from skillroute_local.evaluating.requests import RequestFile
    from skillroute_local.evaluating.sources import Source


def make_requests(
    connect: Callable[[], AbstractContextManager[Source]],
    number: int,
    output: Path | None,
    *,
    item_type: str,
    seed: int,
    force: bool,
) -> None:
    """Make requests into a file, by the language model that is configured, else by the person at the terminal."""
    from skillroute.core.errors.model import ClassifierUnavailable  # noqa: PLC0415
    from skillroute.core.settings import ClassifierSettings  # noqa: PLC0415
    from skillroute.wiring import make_chat_model  # noqa: PLC0415

    from skillroute_local.evaluating.generate import by_chat, by_person, draw  # noqa: PLC0415
    from skillroute_local.evaluating.requests import RequestFile  # noqa: PLC0415

    if output is None:
        raise Misused("--generate needs --output FILE for the requests")
    settings = ClassifierSettings.load()
    chat = make_chat_model(settings)
    if chat is None and not _is_terminal():
        raise LocalError(
            "no language model is configured to write requests: name one with SKILLROUTE_CHAT_PROVIDER and "
            "SKILLROUTE_CHAT_MODEL, or run this on a terminal, where it asks you"
        )
    with connect() as source, err.status("reading the catalogue"):
        drawn = draw([tool for tool in source.tools() if tool.type == item_type], number, seed=seed)
    if not drawn:
        raise LocalError(f"the catalogue has no {item_type}: write some with `skillroute import FILE.jsonl`")
    with RequestFile(output, force=force) as file, closing(chat) if chat else nullcontext():
        try:
            if chat is None:
                out.print("an empty line skips a tool, Ctrl-D ends", highlight=False)
                drafts = by_person(drawn, _show_tool, _ask_person, print_line)
            else:
                drafts = _with_bar(by_chat(chat, drawn, timeout_s=settings.chat_timeout_s), len(drawn))
            skipped = _keep(drafts, file)
        except ClassifierUnavailable as error:
            raise LocalError(f"{error}; {_outcome(file, output)}") from error
    out.print(f"{_outcome(file, output)}; {len(skipped)} skipped", highlight=False, soft_wrap=True)
    show_lines([f"{draft.tool.title}: {draft.problem}" for draft in skipped if draft.problem])
    if not file.written:
        raise typer.Exit(1)
    out.print("look them over: where another tool serves a need as well, add its name", highlight=False)


def _outcome(file: RequestFile, output: Path) -> str:
    return f"{file.written} requests are in {output}" if file.written else "no request was written"


def _keep(drafts: Iterable[Draft], file: RequestFile) -> list[Draft]:
    """Write each request at once; return those tools that there is none for."""
    skipped = []
    for draft in drafts:
        if draft.query is None:
            skipped.append(draft)
        else:
            file.write(draft.query, draft.tool.title)
    return skipped


def _with_bar(drafts: Iterable[Draft], total: int) -> Iterator[Draft]:
    with progress_bar("{task.completed}/{task.total}") as progress:
        yield from progress.track(drafts, total=total, description="wording")


def _show_tool(tool: Tool) -> None:
    out.print()
    print_line(tool.title)
    print_line(tool.description or "(no description)")


def _ask_person() -> str:
    try:
        return out.input("request: ")
    except EOFError:
        out.print()  # the cursor stands behind the question
        raise


def _is_terminal() -> bool:
    return sys.stdin.isatty()
