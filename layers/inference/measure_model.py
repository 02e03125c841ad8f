"""Measure what a build of the embedding model loses in retrieval, and what it costs in time.

    python build_model.py --output /tmp/model --fp32 /tmp/fp32.onnx
    python measure_model.py --data DATA --reference /tmp/fp32.onnx --candidate models/all-minilm-l6-v2/model.onnx

DATA holds one folder for each judged set, with `tools.jsonl` and `queries.jsonl`. A tool's text is "name: description".
Needs numpy, onnxruntime and tokenizers only.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

SETS = ("metatool", "sealtools", "bfcl")
Vectors = npt.NDArray[np.float32]


class Embedder:
    """A model file and its tokenizer on one core."""

    def __init__(self, model: Path, tokenizer: Tokenizer, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer = tokenizer

    def embed(self, texts: Sequence[str], batch_size: int = 1) -> Vectors:
        """[texts, 384], each row of length 1; batches are of neighbours in length."""
        encodings = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda row: sum(encodings[row].attention_mask))
        vectors = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            length = max(sum(encodings[row].attention_mask) for row in rows)
            feed = {
                "input_ids": np.array([encodings[row].ids[:length] for row in rows], np.int64),
                "attention_mask": np.array([encodings[row].attention_mask[:length] for row in rows], np.int64),
            }
            if len(self._session.get_inputs()) > len(feed):
                feed["token_type_ids"] = np.ones_like(feed["input_ids"])  # tools and requests for them (docs/adr/0048)
            vectors[rows] = self._session.run(["embedding"], feed)[0]
        return vectors

    def milliseconds_a_text(self, texts: Sequence[str]) -> float:
        """Median wall time of tokenizing and embedding one text."""
        elapsed_ms = []
        for text in texts:
            start = time.perf_counter()
            self.embed([text])
            elapsed_ms.append((time.perf_counter() - start) * 1000)
        return float(np.median(elapsed_ms))


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def recall_at(k: int, scores: Vectors, relevant: Sequence[set[int]]) -> float:
    """Mean over queries of the share of the right tools that are among the first `k`."""
    first = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    found = [len(right & set(row.tolist())) / len(right) for row, right in zip(first, relevant, strict=True)]
    return float(np.mean(found))


def measure(embedder: Embedder, folder: Path, limit: int, batch_size: int) -> tuple[float, Vectors]:
    """Recall@5 on one judged set, and the tools' vectors."""
    tools = read(folder / "tools.jsonl")
    queries = read(folder / "queries.jsonl")
    queries = queries[:: max(1, len(queries) // limit)] if limit else queries
    rows = {tool["id"]: row for row, tool in enumerate(tools)}
    vectors = embedder.embed([f"{tool['name']}: {tool['description']}" for tool in tools], batch_size)
    scores = embedder.embed([query["query"] for query in queries], batch_size) @ vectors.T
    return recall_at(5, scores, [{rows[tool] for tool in query["relevant"]} for query in queries]), vectors


def main() -> None:
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of judged sets")
    parser.add_argument("--reference", type=Path, required=True, help="the fp32 graph")
    parser.add_argument("--candidate", type=Path, default=here / "models/all-minilm-l6-v2/model.onnx")
    parser.add_argument("--tokenizer", type=Path, default=here / "models/all-minilm-l6-v2/tokenizer.json")
    parser.add_argument("--limit", type=int, default=0, help="about this many queries of each set; 0 is all")
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--output", type=Path, help="also write the figures to this JSON file")
    arguments = parser.parse_args()

    tokenizer = Tokenizer.from_file(str(arguments.tokenizer))
    report: dict[str, dict[str, float]] = {}
    vectors: dict[str, list[Vectors]] = {}
    for label, model in (("fp32", arguments.reference), ("candidate", arguments.candidate)):
        embedder = Embedder(model, tokenizer)
        figures = report[label] = {}
        for name in SETS:
            figures[name], found = measure(embedder, arguments.data / name, arguments.limit, arguments.batch_size)
            vectors.setdefault(name, []).append(found)
        figures["mean"] = float(np.mean([figures[name] for name in SETS]))
        texts = [query["query"] for query in read(arguments.data / SETS[0] / "queries.jsonl")[:1000]]
        figures["query_ms"] = embedder.milliseconds_a_text(texts)
        figures["megabytes"] = model.stat().st_size / 1e6
    cosines = np.concatenate([(fp32 * candidate).sum(axis=1) for fp32, candidate in vectors.values()])
    report["candidate"] |= {"cosine_mean": float(cosines.mean()), "cosine_lowest": float(cosines.min())}

    print("| | " + " | ".join(report["fp32"]) + " |")
    print("|---|" + "---|" * len(report["fp32"]))
    for label, figures in report.items():
        print(f"| {label} | " + " | ".join(f"{figures[name]:.4f}" for name in report["fp32"]) + " |")
    print(f"cosine of candidate with fp32 over all tools: mean {cosines.mean():.5f}, lowest {cosines.min():.5f}")
    if arguments.output:
        arguments.output.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
