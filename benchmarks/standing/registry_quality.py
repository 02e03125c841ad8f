"""How good registry search is: nDCG@3 and MRR of three fusions, vector only and keyword only, on 227 judged queries.

The Docker MCP catalogue (328 servers, 755 tools) is written through the service into a fresh PostgreSQL and searched
in this process, with the real model; queries and grades are those of `registry_queries.jsonl` and, as groups that begin
with "second", of `registry_queries_2.jsonl`, on which nothing was chosen; how they were made stands in
`registry_queries.md`. All five rankings come out of the same search:

- boost, rrf, coverage: the fusions. The constants of coverage were chosen on the first set (docs/adr/0017).
- keyword: what the search answers while the embedding model is away (lexical-only).
- vector: every candidate by its cosine, as `explain` shows it, of tools without the threshold of a match.

"catalogues" are the judged requests for tools of `requests/`, in Docker's catalogue and in LiveMCP's (69 servers, 510
tools): a request's right servers are those of its right tools, and recall and nDCG are of its needs.

nDCG@3 has gain 2^grade - 1 over 1 / log2(rank + 1). MRR is 1 / rank of the first server or tool with any grade within
the first ten. Servers are judged on all queries, tools on those that name some. Differences are of pairs, with a 95 %
interval of the means of 2,000 resamples of the queries (bootstrap, percentiles): one that holds 0 shows nothing.

    python -m benchmarks.standing.registry_quality --data DATA --json results/registry_quality.json
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress
from skillroute.core.bulk.write import Writer
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.ranking import metrics
from skillroute.core.ranking.intervals import Floats, interval
from skillroute.core.settings import SearchSettings
from skillroute.registry.search.model import EntityType, RegistrySearchRequest, RegistrySearchResponse
from skillroute.registry.search.search import RegistrySearch
from skillroute.registry.sync import SyncRegistry
from skillroute.wiring import Parts

from benchmarks.corpora.judged import load
from benchmarks.corpora.registry_corpus import read_lines
from benchmarks.harness import HERE, arguments, fresh_database, print_table, progress, save

CATALOGUE = "docker-mcp-catalog"
CATALOGUES = (CATALOGUE, "livemcp-catalog")
SETS = {"": "registry_queries", "second, ": "registry_queries_2"}
GROUPS = ("name", "need", "tools", "tags")
_TOP = 3
_MRR_TOP = 10
_BATCH = 50
_TOOL_FIELDS = ("name", "description", "input_schema")
_DIFFERENCES = (
    *((fusion, half) for fusion in ("boost", "rrf", "coverage") for half in ("vector", "keyword")),
    ("rrf", "boost"),
    ("coverage", "boost"),
)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A question and the grades, 1 or 2, of the servers (by path) and tools (``server/tool``) that answer it."""

    group: str
    text: str
    servers: Mapping[str, int]
    tools: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The first ten servers and tools of an answer, best first."""

    servers: Sequence[str]
    tools: Sequence[str]


class ModelAway(QueryEmbedder):
    """Queries while the model cannot be reached."""

    def embed(self, query: str, model: EmbeddingModel, *, timeout_s: float | None = None) -> Vector:
        raise EmbeddingUnavailable("away, for the benchmark")


def judged_queries(name: str = SETS[""]) -> list[JudgedQuery]:
    """Return the queries of a set that the project ships."""
    return [
        JudgedQuery(line["group"], line["query"], line["servers"], line["tools"])
        for line in read_lines(HERE / f"{name}.jsonl")
    ]


def _servers(data: Path, catalogue: str) -> list[Json]:
    servers = [line | {"tools": []} for line in read_lines(data / catalogue / "servers.jsonl")]
    named = {line["name"]: line for line in servers} | {line["path"][1:]: line for line in servers}
    for tool in read_lines(data / catalogue / "tools.jsonl"):
        named[tool["server"]]["tools"].append(tool)
    return servers


def requests_of(data: Path, catalogue: str) -> list[tuple[str, list[set[str]]]]:
    """Return a catalogue's judged requests, each with the servers (by path) of the tools that serve each need."""
    path_of = {tool["id"]: server["path"] for server in _servers(data, catalogue) for tool in server["tools"]}
    return [
        (query.text, [{path_of[id_] for id_ in need} for need in query.needs])
        for query in load(catalogue, data).queries
    ]


@contextmanager
def imported(data: Path, catalogue: str = CATALOGUE) -> Iterator[Parts]:
    """Write a catalogue into a fresh database, servers with their tools, and yield what searches it."""
    servers = _servers(data, catalogue)
    for server in servers:
        server["tools"] = [{name: tool[name] for name in _TOOL_FIELDS if name in tool} for tool in server["tools"]]
    with fresh_database() as url:
        parts = Parts(SearchSettings(database_url=url))
        try:
            sync = SyncRegistry(Writer(parts.database, parts.document_embedder, timeout_s=600.0))
            for start in range(0, len(servers), _BATCH):
                report = sync("server", servers[start : start + _BATCH], LAPTOP)
                if refused := [outcome for outcome in report.outcomes if outcome.status != "created"]:
                    raise RuntimeError(f"{refused[0].path} was refused: {refused[0].field}: {refused[0].reason}")
            yield parts
        finally:
            parts.close()


Rank = Callable[[str], Ranking]


def rankings(parts: Parts) -> dict[str, Rank]:
    """Return what ranks a query, by the name of the ranking."""
    lexical = RegistrySearch(parts.replica, ModelAway(parts.embedder), parts.database, default_fusion="boost")

    def by_vector(query: str) -> Ranking:
        return _by_vector(parts.registry_search(_request(query, fusion="boost", explain=True), LAPTOP))

    return {
        "boost": lambda query: _answered(parts.registry_search(_request(query, fusion="boost"), LAPTOP), "hybrid"),
        "rrf": lambda query: _answered(parts.registry_search(_request(query, fusion="rrf"), LAPTOP), "hybrid"),
        "coverage": lambda query: _answered(
            parts.registry_search(_request(query, fusion="coverage"), LAPTOP), "hybrid"
        ),
        "vector": by_vector,
        "keyword": lambda query: _answered(lexical(_request(query), LAPTOP), "lexical-only"),
    }


def _request(query: str, **more: object) -> RegistrySearchRequest:
    wanted = {"query": query, "entity_types": ["mcp_server", "tool"], "max_results": _MRR_TOP}
    return RegistrySearchRequest.model_validate(wanted | more)


def _answered(response: RegistrySearchResponse, mode: str) -> Ranking:
    if response.search_mode != mode:
        raise RuntimeError(f"{mode} was asked for; the answer is {response.search_mode}")
    return Ranking(
        [server.path for server in response.servers],
        [_tool_id(tool.server_path, tool.tool_name) for tool in response.tools],
    )


def _by_vector(response: RegistrySearchResponse) -> Ranking:
    figures = sorted(
        response.explain or (),
        key=lambda figure: (-(figure.normalized_vector or 0.0), figure.path, figure.name),
    )

    def first(type_: EntityType) -> list[str]:
        of_type = [figure for figure in figures if figure.type == type_][:_MRR_TOP]
        return [_tool_id(figure.path, figure.name) if type_ == "tool" else figure.path for figure in of_type]

    return Ranking(first("mcp_server"), first("tool"))


def _tool_id(path: str, name: str) -> str:
    return f"{path.removeprefix('/')}/{name}"


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], top: int = _TOP) -> float:
    """Return the normalised discounted gain of the first `top`; gain 2^grade - 1."""
    ideal = sorted(grades.values(), reverse=True)
    return _dcg([grades.get(id_, 0) for id_ in ranked[:top]]) / _dcg(ideal[:top])


def reciprocal_rank(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return 1 / rank of the first with a grade within the first ten, else 0."""
    return next((1.0 / rank for rank, id_ in enumerate(ranked[:_MRR_TOP], 1) if id_ in grades), 0.0)


def _dcg(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1.0) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def measured(queries: Sequence[JudgedQuery], ranked: Sequence[Ranking]) -> dict[str, list[float]]:
    """Return each measure's value for every query; NaN of tools where none are named."""
    pairs = list(zip(queries, ranked, strict=True))
    return {
        "ndcg@3": [ndcg(found.servers, query.servers) for query, found in pairs],
        "mrr": [reciprocal_rank(found.servers, query.servers) for query, found in pairs],
        "tools ndcg@3": [ndcg(found.tools, query.tools) if query.tools else math.nan for query, found in pairs],
        "tools mrr": [reciprocal_rank(found.tools, query.tools) if query.tools else math.nan for query, found in pairs],
    }


Values = Mapping[str, Mapping[str, list[float]]]


def by_group(queries: Sequence[JudgedQuery]) -> dict[str, list[bool]]:
    """Return which queries are of each group, and of all."""
    return {group: [query.group == group for query in queries] for group in GROUPS} | {"all": [True] * len(queries)}


def _values(queries: Sequence[JudgedQuery], ways: Mapping[str, Rank], bar: Progress) -> Values:
    return {
        name: measured(queries, [rank(query.text) for query in bar.track(queries, description=name)])
        for name, rank in ways.items()
    }


def by_request(requests: Sequence[tuple[str, list[set[str]]]], rank: Rank) -> Json:
    """Return the means of how a ranking's servers serve the needs of requests."""
    ranked = [(rank(text).servers, needs) for text, needs in requests]
    measures = {
        "recall@1": [metrics.recall(found, needs, 1) for found, needs in ranked],
        "recall@3": [metrics.recall(found, needs, _TOP) for found, needs in ranked],
        "ndcg@3": [metrics.ndcg(found, needs, _TOP) for found, needs in ranked],
    }
    return {measure: _mean(np.array(values)) for measure, values in measures.items()}


def means(queries: Sequence[JudgedQuery], values: Values, column: str, about: str = "") -> list[Json]:
    """Return the mean of each measure, by group and way of ranking."""
    rows = []
    for group, chosen in by_group(queries).items():
        for name, by_measure in values.items():
            kept = {measure: _kept(found, chosen) for measure, found in by_measure.items()}
            row = {"group": about + group, "queries": sum(chosen), "with tools": len(kept["tools mrr"]), column: name}
            rows.append(row | {measure: _mean(found) for measure, found in kept.items()})
    return rows


def differences(queries: Sequence[JudgedQuery], values: Values, seed: int, about: str = "") -> list[Json]:
    """Return how much better one ranking is than another, with intervals."""
    rows = []
    for group, chosen in by_group(queries).items():
        for one, other in _DIFFERENCES:
            for measure in values[one]:
                found = _kept(values[one][measure], chosen) - _kept(values[other][measure], chosen)
                low, high = interval(found, np.random.default_rng(seed))
                row = {"group": about + group, "difference": f"{one} - {other}", "measure": measure}
                row["queries"] = len(found)
                shown = "better" if low > 0.0 else "worse" if high < 0.0 else "not shown"
                rows.append(row | {"mean": _mean(found), "low": round(low, 4), "high": round(high, 4), "shown": shown})
    return rows


def _kept(values: Sequence[float], chosen: Sequence[bool]) -> Floats:
    kept: Floats = np.array(values)[np.array(chosen)]
    return kept[~np.isnan(kept)]


def _mean(values: Floats) -> float:
    return round(float(values.mean()), 4)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help=f"folder with {' and '.join(CATALOGUES)}")
    args = parser.parse_args()
    results: dict[str, list[Json]] = {"means": [], "differences": [], "catalogues": []}
    for catalogue in CATALOGUES:
        with imported(args.data, catalogue) as parts, progress() as bar:
            ways = rankings(parts)
            for about, name in SETS.items() if catalogue == CATALOGUE else ():
                queries = judged_queries(name)
                values = _values(queries, ways, bar)
                results["means"] += means(queries, values, "ranking", about)
                results["differences"] += differences(queries, values, args.seed, about)
            requests = requests_of(args.data, catalogue)
            for ranking, rank in bar.track(ways.items(), description=catalogue):
                row = {"catalogue": catalogue, "requests": len(requests), "ranking": ranking}
                results["catalogues"].append(row | by_request(requests, rank))
    for title, rows in results.items():
        print_table(title, rows)
    save(args, "registry_quality", results)


if __name__ == "__main__":
    main()
