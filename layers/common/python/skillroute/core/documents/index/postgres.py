"""PostgreSQL itself as the index: what is committed is found, without a replica or a feed (docs/adr/0061).

Scores are those of the other engines: cosines of float32, and BM25 with the same words and weights. Ties are broken by
key, as there (`points.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index import schema
from skillroute.core.documents.index.bm25 import Bm25Encoder, terms_vector
from skillroute.core.documents.index.points import rounded, with_ties
from skillroute.core.documents.index.port import IndexKind
from skillroute.core.documents.index.words import Words
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexTimeout, IndexUnavailable
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.database import Database
from skillroute.core.postgres.refusals import TookTooLong

Rows = list[list[Any]]
Found = list[tuple[str, float]]
"""Keys and scores, best first."""


class PostgresIndex:
    """A `VectorIndex` that reads mcp.search_points and mcp.search_vectors. Safe to call from several threads.

    Parameters
    ----------
    database : Database
        Asked once for each call, by its `read`.
    model : EmbeddingModel
        Of the vectors that are searched.

    Every method also raises `DatabaseUnavailable` when PostgreSQL cannot be reached.
    """

    kind: IndexKind = "postgres"

    def __init__(self, database: Database, model: EmbeddingModel) -> None:
        self._database = database
        self._bm25 = Bm25Encoder()
        self._closed = False
        self.model = model

    def search(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        where: IndexFilter,
        limit: int,
        threshold: float | None = None,
    ) -> list[IndexHit]:
        """Return the records nearest by cosine, at least `threshold`, sorted by score descending, then by key."""
        [found] = self._nearest(collection, [vector], where, limit)
        floor = None if threshold is None else rounded(threshold)
        return [hit for hit in found if floor is None or hit.score >= floor]

    def search_each(
        self, collection: Collection, vectors: Sequence[Sequence[float]], *, where: IndexFilter, limit: int
    ) -> list[list[IndexHit]]:
        """Return for each vector what `search` does, all of them in one statement."""
        return self._nearest(collection, vectors, where, limit) if vectors else []

    def search_text(self, collection: Collection, text: str, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        """Return the records that share a word with `text`, by BM25 descending, then by key."""
        return self._by_words(collection, Words.of(self._bm25.query(text)), where, limit)

    def search_terms(
        self, collection: Collection, weights: Mapping[str, float], *, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        """Return the records that have one of the terms, by the sum of weight times impact, then by key."""
        return self._by_words(collection, Words.of(terms_vector(weights)), where, limit)

    def match(self, collection: Collection, *, where: IndexFilter, limit: int) -> list[str]:
        """Return the keys of records that pass the filter, in key order, without ranking."""
        asked = _asked(collection, where)
        rows = [] if asked is None else self._run("match_points", asked=asked, limit=limit)
        return [key for (key,) in rows]

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return the payloads of the records that exist, by key, in the order of `keys`."""
        wanted = [key for key in dict.fromkeys(keys) if _storable(key)]
        rows = self._run("point_payloads", collection=collection.value, keys=wanted) if wanted else []
        stored = {key: payload for key, payload in rows}  # noqa: C416 (rows are lists)
        return {key: stored[key] for key in wanted if key in stored}

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        """Return how many records pass the filter."""
        asked = _asked(collection, where or IndexFilter())
        return 0 if asked is None else int(self._run("count_points", asked=asked)[0][0])

    def close(self) -> None:
        """Answer nothing any more. The connections are the pool's."""
        self._closed = True

    def _nearest(
        self, collection: Collection, vectors: Sequence[Sequence[float]], where: IndexFilter, limit: int
    ) -> list[list[IndexHit]]:
        asked = _asked(collection, where)
        if asked is None:
            return [[] for _ in vectors]
        texts = [_vector_text(vector) for vector in vectors]
        together = self._ask_nearest(asked, texts, limit + 1)

        def fetch(place: int, count: int) -> Found:
            # A tie that reaches over the cut is fetched to its end alone.
            return together[place] if count == limit + 1 else self._ask_nearest(asked, [texts[place]], count)[0]

        return [_hits(with_ties(partial(fetch, place), limit), limit) for place in range(len(vectors))]

    def _ask_nearest(self, asked: str, vectors: Sequence[str], count: int) -> list[Found]:
        rows = self._run(
            "nearest_points",
            asked=asked,
            model=self.model.name,
            dimension=self.model.dimension,
            vectors=list(vectors),
            limit=count,
        )
        found: list[Found] = [[] for _ in vectors]
        for place, key, score in rows:
            found[place - 1].append((key, score))
        for one in found:  # lists give neighbours in about their order
            one.sort(key=lambda hit: -hit[1])
        return found

    def _by_words(self, collection: Collection, words: Words, where: IndexFilter, limit: int) -> list[IndexHit]:
        asked = _asked(collection, where)
        if asked is None or not words.places:
            return []

        def fetch(count: int) -> Found:
            rows = self._run("points_by_words", asked=asked, terms=words.places, weights=words.values, limit=count)
            return [(key, score) for key, score in rows]

        return _hits(with_ties(fetch, limit, spare=limit // 10), limit)

    def _run(self, name: str, **params: object) -> Rows:
        if self._closed:
            raise IndexUnavailable("the index is closed")
        try:
            return self._database.read(lambda session: session.run(name, **params))
        except TookTooLong as error:
            raise IndexTimeout(f"the index in PostgreSQL took too long: {error}") from error
        except StatementRejected as error:
            raise IndexUnavailable(f"the index in PostgreSQL failed: {error}") from error


def _hits(found: Found, limit: int) -> list[IndexHit]:
    best = sorted(found, key=lambda hit: (-hit[1], schema.sort_key(hit[0])))[:limit]
    return [IndexHit(key, score) for key, score in best]


def _vector_text(vector: Sequence[float]) -> str:
    """Write a vector as pgvector reads it; nine digits are all that float32 has."""
    return "[" + ("%.9g," * len(vector))[:-1] % tuple(vector) + "]"


def _asked(collection: Collection, where: IndexFilter) -> str | None:
    """Return a filter as mcp.search_where takes it; None when nothing can pass it."""
    known = {*collection.keyword_fields, *collection.row_fields}
    asked: dict[str, Any] = {"collection": collection.value, "any": [], "none": [], "other": []}

    def require(name: str, values: list[str]) -> None:
        if name == "org_id" and "orgs" not in asked:
            asked["orgs"] = values
        elif name in known:
            asked["any"].append([f"{name}={value}" for value in values])
        else:
            asked["other"].append([name, values, False])

    wanted = [*where.any_of.items(), *((name, [value]) for name, values in where.all_of.items() for value in values)]
    for name, given in wanted:
        values = [value for value in given if _storable(value)]
        if not values:
            return None
        require(name, values)
    for name, given in where.none_of.items():
        values = [value for value in given if _storable(value)]
        if values and name in known:
            asked["none"].append([f"{name}={value}" for value in values])
        elif values:
            asked["other"].append([name, values, True])
    for name, (least, most) in where.between.items():
        if name not in collection.number_fields:
            return None  # a number of that name is in no payload
        asked["created"] = [least, most]
    if not _ask_alternatives(asked, where, known):
        return None
    if where.keys is not None:
        asked["keys"] = [key for key in where.keys if _storable(key)]
        if not asked["keys"]:
            return None
    return json.dumps(asked)


def _ask_alternatives(asked: dict[str, Any], where: IndexFilter, known: set[str]) -> bool:
    """Add alternatives as mcp.search_where takes them; return whether anything can pass them."""
    for name, filters in (("any", where.either), ("none", where.neither)):
        if filters is None or (name == "none" and not filters):
            continue
        each = schema.alternatives(filters, can_be=_storable)
        if name == "any" and all(each):
            if not each:
                return False
            asked["any"].append({"each": _conjunctions(each, known)})
        elif name == "none" and not all(each):
            return False
        elif name == "none" and each:
            asked["none"].append({"each": _conjunctions(each, known)})
    return True


def _conjunctions(each: list[list[tuple[str, list[str]]]], known: set[str]) -> list[list[list[str] | dict[str, Any]]]:
    return [
        [
            [f"{field}={value}" for value in values] if field in known else {"field": field, "values": values}
            for field, values in pairs
        ]
        for pairs in each
    ]


def _storable(value: str) -> bool:
    """Tell whether PostgreSQL could have a text at all; what it could not have equals nothing that is stored."""
    return "\0" not in value and schema.encodable(value)
