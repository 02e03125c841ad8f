"""What use teaches: held-out requests before and after 100 to 10,000 outcomes, drift, and forged outcomes.

Members of an organisation ask, each time one request of a tool that is drawn by its popularity; five tools are shown.
An agent calls the right one with 90 %, else, or where the right one is not shown with 10 %, another one that is shown,
and reports success either way. After so many outcomes the organisation learns, and requests that were never part of the
traffic are asked: of metatool six of each tool; of the catalogues those that were judged, while the traffic is made of
the packaged requests of their tools, which another author wrote. Then a third of the tools change their texts, and the
traffic goes on. At last one caller forges 10,000 outcomes for tools of its own choice, and another organisation reports
as many.

    python -m benchmarks.standing.learning --data /path/to/data --json results/learning.json
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.embedding.model import to_bytes
from skillroute.learning.learn.learn import LearnReport
from skillroute.search.model import SearchRequest, SearchResponse

from benchmarks.corpora.judged import Imported, imported, load, mean, measures
from benchmarks.corpora.traffic import Traffic, traffic_of
from benchmarks.harness import arguments, console, numbers, print_table, save, words

SETS = ["metatool", "livemcp-catalog", "docker-mcp-catalog"]
MEMBER = Caller(org_id="acme", scopes=frozenset({Scope.SEARCH}))
STRANGER = Caller(org_id="globex", scopes=frozenset({Scope.SEARCH}))
CALLERS = 20
PER_DAY = 400
"""Searches of the organisation."""


@dataclass
class World:
    """A set that is searched by an organisation, with its receipts and outcomes."""

    data: Imported
    traffic: Traffic
    rng: random.Random
    now: datetime
    outcomes: int = 0
    shown: dict[str, SearchResponse] = field(default_factory=dict)

    def search(self, text: str, caller: Caller = MEMBER) -> SearchResponse:
        """Return the first five, without schemas."""
        request = SearchRequest(query=text, limit=5, include_schemas=False)
        return self.data.parts.tool_search.search(request, caller, door=None)

    def use(self, count: int) -> None:
        """Let members ask until so many outcomes are reported."""
        rows = []
        while len(rows) < count:
            self.now += timedelta(days=1) / PER_DAY
            tool = self.rng.choices(self.traffic.tools, self.traffic.weights)[0]
            text = self.rng.choice(self.traffic.requests[tool])
            found = self._shown(text)
            ids = self.data.ranked(found)
            called = self._called(tool, ids)
            if called is not None:
                caller = f"member {self.rng.randrange(CALLERS)}"
                rows.append(self.row(text, found, caller, found.tools[ids.index(called)].tool_id))
        self.write(rows)

    def _called(self, tool: str, ids: Sequence[str]) -> str | None:
        if tool in ids and self.rng.random() < 0.9:
            return tool
        others = [id_ for id_ in ids if id_ != tool]
        if others and (tool in ids or self.rng.random() < 0.1):
            return self.rng.choice(others)
        return None

    def _shown(self, text: str) -> SearchResponse:
        # What is live changes the answers a few times only: then what is remembered here is forgotten.
        if text not in self.shown:
            self.shown[text] = self.search(text)
        return self.shown[text]

    def row(
        self,
        text: str,
        found: SearchResponse,
        caller: str,
        tool_id: int,
        *,
        org: str = "acme",
        outcome: str = "succeeded",
    ) -> dict[str, Any]:
        embedder = self.data.parts.query_embedder
        model = embedder.model()
        assert model is not None
        return {
            "search_id": str(UUID(int=self.rng.getrandbits(128), version=4)),
            "org": org,
            "caller": caller,
            "at": self.now.isoformat(),
            "query": text,
            "model": str(model),
            "vector": to_bytes(embedder.embed(text, model)).hex(),
            "shown": [[tool.tool_id, None, tool.score] for tool in found.tools],
            "tool_id": tool_id,
            "outcome": outcome,
        }

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Store receipts and outcomes of the past, which no route does."""
        statement = """
            WITH r AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($rows${rows}$rows$::jsonb) AS r (
                search_id uuid, org text, caller text, at timestamptz, query text, model text, vector text, shown jsonb,
                tool_id bigint, outcome text)),
            receipts AS (
                INSERT INTO mcp.receipts (search_id, nth, org_id, caller, may_teach, door, asked_at, query, query_hash,
                                          model, vector, shown, no_match)
                SELECT search_id, 0, org, caller, true, 'http', at, query, md5(query), model, decode(vector, 'hex'), (
                    SELECT jsonb_agg(jsonb_build_array(t.id, t.content_hash, s.value -> 2) ORDER BY s.place)
                    FROM jsonb_array_elements(shown) WITH ORDINALITY s (value, place)
                    JOIN mcp.tools t ON t.id = (s.value ->> 0)::bigint), false
                FROM r)
            INSERT INTO mcp.outcomes (search_id, tool_id, org_id, caller, may_teach, outcome, source, reported_at)
            SELECT search_id, tool_id, org, caller, true, outcome, 'program', at FROM r"""
        for start in range(0, len(rows), 1000):
            part = statement.replace("{rows}", json.dumps(rows[start : start + 1000]))
            self.data.parts.pool.transact(lambda connection, part=part: connection.script(part))  # type: ignore[misc]
        self.outcomes += len(rows)

    def learn(self) -> LearnReport:
        """Learn, as of the time of the traffic."""
        learn = self.data.parts.learn
        learn._now = lambda: self.now
        report = learn("acme")
        if report.is_live:
            self.shown.clear()
        return report

    def texts(self) -> list[str]:
        return [text for tool in self.traffic.tools for text in self.traffic.requests[tool]]

    def measure(self) -> dict[str, float]:
        """Ask what is held out."""
        rows = [measures(self.data.ranked(self.search(query.text)), query.needs) for query in self.traffic.held_out]
        return {name: value for name, value in mean(rows).items() if name in ("recall@1", "recall@5", "ndcg@5")}

    def answers(self) -> list[list[tuple[int, float]]]:
        """Return what members are answered, tool by tool with its score."""
        found = [self.search(query.text).tools for query in self.traffic.held_out]
        return [[(tool.tool_id, tool.score) for tool in tools] for tools in found]


def steps(world: World, ends: Sequence[int], what: str) -> Iterator[dict[str, Any]]:
    """Let traffic go on to each number of outcomes, learn, and measure."""
    for end in ends:
        world.use(end - world.outcomes)
        report = world.learn()
        about = {"what": what, "outcomes": end, "live": report.is_live, "requests": report.details.get("requests", 0)}
        yield about | world.measure() | {"why": report.reason}


def drift(world: World) -> None:
    """Let a third of the tools say something else: their first sentences, of a second version."""
    changed = []
    for tool in world.data.judged.tools.values():
        if world.rng.random() < 1 / 3:
            first = (tool.get("description") or "").split(". ")[0]
            changed.append({**tool, "description": f"Version 2. {first}"})
    world.data.parts.catalogue.sync(changed, LAPTOP)
    while world.data.parts.embed_missing():
        pass
    tools_say(world, since=world.now)
    world.shown.clear()


def tools_say(world: World, *, since: datetime) -> None:
    """Let tools that changed a moment ago have changed when the traffic was there: its months are seconds here."""
    change = f"UPDATE mcp.tools SET said_at = '{since.isoformat()}' WHERE said_at > '{since.isoformat()}' RETURNING 1"
    world.data.parts.pool.transact(lambda connection: connection.script(change))


def forge(world: World, count: int) -> dict[str, Any]:
    """Let one member report for weeks that a tool of its choice serves everything, and that all others are wrong.

    It reports as much as all others together. Learned before and after at the same time, when its weeks are over.
    """
    begun, days = world.now, timedelta(days=count / PER_DAY)
    world.now = begun + days
    world.learn()
    before, at_start = world.answers(), world.measure()["ndcg@5"]
    rows: list[dict[str, Any]] = []
    texts = world.texts()
    while len(rows) < count:
        world.now = begun + days * (len(rows) / count)
        found = world.search(world.rng.choice(texts))
        if found.tools:
            *others, chosen = [tool.tool_id for tool in found.tools]
            rows.append(world.row(found.query or "", found, "mallory", chosen))
            rows += [world.row(found.query or "", found, "mallory", other, outcome="wrong") for other in others]
    world.now = begun + days
    world.write(rows[:count])
    report = world.learn()
    pairs = list(zip(before, world.answers(), strict=True))
    changed = sum({tool for tool, _ in one} != {tool for tool, _ in other} for one, other in pairs)
    about = {"what": "forged", "outcomes": count, "live": report.is_live, "requests": report.details.get("requests", 0)}
    why = f"{changed} of {len(pairs)} answers have another tool; nDCG@5 before {at_start}"
    return about | world.measure() | {"why": why}


def strangers(world: World, count: int) -> dict[str, Any]:
    """Let another organisation report as many outcomes and learn from them."""
    before, texts = world.answers(), world.texts()
    rows = []
    while len(rows) < count:
        world.now += timedelta(days=1) / PER_DAY
        found = world.search(world.rng.choice(texts), STRANGER)
        if found.tools:
            caller = f"stranger {world.rng.randrange(CALLERS)}"
            rows.append(world.row(found.query or "", found, caller, found.tools[-1].tool_id, org="globex"))
    world.write(rows)
    world.data.parts.learn("globex")
    after = world.answers()
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    return {"what": "another organisation", "outcomes": count, "why": f"{changed} of {len(after)} answers differ"}


def main() -> None:
    """Measure each set, and print a table of it."""
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the judged sets")
    parser.add_argument("--sets", type=words, default=SETS)
    parser.add_argument("--outcomes", type=numbers, default=[100, 300, 500, 1000, 2000, 3000, 5000, 10_000])
    parser.add_argument("--forged", type=int, default=10_000)
    args = parser.parse_args()
    results = []
    for name in args.sets:
        judged, rng = load(name, args.data, seed=args.seed), random.Random(args.seed)
        traffic = traffic_of(judged, rng)
        with imported(judged, args.seed) as data:
            data.parts.live_states._look_every_s = 0.0
            world = World(data, traffic, rng, datetime.now(UTC) - timedelta(days=60))
            tools_say(world, since=world.now)
            about = f"{len(judged.tools)} tools, {len(traffic.tools)} used"
            console.print(f"{name}: {about}, {len(traffic.held_out)} held out")
            start = {"what": "start", "outcomes": 0, "live": False, "requests": 0}
            rows: list[dict[str, Any]] = [start | world.measure()]
            rows += steps(world, args.outcomes, "use")
            drift(world)
            rows.append(start | {"what": "a third changed", "outcomes": world.outcomes} | world.measure())
            rows += steps(world, [world.outcomes + more for more in (1000, 3000)], "use again")
            rows += [forge(world, args.forged), strangers(world, args.forged)]
        results += [{"set": name} | row for row in rows]
        print_table(name, rows)
    save(args, "learning", {"rows": results})


if __name__ == "__main__":
    main()
