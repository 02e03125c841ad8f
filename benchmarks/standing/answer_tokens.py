"""Tokens that an agent's context spends on tools: all of a catalogue's, and what `search_tools` answers instead.

The catalogue is imported as retrieval.py does it, and its judged requests are asked through the function's own server,
from bytes to bytes, in every detail and with budgets. Tokens are those of the embedding model's tokenizer, which is
what `budget_tokens` counts with; of JSON it makes more than the tokenizers of large language models do, each sign of
punctuation being one. A tool of the whole catalogue is what `tools/list` has of it: name, description, input schema.

The same for `skillroute connect` in the place of servers: so many are drawn of a catalogue, a thousand times, and what
they list is set against the three tools that name them. No server is started: their listings are the catalogue's.

    python -m benchmarks.standing.answer_tokens --data /path/to/data
"""

from __future__ import annotations

import json
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from skillroute.core.caller import LAPTOP
from skillroute.mcp.headers import Headers
from skillroute.mcp.rpc import to_text
from skillroute.mcp.tool import Asked
from skillroute_local.connect.own_tools import own_tools

from benchmarks.corpora.judged import Imported, JudgedSet, imported, load
from benchmarks.harness import arguments, print_table, progress, save

ASKED: dict[str, dict[str, Any]] = {
    "top 5, full": {"detail": "full"},
    "top 5, signatures": {"detail": "signature"},
    "top 5, brief": {"detail": "brief"},
    "top 5, names": {"detail": "name"},
    "top 5, budget_tokens=800": {"budget_tokens": 800},
    "top 20, budget_tokens=800": {"budget_tokens": 800, "limit": 20},
    "top 5, budget_tokens=300": {"budget_tokens": 300},
}
_HEADERS = Headers([("content-type", "application/json"), ("mcp-protocol-version", "2025-11-25")])

_DRAWS = 1000
_SHOWN = ("name", "description", "inputSchema")

Row = dict[str, Any]
Count = Callable[[str], int]


def asked(data: Imported, method: str, params: dict[str, Any]) -> Any:
    """Return the result of a request."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    reply = data.parts.mcp.server.answer(_HEADERS, json.dumps(body).encode(), Asked(LAPTOP))
    return json.loads(reply.body)["result"]


def measured(data: Imported) -> list[Row]:
    """Return a row for each way to tell an agent of tools."""
    count = data.parts.mcp.count_tokens
    listed = [as_listed(tool) for tool in data.judged.tools.values()]
    rows = [row(f"tools/list of all {len(listed)} tools", [tokens_of(listed, count)], [len(listed)])]
    own = asked(data, "tools/list", {})["tools"]
    rows.append(row("tools/list of Skillroute", [tokens_of(own, count)], [len(own)]))
    with progress() as bar:
        for name, more in bar.track(ASKED.items(), description="asking"):
            tokens, results = [], []
            for query in data.judged.queries:
                arguments = {"query": query.text, **more}
                found = asked(data, "tools/call", {"name": "search_tools", "arguments": arguments})
                tokens.append(count(found["content"][0]["text"]))
                results.append(len(found["structuredContent"]["tools"]))
            rows.append(row(name, tokens, results))
    return rows


def as_listed(tool: Mapping[str, Any]) -> Row:
    """Return a tool of a catalogue as its server lists it."""
    schema = tool.get("input_schema") or {}
    return {"name": tool["name"], "description": tool.get("description", ""), "inputSchema": schema}


def tokens_of(listed: Iterable[Mapping[str, Any]], count: Count) -> int:
    """Return the tokens of a list of tools, of which agents see names, descriptions and input schemas."""
    return sum(count(to_text({name: tool[name] for name in _SHOWN})) + 1 for tool in listed)


def in_place_of_servers(judged: JudgedSet, number: int, count: Count, seed: int) -> Row:
    """Return what servers of a catalogue list, as many as are drawn, and what `connect` lists in their place."""
    servers: dict[str, list[Row]] = defaultdict(list)
    for tool in judged.tools.values():
        servers[tool["server"]].append(as_listed(tool))
    of_server = {name: (len(tools), tokens_of(tools, count)) for name, tools in servers.items()}
    rng = random.Random(seed)
    draws = [rng.sample(sorted(servers), number) for _ in range(_DRAWS if number < len(servers) else 1)]
    whole = sorted(sum(of_server[name][1] for name in draw) for draw in draws)
    ours = [tokens_of(own_tools(draw), count) for draw in draws]
    return {
        "catalogue": judged.name,
        "servers": number,
        "tools": round(statistics.median(sum(of_server[name][0] for name in draw) for draw in draws)),
        "all their tools": round(statistics.median(whole)),
        "5 % of draws below": whole[len(whole) // 20] if len(draws) > 1 else "",
        "5 % above": whole[-1 - len(whole) // 20] if len(draws) > 1 else "",
        "connect": round(statistics.median(ours)),
    }


def row(name: str, tokens: list[int], results: list[int]) -> Row:
    """Return a row of medians and of the most."""
    return {
        "what": name,
        "tools": statistics.median(results),
        "tokens": round(statistics.median(tokens)),
        "most": max(tokens),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with docker-mcp-catalog, livemcp-catalog")
    parser.add_argument("--servers", type=int, default=30, help="in whose place connect is put (default: 30)")
    args = parser.parse_args()
    docker, live = (load(name, args.data) for name in ("docker-mcp-catalog", "livemcp-catalog"))
    with imported(docker, seed=args.seed) as data:
        rows = measured(data)
        count = data.parts.mcp.count_tokens
        drawn = [in_place_of_servers(live, args.servers, count, args.seed)]
        # Whole catalogues too, which nothing is drawn of.
        drawn += [
            in_place_of_servers(each, len({tool["server"] for tool in each.tools.values()}), count, args.seed)
            for each in (live, docker)
        ]
    save(args, "answer_tokens", {"tokens": rows, "connect": drawn})
    print_table("Tokens in an agent's context, Docker's MCP catalogue", rows)
    print_table("The same with connect in the place of servers", drawn)


if __name__ == "__main__":
    main()
