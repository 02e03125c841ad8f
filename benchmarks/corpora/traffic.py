"""Requests of a judged set as users make them: by the popularity of tools, without those that are measured."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillroute.catalogue.known_requests import KnownRequests
from skillroute.catalogue.model import ItemContent, ItemKey

from benchmarks.corpora.judged import JudgedSet, Query

HELD_OUT_OF_A_TOOL, MAX_HELD_OUT = 6, 600

_POPULARITY = 0.7
"""The exponent of Zipf's law."""


@dataclass
class Traffic:
    """Requests by the tool that they need, how often each tool is needed, and what is held out."""

    requests: Mapping[str, Sequence[str]]
    held_out: Sequence[Query]
    tools: Sequence[str]
    weights: Sequence[float]


def traffic_of(judged: JudgedSet, rng: random.Random) -> Traffic:
    """Return what is asked of a set, and what is kept to measure."""
    by_tool: defaultdict[str, list[str]] = defaultdict(list)
    if judged.servers:
        held_out = list(judged.queries)
        known = KnownRequests()
        needed = {id_ for query in held_out for id_ in query.relevant}
        for id_ in sorted(needed):
            tool = judged.tools[id_]
            key = ItemKey(tool.get("server") or "", "tool", tool["name"])
            found = known.of(ItemContent(key=key, description=tool.get("description") or ""))
            by_tool[id_] += [request.text for request in found]
    else:
        queries = [query for query in judged.queries if len(query.needs) == 1]
        rng.shuffle(queries)
        held_out, seen = [], defaultdict[str, int](int)
        for query in queries:
            tool_id = min(query.relevant)
            if seen[tool_id] < HELD_OUT_OF_A_TOOL:
                seen[tool_id] += 1
                held_out.append(query)
            else:
                by_tool[tool_id].append(query.text)
        held_out = held_out[:MAX_HELD_OUT]
    tools = [tool for tool in sorted(by_tool) if by_tool[tool]]
    rng.shuffle(tools)
    return Traffic(by_tool, held_out, tools, [1 / (rank + 1) ** _POPULARITY for rank in range(len(tools))])
