"""Judged requests with what the first stage puts first for them: what `first_stage.py` writes and a reranker reads."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from data import ROOT

Array = npt.NDArray[np.float64]

MAX_PER_TOOL = {"tool-requests": 12, "metatool": 20, "bfcl": 4, "sealtools": 4}
"""The sets that are trained on, and how many requests of a tool: as in train.py."""
CACHE = ROOT / ".bench" / "rerank"
FIRST = 20
"""How many candidates are reranked."""


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate: its tool, the probability of learned fusion, and the need that it serves, -1 for none.

    `is_wrong` is False as well for what may be right though nobody judged it so: its near-duplicates are.
    """

    id: str
    probability: float
    need: int
    is_wrong: bool


@dataclass(frozen=True, slots=True)
class Candidates:
    """A request with the first of what is found for it, the best first."""

    text: str
    kind: str
    needs: tuple[tuple[str, ...], ...]
    is_held_out: bool
    found: tuple[Found, ...]


def first_logits(candidates: Candidates) -> Array:
    """Return the logits of the first stage's probabilities, float [candidates]."""
    chances = np.clip([found.probability for found in candidates.found], 1e-6, 1 - 1e-6)
    return np.asarray(np.log(chances / (1 - chances)))


def load_candidates(name: str) -> list[Candidates]:
    """Read what `main` wrote of a pool."""
    made = []
    for line in (CACHE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        needs = tuple(tuple(need) for need in raw["needs"])
        found = tuple(Found(**one) for one in raw["found"])
        made.append(Candidates(raw["text"], raw["kind"], needs, raw["is_held_out"], found))
    return made
