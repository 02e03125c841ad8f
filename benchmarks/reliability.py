"""Whether a score of mode hybrid is right as often as it says, and what is refused where nothing fits.

Both catalogues are imported as one, 1,265 tools, and searched as a deployment searches (skills first) for the requests
that were written for them, and for those that no tool of them serves (`requests/nothing_fits.jsonl`, near misses and
far ones). Of the sets that encoder or fusion were trained on, only the queries for held-out tools are asked. By ten
ranges:

- score: of the first result; is that one right?
- confidence, confidence_first_five: of the answer's metadata; is the first right, and is one of the first five?

A result is right where it serves one of the request's needs; requests with several are shown for themselves too. Each
range has the mean of what is said, the share that is right, and how many requests it has. `error` is how far the two
are apart on average (expected calibration error). "Refused" is what a bound on `confidence_first_five` refuses of the
requests that nothing serves, by how many it loses of those that are answered among the first five; the first row is the
bound of the embedding model's weights, which is what `no_match` says unless a deployment sets another.

    python benchmarks/reliability.py --data DATA --json results/reliability.json
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from harness import HERE, arguments, print_table, progress, save, words
from judged import Imported, JudgedSet, imported, load
from registry_corpus import read_lines
from skillroute.core.caller import LAPTOP
from skillroute.search.model import SearchRequest
from skillroute.search.ranking.confidence import load_confidences

CATALOGUES = ("docker-mcp-catalog", "livemcp-catalog")
BOTH = "both catalogues"
LOST = (0.01, 0.02, 0.05, 0.1)
_FIRST = 5

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said of an answer, and whether it is right."""

    score: float
    confidence: float
    confidence_first_five: float
    first: bool
    five: bool
    needs: int


def asked(data: Imported, query: str, needs: Sequence[frozenset[str]]) -> Answer:
    """Ask for five tools. Raises `RuntimeError` where the answer is not that of mode hybrid."""
    request = SearchRequest.model_validate(
        {"query": query, "mode": "hybrid", "limit": _FIRST, "include_schemas": False}
    )
    response = data.parts.tool_search.search(request, LAPTOP)
    said, found = response.metadata, data.ranked(response)
    if said.confidence is None or said.confidence_first_five is None:
        raise RuntimeError(f"the answer to {query!r} has no confidence: {said.search_mode}, {said.degraded}")
    right = [any(id_ in need for need in needs) for id_ in found]
    return Answer(
        response.tools[0].score, said.confidence, said.confidence_first_five, right[0], any(right), len(needs)
    )


def catalogues(data: Path) -> JudgedSet:
    """Load both catalogues as one set."""
    one, other = (load(name, data) for name in CATALOGUES)
    tools, queries = {**one.tools, **other.tools}, [*one.queries, *other.queries]
    return JudgedSet(BOTH, tools, queries, (), {}, "k-means")


def reliability(answers: Mapping[str, Sequence[Answer]]) -> list[Json]:
    """Return by what is said, set and range: its mean, the share that is right, and the requests."""
    rows = []
    for measure, target in (("score", "first"), ("confidence", "first"), ("confidence_first_five", "five")):
        for name, of_set in answers.items():
            said = np.array([getattr(answer, measure) for answer in of_set])
            right = np.array([getattr(answer, target) for answer in of_set])
            tenth = np.minimum((said * 10).astype(int), 9)
            row: Json = {"of": measure, "requests for": name, "requests": len(of_set), "error": 0.0}
            for place in range(10):
                inside = tenth == place
                row[f"{place / 10:.1f}"] = ""
                if inside.any():
                    mean, share = float(said[inside].mean()), float(right[inside].mean())
                    row[f"{place / 10:.1f}"] = f"{mean:.2f}: {share:.2f} ({inside.sum()})"
                    row["error"] += abs(mean - share) * float(inside.mean())
            rows.append(row)
    return rows


def refusals(answered: Sequence[Answer], unserved: Mapping[str, Sequence[Answer]], bound: float) -> list[Json]:
    """Return what bounds refuse of each kind of request that nothing serves, by what they lose of the answered ones."""
    served = np.array([answer.confidence_first_five for answer in answered if answer.five])
    said = {kind: np.array([one.confidence_first_five for one in of_kind]) for kind, of_kind in unserved.items()}
    rows = []
    for name, at in (
        ("no_match", bound),
        *((f"{lost:.0%} lost", float(np.quantile(served, lost, method="lower"))) for lost in LOST),
    ):
        row = {"bound": name, "at": at, "lost": float((served < at).mean())}
        everything = np.concatenate(list(said.values()))
        row |= {f"refused, all {len(everything)}": float((everything < at).mean())}
        rows.append(row | {f"{kind}, {len(values)}": float((values < at).mean()) for kind, values in said.items()})
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the catalogues and the judged sets")
    parser.add_argument("--sets", type=words, default=["tool-requests", "metatool", "bfcl", "sealtools"])
    parser.add_argument("--limit-queries", type=int, default=500, help="so many of each set, by chance; 0: all")
    args = parser.parse_args()
    answers: dict[str, list[Answer]] = {}
    results: Json = {}
    with imported(catalogues(args.data), args.seed) as data:
        answers[BOTH] = _asked_all(data, [(query.text, query.needs) for query in data.judged.queries])
        nothing = read_lines(HERE / "requests" / "nothing_fits.jsonl")
        unserved = {
            kind: _asked_all(data, [(line["query"], ()) for line in nothing if line["kind"] == kind])
            for kind in ("near", "far")
        }
        bound = load_confidences()[data.parts.embedder.model.name].no_match_below
        results["refusals"] = refusals(answers[BOTH], unserved, bound)
    for name in args.sets:
        judged = load(name, args.data, seed=args.seed, limit_queries=args.limit_queries, unseen=True)
        with imported(judged, args.seed) as data:
            answers[f"{name}, held out"] = _asked_all(data, [(query.text, query.needs) for query in judged.queries])
    with_unserved = [*answers[BOTH], *unserved["near"], *unserved["far"]]
    served = [answer for of_set in answers.values() for answer in of_set if answer.needs]
    for label, several in (("one need", False), ("several needs", True)):
        answers[f"of all of these with {label}"] = [answer for answer in served if (answer.needs > 1) == several]
    answers[f"{BOTH}, and what nothing there serves"] = with_unserved
    results["reliability"] = reliability(answers)
    for title, rows in results.items():
        print_table(title, rows)
    save(args, "reliability", results)


def _asked_all(data: Imported, queries: Sequence[tuple[str, Sequence[frozenset[str]]]]) -> list[Answer]:
    with progress() as bar:
        return [asked(data, query, needs) for query, needs in bar.track(queries, description=data.judged.name)]


if __name__ == "__main__":
    main()
