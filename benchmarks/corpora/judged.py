"""Judged sets: tools, skills and queries with their right tools; loading, importing, and the measures.

Measures are those of `skillroute eval` (skillroute.core.ranking.metrics), averaged over queries; mrr is the mean
reciprocal rank within the first ten.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillroute.catalogue.sync import MAX_ITEMS
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.port import Embedder
from skillroute.core.ranking.metrics import comp, ndcg, recall, reciprocal_rank
from skillroute.core.settings import SearchSettings
from skillroute.registry.schemas import MAX_ENTITIES
from skillroute.search.model import SearchRequest, SearchResponse
from skillroute.search.search import ToolSearch
from skillroute.skills.model import Assignment, AssignmentSource, NewSkill
from skillroute.wiring import Parts

from benchmarks.corpora.clusters import cluster_skills
from benchmarks.corpora.held_out import TRAINED_ON, held_out_tools
from benchmarks.harness import ROOT, fresh_database, progress

_TOP = 10
_ASSIGNED_AT_ONCE = 2000
_MAX_QUERY_LENGTH = 1000  # the API takes no more; a handful of the sets' queries is longer and is cut here
_ITEM_FIELDS = ("type", "name", "description", "server", "input_schema", "output_schema", "annotations", "tags")

_CATALOGUES = {
    "docker-mcp-catalog": ROOT / "benchmarks" / "requests" / "docker.jsonl",
    "livemcp-catalog": ROOT / "benchmarks" / "requests" / "livemcp.jsonl",
}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and for each of its needs the ids of the tools of which one is enough."""

    text: str
    needs: tuple[frozenset[str], ...]

    @property
    def relevant(self) -> frozenset[str]:
        """The ids of all tools that serve a need."""
        return frozenset().union(*self.needs)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Tools by id, queries, and skills with their members where the set has any.

    `servers` are those that the set describes. `skills_from` says where the skills come from: ``given``, ``category``
    or ``k-means`` (made by this benchmark).
    """

    name: str
    tools: Mapping[str, Json]
    queries: Sequence[Query]
    skills: Sequence[NewSkill]
    assignments: Mapping[str, Sequence[Assignment]]
    skills_from: str
    servers: Sequence[Json] = ()


def _lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def load(
    name: str, data: Path, *, seed: int = 7, limit_queries: int = 0, limit_tools: int = 0, unseen: bool = False
) -> JudgedSet:
    """Load ``examples`` or a folder of `data`; requests for the catalogues lie in ``requests`` beside this file.

    Limits of 0 take all; fewer tools keep all that the queries need. `unseen` leaves out the queries that encoder or
    fusion may have been trained on.
    """
    folder = ROOT / "examples" if name == "examples" else data / name
    raw = _lines(folder / "tools.jsonl")
    tools = {
        tool.get("id") or f"{tool['server']}/{tool['name']}": {k: tool[k] for k in _ITEM_FIELDS if tool.get(k)}
        for tool in raw
    }
    asked = _lines(_CATALOGUES[name] if name in _CATALOGUES else folder / "queries.jsonl")
    queries = [Query(line["query"][:_MAX_QUERY_LENGTH], _needs(line)) for line in asked]
    if unseen and name in TRAINED_ON:
        held_out = held_out_tools(name, raw)
        queries = [query for query in queries if not held_out.isdisjoint(query.relevant)]
    rng = random.Random(seed)
    if limit_queries and limit_queries < len(queries):
        queries = rng.sample(queries, limit_queries)
    if limit_tools and limit_tools < len(tools):
        needed = {id_ for query in queries for id_ in query.relevant}
        others = [id_ for id_ in tools if id_ not in needed]
        needed |= set(rng.sample(others, min(len(others), max(0, limit_tools - len(needed)))))
        tools = {id_: tool for id_, tool in tools.items() if id_ in needed}
    if name == "examples":
        skills, assignments = _given_skills(folder)
        return JudgedSet(name, tools, queries, skills, assignments, "given")
    servers = _lines(folder / "servers.jsonl") if (folder / "servers.jsonl").exists() else []
    categories = {tool["id"]: tool["category"] for tool in raw if tool.get("category") and tool["id"] in tools}
    if len(categories) == len(tools):
        skills, assignments = _category_skills(categories)
        return JudgedSet(name, tools, queries, skills, assignments, "category", servers)
    return JudgedSet(name, tools, queries, (), {}, "k-means", servers)


def _needs(line: Json) -> tuple[frozenset[str], ...]:
    """Return the needs of a judged request; without them each right tool is a need of its own."""
    return tuple(frozenset(ids) for ids in line.get("needs") or [[id_] for id_ in dict.fromkeys(line["relevant"])])


def _given_skills(folder: Path) -> tuple[list[NewSkill], dict[str, list[Assignment]]]:
    skills = [NewSkill.model_validate(line) for line in _lines(folder / "skills.jsonl")]
    assignments = {
        f"{line['server']}/{line['name']}": [Assignment(a["skill_id"], a["confidence"]) for a in line["skills"]]
        for line in _lines(folder / "assignments.jsonl")
    }
    return skills, assignments


def _category_skills(categories: Mapping[str, str]) -> tuple[list[NewSkill], dict[str, list[Assignment]]]:
    """Make a skill of every top-level field; its description names the fields below."""
    below: dict[str, set[str]] = {}
    for category in categories.values():
        top, _, rest = category.partition("/")
        below.setdefault(top, set()).update([rest] if rest else [])
    ids = {top: f"field_{number}" for number, top in enumerate(sorted(below))}
    skills = [
        NewSkill(id=ids[top], name=top, description=f"Tools for {top}: {', '.join(sorted(rest))}"[:1000])
        for top, rest in below.items()
    ]
    return skills, {id_: [Assignment(ids[c.partition("/")[0]], 1.0)] for id_, c in categories.items()}


class Imported:
    """A judged set in a database of its own, written through the services, ready to be searched."""

    def __init__(self, judged: JudgedSet, parts: Parts, seed: int) -> None:
        self.judged = judged
        self.parts = parts
        self._id_of: dict[str, str] = {}
        self._import_tools()
        while (
            parts.embed_missing()
        ):  # what a busy machine had no time for within a call, as far as one half minute goes
            pass
        skills, assignments = judged.skills, judged.assignments
        if judged.skills_from == "k-means":
            skills, assignments = cluster_skills(judged.tools, parts.embedder, seed)
        for skill in skills:
            parts.skills.create(skill, LAPTOP)
        db_id_of = {id_: int(key) for key, id_ in self._id_of.items()}
        given = {db_id_of[id_]: skills_ for id_, skills_ in assignments.items() if id_ in db_id_of}
        pairs = list(given.items())
        for start in range(0, len(pairs), _ASSIGNED_AT_ONCE):  # ten thousand take longer than a statement may
            parts.skills.assign(dict(pairs[start : start + _ASSIGNED_AT_ONCE]), LAPTOP, AssignmentSource.HUMAN_MANUAL)
        self.skill_count = len(skills)

    def _import_tools(self) -> None:
        tools = list(self.judged.tools.items())
        with progress() as bar:
            starts = range(0, len(tools), MAX_ITEMS)
            for start in bar.track(starts, description=f"{self.judged.name}: importing"):
                batch = tools[start : start + MAX_ITEMS]
                for (id_, _), outcome in zip(
                    batch, self.parts.catalogue.sync([tool for _, tool in batch], LAPTOP).outcomes, strict=True
                ):
                    if outcome.id is None:
                        raise RuntimeError(f"{self.judged.name}: {id_} was refused: {outcome.reason}")
                    self._id_of[str(outcome.id)] = id_

    def ranked(self, response: SearchResponse) -> list[str]:
        """Return the set's own ids of what was found, in order."""
        return [self._id_of[tool.id] for tool in response.tools]


@contextmanager
def imported(
    judged: JudgedSet,
    seed: int,
    embedder: Embedder | None = None,
    *,
    with_servers: bool = False,
    packaged_requests: bool = False,
    remembers_queries: bool = True,
) -> Iterator[Imported]:
    """Import a set into a fresh database; an embedder of its own may know texts from before.

    `with_servers` registers the set's servers first. Packaged requests were written for tools that are measured here,
    so that they are left out where nobody asks for them.
    """
    with fresh_database() as url:
        # Every query is asked in many ways; it is embedded once, but where the time is measured.
        cache = len(judged.queries) + 1 if remembers_queries else 0
        settings = SearchSettings(database_url=url, query_cache_size=cache, packaged_requests=packaged_requests)
        parts = Parts(settings, embedder=embedder)
        try:
            for start in range(0, len(judged.servers) if with_servers else 0, MAX_ENTITIES):
                parts.registry.sync("server", judged.servers[start : start + MAX_ENTITIES], LAPTOP)
            yield Imported(judged, parts, seed)
        finally:
            parts.close()


def request(query: str, strategy: str, mode: str, thresholds: Mapping[str, float]) -> SearchRequest:
    """Return a search for the first ten, without schemas; thresholds that are not given are the request's defaults."""
    return SearchRequest.model_validate(
        {
            "query": query,
            "strategy": strategy,
            "mode": mode,
            "limit": _TOP,
            "include_schemas": False,
            **thresholds,
        }
    )


def measures(ranked: Sequence[str], needs: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the measures of one answer."""
    return {
        **{f"recall@{k}": recall(ranked, needs, k) for k in (1, 5, 10)},
        **{f"ndcg@{k}": ndcg(ranked, needs, k) for k in (5, 10)},
        "mrr": reciprocal_rank(ranked, needs, _TOP),
        "comp@5": comp(ranked, needs, 5),
    }


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each field."""
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}


def evaluate(
    data: Imported, search: ToolSearch, make: Callable[[str], SearchRequest], judge: Callable[[], None]
) -> dict[str, float]:
    """Ask every query and return the mean of the measures, with what became of the stages.

    `no_skill` is the share of queries for which no skill narrowed the search, `empty` the share without any result.
    """
    rows = []
    for query in data.judged.queries:
        response = search.search(make(query.text), LAPTOP)
        row = measures(data.ranked(response), query.needs)
        row["no_skill"] = float(response.metadata.fallback_reason is not None)
        row["empty"] = float(not response.tools)
        rows.append(row)
        judge()
    return mean(rows)
