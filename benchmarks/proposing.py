"""How well `skillroute skills propose` groups tools, against groups that people made (docs/adr/0011).

    .venv/bin/python benchmarks/proposing.py --data DIR

The truth is the primary skill of each tool of `examples/`, and the top-level field of each tool of Seal-Tools. Figures
are over the tools that were placed; `share` says how many those are. The baseline is k-means from one start.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from harness import console
from judged import load
from rich.table import Table
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.schemas import read_item
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.packaged import DEFAULT_MODEL, models_dir
from skillroute.core.embedding.views import embed_views
from skillroute_local.proposing.clusters import NONE, cluster, damped
from skillroute_local.proposing.k_means import Matrix, k_means

_MODEL = models_dir() / DEFAULT_MODEL


def measures(truth: Sequence[str], labels: Sequence[int]) -> dict[str, float]:
    """Return purity, the adjusted Rand index (Hubert and Arabie 1985), and mutual information over the mean entropy."""
    n = len(truth)
    both, rows, columns = Counter(zip(truth, labels, strict=True)), Counter(truth), Counter(labels)
    best: dict[int, int] = {}
    for (_, label), count in both.items():
        best[label] = max(best.get(label, 0), count)
    pairs, of_rows, of_columns = (sum(math.comb(c, 2) for c in counts.values()) for counts in (both, rows, columns))
    expected = of_rows * of_columns / math.comb(n, 2)
    mutual = sum(c / n * math.log(c * n / (rows[t] * columns[label])) for (t, label), c in both.items())
    entropies = [-sum(c / n * math.log(c / n) for c in counts.values()) for counts in (rows, columns)]
    return {
        "purity": sum(best.values()) / n,
        "ARI": (pairs - expected) / ((of_rows + of_columns) / 2 - expected),
        "NMI": 2 * mutual / sum(entropies),
    }


def judge(name: str, data: Path, table: Table) -> None:
    """Group the tools of a set and add a row for each way to do it."""
    judged = load(name, data)
    names = {skill.id: skill.name for skill in judged.skills}
    truth = [names[judged.assignments[id_][0].skill_id] if id_ in judged.assignments else "" for id_ in judged.tools]
    texts = [indexed_text(read_item(tool)).embedding_texts for tool in judged.tools.values()]
    vectors = np.array(embed_views(OnnxEmbedder(_MODEL), texts, timeout_s=3600.0), np.float32)
    weights = damped([tool.get("server") or id_ for id_, tool in judged.tools.items()])
    started = time.perf_counter()
    found = cluster(vectors, weights)
    elapsed_s = time.perf_counter() - started
    placed = np.flatnonzero(found.labels != NONE).tolist()
    rows: dict[str, tuple[Sequence[int], list[int], float]] = {"propose": (found.labels.tolist(), placed, elapsed_s)}
    rows["k-means"] = _k_means(vectors, found.count)
    for method, (labels, indices, took_s) in rows.items():
        figures = measures([truth[i] for i in indices], [labels[i] for i in indices])
        share = len(indices) / len(truth)
        cells = [*figures.values(), share]
        table.add_row(name, method, str(found.count), *(f"{cell:.3f}" for cell in cells), f"{took_s:.1f}")


def _k_means(vectors: Matrix, k: int) -> tuple[Sequence[int], list[int], float]:
    started = time.perf_counter()
    labels = k_means(vectors, k, 7).tolist()
    return labels, list(range(len(labels))), time.perf_counter() - started


def main() -> None:
    """Measure on both sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="where sealtools/ is")
    arguments = parser.parse_args()
    table = Table("set", "method", "skills", "purity", "ARI", "NMI", "share", "s")
    for name in ("examples", "sealtools"):
        judge(name, arguments.data, table)
    console.print(table)


if __name__ == "__main__":
    main()
