"""Embeddings in this process: a model tuned from all-MiniLM-L6-v2, or that one, int8, by onnxruntime on the CPU."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder, OtherForm
from skillroute.core.embedding.wire import clipped
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.onnx_model import load_model, read_description
from skillroute.core.remote.calls import fan_out
from skillroute.core.time.deadline import Deadline

_INPUTS = {"input_ids", "attention_mask"}
_TYPE_INPUT = "token_type_ids"
_MESSAGES, _TOOLS = 0, 1
"""Token types: texts of any kind, as the published model embeds them, and texts of tools and requests for them."""
_OUTPUT = "embedding"
_MAX_WORKERS = 4
_TOKENS_OF_A_RUN = 256
"""Of several texts together. With 128 and 512 the same texts took 1 to 2 % more processor time."""
_NORM_TOLERANCE = 1e-3


class Tokens(NamedTuple):
    """A text's tokens: their ids in the model's vocabulary, and 1 for each of them, 0 where the tokenizer pads."""

    ids: list[int]
    mask: list[int]


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

    def for_messages(self) -> Embedder:
        """Return the embedder of messages; it shares the loaded graph."""
        return OtherForm(self, lambda texts, timeout_s: self._embed(texts, timeout_s, _MESSAGES))

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

        Texts of the same number of tokens go through the graph together, so nothing is spent on padding. What is beside
        a text moves its vector by a rounding, less than 1e-6 in cosine (docs/adr/0056).

        Raises
        ------
        EmbeddingUnavailable
            A file or a package is missing or damaged, onnxruntime failed, or `timeout_s` seconds went by. The time is
            looked at between runs of the graph, not while the model loads.
        """
        return self._embed(texts, timeout_s, _TOOLS)

    def _embed(self, texts: Sequence[str], timeout_s: float, token_type: int) -> list[Vector]:
        if not texts:
            return []
        deadline = Deadline(timeout_s, callee=EMBEDDING_MODEL)
        engine = self._loader.engine()
        if len(texts) == 1:
            deadline.check()
            return engine.run([engine.encoded(texts[0])], token_type)
        # One core a run: a short text is too little work to share, while runs side by side keep every core busy.
        workers = min(_MAX_WORKERS, os.cpu_count() or 1, len(texts))

        def encode(share: Sequence[str]) -> list[Tokens]:
            deadline.check()
            return [engine.encoded(text) for text in share]

        def run(batch: Sequence[int]) -> list[Vector]:
            deadline.check()
            return engine.run([encoded[place] for place in batch], token_type)

        shares = fan_out(encode, list(_shares(texts, workers)), workers=workers, deadline=deadline)
        encoded = [tokens for share in shares for tokens in share]
        batches = batches_by_length([len(tokens.ids) for tokens in encoded])
        vectors: list[Vector] = [[]] * len(texts)
        for batch, made in zip(batches, fan_out(run, batches, workers=workers, deadline=deadline), strict=True):
            for place, vector in zip(batch, made, strict=True):
                vectors[place] = vector
        return vectors


def batches_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Return the places of texts that go through the graph together: all of one length, the longest texts first.

    The longest come first so that threads which take batches in turn end at nearly the same time.

    Parameters
    ----------
    lengths : sequence of int
        Tokens of each text.

    Examples
    --------
    >>> batches_by_length([7, 200, 7, 5])
    [[1], [0, 2], [3]]
    """
    of_length: dict[int, list[int]] = {}
    for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        of_length.setdefault(lengths[place], []).append(place)
    batches = []
    for length, places in of_length.items():
        size = max(1, _TOKENS_OF_A_RUN // max(1, length))
        batches += [places[start : start + size] for start in range(0, len(places), size)]
    return batches


def _shares(texts: Sequence[str], workers: int) -> Iterator[Sequence[str]]:
    """Yield consecutive parts of texts, as many as there are workers at most."""
    size = -(-len(texts) // workers)
    for start in range(0, len(texts), size):
        yield texts[start : start + size]


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

    def encoded(self, text: str) -> Tokens:
        """Return a text's tokens, cut after the model's longest sequence. Raises `EmbeddingUnavailable`."""
        try:
            # The tokenizer refuses half of a surrogate pair, and reads a text to its end before it cuts it.
            encoding = self._tokenizer.encode(clipped(text))
        except Exception as error:  # see core.onnx_model
            raise EmbeddingUnavailable(f"{self._model.name} failed: {error}") from error
        return Tokens(encoding.ids, encoding.attention_mask)

    def run(self, batch: Sequence[Tokens], token_type: int) -> list[Vector]:
        """Embed texts of the same number of tokens in one run, on this thread. Raises `EmbeddingUnavailable`."""
        numpy = self._numpy
        try:
            ids, mask = (numpy.array(rows, "int64") for rows in zip(*batch, strict=True))
            feed = {"input_ids": ids, "attention_mask": mask}
            if self._takes_types:
                feed[_TYPE_INPUT] = numpy.full_like(ids, token_type)
            output = self._session.run([_OUTPUT], feed)[0]
        except Exception as error:  # see core.onnx_model
            raise EmbeddingUnavailable(f"{self._model.name} failed: {error}") from error
        if not (abs((output * output).sum(axis=1) - 1.0) < _NORM_TOLERANCE).all():  # not finite fails too
            raise EmbeddingUnavailable(f"{self._model.name} gave a vector that is not of norm 1")
        vectors: list[Vector] = output.tolist()
        return vectors


def _read_model(model_dir: Path) -> EmbeddingModel:
    return read_description(
        model_dir,
        lambda described: EmbeddingModel(str(described["name"]), int(described["dimension"])),
        EmbeddingUnavailable,
    )
