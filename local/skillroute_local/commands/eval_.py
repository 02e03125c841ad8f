"""`skillroute eval`: how well searches find the tools of one's own catalogue, and a first set of requests for that."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape
from skillroute.core.observability import logger

from skillroute_local.commands import eval_options as options
from skillroute_local.commands.eval_generate import make_requests
from skillroute_local.commands.eval_settings import WARM_UP, gate_of, settings_of
from skillroute_local.commands.eval_shown import show, show_lines, show_unknown, tools_of_the_file
from skillroute_local.commands.exit_codes import ExitCode
from skillroute_local.commands.search_options import (
    ItemTypeOption,
    ModeOption,
    SkillThresholdOption,
    StrategyOption,
    ToolThresholdOption,
    search_fields,
)
from skillroute_local.commands.shared import (
    AsJson,
    SignRegion,
    Token,
    client_for,
    err,
    parts_here,
    print_json,
    progress_bar,
)
from skillroute_local.documents import open_new, require_new
from skillroute_local.errors import LocalError, Misused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from skillroute_local.evaluating.catalogue import Judged, Tool
    from skillroute_local.evaluating.requests import Row
    from skillroute_local.evaluating.scorecard import Fields, Scorecard
    from skillroute_local.evaluating.sources import Source

_SHOWN = 10


def eval_(
    queries: options.Queries = None,
    generate: options.Generate = None,
    output: options.Output = None,
    force: options.Force = False,
    strategy: StrategyOption = None,
    mode: ModeOption = None,
    item_type: ItemTypeOption = None,
    skill_limit: options.SkillLimit = None,
    skill_threshold: SkillThresholdOption = None,
    tool_threshold: ToolThresholdOption = None,
    compare: options.Compare = None,
    fail_under: options.FailUnder = None,
    baseline: options.Baseline = None,
    tolerance: options.Tolerance = 0.01,
    strict: options.Strict = False,
    worst: options.Worst = _SHOWN,
    seed: options.Seed = 7,
    org: options.Organisation = None,
    url: options.CalledUrl = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well searches find the tools that requests need.

    --queries FILE has a judged request on each line: {"query": "...", "needs": [["server/tool", "server/equal"], ...]}.
    Each need names the tools of which one is enough; no needs say that nothing serves the request. --generate makes a
    first file: with a language model where one is configured (SKILLROUTE_CHAT_PROVIDER), else it asks you.

    Searches run in this process with the settings of its environment, over the database of the Skillroute that runs
    here; --url calls one elsewhere, whose settings count then. With --fail-under, --baseline or --strict it exits with
    1 when the result is not good enough.
    """
    if (queries is None) == (generate is None):
        raise Misused("give one of --queries FILE and --generate NUMBER")
    if output is not None:
        require_new(output, force=force)
    connect = partial(_source, url, token, sign_region, org)
    if generate is not None:
        make_requests(connect, generate, output, item_type=item_type or "tool", seed=seed, force=force)
        return
    numbers = {"skill_limit": skill_limit, "skill_threshold": skill_threshold, "tool_threshold": tool_threshold}
    settings = settings_of(search_fields(strategy, mode, item_type), numbers, compare or ())
    gate = gate_of(fail_under or (), baseline, tolerance)
    measured = _measured(connect, read_queries(str(queries)), settings)
    report = measured.report(seed)
    if output is not None:
        _write(report, output, force=force)
    if as_json:
        print_json(report)
    else:
        show(measured.tools, measured.judged, measured.cards, ", ".join(compare or ()), worst, seed)
    _end(gate(measured.cards[0]), measured.judged.unknown if strict else ())


def _end(failed: list[str], unknown: Collection[str]) -> None:
    """Say what is not good enough, and end the command. Raises `typer.Exit` where there is anything."""
    if unknown:
        failed.append(f"{tools_of_the_file(unknown)} not found")
    for line in failed:
        err.print(f"[red]failed:[/] {escape(line)}", highlight=False, soft_wrap=True)
    if failed:
        raise typer.Exit(ExitCode.REFUSED)


@dataclass(frozen=True, slots=True)
class _Measured:
    """The catalogue, the requests as they are judged against it, and a scorecard for each of the settings."""

    tools: list[Tool]
    judged: Judged
    cards: list[Scorecard]

    def report(self, seed: int) -> dict[str, Any]:
        """Return it for programs."""
        from skillroute_local.evaluating.scorecard import report_of  # noqa: PLC0415 (numpy, for this command alone)

        other = self.cards[1] if len(self.cards) > 1 else None
        return report_of(self.judged, self.cards[0], self.tools, other=other, seed=seed)


def _write(report: dict[str, Any], output: Path, *, force: bool) -> None:
    with open_new(output, force=force) as file:
        json.dump(report, file, indent=2, ensure_ascii=False)
        file.write("\n")


@contextmanager
def _source(url: str | None, token: str | None, sign_region: str | None, org: str | None) -> Iterator[Source]:
    """Lend the catalogue: of the Skillroute at `url`, else of the database that belongs here."""
    from skillroute_local.evaluating.sources import InProcess, OverHttp  # noqa: PLC0415

    if url is None:
        # Nothing is remembered between searches: the second of two settings would not embed, and look the faster one.
        with quiet(), parts_here(queues=False, query_cache_size=0) as parts:
            yield InProcess(parts, org)
        return
    if org is not None:
        raise Misused("--org applies to searches in this process; with --url the token decides the organisation")
    with client_for(url, token, sign_region) as client:
        yield OverHttp(client)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep back what searches warn of: a line for each that no skill matches would stand in the answer."""
    before = logger.log_level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(before)


Connect = Callable[[], AbstractContextManager["Source"]]


def read_queries(queries: str) -> list[Row]:
    """Read the judged requests of a file, or of a pipe. Raises `LocalError` where any line is wrong."""
    from skillroute_local.evaluating.requests import read_requests  # noqa: PLC0415

    problems: list[str] = []
    path = Path(queries)
    if queries == "-":
        rows = list(read_requests(sys.stdin.buffer, "stdin", problems.append))
    else:
        try:
            with path.open("rb") as lines:
                rows = list(read_requests(lines, path.name, problems.append))
        except OSError as error:
            raise Misused(f"{path} cannot be read ({error.strerror})") from error
    show_lines(problems)
    if problems:
        raise Misused(f"{len(problems)} of the file's lines cannot be used; nothing was measured")
    if not rows:
        raise Misused(
            f"{queries} holds no request: write some, one a line, or make a first set with --generate 50 --output FILE"
        )
    return rows


def _measured(connect: Connect, rows: Sequence[Row], settings: Sequence[Fields]) -> _Measured:
    """Ask every request with each of the settings."""
    from skillroute_local.evaluating.catalogue import judged  # noqa: PLC0415
    from skillroute_local.evaluating.scorecard import ask, search_request  # noqa: PLC0415

    with connect() as source:
        with err.status("reading the catalogue"):
            tools = source.tools()
            found = judged(rows, tools)
            show_unknown(found, len(rows))
            if not found.questions:
                raise LocalError("no request is left to measure: none of the tools they need is in the catalogue")
            for fields in settings:  # the first builds the index, the first that embeds loads the model
                source.search(search_request(WARM_UP, fields))
        cards = []
        with progress_bar("{task.completed}/{task.total}") as progress:
            task = progress.add_task("searching", total=len(settings) * len(found.questions))
            for fields in settings:
                cards.append(ask(source.search, found.questions, fields, step=partial(progress.advance, task)))
    for card in cards:
        for reason, count in card.degraded().items():
            err.print(f"[yellow]{count} of {len(card.answers)} searches were degraded: {reason}[/]", highlight=False)
    return _Measured(tools, found, cards)
