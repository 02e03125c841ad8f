"""Embeddings in this process: a model tuned from all-MiniLM-L6-v2, or that one, int8, by onnxruntime on the CPU."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from copy import copy
from pathlib import Path

from skillroute.core.deadline import Deadline
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL
from skillroute.core.embedding.wire import clipped
from skillroute.core.errors import EmbeddingUnavailable
from skillroute.core.onnx_model import load_model, read_description
from skillroute.core.remote.calls import fan_out

_INPUTS = {"input_ids", "attention_mask"}
_TYPE_INPUT = "token_type_ids"
_MESSAGES, _TOOLS = 0, 1
"""Token types: texts of any kind, as the published model embeds them, and texts of tools and requests for them."""
_OUTPUT = "embedding"
_MAX_WORKERS = 4
_NORM_TOLERANCE = 1e-3


class OnnxEmbedder:
    """Embeds with the model in a folder; no network. Safe to call from several threads.

    Nothing is imported or read before the first use. A failure is not remembered: the next call tries again.

    Parameters
    ----------
    model_dir : Path
        Holds ``model.json`` (``name``, ``dimension``), ``tokenizer.json``, which cuts a text after the model's longest
        sequence, and ``model.onnx``: ``input_ids`` and ``attention_mask``, int64 [batch, sequence], to ``embedding``,
        float32 [batch, dimension] of L2 norm 1. A graph that takes ``token_type_ids`` as well embeds tools and requests
        as type 1 and messages as type 0. ``layers/inference/build_model.py`` makes all three files.

    Examples
    --------
    >>> [vector] = OnnxEmbedder(Path("layers/inference/models/tool-minilm-l6")).embed(["send mail"], timeout_s=10)
    >>> len(vector)
    384
    """

    def __init__(self, model_dir: Path) -> None:
        self._loader = _Loader(model_dir)
        self._token_type = _TOOLS

    def for_messages(self) -> OnnxEmbedder:
        """Return the embedder of messages; it shares the loaded graph."""
        other = copy(self)
        other._token_type = _MESSAGES
        return other

    @property
    def model(self) -> EmbeddingModel:
        """The model that ``model.json`` describes; the graph is not loaded for it.

        Raises
        ------
        EmbeddingUnavailable
            The file is missing or says something else.
        """
        return self._loader.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1.

        Each text is a run of its own, so no vector depends on the texts beside it, and nothing is spent on padding.
        Batches of texts of the same length were 8 % faster (199 tools of MetaTool), which is not worth the code.

        Raises
        ------
        EmbeddingUnavailable
            A file or a package is missing or damaged, onnxruntime failed, or `timeout_s` seconds went by. The time is
            looked at between texts, not while the model loads.
        """
        if not texts:
            return []
        deadline = Deadline(timeout_s, callee=EMBEDDING_MODEL)
        engine = self._loader.engine()
        if len(texts) == 1:
            return engine.embed_in_turn(texts, self._token_type, deadline)
        # One core a run: a short text is too little work to share, while runs side by side keep every core busy.
        workers = min(_MAX_WORKERS, os.cpu_count() or 1, len(texts))
        shares = fan_out(
            lambda share: engine.embed_in_turn(share, self._token_type, deadline),
            [texts[first::workers] for first in range(workers)],
            workers=workers,
            deadline=deadline,
        )
        vectors: list[Vector] = [[]] * len(texts)
        for first, share in enumerate(shares):
            vectors[first::workers] = share
        return vectors


class _Loader:
    """Reads the files of a model at their first use, once. Safe to call from several threads."""

    def __init__(self, model_dir: Path) -> None:
        self._model_dir = model_dir
        self._lock = threading.Lock()
        self._model: EmbeddingModel | None = None
        self._engine: _Engine | None = None

    @property
    def model(self) -> EmbeddingModel:
        """Raises `EmbeddingUnavailable`."""
        if self._model is None:  # two threads may both read it; they read the same
            self._model = _read_model(self._model_dir)
        return self._model

    def engine(self) -> _Engine:
        """Raises `EmbeddingUnavailable`."""
        with self._lock:
            if self._engine is None:
                self._engine = _Engine(self._model_dir, self.model)
            return self._engine


class _Engine:
    """The tokenizer and the graph, loaded: about 90 ms on one core; the process then holds 115 MB."""

    def __init__(self, model_dir: Path, model: EmbeddingModel) -> None:
        loaded = load_model(model_dir, EmbeddingUnavailable)
        self._numpy, self._tokenizer, self._session = loaded.numpy, loaded.tokenizer, loaded.session
        self._model = model
        self._check(model_dir / "model.onnx")

    def _check(self, graph: Path) -> None:
        """Refuse a graph of another shape here, by name, and not at its first run."""
        inputs = {node.name for node in self._session.get_inputs()}
        dimensions = {node.name: node.shape[-1] for node in self._session.get_outputs() if node.shape}
        if inputs - {_TYPE_INPUT} != _INPUTS or dimensions.get(_OUTPUT) != self._model.dimension:
            raise EmbeddingUnavailable(
                f"{graph} takes {sorted(inputs)} and gives {dimensions}; it should take {sorted(_INPUTS)} (and may "
                f"take {_TYPE_INPUT}) and give {_OUTPUT} of {self._model.dimension} dimensions"
            )
        self._takes_types = _TYPE_INPUT in inputs

    def embed_in_turn(self, texts: Iterable[str], token_type: int, deadline: Deadline) -> list[Vector]:
        """Embed texts one after the other on this thread, until the deadline."""
        vectors = []
        for text in texts:
            deadline.check()
            vectors.append(self._embed(text, token_type))
        return vectors

    def _embed(self, text: str, token_type: int) -> Vector:
        try:
            # The tokenizer refuses half of a surrogate pair, and reads a text to its end before it cuts it.
            encoding = self._tokenizer.encode(clipped(text))
            ids, mask = (self._numpy.array([row], "int64") for row in (encoding.ids, encoding.attention_mask))
            feed = {"input_ids": ids, "attention_mask": mask}
            if self._takes_types:
                feed[_TYPE_INPUT] = self._numpy.full_like(ids, token_type)
            output = self._session.run([_OUTPUT], feed)[0][0]
        except Exception as error:  # see core.onnx_model
            raise EmbeddingUnavailable(f"{self._model.name} failed: {error}") from error
        if not abs(float(output @ output) - 1.0) < _NORM_TOLERANCE:  # not finite fails too
            raise EmbeddingUnavailable(f"{self._model.name} gave a vector that is not of norm 1")
        vector: Vector = output.tolist()
        return vector


def _read_model(model_dir: Path) -> EmbeddingModel:
    return read_description(
        model_dir,
        lambda described: EmbeddingModel(str(described["name"]), int(described["dimension"])),
        EmbeddingUnavailable,
    )
