"""One of this project's packaged encoders as a plain function, for peers that take any: the same vectors as ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import tokenizers

DIMENSION = 384


class LocalModel:
    """Embeds texts one by one, on one thread, as vectors of length 1.

    Parameters
    ----------
    folder : Path
        With ``model.onnx`` and ``tokenizer.json``.
    """

    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        self._has_types = len(self._session.get_inputs()) > 2
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> list[float]:
        encoding = self._tokenizer.encode(text)
        inputs = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask}
        if self._has_types:
            inputs["token_type_ids"] = [1] * len(encoding.ids)  # tools and requests for them (docs/adr/0048)
        output = self._session.run(["embedding"], {name: np.array([row], "int64") for name, row in inputs.items()})
        return [float(number) for number in output[0][0]]
