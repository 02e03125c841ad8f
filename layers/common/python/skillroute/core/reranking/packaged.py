"""The reranker that comes with a layer of its own, which a deployment may leave out."""

from __future__ import annotations

from pathlib import Path

_ON_LAMBDA = Path("/opt/rerankers")
_IN_REPOSITORY = Path(__file__).parents[5] / "rerank" / "models"


def rerankers_dir() -> Path:
    """Return where the layer puts its model on Lambda, else where the repository keeps it."""
    return _ON_LAMBDA if _ON_LAMBDA.exists() else _IN_REPOSITORY


def packaged_reranker() -> Path | None:
    """Return the folder of the reranker that is here; None where the layer is not."""
    return next((file.parent for file in sorted(rerankers_dir().glob("*/model.json"))), None)
