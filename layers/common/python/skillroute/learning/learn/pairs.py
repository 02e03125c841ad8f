"""Tools that are called together: for one search, or by one caller within a few minutes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import combinations

from skillroute.learning.learn.evidence import Evidence
from skillroute.learning.model import MIN_SEARCHES
from skillroute.learning.states.model import Pair

MAX_PAIRS_OF_A_TOOL = 3

_GAP = timedelta(minutes=10)
_MAX_OF_A_TASK = 20
"""Tools of one task: more are no task."""


def pairs(evidence: Sequence[Evidence], needed: int) -> list[Pair]:
    """Return pairs of tools that three tasks or more called, of enough callers; both ways, the most frequent first.

    Of the tasks that one caller had in a day one counts: a caller that repeats itself has no more to say.
    """
    found: defaultdict[tuple[int, int], set[tuple[str, date]]] = defaultdict(set)
    for caller, day, tools in _tasks(each for each in evidence if each.is_good):
        if len(tools) <= _MAX_OF_A_TASK:
            for pair in combinations(sorted(tools), 2):
                found[pair].add((caller, day))
    common = {
        pair: len(tasks)
        for pair, tasks in found.items()
        if len(tasks) >= MIN_SEARCHES and len({caller for caller, _ in tasks}) >= needed
    }
    of_tool: defaultdict[int, list[Pair]] = defaultdict(list)
    for (one, other), times in sorted(common.items(), key=lambda each: (-each[1], each[0])):
        of_tool[one].append(Pair(one, other, times))
        of_tool[other].append(Pair(other, one, times))
    return [pair for several in of_tool.values() for pair in several[:MAX_PAIRS_OF_A_TOOL]]


def _tasks(evidence: Iterable[Evidence]) -> list[tuple[str, date, set[int]]]:
    """Return caller, first day and tools of tasks: of one search, or of a named caller until it pauses.

    Days are those of UTC.
    """
    by_caller: defaultdict[str, list[Evidence]] = defaultdict(list)
    for each in evidence:
        # Callers without a name are many, or may be: only what one search called is theirs together.
        by_caller[each.caller or each.search.partition("/")[0]].append(each)
    tasks = []
    for found in by_caller.values():
        found.sort(key=lambda each: each.asked_at)
        tools, began, last = set[int](), found[0].asked_at, found[0].asked_at
        for each in found:
            if each.asked_at - last > _GAP:
                tasks.append((each.caller, _day(began), tools))
                tools, began = set(), each.asked_at
            tools.add(each.tool_id)
            last = each.asked_at
        tasks.append((found[-1].caller, _day(began), tools))
    return tasks


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()
