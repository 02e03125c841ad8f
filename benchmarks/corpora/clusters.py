"""Made-up skills for sets that have none: k-means over the tools' vectors, named after frequent words.

These are not what a person would make. They show what skills-first search does with coarse, automatic skills.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.schemas import read_item
from skillroute.core.embedding.port import Embedder
from skillroute.core.ranking.k_means import k_means
from skillroute.skills.model import Assignment, NewSkill

_NAME_WORDS = 8
_WORD = re.compile(r"[a-z]{4,}")
_COMMON = frozenset(
    [
        "with",
        "from",
        "this",
        "that",
        "your",
        "have",
        "into",
        "data",
        "about",
        "tool",
        "using",
        "provides",
        "given",
        "specific",
        "information",
        "based",
        "their",
        "various",
        "allows",
        "users",
        "which",
        "other",
        "more",
        "will",
        "retrieve",
    ]
)


def cluster_skills(
    tools: Mapping[str, Mapping[str, Any]], embedder: Embedder, seed: int
) -> tuple[list[NewSkill], dict[str, list[Assignment]]]:
    """Return about sqrt(n) skills and which one each tool belongs to; the same ones for the same seed."""
    texts = [indexed_text(read_item(tool)).embedding_texts[0] for tool in tools.values()]
    vectors = np.array(embedder.embed(texts, timeout_s=600.0))
    labels = k_means(vectors, round(math.sqrt(len(texts))), seed)
    clusters = sorted(set(labels.tolist()))
    spread = Counter(word for text in texts for word in _words(text))
    skills = []
    for cluster in clusters:
        members = [text for text, label in zip(texts, labels, strict=True) if label == cluster]
        frequent = ", ".join(_typical(members, spread, len(texts))) or "anything else"
        skills.append(NewSkill(id=f"cluster_{cluster}", name=frequent[:255], description=f"Tools about {frequent}"))
    ids = list(tools)
    return skills, {id_: [Assignment(f"cluster_{label}", 1.0)] for id_, label in zip(ids, labels, strict=True)}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON


def _typical(members: list[str], spread: Counter[str], total: int) -> list[str]:
    counts = Counter(word for text in members for word in _words(text))
    weights = {word: count * math.log(total / spread[word]) for word, count in counts.items()}
    return sorted(weights, key=lambda word: (-weights[word], word))[:_NAME_WORDS]
