"""Tune the encoder for requests against tools: one command, seeded, for a bounded time, resumed where it was kept.

    PYTHONPATH=layers/common/python python training/train.py --output .training/encoder --minutes 40

It starts from a packaged model, read back from its int8 graph, or from the published weights. The loss is the cross
entropy of each request's tool among all tools of its batch and others that the model it starts from takes for right. A
tool's vector is the mean of its three views, as in the index. Tools that may be right as well are left out of the
negatives: `Negatives` says which.

Texts of tools and requests have a token type of their own. Beside them, in every batch, texts of the general type are
held to the vectors that the published weights give them: what is not about tools is found as before.

The learning rate follows the time that is gone, so that it ends at nothing when the time does, however busy the machine
is. Beside the tuned weights averages of them and those of the start are written: candidates for `measure.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from data import ROOT, Pool, Tool, load_pool, training_pairs
from encoder import (
    GENERAL,
    TOOLS,
    Encoder,
    Texts,
    averaged,
    embed,
    packaged_encoder,
    published_encoder,
    tell_tools_apart,
    text_vectors,
)
from safetensors.torch import save_file
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.views import VIEW_WEIGHTS, embed_views

MODELS = ROOT / "layers/inference/models"
PUBLISHED = "all-minilm-l6-v2"
JUDGED = {"tool-requests": 12, "metatool": 20, "bfcl": 4, "sealtools": 4}
"""Sets that are trained on, and how many requests of a tool."""
SERVERS = {"mcp-requests": 2}
"""Tools of real MCP servers: an everyday request and a situation each."""
PUBLIC = {
    "more/assistant-clinc150": 15,
    "more/assistant-hwu64": 15,
    "more/assistant-thingpedia": 12,
    "more/support-banking77": 12,
    "more/acebench": 2,
    "more/agent-benchmarks": 4,
    "more/cli-microsoft365": 2,
    "more/dbatools": 2,
}
"""Public requests: what people say to assistants, and sentences of documentation."""
SHARES: tuple[tuple[Mapping[str, int], float], ...] = ((JUDGED, 0.5), (SERVERS, 0.38), (PUBLIC, 0.12))
"""Of the batches, how many are of which sets; within them a set has as many as it has pairs."""
NEEDS_EVERY = 4
"""Of how many tools of real servers one has its stated need among the pairs: needs lie near the descriptions."""
ALIKE = 0.88
"""Tools whose untuned vectors are at least this near are right answers to each other's requests too often."""
ALIKE_ELSEWHERE = 0.75
"""The same among real servers, where dozens search the web, for tools of another server."""

Pair = tuple[str, str, frozenset[str]]
Matrix = npt.NDArray[np.float32]


def deed(tool: Tool) -> frozenset[str]:
    """Return a tool's verb and object: the words of its name without those of its server's."""
    words = _words(tool.name)
    return frozenset(words - _words(tool.server) or words)


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def vectors_of(tools: Iterable[Tool], embedder: OnnxEmbedder) -> Matrix:
    """Return the vectors of tools, of length 1, as the index has them."""
    return np.array(embed_views(embedder, [tool.views for tool in tools], timeout_s=3600), np.float32)


class Negatives:
    """Which tools of a pool are wrong for a request, and which of the wrong ones a model takes for right.

    Of real servers' tools those of the same server are wrong unless they are named as right: they were in view when the
    request was written. Those of other servers were not, and may be right where they are alike or do the same deed.
    """

    def __init__(self, pool: Pool, untuned: Matrix) -> None:
        self.pool = pool
        self.ids = list(pool.tools)
        self.untuned = untuned
        self.hard: dict[str, list[str]] = {}
        self._place = {id_: index for index, id_ in enumerate(self.ids)}
        self._is_by_server = pool.name in SERVERS
        self._deeds = {id_: deed(tool) for id_, tool in pool.tools.items()} if self._is_by_server else {}

    def may_be_right(self, id_: str, relevant: frozenset[str]) -> bool:
        """Return whether a tool is one of the right ones, or so near to one that it may be right as well."""
        if id_ in relevant:
            return True
        if not self._is_by_server:
            return self._nearest(id_, relevant) >= ALIKE
        server = self.pool.tools[id_].group
        others = [right for right in relevant if self.pool.tools[right].group != server]
        if len(others) < len(relevant):  # a sibling of a right one was in view
            return False
        return any(self._deeds[right] == self._deeds[id_] for right in others) or (
            self._nearest(id_, others) >= ALIKE_ELSEWHERE
        )

    def _nearest(self, id_: str, rights: Iterable[str]) -> float:
        near = self.untuned[[self._place[right] for right in rights]] @ self.untuned[self._place[id_]]
        return float(near.max())

    def mine(self, embedder: OnnxEmbedder, pairs: Sequence[Pair], *, most: int = 16) -> None:
        """Find for each request the wrong tools that a model puts first."""
        vectors = vectors_of(self.pool.tools.values(), embedder)
        relevant = {text: rights for text, _, rights in pairs}
        asked = list(relevant)
        queries = np.array(embedder.embed(asked, timeout_s=3600), np.float32)
        first = min(40, len(self.ids) - 1)
        for at in range(0, len(asked), 2048):
            part = asked[at : at + 2048]
            scores = queries[at : at + 2048] @ vectors.T
            best = np.argpartition(-scores, first, axis=1)[:, :first]
            for row, (text, candidates) in enumerate(zip(part, best, strict=True)):
                ordered = candidates[np.argsort(-scores[row, candidates], kind="stable")]
                wrong = (self.ids[place] for place in ordered if not self.may_be_right(self.ids[place], relevant[text]))
                self.hard[text] = list(islice(wrong, most))


def pairs_of(pool: Pool, most: int) -> list[Pair]:
    """Return the pairs of a pool that are trained on."""
    if pool.name not in SERVERS:
        return training_pairs(pool, most_per_tool=most)
    needs = training_pairs(pool, most_per_tool=1, kinds=["need"])
    return training_pairs(pool, most_per_tool=most, kinds=["everyday", "situation"]) + needs[::NEEDS_EVERY]


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


def endless(pairs: Sequence[Pair], pool: Pool, size: int, rng: random.Random) -> Iterator[list[Pair]]:
    """Return batches of a pool, over and over, drawn anew each time."""
    if len(pairs) <= size // 2:
        raise ValueError(f"{pool.name} has {len(pairs)} pairs, too few for a batch of {size}")
    while True:
        yield from batches(pairs, pool, size, rng)


def shown(tools: Iterable[Tool], most: int, rng: random.Random) -> list[list[tuple[float, str]]]:
    """Return the views of tools that a batch shows, each with its weight: all three, or one drawn by the weights."""
    weighed = [list(zip(VIEW_WEIGHTS, tool.views, strict=True)) for tool in tools]
    if most >= len(VIEW_WEIGHTS):
        return weighed
    return [rng.choices(views, weights=VIEW_WEIGHTS) for views in weighed]


def loss_of(
    encoder: Encoder,
    texts: Texts,
    negatives: Negatives,
    batch: Sequence[Pair],
    rng: random.Random,
    *,
    scale: float,
    views: int,
) -> torch.Tensor:
    """Return the loss of a batch, with a mined tool for every second request: those of the others count for all."""
    hard = negatives.hard
    mined = [rng.choice(hard[text]) for text, _, _ in batch[rng.randrange(2) :: 2] if hard.get(text)]
    tools = list(dict.fromkeys([id_ for _, id_, _ in batch] + mined))
    of_tools = shown([negatives.pool.tools[id_] for id_ in tools], views, rng)
    listed = [text for text, _, _ in batch] + [text for view in of_tools for _, text in view]
    distinct = list(dict.fromkeys(listed))
    place = {text: index for index, text in enumerate(distinct)}
    vectors = embed(encoder, texts, distinct, TOOLS)
    asked = vectors[[place[text] for text, _, _ in batch]]
    total = sum(column[0][0] * vectors[[place[text] for _, text in column]] for column in zip(*of_tools, strict=True))
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
        self._vectors = text_vectors(encoder, texts, self._listed, GENERAL)

    def loss_of(self, encoder: Encoder, size: int, rng: random.Random) -> torch.Tensor:
        """Return the mean of one minus the cosine to the published vectors, over `size` texts drawn from all."""
        drawn = rng.sample(range(len(self._listed)), size)
        vectors = embed(encoder, self._texts, [self._listed[place] for place in drawn], GENERAL)
        return 1.0 - (vectors * self._vectors[drawn].to(vectors.device)).sum(1).mean()


class Training:
    """An encoder, its optimiser and what it is trained on; `run` trains for its time and keeps the weights."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._device = torch.device(arguments.device)
        self._texts = Texts(arguments.max_tokens)
        published = published_encoder().to(self._device).eval()
        self._encoder = starting_encoder(arguments.start, arguments.dropout).to(self._device)
        self._start = {name: value.detach().clone() for name, value in self._encoder.state_dict().items()}
        self._pools = {name: load_pool(name) for part, _ in SHARES for name in part}
        self._pairs = {name: pairs_of(self._pools[name], most) for part, _ in SHARES for name, most in part.items()}
        self._say(pairs={name: len(made) for name, made in self._pairs.items()})
        self._negatives = self._mined(arguments.start)
        self._kept = Kept(published, self._texts, list(self._pools.values()), arguments.kept)
        self._optimiser = torch.optim.AdamW(self._encoder.parameters(), lr=arguments.lr, weight_decay=0.01)
        self._state = arguments.output / "state.pt"
        self._steps, self._spent_s = 0, 0.0

    def _mined(self, start: str) -> dict[str, Negatives]:
        """Return the negatives of each pool, those that the model of the start takes for right among them.

        They are kept in a file of each pool, as they take ten minutes: a run that goes on has them.
        """
        untuned, first = OnnxEmbedder(MODELS / PUBLISHED), OnnxEmbedder(MODELS / start)
        made = {}
        for name, pool in self._pools.items():
            views = [tool.views for tool in pool.tools.values()]
            digest = hashlib.sha256(json.dumps([start, views, [text for text, *_ in self._pairs[name]]]).encode())
            file = self._arguments.output / f"mined-{name.replace('/', '-')}-{digest.hexdigest()[:12]}.pt"
            if file.exists():
                stored = torch.load(file, weights_only=True)
                made[name] = Negatives(pool, stored["untuned"].numpy())
                made[name].hard = stored["hard"]
                continue
            made[name] = Negatives(pool, vectors_of(pool.tools.values(), untuned))
            made[name].mine(first, self._pairs[name])
            torch.save({"untuned": torch.from_numpy(made[name].untuned), "hard": made[name].hard}, file)
            self._say(mined=name, requests=len(made[name].hard))
        return made

    def run(self) -> None:
        """Train until the time or the steps are over, and write the weights and their averages."""
        self._resume()
        rng = random.Random(f"{self._arguments.seed}/{self._steps}")
        self._encoder.train()
        began = time.monotonic() - self._spent_s
        losses: list[tuple[float, float]] = []
        for name, batch in self._drawn(rng):
            self._spent_s = time.monotonic() - began
            gone = self._gone()
            if gone >= 1.0:
                break
            losses.append(self._step(name, batch, rng, rate_at(gone)))
            self._steps += 1
            if self._steps % 5 == 0:
                loss, moved = (round(float(mean), 5) for mean in np.mean(losses[-5:], axis=0))
                self._say(step=self._steps, gone=round(gone, 3), loss=loss, moved=moved)
            if self._steps % self._arguments.keep_every == 0:
                self._keep_state()
        self._keep_state()
        self._write()

    def _gone(self) -> float:
        """Return the share of the training that is behind: of the steps where they are given, else of the time."""
        if self._arguments.steps:
            return self._steps / float(self._arguments.steps)
        return self._spent_s / 60 / float(self._arguments.minutes)

    def _drawn(self, rng: random.Random) -> Iterator[tuple[str, list[Pair]]]:
        """Return pools and batches of them without end, as often as `SHARES` says."""
        size = self._arguments.batch
        made = {name: endless(pairs, self._pools[name], size, rng) for name, pairs in self._pairs.items()}
        while True:
            [part] = rng.choices([list(part) for part, _ in SHARES], weights=[share for _, share in SHARES])
            [name] = rng.choices(part, weights=[len(self._pairs[name]) for name in part])
            yield name, next(made[name])

    def _step(self, name: str, batch: Sequence[Pair], rng: random.Random, rate: float) -> tuple[float, float]:
        """Learn from a batch; return its loss, and how far the texts of the general type have moved."""
        arguments = self._arguments
        for group in self._optimiser.param_groups:
            group["lr"] = arguments.lr * rate
        with torch.autocast(self._device.type, torch.bfloat16):
            loss = loss_of(
                self._encoder,
                self._texts,
                self._negatives[name],
                batch,
                rng,
                scale=arguments.scale,
                views=arguments.views,
            )
            moved = self._kept.loss_of(self._encoder, arguments.batch // 3, rng)
        self._optimiser.zero_grad()
        (loss + arguments.keep * moved).backward()
        torch.nn.utils.clip_grad_norm_(self._encoder.parameters(), 1.0)
        self._optimiser.step()
        return loss.item(), moved.item()

    def _resume(self) -> None:
        """Go on where a state was kept; batches are drawn anew from there."""
        if not self._state.exists():
            return
        state = torch.load(self._state, weights_only=True)
        self._encoder.load_state_dict(state["encoder"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._steps, self._spent_s = int(state["steps"]), float(state["spent_s"])

    def _keep_state(self) -> None:
        """Write the state whole or not at all: a run may be stopped at any time."""
        state = {"encoder": self._encoder.state_dict(), "optimiser": self._optimiser.state_dict()}
        new = self._state.with_suffix(".new")
        torch.save({**state, "steps": self._steps, "spent_s": self._spent_s}, new)
        new.replace(self._state)

    def _write(self) -> None:
        """Write the tuned weights, and those between them and the start's."""
        tuned = {name: value.detach() for name, value in self._encoder.state_dict().items()}
        for share in self._arguments.shares:
            made = averaged(self._start, tuned, share)
            file = self._arguments.output / f"share-{share:g}.safetensors"
            save_file({name: value.cpu().contiguous() for name, value in made.items()}, file)
        self._say(written=list(self._arguments.shares), steps=self._steps, minutes=round(self._spent_s / 60, 1))

    def _say(self, **values: object) -> None:
        line = json.dumps({"time": time.strftime("%H:%M:%S"), **values})
        print(line, flush=True)
        with (self._arguments.output / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def starting_encoder(start: str, dropout: float) -> Encoder:
    """Return the encoder of a packaged model; the published one with its types moved apart."""
    if start != PUBLISHED:
        return packaged_encoder(MODELS / start, dropout)
    encoder = published_encoder(dropout)
    tell_tools_apart(encoder)
    return encoder


def rate_at(gone: float) -> float:
    """Return the share of the highest learning rate: it rises for a fifteenth of the training, then falls to 2 %."""
    return min(0.02 + gone * 15, max(0.02, 0.5 * (1 + math.cos(math.pi * gone))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="folder of weights and state")
    parser.add_argument("--start", default="tool-minilm-l6", help=f"a packaged model; {PUBLISHED} for the published")
    parser.add_argument("--minutes", type=float, default=40.0, help="of training, behind the mining of negatives")
    parser.add_argument("--steps", type=int, help="instead of minutes: the same on every machine")
    parser.add_argument("--batch", type=int, default=64, help="requests a step")
    parser.add_argument("--views", type=int, choices=(1, 3), default=1, help="of a tool, that a batch shows: one drawn")
    parser.add_argument("--kept", type=int, default=3_000, help="texts of the general type that are held")
    parser.add_argument("--lr", type=float, default=4e-5, help="highest learning rate")
    parser.add_argument("--scale", type=float, default=20.0, help="of the cosines, in the loss")
    parser.add_argument("--keep", type=float, default=30.0, help="weight of what texts of the general type moved")
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--max-tokens", type=int, default=64, help="of a text while training")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.3, 0.5, 0.7, 1.0], help="of the tuned weights")
    parser.add_argument("--keep-every", type=int, default=50, help="steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    arguments.output.mkdir(parents=True, exist_ok=True)
    Training(arguments).run()


if __name__ == "__main__":
    main()
