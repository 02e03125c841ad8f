"""What weights of words cost in search by words: counted in the index, counted for each caller, or fixed (ADR 25).

Tools are those of the judged sets, all in one index, each set an organisation. The same sparse vectors are searched:

- everything: BM25's weights by how many tools of the whole index have a word, whichever organisation they belong to.
- caller: by how many of the caller's tools have it (Qdrant's `idf` with a corpus).
- fixed: by `skillroute.core.documents.term_weights`, as shipped, which was counted in these sets among others.
- fixed, left out: the same, counted anew without the set that is measured (and without what shares tools with it).
- none: every word weighs 1.

A catalogue is a whole set, or so many of its tools drawn by chance, or the tools of one server; queries are those whose
right tools are all in it. Differences to `caller` have 95 % intervals of paired resamples of the queries. Latency: one
search for the best 100 of made-up tools (`corpus.py`), half of them global, 40 % of one organisation and 1 % of
another; every query is asked in each way, one after the other.

    python benchmarks/lexical_weights.py --data /path/to/data --json results/lexical_weights.json
"""

from __future__ import annotations

import itertools
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as edge
from corpus import Corpus
from harness import arguments, numbers, percentiles, print_table, progress, save, words
from judged import JudgedSet, Query, load, measures
from skillroute.core.documents import term_weights
from skillroute.core.documents.index.bm25 import Bm25Encoder
from skillroute_local.evaluating.intervals import interval
from term_counts import SETS, counted, lexical_texts
from term_counts import load as load_texts
from word_shards import Fixed, Shards, Sparse, Unweighted, Weights

WAYS = ("everything", "caller", "fixed", "fixed, left out", "none")
_JUDGED = ("metatool", "sealtools", "bfcl", "tool-requests")
_SHARED = {"bfcl": {"tool-requests"}, "tool-requests": {"bfcl"}}
_MEASURES = ("recall@1", "recall@5", "ndcg@5")
_SIZES = (5, 20, 50, 200)
_DRAWS = 100
_QUERIES_OF_A_DRAW = 30
_MIN_PER_SERVER = 15
_TOP = 10
_CALLERS = {"global and large": ["", "large"], "global and small": ["", "small"], "small": ["small"]}

Json = dict[str, Any]
_ENCODER = Bm25Encoder()


def fixed_weights(data: Path, name: str) -> dict[str, Weights | None]:
    """Return the weights of each way, of one set."""
    left = [load_texts(data / other) for other in SETS if other not in {name, *_SHARED.get(name, ())}]
    counts = counted(left, len(term_weights.counts()))
    return {
        "everything": None,
        "caller": None,
        "fixed": Fixed(term_weights.counts(), term_weights.UNKNOWN),
        "fixed, left out": Fixed(counts, min(counts.values()) / 2),
        "none": Unweighted(),
    }


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Some tools of a set, by their ids in the index, and the queries that they answer."""

    kind: str
    ids: frozenset[int]
    queries: Sequence[Query]


@dataclass(frozen=True, slots=True)
class Indexed:
    """A judged set in the index."""

    judged: JudgedSet
    id_of: Mapping[str, int]

    def catalogue(self, kind: str, tools: Iterator[str] | Sequence[str], most: int, rng: random.Random) -> Catalogue:
        chosen = set(tools)
        queries = [query for query in self.judged.queries if query.relevant <= chosen]
        queries = rng.sample(queries, most) if 0 < most < len(queries) else queries
        return Catalogue(kind, frozenset(self.id_of[name] for name in chosen), queries)

    def catalogues(self, most: int, rng: random.Random) -> Iterator[Catalogue]:
        names = list(self.id_of)
        yield self.catalogue("all", names, most, rng)
        for size in (size for size in _SIZES if size < len(names) / 2):
            for _ in range(_DRAWS):
                yield self.catalogue(f"{size} by chance", rng.sample(names, size), _QUERIES_OF_A_DRAW, rng)
        by_server: dict[str, list[str]] = {}
        for name, tool in self.judged.tools.items():
            by_server.setdefault(tool.get("server", ""), []).append(name)
        for server, of_server in by_server.items():
            if server and len(of_server) >= _MIN_PER_SERVER:
                yield self.catalogue("one server", of_server, most, rng)


def quality(args: Any) -> list[Json]:
    """Return means and differences, by set, kind of catalogue and way."""
    rows: list[Json] = []
    with tempfile.TemporaryDirectory() as folder, progress() as bar:
        shards = Shards(Path(folder))
        ids = itertools.count()
        sets = [
            Indexed(judged, {name: next(ids) for name in judged.tools})
            for judged in (load(name, args.data, seed=args.seed) for name in args.sets)
        ]
        for indexed in sets:
            vectors = map(_ENCODER.document, lexical_texts(indexed.judged.tools.values()))
            points = zip(indexed.id_of.values(), vectors, strict=True)
            shards.write([(id_, vector, indexed.judged.name) for id_, vector in points if vector is not None])
        for indexed in bar.track(sets, description="quality"):
            weights = fixed_weights(args.data, indexed.judged.name)
            found: dict[str, dict[str, list[Mapping[str, float]]]] = {}
            for catalogue in indexed.catalogues(args.limit_queries, random.Random(args.seed)):
                of_kind = found.setdefault(catalogue.kind, {way: [] for way in WAYS})
                for way in WAYS:
                    of_kind[way] += _measured(shards, indexed, catalogue, way, weights[way])
            rows += [
                _row(indexed.judged.name, kind, way, by_way, args.seed)
                for kind, by_way in found.items()
                for way in WAYS
            ]
        shards.close()
    return rows


def _measured(
    shards: Shards, indexed: Indexed, catalogue: Catalogue, way: str, weights: Weights | None
) -> list[Mapping[str, float]]:
    name_of = {id_: name for name, id_ in indexed.id_of.items()}
    mine = edge.FieldCondition("org", match=edge.MatchValue(indexed.judged.name))
    condition = mine if catalogue.kind == "all" else edge.HasIdCondition(set(catalogue.ids))
    rows = []
    for query in catalogue.queries:
        vector = _ENCODER.query(query.text)
        ids = [] if vector is None else shards.search(way, _plain(vector), weights, edge.Filter(must=[condition]), _TOP)
        rows.append(measures([name_of[id_] for id_ in ids], query.needs))
    return rows


def _plain(vector: Sparse) -> Sparse:
    """Return the words of a query without their weights."""
    return Sparse(vector.indices, [1.0] * len(vector.indices))


def _row(name: str, kind: str, way: str, by_way: Mapping[str, Sequence[Mapping[str, float]]], seed: int) -> Json:
    row: Json = {"set": name, "catalogue": kind, "queries": len(by_way[way]), "weights": way}
    values = {measure: np.array([row[measure] for row in by_way[way]]) for measure in _MEASURES}
    row |= {measure: round(float(found.mean()), 4) for measure, found in values.items()}
    for measure in ("recall@1", "recall@5"):
        gained = values[measure] - np.array([row[measure] for row in by_way["caller"]])
        low, high = interval(gained, np.random.default_rng(seed))
        row[f"{measure} - caller"] = "" if way == "caller" else f"{gained.mean():+.3f} ({low:+.3f} to {high:+.3f})"
    return row


def latency(count: int, seed: int) -> list[Json]:
    """Return milliseconds of a search, by caller and way."""
    corpus, rng = Corpus(seed), random.Random(seed)
    fixed: Weights = Fixed(term_weights.counts(), term_weights.UNKNOWN)
    weights: dict[str, Weights | None] = {"everything": None, "caller": None, "fixed": fixed}
    with tempfile.TemporaryDirectory() as folder:
        shards = Shards(Path(folder))
        for start in range(0, count, 1000):
            texts = lexical_texts(corpus.item(number) for number in range(start, min(start + 1000, count)))
            vectors = [_ENCODER.document(text) for text in texts]
            shards.write([(start + n, v, _org(rng.random())) for n, v in enumerate(vectors) if v is not None])
        queries = [vector for query in corpus.queries(220) if (vector := _ENCODER.query(query)) is not None]
        rows = []
        for caller, orgs in _CALLERS.items():
            where = edge.Filter(must=[edge.FieldCondition("org", match=edge.MatchAny(orgs))])
            took: dict[str, list[float]] = {way: [] for way in weights}
            for query, way in itertools.product(map(_plain, queries), weights):
                started = time.perf_counter()
                shards.search(way, query, weights[way], where, 100)
                took[way].append((time.perf_counter() - started) * 1000)
            about = {"tools": count, "caller sees": caller}
            rows += [about | {"weights": way} | percentiles(ms[20:]) for way, ms in took.items()]
        shards.close()
    return rows


def _org(chance: float) -> str:
    return "" if chance < 0.5 else "large" if chance < 0.9 else "small" if chance < 0.91 else "other"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder for each set")
    parser.add_argument("--sets", type=words, default=list(_JUDGED))
    parser.add_argument("--limit-queries", type=int, default=3000, help="of a catalogue; 0: all")
    parser.add_argument("--sizes", type=numbers, default=[10_000, 100_000], help="made-up tools, for latency")
    args = parser.parse_args()
    results = {"quality": quality(args), "latency": [row for size in args.sizes for row in latency(size, args.seed)]}
    for title, rows in results.items():
        print_table(title, rows)
    save(args, "lexical_weights", results)


if __name__ == "__main__":
    main()
