"""Tune the encoder for requests against tools: one command, seeded, resumed behind the last whole epoch.

    PYTHONPATH=layers/common/python python training/train.py --output .training/encoder

The loss is the cross entropy of each request's tool among all tools of its batch and others that the encoder takes for
right. A tool's vector is the mean of its three views, as in the index. Tools that may be right as well, by the untuned
vectors, are left out of the negatives.

Texts of tools and requests have a token type of their own. Beside them, in every batch, texts of the general type are
held to the vectors that the published weights give them: what is not about tools is found as before.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from data import Pool, Query, load_pool, training_pairs
from encoder import GENERAL, TOOLS, Encoder, Texts, embed, published_encoder, tell_tools_apart
from measure import Matrix, evaluate, text_vectors, tool_vectors
from safetensors.torch import save_file
from skillroute.core.embedding.views import VIEW_WEIGHTS

MOST_PER_TOOL = {"tool-requests": 12, "metatool": 20, "bfcl": 4, "sealtools": 4}
"""The sets that are trained on, and how many requests of a tool."""
UNSEEN = ("docker-mcp-catalog", "livemcp-catalog")
ALIKE = 0.88
"""Tools whose untuned vectors are at least this near are right answers to each other's requests too often."""

Pair = tuple[str, str, frozenset[str]]


class Negatives:
    """Which tools of a pool are wrong for a request, and which of the wrong ones an encoder takes for right."""

    def __init__(self, pool: Pool, untuned: Matrix) -> None:
        self.pool = pool
        self.ids = list(pool.tools)
        self.hard: dict[str, list[str]] = {}
        self._place = {id_: index for index, id_ in enumerate(self.ids)}
        self._untuned = untuned

    def may_be_right(self, id_: str, relevant: frozenset[str]) -> bool:
        """Return whether a tool is one of the right ones, or so near to one that it may be right as well."""
        if id_ in relevant:
            return True
        near = self._untuned[[self._place[right] for right in relevant]] @ self._untuned[self._place[id_]]
        return bool(near.max() >= ALIKE)

    def mine(self, encoder: Encoder, texts: Texts, pairs: Sequence[Pair], *, is_untuned: bool, most: int = 16) -> None:
        """Find for each request the wrong tools that the encoder puts first."""
        vectors = self._untuned if is_untuned else tool_vectors(encoder, texts, self.pool.tools.values())
        relevant = {text: rights for text, _, rights in pairs}
        asked = list(relevant)
        queries = text_vectors(encoder, texts, asked, GENERAL if is_untuned else TOOLS)
        for first in range(0, len(asked), 2048):
            part = asked[first : first + 2048]
            scores = queries[first : first + 2048] @ vectors.T
            best = np.argpartition(-scores, 40, axis=1)[:, :40]
            for row, (text, candidates) in enumerate(zip(part, best, strict=True)):
                ordered = candidates[np.argsort(-scores[row, candidates], kind="stable")]
                wrong = (self.ids[place] for place in ordered if not self.may_be_right(self.ids[place], relevant[text]))
                self.hard[text] = [id_ for _, id_ in zip(range(most), wrong, strict=False)]


def batches(pairs: Sequence[Pair], pool: Pool, size: int, rng: random.Random) -> Iterator[list[Pair]]:
    """Return batches of one pool in which tools of a server come together by fours: the nearest wrong answers."""
    by_group: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_group.setdefault(pool.tools[pair[1]].group, []).append(pair)
    chunks = []
    for group in by_group.values():
        rng.shuffle(group)
        chunks += [group[at : at + 4] for at in range(0, len(group), 4)]
    rng.shuffle(chunks)
    shuffled = [pair for chunk in chunks for pair in chunk]
    for at in range(0, len(shuffled) - size // 2, size):
        yield shuffled[at : at + size]


def loss_of(
    encoder: Encoder, texts: Texts, negatives: Negatives, batch: Sequence[Pair], rng: random.Random, scale: float
) -> torch.Tensor:
    """Return the loss of a batch, with a mined tool for every second request: those of the others count for all."""
    hard = negatives.hard
    mined = [rng.choice(hard[text]) for text, _, _ in batch[rng.randrange(2) :: 2] if hard.get(text)]
    tools = list(dict.fromkeys([id_ for _, id_, _ in batch] + mined))
    views = [negatives.pool.tools[id_].views for id_ in tools]
    distinct = list(dict.fromkeys([text for text, _, _ in batch] + [view for tool in views for view in tool]))
    place = {text: index for index, text in enumerate(distinct)}
    vectors = embed(encoder, texts, distinct, TOOLS)
    asked = vectors[[place[text] for text, _, _ in batch]]
    total = sum(weight * vectors[[place[tool[view]] for tool in views]] for view, weight in enumerate(VIEW_WEIGHTS))
    logits = scale * asked @ torch.nn.functional.normalize(total, dim=-1).T
    right = torch.tensor([tools.index(id_) for _, id_, _ in batch], device=logits.device)
    left_out = [
        [id_ != positive and negatives.may_be_right(id_, relevant) for id_ in tools] for _, positive, relevant in batch
    ]
    return torch.nn.functional.cross_entropy(
        logits.masked_fill(torch.tensor(left_out, device=logits.device), -1e4), right
    )


class Kept:
    """Texts whose vectors of the general type shall stay what the published weights make of them."""

    def __init__(self, encoder: Encoder, texts: Texts, pools: Iterable[Pool], most: int) -> None:
        listed = [view for pool in pools for tool in pool.tools.values() for view in tool.views]
        listed += [query.text for pool in pools for query in pool.queries if not pool.is_held_out(query)]
        rng = random.Random("kept")
        single = rng.sample(sorted(set(listed)), most // 2)
        # Messages are longer than requests: two or three texts after each other are texts of that length.
        self._listed = single + [" ".join(rng.sample(listed, rng.choice((2, 3)))) for _ in range(most - len(single))]
        self._texts = texts
        self._vectors = torch.from_numpy(text_vectors(encoder, texts, self._listed, GENERAL))

    def loss_of(self, encoder: Encoder, size: int, rng: random.Random) -> torch.Tensor:
        """Return the mean of one minus the cosine to the published vectors, over `size` texts drawn from all."""
        drawn = rng.sample(range(len(self._listed)), size)
        vectors = embed(encoder, self._texts, [self._listed[place] for place in drawn], GENERAL)
        return 1.0 - (vectors * self._vectors[drawn].to(vectors.device)).sum(1).mean()


class Training:
    """An encoder, its optimiser and what it is trained on; `run` trains, measures and keeps each epoch."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._device = torch.device(arguments.device)
        self._texts = Texts(arguments.max_tokens)
        self._encoder = published_encoder(arguments.dropout).to(self._device)
        self._pools = {name: load_pool(name) for name in MOST_PER_TOOL}
        self._pairs = {
            name: training_pairs(pool, most_per_tool=MOST_PER_TOOL[name]) for name, pool in self._pools.items()
        }
        self._encoder.eval()
        self._negatives = {
            name: Negatives(pool, tool_vectors(self._encoder, self._texts, pool.tools.values(), GENERAL))
            for name, pool in self._pools.items()
        }
        self._kept = Kept(self._encoder, self._texts, list(self._pools.values()), 8_000)
        tell_tools_apart(self._encoder)
        steps = sum(math.ceil(len(made) / arguments.batch) for made in self._pairs.values()) * arguments.epochs
        warmup = max(1, steps // 15)
        self._optimiser = torch.optim.AdamW(self._encoder.parameters(), lr=arguments.lr, weight_decay=0.01)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimiser,
            lambda step: min((step + 1) / warmup, max(0.02, 0.5 * (1 + math.cos(math.pi * step / steps)))),
        )
        self._state = arguments.output / "state.pt"

    def run(self) -> None:
        """Train the epochs that are left."""
        self._say(pairs={name: len(made) for name, made in self._pairs.items()})
        first = self._resumed()
        if first == 0 and self._arguments.untuned:
            self._report("untuned")
        for epoch in range(first, self._arguments.epochs):
            self._train(epoch)
            self._keep(epoch + 1)
            self._report(f"epoch {epoch + 1}")

    def _train(self, epoch: int) -> None:
        rng = random.Random(f"{self._arguments.seed}/{epoch}")
        self._encoder.eval()
        for name, negatives in self._negatives.items():
            negatives.mine(self._encoder, self._texts, self._pairs[name], is_untuned=epoch == 0)
        plan = [
            (name, batch)
            for name, pairs in self._pairs.items()
            for batch in batches(pairs, self._pools[name], self._arguments.batch, rng)
        ]
        rng.shuffle(plan)
        self._encoder.train()
        losses: list[float] = []
        moved: list[float] = []
        began = time.monotonic()
        for step, (name, batch) in enumerate(plan, 1):
            with torch.autocast(self._device.type, torch.bfloat16):
                loss = loss_of(
                    self._encoder, self._texts, self._negatives[name], batch, rng, scale=self._arguments.scale
                )
                kept = self._kept.loss_of(self._encoder, self._arguments.batch // 2, rng)
            self._optimiser.zero_grad()
            (loss + self._arguments.keep * kept).backward()
            torch.nn.utils.clip_grad_norm_(self._encoder.parameters(), 1.0)
            self._optimiser.step()
            self._schedule.step()
            losses.append(loss.item())
            moved.append(kept.item())
            if step % 5 == 0:
                seconds = round((time.monotonic() - began) / step, 2)
                mean = round(float(np.mean(losses[-5:])), 4)
                apart = round(float(np.mean(moved[-5:])), 5)
                self._say(epoch=epoch, step=step, of=len(plan), loss=mean, moved=apart, seconds_a_step=seconds)

    def _resumed(self) -> int:
        """Load what was kept, and return how many epochs that are."""
        if not self._state.exists():
            return 0
        state = torch.load(self._state, weights_only=True)
        self._encoder.load_state_dict(state["encoder"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._schedule.load_state_dict(state["schedule"])
        return int(state["epoch"])

    def _keep(self, epoch: int) -> None:
        weights = self._encoder.state_dict()
        file = self._arguments.output / f"epoch-{epoch}.safetensors"
        save_file({name: value.detach().cpu().contiguous() for name, value in weights.items()}, file)
        state = {"optimiser": self._optimiser.state_dict(), "schedule": self._schedule.state_dict(), "epoch": epoch}
        torch.save({"encoder": weights, **state}, self._state)

    def _report(self, label: str) -> None:
        """Measure on what is held out, and on the catalogues."""
        self._encoder.eval()
        for name, pool in (self._pools | {name: load_pool(name) for name in UNSEEN}).items():
            queries: Sequence[Query] = pool.queries
            if name not in UNSEEN:
                queries = [query for query in queries if pool.is_held_out(query)]
            figures = evaluate(self._encoder, self._texts, pool, queries)
            self._say(at=label, pool=name, **{key: round(value, 4) for key, value in figures.items()})

    def _say(self, **values: object) -> None:
        line = json.dumps({"time": time.strftime("%H:%M:%S"), **values})
        print(line, flush=True)
        with (self._arguments.output / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="folder of weights and state")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=128, help="requests a step")
    parser.add_argument("--lr", type=float, default=1e-4, help="highest learning rate")
    parser.add_argument("--scale", type=float, default=20.0, help="of the cosines, in the loss")
    parser.add_argument("--keep", type=float, default=30.0, help="weight of what texts of the general type moved")
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--max-tokens", type=int, default=72, help="of a text while training")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--untuned", action="store_true", help="measure the published weights first")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    arguments.output.mkdir(parents=True, exist_ok=True)
    Training(arguments).run()


if __name__ == "__main__":
    main()
