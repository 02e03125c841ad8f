"""Measure which rule tells best what a request names, among real MCP servers' tools with ordinary names.

    .venv/bin/python training/naming.py --model tool-minilm-l6

Each judged set is searched together with the tools of `shared/data/more/mcp-catalogue`, without those that may serve
its requests as well (`among.py`). Then tools of both catalogues are named in each of the
`FORMS`, among all of them.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import evidence
import numpy as np
from among import among_crowd, crowd
from data import CATALOGUES, ROOT, Pool, Query, load_catalogues, load_pool
from evidence import Searched, Signals
from skillroute.catalogue.mentions import plain, runs
from skillroute.catalogue.names import MAX_NAME_WORDS, name_key
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.ranking.learned_fusion import Evidence, FusedRequest, fusion_for
from skillroute.search.candidates.clauses import clauses

SETS = ("metatool", "bfcl", "sealtools", "tool-requests", *CATALOGUES)
OTHERS = 800
"""Tools of a set that no drawn request is for: as many are searched beside those that are, at most."""

FORMS: Mapping[str, Callable[[str, str], str]] = {
    "name": lambda server, name: name,
    "`name`": lambda server, name: f"please use `{name}` for this task",
    "“name”": lambda server, name: f"call “{name}” and tell me what it says",
    "server/name": lambda server, name: f"{server}/{name}",
    "mcp__server__name": lambda server, name: f"mcp__{re.sub(r'[^A-Za-z0-9_-]', '_', server)}__{name}",
    "server:name": lambda server, name: f"{server}:{name}",
    "server.name": lambda server, name: f"{server}.{name}",
    "select:name": lambda server, name: f"select:{name}",
    "in a sentence, server/name": lambda server, name: f"use {server}/{name} to answer this",
}
"""How a tool may be named alone; `LISTS` has forms of several."""

LISTS: Mapping[str, Callable[[Sequence[tuple[str, str]]], str]] = {
    "select:name,name": lambda tools: "select:" + ",".join(name for _, name in tools),
    "server/name,server/name": lambda tools: ",".join(f"{server}/{name}" for server, name in tools),
    "server/name, server/name": lambda tools: ", ".join(f"{server}/{name}" for server, name in tools),
}

_BETWEEN = {"of", "on", "in", "from", "the", "via", "with", "using", "server", "tool"}

Rule = Callable[["Among", str], set[int]]


class Among(Searched):
    """The tools of a pool, with what rules look at; signals of a text are computed once."""

    def __init__(self, pool: Pool, embedder: OnnxEmbedder) -> None:
        super().__init__(pool, embedder)
        self.tools = list(pool.tools.values())
        self._known: dict[str, Signals] = {}

    def _signals(self, text: str, without: list[int]) -> Signals:
        if text not in self._known:
            self._known[text] = super()._signals(text, without)
        return self._known[text]


def every_run(among: Among, text: str) -> set[int]:
    """Name by every run of words."""
    cores = [name_key(word) for word in text.split()[:200] if any(map(str.isalnum, word))]
    keys = {
        " ".join(cores[start:end])
        for start in range(len(cores))
        for end in range(start + 1, min(start + MAX_NAME_WORDS, len(cores)) + 1)
    }
    return set(among.called(keys))


def not_letters(among: Among, text: str) -> set[int]:
    """Name by a run that is all of the request or has something else than letters."""
    return set(among.called({name_key(text), *runs(text.lower().split()[:200])}))


def beside_its_server(among: Among, text: str) -> set[int]:
    """Name by `mentions`, and by an ordinary word whose server's name stands beside it."""
    named = among.named(text)
    words = [plain(word) for word in text.split() if word.lower() not in _BETWEEN]
    joined = {"".join(words[start:end]) for start in range(len(words)) for end in range(start + 2, start + 7)}
    for place in every_run(among, text) - named:
        tool = among.tools[place]
        key, server = plain(tool.name), plain(tool.server)
        if server and not joined.isdisjoint({server + key, key + server}):
            named.add(place)
    return named


RULES: Mapping[str, Rule] = {
    "nothing": lambda among, text: set(),
    "every run of words": every_run,
    "not letters alone": not_letters,
    "mentions": Among.named,
    "mentions, and a word beside its server": beside_its_server,
}


def ranked(among: Among, query: Query, named: set[int], model: str) -> list[int]:
    """Return the places of candidates: what is named first, then by learned fusion."""
    parts = clauses(query.text[: evidence.MAX_QUERY_LENGTH])
    rows, weight = among.candidates(query, parts, [], named)
    known = [Evidence(max(0.0, row[0]), row[1], row[2], row[3] > 0) for row in rows]
    request = FusedRequest(len(query.text.split()), weight, len(parts))
    chances = fusion_for("skillroute.search.ranking", model).probabilities(request, known)
    order = sorted(range(len(rows)), key=lambda n: (int(rows[n][6]) not in named, -chances[n]))
    return [int(rows[n][6]) for n in order]


def scores(query: Query, ids: Sequence[str]) -> tuple[float, float, float]:
    """Return recall@1, recall@5 and nDCG@5 over a request's needs."""
    need_of = [next((n for n, need in enumerate(query.needs) if id_ in need), -1) for id_ in ids[:5]]
    met: set[int] = set()
    gain = 0.0
    for rank, need in enumerate(need_of):
        if need >= 0 and need not in met:
            met.add(need)
            gain += 1 / np.log2(rank + 2)
    ideal = sum(1 / np.log2(rank + 2) for rank in range(min(5, len(query.needs))))
    return float(need_of[:1] != [-1] and bool(need_of)) / len(query.needs), len(met) / len(query.needs), gain / ideal


def measure(among: Among, queries: Sequence[Query], model: str) -> dict[str, tuple[float, ...]]:
    """Return the three figures by rule, and how many requests name a wrong and a right tool."""
    made = {}
    for label, rule in RULES.items():
        rows = []
        for query in queries:
            named = rule(among, query.text)
            ids = [among.tools[place].id for place in ranked(among, query, named, model)[:5]]
            right = {among.tools[place].id for place in named} & query.relevant
            rows.append((*scores(query, ids), bool(named) and not right, bool(right)))
        made[label] = tuple(np.mean(np.array(rows, float), axis=0))
    return made


def first_of(among: Among, queries: Sequence[tuple[str, set[int]]], rule: Rule, model: str) -> float:
    """Return in which share of requests what they name is first, all of it in any order."""
    hits = 0
    for text, wanted in queries:
        query = Query(text, "", ())
        hits += set(ranked(among, query, rule(among, text), model)[: len(wanted)]) == wanted
    return hits / len(queries)


def forms(among: Among, count: int) -> dict[str, list[tuple[str, set[int]]]]:
    """Return by form requests that name tools, with the places of those."""
    rng = random.Random(7)
    by_name: dict[str, list[int]] = defaultdict(list)
    for place, tool in enumerate(among.tools):
        by_name[name_key(tool.name)].append(place)
    made: dict[str, list[tuple[str, set[int]]]] = {}
    served = [place for place, tool in enumerate(among.tools) if tool.server]
    unique = [place for place in served if len(by_name[name_key(among.tools[place].name)]) == 1]
    for form, written in FORMS.items():
        # Of a name that several servers have, only its server tells which is meant.
        drawn = rng.sample(served if "server" in form else unique, count)
        made[form] = [(written(among.tools[p].server, among.tools[p].name), {p}) for p in drawn]
    for form, listed in LISTS.items():
        made[form] = []
        for _ in range(count):
            some = rng.sample(served if "server" in form else unique, 3)
            made[form].append((listed([(among.tools[p].server, among.tools[p].name) for p in some]), set(some)))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tool-minilm-l6", help="a packaged model")
    parser.add_argument("--requests", type=int, default=300, help="of each set, and 100 of each form at most")
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS, help="which to measure; none: the forms only")
    arguments = parser.parse_args()
    embedder = OnnxEmbedder(ROOT / "layers/inference/models" / arguments.model)
    cache = evidence.VECTORS / f"{embedder.model.name}.npz"
    evidence.remember(embedder, cache)
    model, others = embedder.model.name, crowd()
    for name in arguments.sets:
        pool = load_pool(name)
        queries = random.Random(3).sample(pool.queries, min(arguments.requests, len(pool.queries)))
        among = Among(among_crowd(pool, queries, others, embedder, OTHERS), embedder)
        evidence.keep(embedder, cache)
        print(f"\n{name}: {len(queries)} requests, {len(among.tools)} tools\n")
        print("| rule | recall@1 | recall@5 | nDCG@5 | names wrong only | names right |\n|---|---|---|---|---|---|")
        for label, figures in measure(among, queries, model).items():
            print(f"| {label} | " + " | ".join(f"{value:.3f}" for value in figures) + " |", flush=True)
    among = Among(load_catalogues(), embedder)
    evidence.keep(embedder, cache)
    print("\n| named as | " + " | ".join(RULES) + " |\n|---|" + "---|" * len(RULES))
    for form, queries_of in forms(among, min(100, arguments.requests)).items():
        shares = [first_of(among, queries_of, rule, model) for rule in RULES.values()]
        print(f"| {form} | " + " | ".join(f"{share:.2f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
