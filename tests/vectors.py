"""Vectors of the packaged models, computed once in a run of the tests and shared by all of its processes.

Each is a file, named by the model's graph and the text's tokens. Embedding the examples takes 5 s of a processor, and a
dozen servers do it. The tests of embedders, in tests/unit/core/embedding, take `computed_vectors` and share none.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from skillroute.core.embedding import onnx
from skillroute.core.embedding.model import EmbeddingModel, Vector

from tests.temporary import fastest_directory

VARIABLE = "TESTS_VECTORS"
"""Names the directory to the processes that this one starts; it is made and removed by the first of them."""

_compute = onnx._Engine.run
_load = onnx._Engine.__init__


def make_directory() -> Path | None:
    """Make the directory of this run and return it; None where a process above this one has made it."""
    if VARIABLE in os.environ:
        return None
    directory = Path(tempfile.mkdtemp(prefix="skillroute-vectors-", dir=fastest_directory()))
    os.environ[VARIABLE] = str(directory)
    return directory


def remove_directory(directory: Path) -> None:
    """Remove what `make_directory` made."""
    os.environ.pop(VARIABLE, None)
    shutil.rmtree(directory, ignore_errors=True)


def share_vectors(directory: Path) -> None:
    """Let every `OnnxEmbedder` of this process take vectors from a directory, and put there what it computes.

    The graph is loaded as ever, so one that is missing or damaged fails as it would, and only vectors that were found
    good are kept.
    """

    def load(self: onnx._Engine, model_dir: Path, model: EmbeddingModel) -> None:
        _load(self, model_dir, model)
        graph = (model_dir / "model.onnx").resolve()
        status = graph.stat()
        self._graph = f"{graph} {status.st_size} {status.st_mtime_ns}"  # type: ignore[attr-defined]

    def run(self: onnx._Engine, batch: Sequence[onnx.Tokens], token_type: int) -> list[Vector]:
        files = [_file(directory, self._graph, tokens, token_type) for tokens in batch]  # type: ignore[attr-defined]
        kept = [_read(file) for file in files]
        missing = [place for place, vector in enumerate(kept) if vector is None]
        if missing:
            computed = _compute(self, [batch[place] for place in missing], token_type)
            for place, vector in zip(missing, computed, strict=True):
                _write(files[place], array("f", vector).tobytes())
                kept[place] = vector
        return [vector for vector in kept if vector is not None]

    onnx._Engine.__init__ = load  # type: ignore[method-assign]
    onnx._Engine.run = run  # type: ignore[method-assign]


@contextmanager
def computed_vectors() -> Iterator[None]:
    """Let the embedders of a block compute every vector."""
    shared = onnx._Engine.run
    onnx._Engine.run = _compute  # type: ignore[method-assign]
    try:
        yield
    finally:
        onnx._Engine.run = shared  # type: ignore[method-assign]


def _file(directory: Path, graph: str, tokens: onnx.Tokens, token_type: int) -> Path:
    named = f"{graph} {token_type} {tokens.ids} {tokens.mask}"
    return directory / hashlib.sha256(named.encode()).hexdigest()


def _read(file: Path) -> Vector | None:
    try:
        return array("f", file.read_bytes()).tolist()
    except FileNotFoundError:
        return None


def _write(file: Path, content: bytes) -> None:
    """Write a file whole or not at all; another process may do the same."""
    descriptor, unfinished = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "wb") as output:
        output.write(content)
    Path(unfinished).replace(file)
