"""Requests that nothing serves, at scale: the right tools and those like them are taken away (docs/adr/0041).

`build_unservable.py`, which lies beside the data, decides by words which tools may serve a request; what it writes for
a set is read here. Of tool-requests only requests for held-out servers are taken: the encoder has learned the others.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from data import DATA, ROOT, Pool, Query, held_out, lines, load_pool, tool_of
from evidence import LeftOut

RECIPE = ROOT / ".bench" / "unservable"
"""Where `near-SET.jsonl` lie, one for `tool-requests` and for each of `VENDORS`."""
MORE = DATA / "more"
VENDORS = ("dbatools", "cli-microsoft365", "assistant-clinc150")
"""Sets of one vendor or assistant, where hardly any request is served after all."""
TOOL_REQUESTS = "tool-requests"


@dataclass(frozen=True, slots=True)
class Taken:
    """A catalogue, requests for it, and the same requests with what is taken away for each."""

    pool: Pool
    served: Sequence[Query]
    unserved: Sequence[Query]
    left_out: LeftOut


def vendor_pool(name: str) -> Pool:
    """Load the tools of a set of `MORE`."""
    return Pool(name, {raw["id"]: tool_of(raw, raw["id"]) for raw in lines(MORE / name / "tools.jsonl")})


def held_out_pool() -> Pool:
    """Load the tools of the held-out servers of tool-requests."""
    pool = load_pool(TOOL_REQUESTS)
    kept = {id_: tool for id_, tool in pool.tools.items() if held_out(pool.name, tool.group)}
    return Pool(pool.name, kept, [query for query in pool.queries if query.relevant <= kept.keys()])


def taken(pool: Pool, most: int, recipe: Path = RECIPE) -> Taken:
    """Return requests of a pool, `most` of them by chance, as the recipe takes their tools away."""
    folder = (DATA if pool.name == TOOL_REQUESTS else MORE) / pool.name
    needs = {
        f"near-{pool.name}-{line['id']}": line.get("needs") or [[id_] for id_ in line["relevant"]]
        for line in lines(folder / "queries.jsonl")
    }
    known = [
        (line, tuple(map(tuple, needs[line["id"]])))
        for line in lines(recipe / f"near-{pool.name}.jsonl")
        if all(id_ in pool.tools for need in needs[line["id"]] for id_ in need)
    ]
    if pool.name == TOOL_REQUESTS:
        known = [(line, of) for line, of in known if pool.is_held_out(Query(line["query"], "", of))]
    rows = random.Random(7).sample(known, min(most, len(known)))
    place = {id_: number for number, id_ in enumerate(pool.tools)}
    gone = {line["id"]: [place[id_] for id_ in line["removed"] if id_ in place] for line, _ in rows}
    return Taken(
        pool,
        [Query(line["query"], line["id"], of) for line, of in rows],
        [Query(line["query"], line["id"], ()) for line, _ in rows],
        lambda query: gone[query.kind],
    )
