"""How good message search is: nDCG@10 and MRR of its modes on the judged queries that the project ships.

The mail of `examples/` is written through the service into a fresh PostgreSQL and searched by `MessageSearch`, with the
real model, over an embedded index. The queries and their grades are those of `message_queries.jsonl`: questions in
other words than the messages' own, keywords, and identifiers. Those of `message_queries_2.jsonl`, kinds that begin with
"second", ask in any words, and nothing was chosen on them.

- lexical: BM25 in the index. fts5: PostgreSQL's full text, which the same words stand in.
- semantic: cosine. hybrid: both, by how much of the query's words is there and, where it says so, by reciprocal rank.
- counted, unweighted: lexical and hybrid with terms weighed by how many of these very messages have them (BM25's own
  way), and not at all, instead of by the fixed table (docs/adr/0020). The same terms are looked for in each.

`hybrid_rerank` is not measured: no reranker is embedded, so that it is served as `hybrid`.

nDCG@10 has gain 2^grade - 1 over 1 / log2(rank + 1). MRR is 1 / rank of the first message with any grade within the
first ten. Differences are of pairs, with a 95 % interval of the means of 2,000 resamples of the queries (bootstrap,
percentiles): one that holds 0 shows nothing. What is left out of queries as too common, and how much a subject counts,
was chosen on the first set.

    python -m benchmarks.standing.message_quality --json results/message_quality.json
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.documents.replica_port import IndexReplica, IndexStatus
from skillroute.core.ranking.intervals import interval
from skillroute.core.settings import SearchSettings
from skillroute.mail.model import MailKind
from skillroute.mail.search.model import EngineSetting, MessageSearchRequest
from skillroute.mail.search.search import MessageSearch
from skillroute.mail.text import SearchText, impacts
from skillroute.wiring import Parts

from benchmarks.corpora.message_filler import write
from benchmarks.corpora.registry_corpus import read_lines
from benchmarks.harness import HERE, ROOT, arguments, fresh_database, print_table, progress, save
from benchmarks.standing.registry_quality import ndcg, reciprocal_rank

SETS = {"": "message_queries", "second, ": "message_queries_2"}
_TOP = 10
_FILES: tuple[tuple[MailKind, str], ...] = (
    ("project", "projects"),
    ("product", "products"),
    ("agent", "mail_agents"),
    ("message", "messages"),
)
_DIFFERENCES = (
    ("hybrid", "lexical"),
    ("hybrid", "fts5"),
    ("hybrid", "semantic"),
    ("semantic", "lexical"),
    ("fts5", "lexical"),
    ("lexical", "lexical, counted"),
    ("hybrid", "hybrid, counted"),
    ("lexical", "lexical, unweighted"),
)

Json = dict[str, Any]
Weigh = Callable[[str], float]
Rank = Callable[[str], list[str]]
Values = Mapping[str, Mapping[str, list[float]]]


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A question and the grades, 1 or 2, of the messages that answer it, by key."""

    kind: str
    text: str
    grades: Mapping[str, int]


class Reweighed:
    """A replica whose searches for terms weigh them otherwise; the terms stay those that they ask for."""

    def __init__(self, replica: IndexReplica, weigh: Weigh) -> None:
        self._replica = replica
        self._weigh = weigh

    @property
    def is_ready(self) -> bool:
        return self._replica.is_ready

    @contextmanager
    def current(self, on_stale: Callable[[], object] = lambda: None) -> Iterator[VectorIndex]:
        with self._replica.current(on_stale) as index:
            yield cast(VectorIndex, _ReweighedIndex(index, self._weigh))

    def status(self) -> IndexStatus:
        return self._replica.status()

    def close(self) -> None:
        self._replica.close()


class _ReweighedIndex:
    def __init__(self, index: VectorIndex, weigh: Weigh) -> None:
        self._index = index
        self._weigh = weigh

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def search_terms(
        self, collection: Collection, weights: Mapping[str, float], *, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        weighed = {term: self._weigh(term) for term in weights}
        return self._index.search_terms(collection, weighed, where=where, limit=limit)


def judged_queries(name: str = SETS[""]) -> list[JudgedQuery]:
    """Return the queries of a set that the project ships."""
    return [JudgedQuery(line["kind"], line["query"], line["relevant"]) for line in read_lines(HERE / f"{name}.jsonl")]


@contextmanager
def imported() -> Iterator[Parts]:
    """Write the shipped mail into a fresh database, and yield what searches it."""
    with fresh_database() as url:
        parts = Parts(SearchSettings(database_url=url))
        try:
            for kind, name in _FILES:
                write(parts.mail.sync, kind, read_lines(ROOT / "examples" / f"{name}.jsonl"))
            with parts.replica.current():
                pass  # a search would wait for the first index no longer than a setting says
            yield parts
        finally:
            parts.close()


def counted_weight() -> Weigh:
    """Return BM25's weight of a term by how many of the shipped messages have it."""
    messages = read_lines(ROOT / "examples" / "messages.jsonl")
    texts = [impacts(SearchText.of(message["subject"], message["body"])) for message in messages]
    having = Counter(term for text in texts for term in text)
    return lambda term: math.log(1.0 + (len(texts) - having[term] + 0.5) / (having[term] + 0.5))


def rankings(parts: Parts) -> dict[str, Rank]:
    """Return what ranks a query, by the name of the ranking."""

    def search(setting: EngineSetting | None = None, weigh: Weigh | None = None) -> MessageSearch:
        replica = parts.replica if weigh is None else Reweighed(parts.replica, weigh)
        return MessageSearch(replica, parts.query_embedder, parts.database, setting=setting)

    usual, counted = search(), search(weigh=counted_weight())
    return {
        "lexical": _ranks(usual, "lexical", "tantivy"),
        "fts5": _ranks(search("postgres"), "lexical", "fts5"),
        "semantic": _ranks(usual, "semantic", "hybrid"),
        "hybrid": _ranks(usual, "hybrid", "hybrid"),
        "hybrid, rrf": _ranks(usual, "hybrid", "hybrid", fusion="rrf"),
        "lexical, counted": _ranks(counted, "lexical", "tantivy"),
        "hybrid, counted": _ranks(counted, "hybrid", "hybrid"),
        "lexical, unweighted": _ranks(search(weigh=lambda _: 1.0), "lexical", "tantivy"),
    }


def _ranks(search: MessageSearch, mode: str, engine: str, **more: object) -> Rank:
    def rank(query: str) -> list[str]:
        request = MessageSearchRequest.model_validate({"text": query, "mode": mode, "limit": _TOP, **more})
        answer = search(request, LAPTOP)
        if (answer.mode, answer.engine) != (mode, engine):
            raise RuntimeError(f"{mode} by {engine} was asked for; the answer is {answer.mode} by {answer.engine}")
        return [str(result.key) for result in answer.results]

    return rank


def measured(queries: Sequence[JudgedQuery], ranked: Sequence[Sequence[str]]) -> dict[str, list[float]]:
    """Return each measure's value for every query."""
    pairs = list(zip(queries, ranked, strict=True))
    return {
        "ndcg@10": [ndcg(found, query.grades, _TOP) for query, found in pairs],
        "mrr": [reciprocal_rank(found, query.grades) for query, found in pairs],
        "nothing found": [float(not found) for _, found in pairs],
    }


def by_kind(queries: Sequence[JudgedQuery]) -> dict[str, list[int]]:
    """Return which queries are of each kind, and all."""
    places = list(enumerate(queries))
    kinds = dict.fromkeys(query.kind for query in queries)
    return {kind: [at for at, query in places if query.kind == kind] for kind in kinds} | {
        "all": [at for at, _ in places]
    }


def means(queries: Sequence[JudgedQuery], values: Values, about: str = "") -> list[Json]:
    """Return the mean of each measure, by kind of query and ranking."""
    return [
        {"kind": about + kind, "queries": len(chosen), "ranking": name}
        | {measure: round(sum(found[at] for at in chosen) / len(chosen), 4) for measure, found in by_measure.items()}
        for kind, chosen in by_kind(queries).items()
        for name, by_measure in values.items()
    ]


def differences(queries: Sequence[JudgedQuery], values: Values, seed: int, about: str = "") -> list[Json]:
    """Return how much better one ranking is than another, with intervals."""
    rows = []
    for kind, chosen in by_kind(queries).items():
        for one, other in _DIFFERENCES:
            for measure in ("ndcg@10", "mrr"):
                found = np.array(values[one][measure])[chosen] - np.array(values[other][measure])[chosen]
                low, high = interval(found, np.random.default_rng(seed))
                rows.append(
                    {
                        "kind": about + kind,
                        "difference": f"{one} - {other}" if "," not in other else f"{one} - ({other})",
                        "measure": measure,
                        "mean": round(float(found.mean()), 4),
                        "low": round(low, 4),
                        "high": round(high, 4),
                        "shown": "better" if low > 0.0 else "worse" if high < 0.0 else "not shown",
                    }
                )
    return rows


def main() -> None:
    args = arguments(__doc__).parse_args()
    results: dict[str, list[Json]] = {"means": [], "differences": []}
    with imported() as parts, progress() as bar:
        ways = rankings(parts)
        for about, name in SETS.items():
            queries = judged_queries(name)
            values = {
                way: measured(queries, [rank(query.text) for query in bar.track(queries, description=way)])
                for way, rank in ways.items()
            }
            results["means"] += means(queries, values, about)
            results["differences"] += differences(queries, values, args.seed, about)
    for title, rows in results.items():
        print_table(title, rows)
    save(args, "message_quality", results)


if __name__ == "__main__":
    main()
