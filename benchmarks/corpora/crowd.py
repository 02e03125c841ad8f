"""The tools of real MCP servers, `shared/data/more/mcp-catalogue`: what judged sets are measured among, and fitted.

Their names are ordinary ("search", "create"), and many serve what a set's tools serve, though nobody judged that. A
tool that is as near to a right one as `ALIKE` is left out: finding it would count as wrong. The measure of retrieval
and `training/` leave out the same, by `apart`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from skillroute.catalogue.text import ToolText, argument_descriptions, argument_names, embedding_views
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.views import VIEW_WEIGHTS

ALIKE = 0.85
"""The cosine of two tools from which one is taken to serve what the other serves."""
FILE = Path("more") / "mcp-catalogue" / "tools.jsonl"

_FIELDS = ("name", "description", "server", "input_schema", "annotations")

Json = dict[str, Any]
Vectors = npt.NDArray[np.float32]


def apart(others: Vectors, right: Vectors) -> npt.NDArray[np.bool_]:
    """Return which of other tools are like none of the right ones; vectors have length 1."""
    return np.asarray((others @ right.T).max(axis=1, initial=-1.0) < ALIKE)


def crowd(data: Path) -> list[Json]:
    """Return the tools as the catalogue has them, under ids that no judged set has."""
    lines = (data / FILE).read_text(encoding="utf-8").splitlines()
    return [line | {"id": f"crowd/{line['id']}"} for line in map(json.loads, lines)]


def beside(
    own: Mapping[str, Json], right: Iterable[str], others: Sequence[Json], embedder: Embedder
) -> dict[str, Json]:
    """Return by id, as a catalogue is given them, the others that go beside a set's own tools.

    Those like one of the right tools do not, nor those that have server and name of another: a server has a name once.
    """
    kept = apart(vectors_of(others, embedder), vectors_of([own[id_] for id_ in sorted(right)], embedder))
    made, taken = {}, {_key(tool) for tool in own.values()}
    for tool, is_apart in zip(others, kept, strict=True):
        if is_apart and _key(tool) not in taken:
            taken.add(_key(tool))
            made[tool["id"]] = {name: tool[name] for name in _FIELDS if tool.get(name)}
    return made


def _key(tool: Json) -> tuple[str, str]:
    return tool.get("server") or "", tool["name"]


class Remembered:
    """An embedder that keeps its vectors in a file, for ten thousand tools are embedded for minutes."""

    def __init__(self, model_dir: Path, folder: Path) -> None:
        self._embedder = OnnxEmbedder(model_dir)
        self._file = folder / f"{self._embedder.model.name}.npz"
        self._known: dict[str, Any] = {}
        if self._file.exists():
            stored = np.load(self._file, allow_pickle=True)
            self._known = dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))

    @property
    def model(self) -> EmbeddingModel:
        """Which model it has."""
        return self._embedder.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Return the vectors of texts, those it does not know by the model."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= zip(new, self._embedder.embed(new, timeout_s=timeout_s), strict=True)
        return [np.asarray(self._known[text], np.float32).tolist() for text in texts]

    def keep(self) -> None:
        """Write all that it knows, for another process."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        vectors = np.array(list(self._known.values()), np.float32)
        partial = self._file.with_suffix(".partial.npz")
        np.savez(partial, texts=np.array(list(self._known), dtype=object), vectors=vectors)
        partial.replace(self._file)  # a file is whole or not there


def vectors_of(tools: Sequence[Json], embedder: Embedder) -> Vectors:
    """Return the vectors of tools as the catalogue makes them of their views."""
    views = [_views(tool) for tool in tools]
    vectors = np.zeros((len(tools), embedder.model.dimension), np.float32)
    for place, weight in enumerate(VIEW_WEIGHTS):
        of_view = embedder.embed([view[place] for view in views], timeout_s=3600)
        vectors += weight * np.array(of_view, np.float32).reshape(vectors.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _views(tool: Json) -> tuple[str, str, str]:
    schema = tool.get("input_schema")
    return embedding_views(
        ToolText(
            tool["name"],
            tool.get("description") or "",
            argument_names(schema),
            argument_descriptions(schema),
            tool.get("server"),
        )
    )
