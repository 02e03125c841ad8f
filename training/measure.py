"""Measure packaged models by their cosines on every set that training does not see, and say which qualifies.

    .venv/bin/python training/measure.py tool-minilm-l6 all-minilm-l6-v2 .training/models/share-0.5    # needs no torch

A model is a folder that `build_model.py` wrote, or the name of a packaged one; the first is what the others are held
against. All are measured as the program runs them: int8, a tool's vector the mean of its three views, requests and
tools of their own type, mail of the general one. Figures are kept beside the others in `--kept`, so that candidates can
be measured one after the other.

A candidate qualifies where on every set it finds as much as the first at five, mail by nDCG@10, or less by what one
request is worth at most.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from data import CATALOGUES, ROOT, Pool, Query, Tool, held_out, lines, load_pool, load_stated
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.views import embed_views
from skillroute.mail.text import SearchText

sys.path.append(str(ROOT))
from benchmarks.standing.registry_quality import ndcg

MODELS = ROOT / "layers/inference/models"
HELD_OUT = {"tool-requests": 1000, "metatool": 1000, "bfcl": 1000, "sealtools": 1000}
"""Sets of which a part is held out, and how many of its requests are asked."""
OTHER_TOOLS = 2_000
"""Tools of servers that are trained on, among which the tools of the held-out servers are searched."""
MAIL = "mail"

Matrix = npt.NDArray[np.float32]
Figures = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Measured:
    """Requests that are asked of tools."""

    name: str
    tools: Sequence[Tool]
    queries: Sequence[Query]


def recall(ranked: Sequence[Sequence[str]], queries: Sequence[Query], k: int) -> float:
    """Return the mean share of needs that the first `k` serve."""
    shares = [
        sum(any(id_ in found[:k] for id_ in need) for need in query.needs) / len(query.needs)
        for found, query in zip(ranked, queries, strict=True)
    ]
    return float(np.mean(shares)) if shares else float("nan")


def rank(scores: Matrix, ids: Sequence[str], k: int = 10) -> list[list[str]]:
    """Return the ids of the `k` highest scores of each row, the highest first."""
    k = min(k, len(ids))
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    ordered = np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable"), 1)
    return [[ids[index] for index in row] for row in ordered]


def some(queries: Iterable[Query], most: int) -> list[Query]:
    """Return as many requests at most, the same in every run."""
    return sorted(queries, key=lambda query: hashlib.sha256(query.text.encode()).digest())[:most]


def sets() -> Iterator[Measured]:
    """Yield what is measured; sets of the same tools follow each other."""
    for name in CATALOGUES:
        pool = load_pool(name)
        tools = list(pool.tools.values())
        yield Measured(name, tools, pool.queries)
        yield Measured(f"{name}, needs", tools, load_stated(name))
    for name, most in HELD_OUT.items():
        pool = load_pool(name)
        asked = some((query for query in pool.queries if pool.is_held_out(query)), most)
        yield Measured(name, list(pool.tools.values()), asked)
    yield from _of_servers(load_pool("mcp-requests"))


def _of_servers(pool: Pool) -> Iterator[Measured]:
    """Yield the requests of the held-out servers, a kind each, over their tools and some of the others."""
    own = [tool for tool in pool.tools.values() if held_out(pool.name, tool.group)]
    others = [tool for tool in pool.tools.values() if not held_out(pool.name, tool.group)]
    tools = own + random.Random(1).sample(others, OTHER_TOOLS)
    ids = {tool.id for tool in tools}
    for kind in ("need", "everyday", "situation"):
        asked = [query for query in pool.queries if query.kind == kind and pool.is_held_out(query)]
        yield Measured(f"{pool.name}, {kind}", tools, [query for query in asked if query.relevant <= ids])


def measured(embedder: OnnxEmbedder, several: Iterable[Measured]) -> Figures:
    """Return what a model's cosines find of each set."""
    made: Figures = {}
    tools: Sequence[Tool] = ()
    vectors = np.zeros((0, 0), np.float32)
    for one in several:
        if one.tools is not tools:
            tools = one.tools
            vectors = np.array(embed_views(embedder, [tool.views for tool in tools], timeout_s=3600), np.float32)
        asked = np.array(embedder.embed([query.text for query in one.queries], timeout_s=3600), np.float32)
        ranked = rank(asked @ vectors.T, [tool.id for tool in tools])
        made[one.name] = {f"recall@{k}": recall(ranked, one.queries, k) for k in (1, 5, 10)}
        made[one.name]["requests"] = len(one.queries)
        print(time.strftime("%H:%M:%S"), one.name, made[one.name], file=sys.stderr, flush=True)
    return made


def of_mail(embedder: OnnxEmbedder) -> dict[str, float]:
    """Return nDCG@10 of the judged questions about the examples' mail, by cosines of the general type."""
    messages = lines(ROOT / "examples" / "messages.jsonl")
    asked = lines(ROOT / "benchmarks" / "message_queries.jsonl")
    general = embedder.for_messages()
    texts = [SearchText.of(message["subject"], message["body"]).embedded for message in messages]
    vectors = np.array(general.embed(texts, timeout_s=3600), np.float32)
    queries = np.array(general.embed([line["query"] for line in asked], timeout_s=3600), np.float32)
    ranked = rank(queries @ vectors.T, [message["key"] for message in messages])
    gains = [ndcg(found, line["relevant"], 10) for found, line in zip(ranked, asked, strict=True)]
    return {"ndcg@10": float(np.mean(gains)), "requests": len(gains)}


def missed(figures: Figures, first: Figures) -> dict[str, float]:
    """Return by how much a model finds less than the first does, where that is more than one request is worth."""
    made = {}
    for name, of_first in first.items():
        measure = "ndcg@10" if name == MAIL else "recall@5"
        less = of_first[measure] - figures[name][measure]
        if less > 1 / of_first["requests"] + 1e-9:
            made[name] = round(less, 4)
    return made


def report(by_model: Mapping[str, Figures]) -> None:
    """Print one table of all models, and what each misses."""
    first = next(iter(by_model.values()))
    print("| set | requests | " + " | ".join(by_model) + " |")
    print("|---" * (2 + len(by_model)) + "|")
    for name, of_first in first.items():
        keys = ["ndcg@10"] if name == MAIL else ["recall@1", "recall@5", "recall@10"]
        cells = [" / ".join(f"{figures[name][key]:.3f}" for key in keys) for figures in by_model.values()]
        print(f"| {name} | {of_first['requests']:.0f} | " + " | ".join(cells) + " |")
    for model, figures in by_model.items():
        less = missed(figures, first)
        print(f"{model}: {'less on ' + json.dumps(less) if less else 'nowhere less than one request below the first'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="names or folders")
    parser.add_argument("--kept", type=Path, default=ROOT / ".training" / "measured", help="a file for each checksum")
    arguments = parser.parse_args()
    arguments.kept.mkdir(parents=True, exist_ok=True)
    several: list[Measured] = []
    by_model: dict[str, Figures] = {}
    for model in arguments.models:
        folder = MODELS / model if (MODELS / model).exists() else Path(model)
        described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        file = arguments.kept / f"{described['sha256'][:16]}.json"
        if not file.exists():
            several = several or list(sets())
            embedder = OnnxEmbedder(folder)
            figures = {MAIL: of_mail(embedder)} | measured(embedder, several)
            file.write_text(json.dumps(figures, indent=2), encoding="utf-8")
        by_model[folder.name] = json.loads(file.read_text(encoding="utf-8"))
    report(by_model)


if __name__ == "__main__":
    main()
