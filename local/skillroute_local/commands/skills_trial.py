"""The part of `skillroute skills propose` that classifies again, and measures searches before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from skillroute.core.caller import Caller
from skillroute.core.errors.model import ClassifierUnavailable

from skillroute_local.commands.eval_ import quiet
from skillroute_local.commands.shared import err, out
from skillroute_local.errors import LocalError

if TYPE_CHECKING:
    from skillroute.wiring import Parts

    from skillroute_local.evaluating.requests import Row
    from skillroute_local.proposing.moves import Move
    from skillroute_local.proposing.proposal import Applied, Proposal, Report

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """Recall@5 before and after; `after` is None where the classifier took too long."""

    requests: int
    before: float
    after: float | None
    taken_back: bool


@contextmanager
def reported() -> Iterator[Report]:
    """Show a bar for each thing that is done, on stderr, so that the answer can be piped."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True) as progress:
        bars: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = progress.add_task(what)
            progress.update(bars[what], completed=done, total=total)

        yield report


def find(parts: Parts, proposal: Proposal, org: str | None) -> list[Move]:
    """Find the tools whose classifier would choose another skill now. Raises `LocalError` where it fails."""
    from skillroute.core.settings import ClassifierSettings  # noqa: PLC0415

    from skillroute_local.proposing.moves import find_moves  # noqa: PLC0415

    with reported() as report:
        try:
            return find_moves(
                parts.database,
                parts.classifier,
                proposal.with_skill,
                [proposed.skill for proposed in proposal.skills],
                org,
                # The first tool waits until the texts of all skills are embedded.
                timeout_s=max(60.0, parts.of(ClassifierSettings).chat_timeout_s),
                step=partial(report, "classifying"),
            )
        except ClassifierUnavailable as error:
            raise LocalError(f"--reclassify: the classifier failed, and nothing was written: {error}") from error


class Trial:
    """Applies a proposal, and where there are judged requests takes it back if searches find less.

    Parameters
    ----------
    rows : sequence of Row or None
        The judged requests; without them nothing is measured, and a message says so.
    """

    def __init__(
        self, parts: Parts, org: str | None, rows: Sequence[Row] | None, *, tolerance: float, wait_s: int
    ) -> None:
        self._parts, self._org, self._rows = parts, org, rows
        self._tolerance, self._wait_s = tolerance, wait_s

    def run(self, apply: Callable[[], Applied], moves: Sequence[Move]) -> tuple[Applied, Judged | None]:
        """Apply, queue the tools that move, and judge. Raises `LocalError`."""
        from skillroute_local.proposing.moves import queue_again  # noqa: PLC0415
        from skillroute_local.proposing.proposal import Applied  # noqa: PLC0415
        from skillroute_local.proposing.trial import remember  # noqa: PLC0415

        moving = [move.tool_id for move in moves]
        kept = remember(self._parts.database, moving)
        before = self._recall() if self._rows is not None else None
        applied = apply()
        with reported() as report:
            queue_again(self._parts.database, moving, step=partial(report, "queueing"))
        self._parts.dispatch()
        applied = Applied(applied.created, applied.skipped, tuple(sorted({*applied.queued_ids, *moving})))
        if before is None:
            err.print(
                "not measured: with --queries FILE searches are compared, and what makes them worse is taken back",
                highlight=False,
            )
            return applied, None
        after = self._recall() if self._is_classified(applied) else None
        worse = after is not None and before[0] - after[0] > self._tolerance + 1e-9
        if worse:
            from skillroute_local.proposing.trial import take_back  # noqa: PLC0415

            parts, caller = self._parts, Caller(org_id=self._org)
            take_back(parts.database, applied.created, kept, parts.skills.change.delete, parts.dispatch, caller)
        return applied, Judged(before[1], round(before[0], 4), None if after is None else round(after[0], 4), worse)

    def _recall(self) -> tuple[float, int]:
        """Return recall@5 of searches with the default settings, and over how many requests."""
        from skillroute_local.evaluating.catalogue import judged  # noqa: PLC0415
        from skillroute_local.evaluating.scorecard import ask  # noqa: PLC0415
        from skillroute_local.evaluating.sources import InProcess  # noqa: PLC0415

        source = InProcess(self._parts, self._org)
        questions = [question for question in judged(self._rows or (), source.tools()).questions if question.needs]
        if not questions:
            raise LocalError("--queries: none of the tools that the requests need is in the catalogue")
        with quiet(), reported() as report:
            done = iter(range(1, len(questions) + 1))
            card = ask(source.search, questions, {}, step=lambda: report("searching", next(done), len(questions)))
        return card.means()["recall@5"] or 0.0, len(questions)

    def _is_classified(self, applied: Applied) -> bool:
        from skillroute_local.proposing.trial import wait_until_classified  # noqa: PLC0415

        with reported() as report:
            return wait_until_classified(
                self._parts.database,
                applied.queued_ids,
                within_s=self._wait_s,
                step=partial(report, "waiting for the classifier"),
            )


def show_moves(moves: Sequence[Move], *, asked: bool) -> None:
    """Show what would be classified into what."""
    if not asked:
        return
    gone = sum(move.after is None for move in moves)
    out.print(
        f"{len(moves)} tools would be decided on otherwise now: {len(moves) - gone} get another skill, {gone} none",
        highlight=False,
    )
    ways = Counter((move.before, move.after or "none") for move in moves)
    for (before, after), count in sorted(ways.items(), key=lambda way: (-way[1], way[0]))[:_SHOWN]:
        example = next(m.tool for m in moves if (m.before, m.after or "none") == (before, after))
        out.print(f"{count:5} {before} -> {after}, such as {example}", highlight=False, markup=False)


def show_judged(judged: Judged | None) -> None:
    """Show what became of searches."""
    if judged is None:
        return
    if judged.after is None:
        err.print(
            f"not measured: tools still wait to be classified; recall@5 was {judged.before:.4f}. Compare with "
            "`skillroute eval` once `skillroute status` shows none waiting",
            highlight=False,
        )
        return
    figures = f"recall@5 of {judged.requests} requests: {judged.before:.4f} before, {judged.after:.4f} after"
    if judged.taken_back:
        err.print(f"[red]taken back:[/] {figures}", highlight=False)
    else:
        out.print(figures, highlight=False)
