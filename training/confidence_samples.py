"""Requests with and without the tools that serve them: what confidence is fitted on, and what measures it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from data import Pool, Query, held_out, load_catalogues, load_pool, load_unserved
from evidence import Array, Collected, Judged, LeftOut, vectors_of
from fusion import FITTED, drawn
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.ranking.learned_fusion import coverage, fusion_for
from skillroute.search.ranking.actions import does_something_else
from skillroute.search.ranking.confidence import FIRST_RESULTS, Standing, ahead_of_ten, features
from unservable import VENDORS, held_out_pool, taken, vendor_pool

ALIKE = 0.85
"""The cosine of two tools from which one may serve what the other serves."""
UNLIKE = 0.6
"""The cosine to a tool below which no tool of a catalogue serves what that one serves."""
HALVES, OF_HALF = 3, 600
"""Small catalogues, and the most requests of each kind that are asked of one."""
OF_SET = 400
"""Requests of each judged set that it is measured on."""
SERVED = "both catalogues"
HELD_OUT, OF_HELD_OUT = "held-out servers", 1500
"""The tools of the held-out servers of tool-requests, and the requests for them that are asked with and without."""
OF_RECIPE = 600
"""Requests that measure what the recipe takes away, of all of tool-requests and of each vendor."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Some requests: their features, whether the first result is right, and whether one of the first five is.

    Attributes
    ----------
    features : float [requests, features]
    first, five : bool [requests]
    """

    features: Array
    first: Array
    five: Array


def without_right(pool: Pool, embedder: OnnxEmbedder) -> LeftOut:
    """Return what leaves out the tools that serve a request, and those like them."""
    tools = list(pool.tools.values())
    place = {tool.id: number for number, tool in enumerate(tools)}

    @cache
    def vectors() -> Array:  # not needed where the evidence is kept
        return vectors_of(tools, embedder).astype(np.float64)

    def left_out(query: Query) -> set[int]:
        right = [place[id_] for id_ in query.relevant]
        return {*right, *np.flatnonzero((vectors() @ vectors()[right].T).max(axis=1) > ALIKE).tolist()}

    return left_out


def half_of(pool: Pool, number: int) -> Pool:
    """Return a pool of half of the held-out groups, by a hash, with the requests that need nothing else."""
    kept = {
        tool.id: tool
        for tool in pool.tools.values()
        if held_out(pool.name, tool.group) and hashlib.sha256(f"{number}/{tool.group}".encode()).digest()[0] % 2 == 0
    }
    return Pool(pool.name, kept, [query for query in pool.queries if query.relevant <= kept.keys()])


def foreign_to(half: Pool, pool: Pool, embedder: OnnxEmbedder) -> list[Query]:
    """Return the held-out requests of a pool that a half of it has nothing for, as requests without a right tool."""
    others = [query for query in pool.queries if pool.is_held_out(query) and query.relevant.isdisjoint(half.tools)]
    asked = sorted({id_ for query in others for id_ in query.relevant})
    cosines = (
        vectors_of([pool.tools[id_] for id_ in asked], embedder) @ vectors_of(list(half.tools.values()), embedder).T
    )
    nearest = dict(zip(asked, cosines.max(axis=1).tolist(), strict=True))
    return [
        Query(query.text, "foreign", ()) for query in others if max(nearest[id_] for id_ in query.relevant) < UNLIKE
    ]


def sample_of(judged: Judged, model: str, pool: Pool, queries: Sequence[Query]) -> Sample:
    """Return what the search would know of each request; the first result is a tool that is named, if there is one."""
    fusion = fusion_for("skillroute.search.ranking", model)
    tools = list(pool.tools.values())
    rows, of_first, of_five = [], [], []
    for number, (start, end) in enumerate(judged.bounds()):
        request = judged.request(number)
        evidence = judged.evidence(start, end)
        chances = np.array(fusion.probabilities(request, evidence))
        order = np.argsort(-chances - judged.is_named[start:end], kind="stable")
        right = judged.need[start:end][order] >= 0
        highest = max(0.0, float(judged.cosine[start:end].max(initial=0.0)))
        found = coverage(request, [evidence[place] for place in np.argsort(-chances, kind="stable")[:FIRST_RESULTS]])
        first = tools[int(judged.place[start + order[0]])] if len(order) else None
        other = first is not None and does_something_else(queries[number].text, first.name, first.description)
        likely = float(chances[order[0]]) if len(order) else 0.0
        ahead = ahead_of_ten(chances.tolist())
        rows.append(
            features(Standing(likely, highest, request.words, ahead=ahead, words_found=found, other_action=other))
        )
        of_first.append(bool(right[:1].any()))
        of_five.append(bool(right[:FIRST_RESULTS].any()))
    return Sample(np.array(rows), np.array(of_first), np.array(of_five))


@dataclass(frozen=True, slots=True)
class Samples:
    """What is fitted on, by small catalogue, and what measures it.

    Attributes
    ----------
    served : mapping
        Of each small catalogue, its requests as they are.
    unserved : mapping
        Of each, its requests without the tools that serve them, and those for what it lacks.
    measured : mapping
        Among both catalogues: the requests for them (`SERVED`) and those that nothing serves (near, far).
    judged : mapping
        The held-out requests of each judged set, among all of its tools.
    taken_away : mapping
        Measured as well: of other catalogues, requests as they are and without the tools that serve them.
    """

    served: Mapping[str, Sample]
    unserved: Mapping[str, Sequence[Sample]]
    measured: Mapping[str, Sample]
    judged: Mapping[str, Sample]
    taken_away: Mapping[str, tuple[Sample, Sample]]


def samples_of(collected: Collected) -> Samples:
    """Return all samples; half a minute for each that is not kept yet."""
    embedder = collected.embedder

    def sample(name: str, pool: Pool, queries: Sequence[Query], left_out: LeftOut | None = None) -> Sample:
        return sample_of(collected(name, pool, queries, left_out), embedder.model.name, pool, queries)

    both, nothing = load_catalogues(), load_unserved()
    measured = {SERVED: sample(SERVED, both, both.queries)}
    for kind in ("near", "far"):
        measured[kind] = sample(kind, both, [query for query in nothing if query.kind == kind])
    judged: dict[str, Sample] = {}
    for name, most in FITTED.items():
        pool = load_pool(name)
        judged[name] = sample(name, pool, [query for query in drawn(pool, most) if pool.is_held_out(query)][:OF_SET])
    served: dict[str, Sample] = {}
    unserved: dict[str, list[Sample]] = {}
    pool = load_pool("tool-requests")
    for number in range(HALVES):
        half, name = half_of(pool, number), f"half-{number}"
        rng = random.Random(number)
        queries = rng.sample(half.queries, min(OF_HALF, len(half.queries)))
        foreign = foreign_to(half, pool, embedder)
        served[name] = sample(name, half, queries)
        unserved[name] = [
            sample(f"{name}-without-tools", half, queries, without_right(half, embedder)),
            sample(f"{name}-foreign", half, rng.sample(foreign, min(OF_HALF, len(foreign)))),
        ]

    def both_ways(name: str, pool: Pool, most: int) -> tuple[Sample, Sample]:
        asked = taken(pool, most)
        return (
            sample(name, asked.pool, asked.served),
            sample(f"{name}-recipe", asked.pool, asked.unserved, asked.left_out),
        )

    owned = held_out_pool()
    served[HELD_OUT], lacking = both_ways("held-out", owned, OF_HELD_OUT)
    unserved[HELD_OUT] = [lacking]
    taken_away = {"tool-requests": both_ways("among-all", Pool(owned.name, pool.tools, owned.queries), OF_RECIPE)}
    for name in VENDORS:
        taken_away[name] = both_ways(name, vendor_pool(name), OF_RECIPE)
    for name in ("metatool", "bfcl"):
        pool = load_pool(name)
        queries = [query for query in drawn(pool, FITTED[name]) if pool.is_held_out(query)][:OF_SET]
        without = sample(f"{name}-without-tools", pool, queries, without_right(pool, embedder))
        taken_away[name] = (judged[name], without)
    return Samples(served, unserved, measured, judged, taken_away)
