"""Tokens that an agent's context spends on tools: all of a catalogue's, and what `search_tools` answers instead.

The catalogue is imported as retrieval.py does it, and its judged requests are asked through the function's own server,
from bytes to bytes, in every detail and with budgets. Tokens are those of the embedding model's tokenizer, which is
what `budget_tokens` counts with; of JSON it makes more than the tokenizers of large language models do, each sign of
punctuation being one. A tool of the whole catalogue is what `tools/list` has of it: name, description, input schema.

    python benchmarks/answer_tokens.py --data /path/to/data
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any

from harness import arguments, print_table, progress, save
from judged import Imported, imported, load
from skillroute.core.caller import LAPTOP
from skillroute.mcp.headers import Headers
from skillroute.mcp.rpc import to_text
from skillroute.mcp.tool import Asked

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

Row = dict[str, Any]


def asked(data: Imported, method: str, params: dict[str, Any]) -> Any:
    """Return the result of a request."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    reply = data.parts.mcp_server.answer(_HEADERS, json.dumps(body).encode(), Asked(LAPTOP))
    return json.loads(reply.body)["result"]


def measured(data: Imported) -> list[Row]:
    """Return a row for each way to tell an agent of tools."""
    count = data.parts.count_tokens
    listed = [
        {
            "name": each["name"],
            "description": each.get("description", ""),
            "inputSchema": each.get("input_schema") or {},
        }
        for each in data.judged.tools.values()
    ]
    whole = sum(count(to_text(each)) + 1 for each in listed)
    rows = [row(f"tools/list of all {len(listed)} tools", [whole], [len(listed)], [])]
    own = asked(data, "tools/list", {})["tools"]
    shown = [{name: each[name] for name in ("name", "description", "inputSchema")} for each in own]
    rows.append(row("tools/list of Skillroute", [count(to_text(shown))], [len(own)], []))
    with progress() as bar:
        for name, more in bar.track(ASKED.items(), description="asking"):
            tokens, results, times = [], [], []
            for query in data.judged.queries:
                began = time.perf_counter()
                arguments = {"query": query.text, **more}
                found = asked(data, "tools/call", {"name": "search_tools", "arguments": arguments})
                times.append(1000 * (time.perf_counter() - began))
                tokens.append(count(found["content"][0]["text"]))
                results.append(len(found["structuredContent"]["tools"]))
            rows.append(row(name, tokens, results, times))
    return rows


def row(name: str, tokens: list[int], results: list[int], times: list[float]) -> Row:
    """Return a row of medians and of the most."""
    return {
        "what": name,
        "tools": statistics.median(results),
        "tokens": round(statistics.median(tokens)),
        "most": max(tokens),
        "p50_ms": round(statistics.median(times), 1) if times else "",
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with docker-mcp-catalog")
    args = parser.parse_args()
    with imported(load("docker-mcp-catalog", args.data), seed=7) as data:
        rows = measured(data)
    save(args, "answer_tokens", {"tokens": rows})
    print_table("Tokens in an agent's context, Docker's MCP catalogue", rows)


if __name__ == "__main__":
    main()
