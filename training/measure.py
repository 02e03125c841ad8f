"""Recall of vectors on a pool: what an encoder alone finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from data import Pool, Query, Tool
from encoder import TOOLS, Encoder, Texts, embed
from skillroute.core.embedding.views import VIEW_WEIGHTS

Matrix = npt.NDArray[np.float32]


@torch.no_grad()
def text_vectors(encoder: Encoder, texts: Texts, batch: Sequence[str], token_type: int = TOOLS) -> Matrix:
    """Return vectors of texts, [texts, 384], of length 1."""
    distinct = list(dict.fromkeys(batch))
    device = encoder.embeddings.LayerNorm.weight.device.type
    with torch.autocast(device, torch.bfloat16):  # for ranks; what is committed is measured by the program itself
        made = [
            embed(encoder, texts, distinct[at : at + 1024], token_type).cpu().numpy()
            for at in range(0, len(distinct), 1024)
        ]
    rows = np.concatenate(made)
    place = {text: index for index, text in enumerate(distinct)}
    return rows[[place[text] for text in batch]]


def tool_vectors(encoder: Encoder, texts: Texts, tools: Iterable[Tool], token_type: int = TOOLS) -> Matrix:
    """Return a vector for each tool: the weighted mean of its views, of length 1."""
    listed = list(tools)
    total = sum(
        weight * text_vectors(encoder, texts, [tool.views[view] for tool in listed], token_type)
        for view, weight in enumerate(VIEW_WEIGHTS)
    )
    return total / np.linalg.norm(total, axis=1, keepdims=True)


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


def evaluate(encoder: Encoder, texts: Texts, pool: Pool, queries: Sequence[Query]) -> dict[str, float]:
    """Return recall@1 and recall@5 of the encoder's cosines over all tools of a pool."""
    ids = list(pool.tools)
    vectors = tool_vectors(encoder, texts, pool.tools.values())
    asked = text_vectors(encoder, texts, [query.text for query in queries])
    ranked = rank(asked @ vectors.T, ids)
    return {"recall@1": recall(ranked, queries, 1), "recall@5": recall(ranked, queries, 5), "queries": len(queries)}
