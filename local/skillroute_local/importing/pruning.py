"""How much of what its source no longer has `--prune` takes, and in which steps: off first, deleted later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from skillroute_local.importing.gone import Gone
from skillroute_local.importing.pruned import pruned_at
from skillroute_local.importing.stored import Stored, mark_of

Step = Literal["removed", "deleted"]
"""The next state of an item: switched off, or, after a while, deleted."""

Now = Callable[[], datetime]


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Pruning:
    """The scope of a removal.

    Attributes
    ----------
    up_to_percent : float
        Of the items of a server and a type: more go only when that is confirmed. A file that is half written looks as
        if the rest were gone.
    keep_days : float
        How long an item that was switched off comes back with its skills; after that it is deleted.
    is_confirmed : bool
        Whether any number may go.
    """

    up_to_percent: float = 10.0
    keep_days: float = 7.0
    is_confirmed: bool = False


@dataclass(slots=True)
class Steps:
    """The plan for rows that are gone.

    Attributes
    ----------
    todo : dict
        By their ids: the source that no longer has it, the item, and what becomes of it.
    refused : list of str
        Why of which server nothing goes.
    """

    todo: dict[int, tuple[str, Stored, Step]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def count(self, step: Step) -> int:
        """Return of how many items that becomes."""
        return sum(each == step for _, _, each in self.todo.values())


def steps_of(all_gone: Sequence[tuple[str, Gone]], pruning: Pruning, at: datetime) -> Steps:
    """Return what is to be done, each server and type judged on its own.

    Where more goes than may, nothing does: not even what was switched off long ago, since the source may have it too.
    """
    steps = Steps()
    for source, gone in all_gone:
        there = sum(mark_of(row) is None for row in gone.there)
        fresh = [row for row in gone.rows if mark_of(row) is None]
        if problem := too_many(len(fresh), there, f"{gone.scope.type}s of {gone.scope.server}", pruning):
            steps.refused.append(f"{source}: {problem}")
            continue
        for row in gone.rows:
            if mark_of(row) is None:
                steps.todo[row["id"]] = source, row, "removed"
            elif _is_over(row, pruning, at):
                steps.todo[row["id"]] = source, row, "deleted"
    return steps


def too_many(count: int, there: int, what: str, pruning: Pruning) -> str | None:
    """Return why so many of those that are there do not go; None where they may."""
    if pruning.is_confirmed or 100 * count <= pruning.up_to_percent * there:
        return None
    return (
        f"{count} of {there} {what} are in it no longer, more than {pruning.up_to_percent:g} %: nothing of them is "
        "removed. Is it whole? --dry-run shows what would go, --prune=all removes it"
    )


def kept_for(count: int, pruning: Pruning) -> str:
    """Return what a person should know of items that are removed."""
    return (
        f"what is removed is switched off ({count}): when a source has it again within {pruning.keep_days:g} days it "
        "comes back with its skills, and after that the next --prune deletes it"
    )


def _is_over(row: Stored, pruning: Pruning, at: datetime) -> bool:
    mark = mark_of(row)
    since = pruned_at(mark) if mark else None
    return since is not None and at - since > timedelta(days=pruning.keep_days)
