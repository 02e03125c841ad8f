"""Make the packaged requests of tools of public MCP servers (docs/adr/0067).

    PYTHONPATH=layers/common/python .venv/bin/python training/known_requests.py

Of each tool the texts that were written for it (a need, an everyday request, a situation) are kept where the packaged
model does not put another tool of the same server nearer to them than their own: such a text would say nothing, or the
wrong thing. The order is fixed, and so are the bytes.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from data import CATALOGUES, DATA, REQUESTS, ROOT, Json, Tool, lines, tool_of
from evidence import vectors_of
from skillroute.catalogue.known_requests import KNOWN_DESCRIPTION
from skillroute.core.embedding.onnx import OnnxEmbedder

OUTPUT = ROOT / "layers/common/python/skillroute/catalogue/known_requests.jsonl.gz"
KINDS = ("need", "everyday", "situation")
_SLACK = 0.05
"""How much nearer another tool of the server may be: twins of one server are not told apart by any text."""

Vectors = npt.NDArray[np.float32]


def written() -> Iterator[tuple[Json, list[str]]]:
    """Yield tools and the texts that were written for them."""
    tools = {line["id"]: line for line in lines(DATA / "more" / "mcp-catalogue" / "tools.jsonl")}
    texts: dict[str, dict[str, str]] = {}
    for line in lines(DATA / "mcp-requests" / "queries.jsonl"):
        for id_ in line["relevant"]:
            texts.setdefault(id_, {})[line["kind"]] = line["query"]
    for catalogue in CATALOGUES:
        tools |= {line["id"]: line for line in lines(DATA / catalogue / "tools.jsonl")}
        for line in lines(REQUESTS / f"known-{catalogue}.jsonl"):
            texts[line["id"]] = {kind: line[kind] for kind in KINDS if line.get(kind)}
    for id_ in sorted(texts):
        yield tools[id_], [texts[id_][kind] for kind in KINDS if kind in texts[id_]]


def told_apart(tools: Sequence[Tool], texts: Sequence[Sequence[str]], embedder: OnnxEmbedder) -> list[list[str]]:
    """Return of each tool of a server the texts that are about as near to it as to any other of the server."""
    vectors = vectors_of(tools, embedder)
    kept = []
    for place, own in enumerate(texts):
        cosines = np.array(embedder.embed(list(own), timeout_s=3600), np.float32) @ vectors.T
        kept.append([text for text, row in zip(own, cosines, strict=True) if row[place] >= row.max() - _SLACK])
    return kept


def main() -> None:
    embedder = OnnxEmbedder(ROOT / "layers/inference/models/tool-minilm-l6")
    by_server: dict[str, list[tuple[Json, list[str]]]] = {}
    for raw, texts in written():
        by_server.setdefault(raw.get("server") or raw["id"], []).append((raw, texts))
    out, dropped = [], 0
    for server in sorted(by_server):
        raws = [raw for raw, _ in by_server[server]]
        kept = told_apart([tool_of(raw, server) for raw in raws], [texts for _, texts in by_server[server]], embedder)
        dropped += sum(len(texts) for _, texts in by_server[server]) - sum(map(len, kept))
        out += [_line(raw, texts) for raw, texts in zip(raws, kept, strict=True) if texts]
    OUTPUT.write_bytes(gzip.compress("\n".join(out).encode("utf-8"), 9, mtime=0))
    print(json.dumps({"tools": len(out), "left out": dropped, "bytes": OUTPUT.stat().st_size}))


def _line(raw: Mapping[str, Any], texts: Sequence[str]) -> str:
    description = " ".join((raw.get("description") or "").split())[:KNOWN_DESCRIPTION]
    return json.dumps([raw["name"], raw.get("server") or "", description, texts], ensure_ascii=False)


if __name__ == "__main__":
    main()
