"""Loading a model of this package: its description, its tokenizer, and its graph, run by onnxruntime on one core.

Nothing is imported before a model is loaded: numpy, onnxruntime and tokenizers are of the inference layer, which may
not be there at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from skillroute.core.errors.model import DependencyUnavailable

T = TypeVar("T")
Unavailable = type[DependencyUnavailable]


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A loaded model: the module numpy, a `tokenizers.Tokenizer` and an `onnxruntime.InferenceSession`."""

    numpy: Any
    tokenizer: Any
    session: Any


def load_model(model_dir: Path, unavailable: Unavailable) -> OnnxModel:
    """Load ``tokenizer.json`` and ``model.onnx`` of a folder; raise `unavailable` where that cannot be done."""
    try:
        import numpy  # noqa: PLC0415 - these three cost 130 ms
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # noqa: PLC0415
    except ImportError as error:
        raise unavailable(f"the inference layer is not installed: {error}") from error
    graph = existing(model_dir / "model.onnx", unavailable)
    vocabulary = existing(model_dir / "tokenizer.json", unavailable)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised; its log line would only repeat it
    # Neither library has a base class for its errors: both raise direct children of Exception.
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
    except Exception as error:
        raise unavailable(f"{vocabulary} is damaged: {error}") from error
    try:
        session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise unavailable(f"{graph} is damaged, or not for this onnxruntime: {error}") from error
    return OnnxModel(numpy, tokenizer, session)


def read_description(model_dir: Path, read: Callable[[Any], T], unavailable: Unavailable) -> T:
    """Read ``model.json`` of a folder; raise `unavailable` where it is missing or says something else."""
    path = model_dir / "model.json"
    try:
        return read(json.loads(existing(path, unavailable).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unavailable(f"{path} is damaged: {error!r}") from error


def existing(path: Path, unavailable: Unavailable) -> Path:
    """Return a file that is there; raise `unavailable` where it is not."""
    if not path.is_file():
        raise unavailable(f"{path} is missing")
    return path
