"""What the first stage puts first for judged requests, and what of it may count as wrong: what a reranker learns from.

The first stage is mode `hybrid` as the program has it: learned fusion over the program's own embedder and BM25.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from candidates import CACHE, FIRST, MAX_PER_TOOL, Candidates, Found
from data import CATALOGUES, ROOT, Pool, Query, load_catalogues, load_pool, load_unserved, training_pairs
from evidence import Vectors, collect, vectors_of
from fusion import FITTED, drawn
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.ranking.learned_fusion import Fusion, fusion_for

UNTUNED = "all-minilm-l6-v2"
ALIKE = 0.88
"""Tools whose untuned vectors are at least this near are right answers to each other's requests too often: train.py."""
_AT_ONCE = 1_000


class Likeness:
    """Which tools of a pool may be right where others are."""

    def __init__(self, pool: Pool) -> None:
        tools = list(pool.tools.values())
        self._vectors: Vectors = vectors_of(tools, OnnxEmbedder(ROOT / "layers/inference/models" / UNTUNED))
        self._place = {tool.id: place for place, tool in enumerate(tools)}

    def may_be_right(self, id_: str, relevant: Iterable[str]) -> bool:
        """Return whether a tool is one of the right ones, or so near to one that it may be right as well."""
        rights = [self._place[right] for right in relevant]
        return bool(rights and (self._vectors[rights] @ self._vectors[self._place[id_]]).max() >= ALIKE)


def candidates_of(
    pool: Pool, queries: Sequence[Query], embedder: OnnxEmbedder, fusion: Fusion, likeness: Likeness
) -> Iterator[Candidates]:
    """Yield the first `FIRST` candidates of each request."""
    ids = list(pool.tools)
    for at in range(0, len(queries), _AT_ONCE):
        some = queries[at : at + _AT_ONCE]
        judged = collect(pool, some, embedder)
        for number, ((first, last), query) in enumerate(zip(judged.bounds(), some, strict=True)):
            chances = fusion.probabilities(judged.request(number), judged.evidence(first, last))
            best = first + np.argsort(-np.array(chances), kind="stable")[:FIRST]
            found = []
            for row in best.tolist():
                id_, need = ids[int(judged.place[row])], int(judged.need[row])
                is_wrong = need < 0 and not likeness.may_be_right(id_, query.relevant)
                found.append(Found(id_, round(chances[row - first], 6), need, is_wrong))
            yield Candidates(query.text, query.kind, query.needs, pool.is_held_out(query), tuple(found))
        print(f"{pool.name}: {min(at + _AT_ONCE, len(queries))} of {len(queries)}", file=sys.stderr, flush=True)


def asked_of(name: str) -> tuple[Pool, list[Query]]:
    """Return a pool and the requests whose candidates are wanted; of a set those of training and those of fusion."""
    if name == "both catalogues":
        both = load_catalogues()
        return both, [*both.queries, *load_unserved()]
    pool = load_pool(name)
    if name not in MAX_PER_TOOL:
        return pool, pool.queries
    trained = {text for text, _, _ in training_pairs(pool, most_per_tool=MAX_PER_TOOL[name])}
    measured = {query.text for query in drawn(pool, FITTED[name])}
    distinct = {query.text: query for query in pool.queries if query.text in trained | measured}
    return pool, list(distinct.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tool-minilm-l6", help="a packaged model")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where the candidates go, a file for each pool")
    parser.add_argument("pools", nargs="*", default=[*MAX_PER_TOOL, *CATALOGUES, "both catalogues"])
    arguments = parser.parse_args()
    embedder = OnnxEmbedder(ROOT / "layers/inference/models" / arguments.model)
    fusion = fusion_for("skillroute.search.ranking", embedder.model.name)
    arguments.cache.mkdir(parents=True, exist_ok=True)
    for name in arguments.pools:
        pool, queries = asked_of(name)
        with (arguments.cache / f"{name}.jsonl.part").open("w", encoding="utf-8") as file:
            for one in candidates_of(pool, queries, embedder, fusion, Likeness(pool)):
                file.write(json.dumps(asdict(one)) + "\n")
        Path(file.name).rename(arguments.cache / f"{name}.jsonl")


if __name__ == "__main__":
    main()
