"""The reranker in torch: layers of the tuned encoder that read a request once, and each candidate beside it.

A candidate's tokens attend to the request's and to their own; the request's attend to their own alone. So a request is
read once for all of its candidates, and its length costs next to nothing. In the last layer only the candidate's first
token is computed: nothing else of it is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from encoder import DIMENSION, GENERAL, HEADS, TOOLS, Encoder, Layer, load_weights
from torch import Tensor, nn
from torch.nn import functional

KEPT_LAYERS = (0, 1, 3, 5)
"""Of the encoder's six, in order."""
REQUEST_TYPE, CANDIDATE_TYPE = GENERAL, TOOLS
"""Token types: what tells a request's tokens from a candidate's."""
HEAD = 192


class CrossEncoder(nn.Module):
    """How well candidates go together with a request, as logits."""

    def __init__(self, kept: Sequence[int] = KEPT_LAYERS, dropout: float = 0.0) -> None:
        super().__init__()
        encoder = Encoder(dropout)
        self.embeddings = encoder.embeddings
        self.layer = nn.ModuleList(encoder.encoder.layer[place] for place in kept)
        self.head = nn.Linear(2 * DIMENSION, HEAD)
        self.score = nn.Linear(HEAD, 1)

    @classmethod
    def of_encoder(cls, weights: Path, kept: Sequence[int] = KEPT_LAYERS, dropout: float = 0.0) -> CrossEncoder:
        """Return one that begins with an encoder's weights. Its words stay as they are: they are not trained."""
        encoder = Encoder(dropout)
        load_weights(encoder, weights)
        made = cls(kept, dropout)
        made.embeddings.load_state_dict(encoder.embeddings.state_dict())
        for own, place in zip(made.layer, kept, strict=True):
            own.load_state_dict(encoder.encoder.layer[place].state_dict())
        made.embeddings.word_embeddings.weight.requires_grad_(False)
        return made

    def forward(self, request: Tensor, request_mask: Tensor, candidates: Tensor, mask: Tensor) -> Tensor:
        """Return logits, float32 [requests, candidates].

        Parameters
        ----------
        request, request_mask : int64 and bool [requests, tokens]
        candidates, mask : int64 and bool [requests, candidates, tokens]
        """
        requests, count, width = candidates.shape
        asked = self._embedded(request, REQUEST_TYPE)
        found = self._embedded(candidates.view(requests * count, width), CANDIDATE_TYPE)
        own_mask = mask.view(requests * count, width)
        both_mask = torch.cat([_each(request_mask, count), own_mask], 1)
        *inner, last = self.layer
        for layer in inner:
            found = _attend(layer, found, asked, both_mask, count)
            asked = layer(asked, request_mask[:, None, None, :])
        alike = _each(_mean(asked, request_mask), count) * _mean(found, own_mask)
        first = _attend(last, found, asked, both_mask, count, rows=1)[:, 0]
        hidden = functional.gelu(self.head(torch.cat([first, alike], 1)))
        return self.score(hidden).float().view(requests, count)

    def _embedded(self, ids: Tensor, token_type: int) -> Tensor:
        embeddings = self.embeddings
        words = embeddings.word_embeddings(ids) + embeddings.position_embeddings.weight[: ids.shape[1]]
        return embeddings.LayerNorm(words + embeddings.token_type_embeddings.weight[token_type])


def _each(of_requests: Tensor, count: int) -> Tensor:
    """[requests, ...] to [requests * count, ...]."""
    return of_requests.repeat_interleave(count, 0)


def _mean(hidden: Tensor, mask: Tensor) -> Tensor:
    weights = mask[:, :, None].to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1)


def _attend(
    layer: Layer, found: Tensor, asked: Tensor, both_mask: Tensor, count: int, rows: int | None = None
) -> Tensor:
    """Run a layer over candidates [requests * count, tokens, 384] beside their requests [requests, tokens, 384].

    Of each candidate the first `rows` tokens are computed, all where it is None.
    """
    roles = layer.attention.self
    wanted = found[:, :rows]
    query = _by_head(roles.query(wanted))
    key, value = (
        torch.cat([_each(_by_head(role(asked)), count), _by_head(role(found))], 2) for role in (roles.key, roles.value)
    )
    weights = (query @ key.transpose(-1, -2)) * query.shape[-1] ** -0.5
    weights = weights.masked_fill(~both_mask[:, None, None, :], torch.finfo(weights.dtype).min).softmax(-1)
    attended = (weights.to(value.dtype) @ value).transpose(1, 2).flatten(2)
    half = layer.attention.output
    hidden = half.LayerNorm(wanted + layer.dropout(half.dense(attended)))
    grown = functional.gelu(layer.intermediate.dense(hidden))
    return layer.output.LayerNorm(hidden + layer.dropout(layer.output.dense(grown)))


def _by_head(x: Tensor) -> Tensor:
    """[rows, tokens, 384] to [rows, heads, tokens, 32]."""
    return x.view(x.shape[0], x.shape[1], HEADS, -1).transpose(1, 2)
