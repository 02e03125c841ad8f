"""Measure what learned fusion would find in messages and in the registry, beside the formulas that are served.

    .venv/bin/python training/other_fusions.py             # needs no torch; two minutes

The candidates of every judged query (`benchmarks/message_queries.jsonl`, `registry_queries.jsonl`) are collected from
the program's own searches: cosine, share of the words, and what stands beside them, the best of a message's thread or a
server's best tool. Their features are those of `core/ranking/learned_fusion.py`, without clauses, with and without it;
weights are fitted to the gains of a query's answers by cross entropy, none of them negative. What is shown is held out:
ten folds by query, five draws, and by kind of query fitted on all other kinds. Differences are of pairs, with 95 %
intervals of 2,000 resamples. Nothing is written: docs/adr/0057 says why the formulas stay.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from data import DATA, ROOT
from evidence import Array
from skillroute.core.caller import LAPTOP
from skillroute.core.ranking.learned_fusion import FEATURES, Evidence, FusedRequest, features
from skillroute.mail.search import scores as fuse
from skillroute.mail.search import threads
from skillroute.mail.search.lexical import IndexWords
from skillroute.mail.search.model import POOL, MailFilter
from skillroute.mail.search.vector import nearest
from skillroute.mail.text import query_terms
from skillroute.registry.search.model import BEST_TOOL_SHARE, SERVER_COVERAGE_SHARE, RegistrySearchRequest
from skillroute.wiring import Parts

sys.path.append(str(ROOT))
from benchmarks.standing import message_quality, registry_quality

FOLDS, DRAWS = 10, 5
MAX_PER_WORD = 2.2
SHARED = tuple(name for name in FEATURES if "clause" not in name)
"""The features that need no clauses."""


@dataclass(frozen=True, slots=True)
class Query:
    """A judged query and its candidates, of which nothing but their signals is known.

    Attributes
    ----------
    cosine, coverage : float [candidates]
    beside : float [candidates]
        How much further the best of its thread, or the best of its tools, is than itself; 0 and up.
    served : float [candidates]
        What the program scores it with.
    grades : int [candidates]
    answers : sequence of int
        The grades of all that answer it, found or not.
    """

    kind: str
    words: int
    cosine: Array
    coverage: Array
    beside: Array
    served: Array
    grades: Array
    answers: Sequence[int]

    def ndcg(self, scores: Array, top: int) -> float:
        """Return nDCG of the first `top` candidates by these scores."""
        ranked = self.grades[np.argsort(-scores, kind="stable")][:top]
        ideal = sorted(self.answers, reverse=True)[:top]
        return _dcg(ranked) / _dcg(np.array(ideal))


Scores = Callable[[Query], Array]
Table = Callable[[Query], Array]
"""Returns the features of a query's candidates: float [candidates, features]."""


def shared(query: Query) -> Array:
    """Return the features of learned fusion; a share of the words stands for BM25."""
    request = FusedRequest(query.words, 1.0)
    evidence = [
        Evidence(max(0.0, cosine), MAX_PER_WORD * coverage)
        for cosine, coverage in zip(query.cosine.tolist(), query.coverage.tolist(), strict=True)
    ]
    columns = [FEATURES.index(name) for name in SHARED]
    return np.array(features(request, evidence), np.float64)[:, columns]


def with_coverage(query: Query) -> Array:
    """Return those, and the share itself: in messages and servers it counts whatever the length of the query."""
    return np.column_stack([shared(query), query.coverage])


def with_beside(query: Query) -> Array:
    """Return those, and how much further the best beside it is."""
    return np.column_stack([with_coverage(query), query.beside])


def three(query: Query) -> Array:
    """Return what the formulas look at."""
    return np.column_stack([query.cosine, query.coverage, query.beside])


WAYS: Mapping[str, Scores] = {
    "vectors": lambda query: query.cosine,
    "words": lambda query: query.coverage,
    "served": lambda query: query.served,
}
LEARNED: Mapping[str, Table] = {
    "learned: as for tools": shared,
    "learned: these, coverage": with_coverage,
    "learned: these, the best beside": with_beside,
    "learned: cosine, coverage, the best beside": three,
}


def fit(queries: Sequence[Query], table: Table, *, steps: int = 300, rate: float = 0.05, decay: float = 1e-3) -> Array:
    """Return weights: softmax over a query's candidates, gains as its target; Adam, none below 0."""
    chosen = [query for query in queries if query.grades.any()]
    rows = [table(query) for query in chosen]
    gains = [2.0**query.grades - 1.0 for query in chosen]
    lengths = [len(row) for row in rows]
    everything = np.concatenate(rows)
    deviation = everything.std(0) + 1e-9
    scaled = (everything - everything.mean(0)) / deviation
    target = np.concatenate([gain / gain.sum() for gain in gains])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    weights, first, second = (np.zeros(scaled.shape[1]) for _ in range(3))
    for step in range(1, steps + 1):
        sums = scaled @ weights
        grown = np.exp(sums - np.repeat(np.maximum.reduceat(sums, starts), lengths))
        share = grown / np.repeat(np.add.reduceat(grown, starts), lengths)
        gradient = scaled.T @ (share - target) / len(rows) + decay * weights
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        step_size = rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
        weights = np.maximum(0.0, weights - step_size)
    return np.asarray(weights / deviation)


def held_out(queries: Sequence[Query], table: Table, top: int, *, by_kind: bool) -> Array:
    """Return of each query the nDCG by weights that were fitted without it: a mean of draws."""
    folds = _kinds(queries) if by_kind else [_drawn(len(queries), draw) for draw in range(DRAWS)]
    values = np.zeros(len(queries))
    for fold in folds:
        for number in set(fold):
            inside = [query for query, of in zip(queries, fold, strict=True) if of != number]
            weights = fit(inside, table)
            for place, query in enumerate(queries):
                if fold[place] == number:
                    values[place] += query.ndcg(table(query) @ weights, top) / len(folds)
    return values


def report(title: str, queries: Sequence[Query], top: int) -> None:
    """Print nDCG by kind of query, and how much more the learned ones find than what is served and than vectors."""
    kinds = list(dict.fromkeys(query.kind for query in queries))
    found = {name: np.array([query.ndcg(scores(query), top) for query in queries]) for name, scores in WAYS.items()}
    for name, table in LEARNED.items():
        found[name] = held_out(queries, table, top, by_kind=False)
        found[f"{name}, by kind"] = held_out(queries, table, top, by_kind=True)
    print(f"\n{title}, nDCG@{top}\n\n| | " + " | ".join(kinds) + " | all | less what is served | less vectors |")
    print("|---" * (len(kinds) + 4) + "|")
    for name, values in found.items():
        cells = [
            f"{np.mean([v for v, q in zip(values, queries, strict=True) if q.kind == kind]):.3f}" for kind in kinds
        ]
        cells += [f"{values.mean():.3f}", _difference(values - found["served"]), _difference(values - found["vectors"])]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for name, table in LEARNED.items():
        print(f"{name}: {fit(queries, table).round(3).tolist()}")


def _difference(values: Array) -> str:
    low, high = registry_quality.interval(values, np.random.default_rng(7))
    return f"{values.mean():+.3f} ({low:+.3f} to {high:+.3f})"


def _kinds(queries: Sequence[Query]) -> list[list[int]]:
    kinds = list(dict.fromkeys(query.kind for query in queries))
    return [[kinds.index(query.kind) for query in queries]]


def _drawn(count: int, draw: int) -> list[int]:
    folds = [place % FOLDS for place in range(count)]
    random.Random(draw).shuffle(folds)
    return folds


def _dcg(grades: Array) -> float:
    return float(sum((2.0**grade - 1.0) / np.log2(rank + 1) for rank, grade in enumerate(grades, 1)))


def messages() -> Iterator[Query]:
    """Yield the judged questions for messages, with the candidates of both halves and their threads."""
    where = MailFilter(kind="message", org_id=None)
    with message_quality.imported() as parts, parts.replica.current() as index:
        key_of = _message_keys(parts)
        for judged in message_quality.judged_queries():
            words = IndexWords(index, query_terms(judged.text))
            vector = parts.query_embedder.for_messages().embed(judged.text, index.model)
            near, lexical = nearest(index, vector, where), words.top(where, POOL)
            ranked = fuse.by_coverage(lexical, near, words.most, pool=POOL)
            lifted = {match.id: match.score for match in threads.lifted(ranked, threads.threads_in(index)).matches}
            cosines, shares = dict(near), {id_: score / words.most for id_, score in lexical}
            ids = [match.id for match in ranked.matches]
            own = np.array([match.score for match in ranked.matches])
            served = np.array([lifted[id_] for id_ in ids])
            yield Query(
                judged.kind,
                len(judged.text.split()),
                np.array([cosines.get(id_, near[-1][1]) for id_ in ids]),
                np.array([min(1.0, shares.get(id_, 0.0)) for id_ in ids]),
                (served - own) / threads._THREAD_SHARE,
                served,
                np.array([judged.grades.get(key_of[id_], 0) for id_ in ids]),
                list(judged.grades.values()),
            )


def _message_keys(parts: Parts) -> dict[int, str]:
    rows = parts.pool.read(lambda connection: connection.script("SELECT id, key FROM mcp.mail_messages"))
    return {int(id_): str(key) for id_, key in rows}


def servers(data: Path) -> Iterator[Query]:
    """Yield the judged queries for servers, with what `explain` says of the candidates of both searches."""
    with registry_quality.imported(data) as parts:
        for judged in registry_quality.judged_queries():
            asked = {"query": judged.text, "entity_types": ["mcp_server"], "max_results": 30, "explain": True}
            answer = parts.registry_search(RegistrySearchRequest.model_validate(asked), LAPTOP)
            figures = [figure for figure in answer.explain or () if figure.type == "mcp_server"]
            yield Query(
                judged.group,
                len(judged.text.split()),
                np.array([figure.vector for figure in figures], np.float64),
                np.array([figure.boost_contrib / SERVER_COVERAGE_SHARE for figure in figures]),
                np.array([2.0 * figure.tool_contrib / BEST_TOOL_SHARE for figure in figures]),
                np.array([figure.final for figure in figures]),
                np.array([judged.servers.get(figure.path, 0) for figure in figures]),
                list(judged.servers.values()),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the catalogue of the registry's queries")
    arguments = parser.parse_args()
    report("Messages", list(messages()), 10)
    report("Servers", list(servers(arguments.data)), 3)


if __name__ == "__main__":
    main()
