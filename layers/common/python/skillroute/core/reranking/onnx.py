"""Reranking in this process: a small cross-encoder, int8, by onnxruntime on the CPU (docs/adr/0050)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from skillroute.core.embedding.wire import clipped
from skillroute.core.errors.model import RerankerUnavailable
from skillroute.core.onnx_model import load_model, read_description
from skillroute.core.time.deadline import Callee, Deadline

_INPUTS = {"request_ids", "candidate_ids", "candidate_mask"}
_OUTPUT = "logits"
_AT_ONCE = 10
"""Candidates of one run, those of like length together: what is shorter than the longest of a run costs as much."""
_CHARACTERS = 40
"""Of a text for each token that is read; the tokenizer would read the rest for nothing."""
_RERANKER = Callee("the reranker", RerankerUnavailable)


@dataclass(frozen=True, slots=True)
class _Description:
    name: str
    request_tokens: int
    candidate_tokens: int

    @classmethod
    def read(cls, described: Any) -> Self:
        return cls(str(described["name"]), int(described["request_tokens"]), int(described["candidate_tokens"]))


class OnnxReranker:
    """Reranks with the model in a folder; no network. Safe to call from several threads.

    Nothing is imported or read before the first use. A failure is not remembered: the next call tries again.

    Parameters
    ----------
    model_dir : Path
        Holds ``model.json`` (``name``, ``request_tokens``, ``candidate_tokens``: where texts are cut),
        ``tokenizer.json`` and ``model.onnx``: ``request_ids`` int64 [1, tokens], ``candidate_ids`` and
        ``candidate_mask`` int64 [candidates, tokens] to ``logits`` float32 [candidates].
        ``training/build_reranker.py`` makes all three files.

    Examples
    --------
    >>> reranker = OnnxReranker(Path("tests/data/word_reranker"))
    >>> texts = ["send message (gmail): Send an email", "get weather: Current weather of a city"]
    >>> mail, weather = reranker.logits("mail this to Ann", texts, timeout_s=10)
    >>> mail > weather
    True
    """

    def __init__(self, model_dir: Path) -> None:
        self._model_dir = model_dir
        self._lock = threading.Lock()
        self._description: _Description | None = None
        self._engine: _Engine | None = None

    @property
    def name(self) -> str:
        """Provider and model, by ``model.json``; the graph is not loaded for it. Raises `RerankerUnavailable`."""
        return f"onnx/{self._described().name}"

    def logits(self, query: str, texts: Sequence[str], *, timeout_s: float) -> list[float]:
        """Return the logit of each text's relevance, in order; no text's depends on the others.

        Raises
        ------
        RerankerUnavailable
            A file or a package is missing or damaged, onnxruntime failed, or `timeout_s` seconds went by. The time is
            looked at between runs of ten candidates, not while the model loads.
        """
        if not texts:
            return []
        deadline = Deadline(timeout_s, callee=_RERANKER)
        return self._loaded().logits(query, texts, deadline)

    def _described(self) -> _Description:
        if self._description is None:  # two threads may both read it; they read the same
            self._description = read_description(self._model_dir, _Description.read, RerankerUnavailable)
        return self._description

    def _loaded(self) -> _Engine:
        with self._lock:
            if self._engine is None:
                self._engine = _Engine(self._model_dir, self._described())
            return self._engine


class _Engine:
    """The tokenizer and the graph, loaded."""

    def __init__(self, model_dir: Path, description: _Description) -> None:
        loaded = load_model(model_dir, RerankerUnavailable)
        self._numpy, self._tokenizer, self._session = loaded.numpy, loaded.tokenizer, loaded.session
        self._description = description
        inputs = {node.name for node in self._session.get_inputs()}
        outputs = {node.name for node in self._session.get_outputs()}
        if inputs != _INPUTS or _OUTPUT not in outputs:
            raise RerankerUnavailable(
                f"{model_dir / 'model.onnx'} takes {sorted(inputs)} and gives {sorted(outputs)}; it should take "
                f"{sorted(_INPUTS)} and give {_OUTPUT}"
            )

    def logits(self, query: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        """Raises `RerankerUnavailable`."""
        try:
            [request] = self._ids([query], self._description.request_tokens)
            rows = self._ids(texts, self._description.candidate_tokens)
        except Exception as error:  # see core.onnx_model
            raise RerankerUnavailable(f"{self._description.name} failed: {error}") from error
        by_length = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        found = [0.0] * len(rows)
        for at in range(0, len(rows), _AT_ONCE):
            deadline.check()
            places = by_length[at : at + _AT_ONCE]
            for place, logit in zip(places, self._run(request, [rows[place] for place in places]), strict=True):
                found[place] = logit
        return found

    def _run(self, request: Sequence[int], rows: Sequence[Sequence[int]]) -> list[float]:
        numpy, width = self._numpy, max(1, *map(len, rows))
        ids = numpy.zeros((len(rows), width), "int64")
        mask = numpy.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)], mask[place, : len(row)] = row, 1
        feed = {"request_ids": numpy.array([request or [0]], "int64"), "candidate_ids": ids, "candidate_mask": mask}
        try:
            logits = self._session.run([_OUTPUT], feed)[0]
        except Exception as error:  # see core.onnx_model
            raise RerankerUnavailable(f"{self._description.name} failed: {error}") from error
        if logits.shape != (len(rows),) or not numpy.isfinite(logits).all():
            raise RerankerUnavailable(f"{self._description.name} did not give a number for each of {len(rows)} texts")
        found: list[float] = logits.tolist()
        return found

    def _ids(self, texts: Sequence[str], most: int) -> list[list[int]]:
        """Return the token ids of texts, cut where the model's training cut them: the mark at their end stays."""
        encodings = self._tokenizer.encode_batch([clipped(text[: _CHARACTERS * most]) for text in texts])
        rows: list[list[int]] = [encoding.ids for encoding in encodings]
        return [row if len(row) <= most else [*row[: most - 1], row[-1]] for row in rows]
