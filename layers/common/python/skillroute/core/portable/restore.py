"""Importing lines that an export gave: each judged on its own, lines of one kind in one transaction.

What is only tried is all of a call in one transaction, which is taken back: a line may name what one before it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from skillroute.core.bulk.outcomes import Outcome, Report
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.portable.model import END, PAGE_END, Line, Portable
from skillroute.core.postgres.database import Database, WithinTransaction

MAX_LINES = 200
"""Lines of one call: some 600 ms of embedding."""


@dataclass(frozen=True, slots=True)
class LineOutcome(Outcome):
    """The outcome of one line.

    Attributes
    ----------
    kind : str or None
        None of a line that is none of any kind.
    """

    kind: str | None = None


class ImportLines:
    """`POST /api/v1/import`.

    Parameters
    ----------
    kinds : callable
        Makes the kinds of lines over a database.
    """

    def __init__(self, database: Database, kinds: Callable[[Database], Sequence[Portable]]) -> None:
        self._database = database
        self._kinds = kinds

    def __call__(self, lines: Sequence[object], caller: Caller, *, dry_run: bool = False) -> Report[LineOutcome]:
        """Write lines as the caller's organisation's, in their order, and return what became of each.

        Lines of one kind that follow each other are one transaction. The last lines of an export's pages are no rows,
        and have no outcome. With `dry_run` nothing is written: the outcomes are those that it would have.

        Raises
        ------
        InvalidInput
            There are too many.
        Conflict
            A skill would have more tools than it may have.
        DatabaseUnavailable
            As after `Conflict`, lines before may have been written; all of them can be sent again.
        """
        if len(lines) > MAX_LINES:
            raise InvalidInput("lines", f"{len(lines)} lines; at most {MAX_LINES} in one call")
        if not dry_run:
            return _written(self._database, self._kinds, lines, caller, dry_run=False)
        return self._database.taken_back(
            lambda session: _written(WithinTransaction(session), self._kinds, lines, caller, dry_run=True)
        )


def _written(
    database: Database,
    kinds: Callable[[Database], Sequence[Portable]],
    lines: Sequence[object],
    caller: Caller,
    *,
    dry_run: bool,
) -> Report[LineOutcome]:
    outcomes: list[LineOutcome] = []
    unavailable = refused = False
    for portable, run in _runs(_with_kinds(lines, {portable.kind: portable for portable in kinds(database)}, outcomes)):
        report = portable.write([line for _, line in run], caller, dry_run=dry_run)
        unavailable |= report.embedding_unavailable
        refused |= report.embedding_refused
        outcomes += [_of_line(outcome, run[outcome.index][0], portable.kind) for outcome in report.outcomes]
    outcomes.sort(key=lambda outcome: outcome.index)
    return Report(outcomes, embedding_unavailable=unavailable, embedding_refused=refused)


def _with_kinds(
    lines: Iterable[object], kinds: Mapping[str, Portable], outcomes: list[LineOutcome]
) -> Iterator[tuple[Portable, tuple[int, Line]]]:
    """Yield each line without its kind, and what writes it. What has no kind fails."""
    for index, line in enumerate(lines):
        if not isinstance(line, Mapping):
            outcomes.append(_failed(index, FieldProblem("line", "must be an object")))
            continue
        kind = line.get("kind")
        if not isinstance(kind, str) or kind not in {*kinds, PAGE_END, END}:
            outcomes.append(_failed(index, FieldProblem("kind", f"must be one of {', '.join(kinds)}")))
            continue
        if kind in kinds:
            yield kinds[kind], (index, {name: value for name, value in line.items() if name != "kind"})


def _runs(
    lines: Iterable[tuple[Portable, tuple[int, Line]]],
) -> Iterator[tuple[Portable, list[tuple[int, Line]]]]:
    """Yield lines of one kind that follow each other, as many as are written at once."""
    for portable, group in groupby(lines, key=lambda found: found[0]):
        run = [line for _, line in group]
        for start in range(0, len(run), portable.most):
            yield portable, run[start : start + portable.most]


def _of_line(outcome: Outcome, index: int, kind: str) -> LineOutcome:
    return LineOutcome(
        index, outcome.status, outcome.id, outcome.problems, outcome.warnings, outcome.is_refused, kind=kind
    )


def _failed(index: int, problem: FieldProblem) -> LineOutcome:
    return LineOutcome(index, "failed", problems=(problem,))
