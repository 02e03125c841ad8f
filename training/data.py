"""The judged sets and the written requests: texts of tools as they are indexed, and queries.

Which part of a set is held out is decided by a hash of its server, field or tool, so that it is the same in every run
and for every set of requests about the same tools.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillroute.catalogue.text import ToolText, argument_descriptions, argument_names, embedding_views, lexical_text

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
REQUESTS = Path(__file__).with_name("requests")
JUDGED = ROOT / "benchmarks" / "requests"
CATALOGUES = ("docker-mcp-catalog", "livemcp-catalog")
HELD_OUT_SHARE = 0.12
"""Of servers, fields or tools: what neither training nor tuning sees."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's texts.

    Attributes
    ----------
    views : the three texts whose vectors make the tool's vector
    words : what BM25 counts words in
    description : as the catalogue has it
    group : what is held out together: a server, a field, or the tool itself
    """

    id: str
    name: str
    server: str
    group: str
    views: tuple[str, str, str]
    words: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A request; of each need one of its tools is enough."""

    text: str
    kind: str
    needs: tuple[tuple[str, ...], ...]

    @property
    def relevant(self) -> frozenset[str]:
        """All tools that serve a need."""
        return frozenset(id_ for need in self.needs for id_ in need)


@dataclass(slots=True)
class Pool:
    """Tools that are searched together, and the requests for them."""

    name: str
    tools: dict[str, Tool] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)

    def is_held_out(self, query: Query) -> bool:
        """Return whether training may not see a request: one of its tools is held out."""
        return any(held_out(self.name, self.tools[id_].group) for id_ in query.relevant)


def held_out(pool: str, group: str) -> bool:
    """Return whether a group of a pool's tools is held out."""
    digest = hashlib.sha256(f"{pool}/{group}".encode()).digest()
    return int.from_bytes(digest[:4]) / 2**32 < HELD_OUT_SHARE


def lines(file: Path) -> list[Json]:
    """Read a file of one JSON object a line."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def tool_of(raw: Json, group: str) -> Tool:
    """Return a tool's texts as the catalogue makes them."""
    schema = raw.get("input_schema")
    text = ToolText(
        raw["name"],
        raw.get("description") or "",
        argument_names(schema),
        argument_descriptions(schema),
        raw.get("server"),
    )
    return Tool(
        raw["id"],
        raw["name"],
        raw.get("server") or "",
        group,
        embedding_views(text),
        lexical_text(text),
        text.description,
    )


def _queries(raw: Iterable[Json], tools: dict[str, Tool]) -> list[Query]:
    made = []
    for line in raw:
        needs = line.get("needs") or [[id_] for id_ in line["relevant"]]
        if all(id_ in tools for need in needs for id_ in need):
            made.append(Query(line["query"], line.get("kind", ""), tuple(tuple(need) for need in needs)))
    return made


def _merged(raw: Iterable[Json]) -> list[Json]:
    """Return requests of which each text stands once; written for several tools, each of them serves it."""
    made: dict[str, Json] = {}
    for line in raw:
        known = made.setdefault(line["query"], {**line, "needs": [[]]})
        known["needs"][0] += line["relevant"]
    return list(made.values())


def load_pool(name: str) -> Pool:
    """Load a judged set, the requests written for training (``tool-requests``), or a catalogue with its requests.

    ``mcp-requests`` are those written for the tools of real MCP servers, ``more/...`` a set of public requests.
    """
    folder = DATA / name
    raw = lines((DATA / "more" / "mcp-catalogue" if name == "mcp-requests" else folder) / "tools.jsonl")
    if name == "tool-requests":
        for file in sorted(REQUESTS.glob("new-tools-*.jsonl")):
            raw += lines(file)
        # Written as web services are listed: the name alone says whose they are. Functions have no server: each is one.
        tools = {line["id"]: tool_of(line, line.get("server") or line["id"]) for line in raw}
        queries = lines(folder / "queries.jsonl")
        for file in sorted([*REQUESTS.glob("new-queries-*.jsonl"), *REQUESTS.glob("tasks-*.jsonl")]):
            queries += lines(file)
    elif name == "mcp-requests":
        tools = {line["id"]: tool_of(line, line["server"]) for line in raw}
        queries = _merged(lines(folder / "queries.jsonl"))
    elif name.startswith("more/"):
        tools = {line["id"]: tool_of(line, line.get("server") or line.get("category") or line["id"]) for line in raw}
        queries = lines(folder / "queries.jsonl")
    elif name.endswith("-catalog"):
        tools = {line["id"]: tool_of(line, line["server"]) for line in raw}
        file = JUDGED / f"{name.removesuffix('-catalog').removesuffix('-mcp')}.jsonl"
        queries = lines(file) if file.exists() else []
    else:
        field_of = {line["id"]: (line.get("category") or line["id"]).partition("/")[0] for line in raw}
        tools = {line["id"]: tool_of(line, field_of[line["id"]]) for line in raw}
        queries = lines(folder / "queries.jsonl")
    return Pool(name, tools, _queries(queries, tools))


def load_catalogues() -> Pool:
    """Load both catalogues as one pool."""
    both = Pool("both catalogues")
    for pool in map(load_pool, CATALOGUES):
        both.tools |= pool.tools
        both.queries += pool.queries
    return both


def load_unserved() -> list[Query]:
    """Load the requests that no tool of the catalogues serves; their kinds are ``near`` and ``far``."""
    return [Query(line["query"], line["kind"], ()) for line in lines(JUDGED / "nothing_fits.jsonl")]


def load_stated(name: str) -> list[Query]:
    """Return the needs of a catalogue's requests as an agent states them, each with the tools that serve it.

    Where a request has other needs than its tools were judged for, every right tool of the request serves each.
    """
    stem = name.removesuffix("-catalog").removesuffix("-mcp")
    judged = {line["id"]: line["needs"] for line in lines(JUDGED / f"{stem}.jsonl")}
    made = []
    for line in lines(JUDGED / "needs.jsonl"):
        if line["id"] in judged:
            needs = judged[line["id"]]
            if len(needs) != len(line["needs"]):
                needs = [[id_ for need in needs for id_ in need]] * len(line["needs"])
            made += [Query(text, "stated", (tuple(ids),)) for text, ids in zip(line["needs"], needs, strict=True)]
    return made


def training_pairs(
    pool: Pool, *, most_per_tool: int, kinds: Collection[str] | None = None
) -> list[tuple[str, str, frozenset[str]]]:
    """Return (request, one of its tools, all of its tools) of what may be trained on; a tool has a limited number.

    A request with several needs makes a pair for each. Of kinds that are not given there are none.
    """
    count: dict[str, int] = {}
    made = []
    for query in sorted(pool.queries, key=lambda query: hashlib.sha256(query.text.encode()).digest()):
        if pool.is_held_out(query) or (kinds is not None and query.kind not in kinds):
            continue
        for need in query.needs:
            if count.get(need[0], 0) < most_per_tool:
                count[need[0]] = count.get(need[0], 0) + 1
                made.append((query.text, need[0], query.relevant))
    return made
