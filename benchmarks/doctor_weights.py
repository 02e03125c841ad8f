"""How much each thing that `skillroute doctor` finds costs: real tools damaged in its way, and their requests asked.

The judged requests of the two public catalogues, among the tools of both. Requests are dealt into two parts; of one
after the other all tools that serve it are damaged in one way, and its requests are asked (direct search, hybrid,
default thresholds). So every request meets damaged tools among whole ones. `moved` is the share of requests for which
the first tool that serves them has another place, within ten, than before.

    python benchmarks/doctor_weights.py --data DATA --json .bench/doctor_weights.json
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from crowd import Remembered
from harness import ROOT, arguments, console, print_table, save
from judged import Imported, JudgedSet, Query, imported, load, mean, measures, request
from skillroute.catalogue.text import split_name
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.packaged import DEFAULT_MODEL, models_dir

PARTS = 2
_NONE = "none"
_PREAMBLE = " ".join(["Read these notes before use; they apply to every call of this server."] * 30)

Json = dict[str, Any]
Damage = Callable[[Json, int], Sequence[Json]]
"""From a whole tool and its number to what stands in its place: it, damaged, and maybe others."""


def _text(make: Callable[[Json], str]) -> Damage:
    return lambda tool, _: [{**tool, "description": make(tool)}]


def _abbreviated(name: str) -> str:
    return "_".join(word[:3] for word in split_name(name).split()[-2:]) or "x"


def _short(tool: Json, number: int) -> Json:
    return {**tool, "name": f"{_abbreviated(tool['name'])}{number}"}


def _without_arguments_text(tool: Json, _: int) -> Sequence[Json]:
    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: bare(part) for name, part in value.items() if name != "description" or isinstance(part, dict)}
        return [bare(part) for part in value] if isinstance(value, list) else value

    return [{**tool, "input_schema": bare(tool["input_schema"])}] if tool.get("input_schema") else [tool]


def _jargon(tool: Json) -> str:
    return f"Runs {_abbreviated(tool['name']).upper().replace('_', '-')} against the KORA stage and posts the GLX."


DAMAGES: Mapping[str, Damage] = {
    _NONE: lambda tool, _: [tool],
    "description_empty": _text(lambda tool: ""),
    "description_empty (TODO)": _text(lambda tool: "TODO"),
    "description_boilerplate": _text(lambda tool: "This tool is used to perform operations."),
    "descriptions_alike": _text(lambda tool: f"Part of {tool.get('server') or 'the server'}."),
    "description_repeats_name": _text(lambda tool: split_name(tool["name"]).capitalize()),
    "description_repeats_name (first sentence kept)": _text(
        lambda tool: re.split(r"(?<=\.)\s", tool.get("description", ""))[0]
    ),
    "description_too_long (preamble before)": _text(lambda tool: f"{_PREAMBLE} {tool.get('description', '')}"),
    "description_too_long (notes after)": _text(lambda tool: f"{tool.get('description', '')} {_PREAMBLE}"),
    "name_says_nothing": lambda tool, number: [{**tool, "name": f"tool_{number}"}],
    "words_unexplained (name alone)": lambda tool, number: [_short(tool, number)],
    "words_unexplained (name, Adj.)": lambda tool, number: [
        {**_short(tool, number), "description": f"{_abbreviated(tool['name'])[:3].capitalize()}."}
    ],
    "words_unexplained (jargon, name kept)": _text(_jargon),
    "words_unexplained (jargon, name too)": lambda tool, number: [
        {**_short(tool, number), "description": _jargon(tool)}
    ],
    "arguments_undescribed": _without_arguments_text,
    "near_duplicates (two copies)": lambda tool, _: [
        tool,
        *({**tool, "server": f"{tool.get('server') or ''} copy {copy}"} for copy in (1, 2)),
    ],
}


def both(data: Path, *, limit_queries: int, seed: int) -> JudgedSet:
    """Return the two catalogues as one set."""
    one, other = (
        load(name, data, limit_queries=limit_queries, seed=seed) for name in ("docker-mcp-catalog", "livemcp-catalog")
    )
    tools = {**other.tools, **one.tools}
    return JudgedSet("both", tools, [*one.queries, *other.queries], (), {}, "none")


def asked(judged: JudgedSet, damage: Damage, embedder: Remembered, seed: int) -> list[tuple[dict[str, float], int]]:
    """Return the measures of each request, and the place of the first tool that serves it, 0 for none of the first."""
    found = []
    for part in range(PARTS):
        queries = judged.queries[part::PARTS]
        served = frozenset(chain.from_iterable(query.relevant for query in queries))
        tools = {}
        for number, (id_, tool) in enumerate(judged.tools.items()):
            own, *others = damage(tool, number) if id_ in served else [tool]
            tools |= {id_: own} | {f"{id_} {copy}": other for copy, other in enumerate(others)}
        with imported(replace(judged, tools=tools, queries=queries), seed, embedder) as data:
            found += [_answer(data, query) for query in queries]
    return found


def _answer(data: Imported, query: Query) -> tuple[dict[str, float], int]:
    ranked = data.ranked(data.parts.tool_search.search(request(query.text, "direct", "hybrid", {}), LAPTOP))
    place = next((place for place, id_ in enumerate(ranked, 1) if id_ in query.relevant), 0)
    return measures(ranked, query.needs), place


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the two catalogues")
    parser.add_argument("--limit-queries", type=int, default=0, help="so many of each catalogue, by chance; 0: all")
    parser.add_argument("--only", default="", help="ways whose name begins so; what is undamaged is asked anyhow")
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench" / "vectors", help="where vectors are kept")
    args = parser.parse_args()
    embedder = Remembered(models_dir() / DEFAULT_MODEL, args.folder)
    judged = both(args.data, limit_queries=args.limit_queries, seed=args.seed)
    whole, rows = list[tuple[dict[str, float], int]](), list[Json]()
    for way, damage in DAMAGES.items():
        if way != _NONE and not way.startswith(args.only):
            continue
        found = asked(judged, damage, embedder, args.seed)
        embedder.keep()
        whole = whole or found
        figures = mean([measured for measured, _ in found])
        moved = sum(place != before for (_, place), (_, before) in zip(found, whole, strict=True)) / len(found)
        row = {"way": way, "recall@5": figures["recall@5"], "ndcg@5": figures["ndcg@5"], "moved": round(moved, 3)}
        rows.append(
            row | {"ndcg lost": round(1 - figures["ndcg@5"] / (rows[0]["ndcg@5"] if rows else row["ndcg@5"]), 3)}
        )
        console.print(rows[-1])
    print_table("both catalogues", rows)
    save(args, "doctor_weights", {"rows": rows})


if __name__ == "__main__":
    main()
