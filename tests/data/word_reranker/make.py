"""Make the tiny reranker of this folder: a logit is how many of a candidate's words the request has, less one.

/tmp/training/bin/python tests/data/word_reranker/make.py
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

HERE = Path(__file__).parent
WORDS = ["[UNK]", "send", "mail", "to", "message", "email", "weather", "current", "of", "city", "take", "screenshot"]


def main() -> None:
    """Write all three files."""
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(HERE / "tokenizer.json"), pretty=False)
    nodes = [
        helper.make_node("Unsqueeze", ["candidate_ids", "last"], ["each"]),
        helper.make_node("Equal", ["each", "request_ids"], ["same"]),
        helper.make_node("Cast", ["same"], ["found"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["found", "last"], ["is_there"], keepdims=0),
        helper.make_node("Cast", ["candidate_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["is_there", "mask"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "one"], ["sum"], keepdims=0),
        helper.make_node("Sub", ["sum", "less"], ["logits"]),
    ]
    values = {"last": np.array([2]), "one": np.array([1]), "less": np.array([1.0], np.float32)}
    shapes = {"request_ids": [1, "a"], "candidate_ids": ["n", "b"], "candidate_mask": ["n", "b"]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in shapes.items()]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n"])]
    constants = [numpy_helper.from_array(value, name) for name, value in values.items()]
    graph = helper.make_graph(nodes, "word-reranker", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model)
    data = model.SerializeToString(deterministic=True)
    (HERE / "model.onnx").write_bytes(data)
    described = {"name": "word-reranker", "request_tokens": 12, "candidate_tokens": 8}
    described |= {"sha256": hashlib.sha256(data).hexdigest()}
    (HERE / "model.json").write_text(json.dumps(described, indent=2) + "\n")


if __name__ == "__main__":
    main()
