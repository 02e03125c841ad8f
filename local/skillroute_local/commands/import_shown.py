"""Output of `skillroute import`: bars, changes one a line, counts, and what was refused and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skillroute_local.commands.output import note
from skillroute_local.commands.shared import err, out, progress_bar

if TYPE_CHECKING:
    from rich.progress import Progress

    from skillroute_local.importing.compare import Change
    from skillroute_local.importing.report import ImportReport

_STATUSES = ("created", "updated", "unchanged", "failed")
_SHOWN = 20
_REASONS = 5
_SIGNS = {"created": "+", "updated": "~", "removed": "-", "deleted": "-"}


class Changes:
    """Shows what would become of items, servers and agents; nothing of those that stay as they are.

    Attributes
    ----------
    shown : list of dict
        Where they are for programs: what was not printed.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self.shown: list[dict[str, str]] = []

    def __call__(self, change: Change) -> None:
        """Show one."""
        sign = _SIGNS.get(change.what)
        if sign and self._as_json:
            self.shown.append(asdict(change))
        elif sign:
            detail = f"  {change.detail}" if change.detail else ""
            out.print(f"{sign} {change.name}{detail}", markup=False, highlight=False, soft_wrap=True)


def stored(report: ImportReport) -> int:
    """Return how many things of an import are as their source says."""
    return sum(number for counts in report.counts.values() for what, number in counts.items() if what != "failed")


def as_object(report: ImportReport) -> dict[str, Any]:
    """Return the report of an import for programs."""
    return {
        "counts": {kind: dict(counts) for kind, counts in report.counts.items()},
        "tools": dict(report.tools),
        "problems": report.problems,
        "refused": report.refused,
        "warnings": report.warnings,
        "left_out": report.left_out,
        "notes": report.notes,
        "waiting_for_model": report.waiting_for_model,
    }


def show_report(report: ImportReport, *, dry_run: bool) -> None:
    """Show how many of each kind came in, and what did not. Counts go to stdout, everything else to stderr."""
    for kind, counts in (report.counts or {"items": Counter[str]()}).items():
        _show_counts(kind, counts, report.tools if kind == "servers" else Counter())
    if dry_run:
        note("nothing was changed: this was a dry run")
    if report.waiting_for_model:
        err.print(
            "[yellow]the embedding model is unavailable: searches find what was written by words until it is back[/]"
        )
    _show_lines(report.notes)
    _show_lines(report.warnings)
    _show_lines(report.left_out)
    _show_lines(report.refused)
    _show_lines(report.problems)


def _show_lines(lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        err.print(line, markup=False, highlight=False, soft_wrap=True)
    left = Counter(line.partition(": ")[2] for line in lines[_SHOWN:])
    if left:
        often = "; ".join(f"{count} times {reason}" for reason, count in left.most_common(_REASONS))
        err.print(f"and {left.total()} more: {often}", markup=False, highlight=False, soft_wrap=True)


def _show_counts(kind: str, counts: Counter[str], tools: Counter[str]) -> None:
    line = _counted(counts, _STATUSES)
    for what in ("removed", "deleted", "switched_on"):
        if counts[what]:
            line = f"{line}, {counts[what]} {what.replace('_', ' ')}"
    if kind != "items":
        line = f"{kind.replace('_', ' ')}: {line}"
    if tools:
        line = f"{line}; their tools: {_counted(tools, ('created', 'updated', 'unchanged', 'removed'))}"
        if tools["refused"]:
            line = f"{line}; {tools['refused']} of them refused by the embedding model"
    out.print(line, highlight=False, soft_wrap=True)


def _counted(counts: Counter[str], names: Sequence[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in names)


@contextmanager
def bars() -> Iterator[Callable[[str], _Bar]]:
    """Lend what makes a bar for each source."""
    with progress_bar("{task.percentage:>3.0f}%") as progress:
        yield lambda name: _Bar(progress, name)


class _Bar:
    """A bar that moves to and fro until the size is known: a source may take a while to be read."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._total = 1
        self._task = progress.add_task(name, total=None)

    def sized(self, size: int) -> None:
        self._total = max(size, 1)
        self._progress.update(self._task, total=self._total)

    def advance(self, done: int) -> None:
        self._progress.advance(self._task, done)

    def end(self) -> None:
        self._progress.update(self._task, total=self._total, completed=self._total)
