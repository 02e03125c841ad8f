"""Tools that are called together: for one search, or by one caller within a few minutes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import combinations

from skillroute.learning.learn.evidence import Evidence, callers_needed
from skillroute.learning.model import MIN_SEARCHES
from skillroute.learning.states.model import Pair

MAX_PAIRS_OF_A_TOOL = 3

_GAP = timedelta(minutes=10)
_MAX_OF_A_TASK = 20
"""Tools of one task: more are no task."""


def pairs(evidence: Sequence[Evidence]) -> list[Pair]:
    """Return pairs of tools that three tasks or more called, of enough callers; both ways, the most frequent first."""
    needed = callers_needed(evidence)
    tasks: defaultdict[tuple[int, int], int] = defaultdict(int)
    callers: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
    for caller, tools in _tasks(each for each in evidence if each.is_good):
        for pair in combinations(sorted(tools)[:_MAX_OF_A_TASK], 2):
            tasks[pair] += 1
            callers[pair].add(caller)
    common = {pair: times for pair, times in tasks.items() if times >= MIN_SEARCHES and len(callers[pair]) >= needed}
    of_tool: defaultdict[int, list[Pair]] = defaultdict(list)
    for (one, other), times in sorted(common.items(), key=lambda found: (-found[1], found[0])):
        of_tool[one].append(Pair(one, other, times))
        of_tool[other].append(Pair(other, one, times))
    return [pair for found in of_tool.values() for pair in found[:MAX_PAIRS_OF_A_TOOL]]


def _tasks(evidence: Iterable[Evidence]) -> list[tuple[str, set[int]]]:
    """Return the callers and tools of tasks: the texts of one search, and what a named caller does without a pause."""
    by_caller: defaultdict[str, list[Evidence]] = defaultdict(list)
    for each in evidence:
        # Callers without a name are many, or may be: only what one search called is theirs together.
        by_caller[each.caller or each.search.partition("/")[0]].append(each)
    tasks = []
    for found in by_caller.values():
        found.sort(key=lambda each: each.asked_at)
        tools, last = set[int](), found[0].asked_at
        for each in found:
            if each.asked_at - last > _GAP:
                tasks.append((each.caller, tools))
                tools = set()
            tools.add(each.tool_id)
            last = each.asked_at
        tasks.append((found[-1].caller, tools))
    return tasks
