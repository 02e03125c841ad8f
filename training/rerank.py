"""Train the reranker: one command, seeded, resumed behind the last step that was kept.

    PYTHONPATH=layers/common/python python training/first_stage.py
    PYTHONPATH=layers/common/python python training/rerank.py --encoder epoch-1.safetensors --output .training/reranker

For each request and one of its tools, the loss is the cross entropy of that tool among some wrong ones that the first
stage puts among its first 20, and of each alone: the first orders, the second makes a logit mean the same everywhere.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from candidates import MAX_PER_TOOL, Candidates, first_logits, load_candidates
from cross_encoder import KEPT_LAYERS, CrossEncoder
from data import CATALOGUES, Pool, load_pool, training_pairs
from encoder import Texts
from safetensors.torch import save_file
from skillroute.catalogue.text import rerank_text
from torch import Tensor
from torch.nn import functional

REQUEST_TOKENS, CANDIDATE_TOKENS = 96, 36
"""Where texts are cut."""
MEASURED = 250
"""Requests of a set that are measured after an epoch."""

Lists = tuple[str, list[str]]


def texts_of(pool: Pool) -> dict[str, str]:
    """Return what the reranker reads of each tool of a pool, by id."""
    return {id_: rerank_text(tool.name, tool.description, tool.server) for id_, tool in pool.tools.items()}


class Examples:
    """The lists that are trained on: a request, the text of its tool, and texts of wrong ones."""

    def __init__(self, negatives: int) -> None:
        self._negatives = negatives
        self._rows: list[tuple[str, str, str]] = []  # pool, request, tool
        self._texts: dict[str, dict[str, str]] = {}
        self._wrong: dict[tuple[str, str], list[str]] = {}
        for name, most in MAX_PER_TOOL.items():
            pool = load_pool(name)
            self._texts[name] = texts_of(pool)
            wrong = {one.text: [found.id for found in one.found if found.is_wrong] for one in load_candidates(name)}
            for text, id_, _ in training_pairs(pool, most_per_tool=most):
                if len(wrong[text]) >= negatives:
                    self._rows.append((name, text, id_))
                    self._wrong[name, text] = wrong[text]

    def __len__(self) -> int:
        return len(self._rows)

    def batches(self, size: int, rng: random.Random) -> Iterator[list[Lists]]:
        """Yield the lists of an epoch, the right tool of each first; requests of like length come together."""
        rows = rng.sample(self._rows, len(self._rows) // size * size)
        made = []
        for at in range(0, len(rows), 16 * size):
            part = sorted(rows[at : at + 16 * size], key=lambda row: len(row[1]))
            made += [part[first : first + size] for first in range(0, len(part), size)]
        rng.shuffle(made)
        for batch in made:
            yield [self._list(*row, rng) for row in batch]

    def _list(self, name: str, text: str, id_: str, rng: random.Random) -> Lists:
        wrong = self._wrong[name, text]
        # Most from the first few: these stand before the right one, or just behind it.
        near = rng.sample(wrong[:7], min(len(wrong[:7]), math.ceil(self._negatives * 0.6)))
        others = [other for other in wrong if other not in near]
        chosen = [id_, *near, *rng.sample(others, self._negatives - len(near))]
        return text, [self._texts[name][one] for one in chosen]


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return ids int64 and mask bool, [rows, tokens of the longest]."""
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    return ids, torch.arange(width)[None] < torch.tensor([len(row) for row in rows])[:, None]


def logits_of(model: CrossEncoder, requests: Texts, tools: Texts, lists: Sequence[Lists]) -> Tensor:
    """Return logits, float32 [lists, candidates]; all lists are of one length."""
    asked, asked_mask = padded(requests.ids([text for text, _ in lists]))
    found, mask = padded(tools.ids([text for _, texts in lists for text in texts]))
    shape = (len(lists), -1, found.shape[1])
    return model(asked, asked_mask, found.view(shape), mask.view(shape))


def loss_of(logits: Tensor, alone: float) -> Tensor:
    """Return the loss of lists whose first candidate is right; `alone` weighs that of each candidate by itself."""
    right = torch.zeros_like(logits)
    right[:, 0] = 1.0
    in_list = functional.cross_entropy(logits, right.argmax(1))
    return in_list + alone * functional.binary_cross_entropy_with_logits(logits, right)


class Training:
    """A model, its optimiser and what it is trained on."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._requests, self._tools = Texts(REQUEST_TOKENS), Texts(CANDIDATE_TOKENS)
        self._examples = Examples(arguments.negatives)
        self._model = CrossEncoder.of_encoder(arguments.encoder, arguments.layers, arguments.dropout)
        of_head = [*self._model.head.parameters(), *self._model.score.parameters()]
        heads = {id(parameter) for parameter in of_head}
        others = [one for one in self._model.parameters() if one.requires_grad and id(one) not in heads]
        self._optimiser = torch.optim.AdamW(
            [{"params": others, "lr": arguments.lr}, {"params": of_head, "lr": 5 * arguments.lr}], weight_decay=0.01
        )
        steps = arguments.epochs * (len(self._examples) // arguments.batch)
        self._steps = arguments.steps or steps
        warmup = max(1, self._steps // 16)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimiser,
            lambda step: min((step + 1) / warmup, max(0.02, (self._steps - step) / (self._steps - warmup))),
        )
        self._state = arguments.output / "state.pt"

    def run(self) -> None:
        """Train the steps that are left."""
        step = self._resumed()
        self._say(lists=len(self._examples), steps=self._steps, resumed=step)
        per_epoch = len(self._examples) // self._arguments.batch
        began, losses, done = time.monotonic(), [], 0
        for epoch in range(step // per_epoch, math.ceil(self._steps / per_epoch)):
            rng = random.Random(f"{self._arguments.seed}/{epoch}")
            for number, lists in enumerate(self._examples.batches(self._arguments.batch, rng), epoch * per_epoch):
                if number < step or number >= self._steps:
                    continue
                losses.append(self._train(lists))
                step, done = number + 1, done + 1
                if step % 20 == 0:
                    pace = round((time.monotonic() - began) / done, 3)
                    self._say(step=step, of=self._steps, loss=round(float(np.mean(losses[-20:])), 4), seconds=pace)
                if step % self._arguments.keep_every == 0:
                    self._keep(step)
            self._keep(step)
            if not self._arguments.trial:
                self.report()

    def _train(self, lists: Sequence[Lists]) -> float:
        self._model.train()
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(logits_of(self._model, self._requests, self._tools, lists), self._arguments.alone)
        self._optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimiser.step()
        self._schedule.step()
        return loss.item()

    def _resumed(self) -> int:
        """Load what was kept, and return how many steps that are."""
        if not self._state.exists():
            return 0
        state = torch.load(self._state, weights_only=True)
        self._model.load_state_dict(state["model"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._schedule.load_state_dict(state["schedule"])
        return int(state["step"])

    def _keep(self, step: int) -> None:
        weights = {name: value.detach().contiguous() for name, value in self._model.state_dict().items()}
        save_file(weights, self._arguments.output / "reranker.safetensors")
        state = {"optimiser": self._optimiser.state_dict(), "schedule": self._schedule.state_dict(), "step": step}
        torch.save({"model": weights, **state}, self._state.with_suffix(".part"))
        self._state.with_suffix(".part").rename(self._state)

    @torch.no_grad()
    def report(self) -> None:
        """Measure what is held out, and the catalogues: the first stage, the model alone, and the sum of both."""
        self._model.eval()
        for name in (*MAX_PER_TOOL, *CATALOGUES):
            texts = texts_of(load_pool(name))
            asked = [one for one in load_candidates(name) if one.is_held_out or name in CATALOGUES]
            asked = random.Random(7).sample(asked, min(MEASURED, len(asked)))
            first, alone = [], []
            for one in asked:
                with torch.autocast("cpu", torch.bfloat16):
                    row = (one.text, [texts[found.id] for found in one.found])
                    alone.append(logits_of(self._model, self._requests, self._tools, [row])[0].numpy())
                first.append(first_logits(one))
            both = [a + b for a, b in zip(first, alone, strict=True)]
            rows = {"first": first, "alone": alone, "sum": both}
            self._say(
                pool=name, requests=len(asked), **{label: recalls(asked, scores) for label, scores in rows.items()}
            )

    def _say(self, **values: object) -> None:
        line = json.dumps({"time": time.strftime("%H:%M:%S"), **values})
        print(line, flush=True)
        with (self._arguments.output / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def recalls(asked: Sequence[Candidates], scores: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return recall@1 and recall@5: the mean share of needs that the first serve, when ordered by scores."""
    at: dict[int, list[float]] = {1: [], 5: []}
    for one, own in zip(asked, scores, strict=True):
        needs = [one.found[place].need for place in np.argsort(-own, kind="stable")]
        for k, shares in at.items():
            shares.append(len({need for need in needs[:k] if need >= 0}) / len(one.needs))
    return round(float(np.mean(at[1])), 4), round(float(np.mean(at[5])), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="safetensors that train.py made")
    parser.add_argument("--output", type=Path, required=True, help="folder of weights and state")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="fewer or more than these epochs have")
    parser.add_argument("--batch", type=int, default=32, help="lists a step")
    parser.add_argument("--negatives", type=int, default=4, help="wrong tools of a list")
    parser.add_argument("--layers", type=int, nargs="+", default=KEPT_LAYERS, help="of the encoder's six")
    parser.add_argument("--lr", type=float, default=1.5e-4, help="highest learning rate; the head's is five times that")
    parser.add_argument("--alone", type=float, default=0.5, help="weight of each candidate's own loss")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--keep-every", type=int, default=100, help="steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trial", action="store_true", help="do not measure")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    arguments.output.mkdir(parents=True, exist_ok=True)
    Training(arguments).run()


if __name__ == "__main__":
    main()
