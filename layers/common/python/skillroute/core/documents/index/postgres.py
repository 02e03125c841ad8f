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
from skillroute.core.documents.index import postgres_statements as statements
from skillroute.core.documents.index import schema
from skillroute.core.documents.index.ahead import ByWords, Counted, LookedUp, Nearest, Question
from skillroute.core.documents.index.bm25 import Bm25Encoder, terms_vector
from skillroute.core.documents.index.points import rounded, with_ties
from skillroute.core.documents.index.port import IndexKind
from skillroute.core.documents.index.postgres_statements import Answers, Rows, Statement
from skillroute.core.documents.index.words import Words
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexTimeout, IndexUnavailable
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.database import Database
from skillroute.core.postgres.refusals import TookTooLong

_KNOWN_PAYLOADS = 2_000
"""The most that are remembered: a search reads a few hundred."""

Found = list[tuple[str, float]]
"""Keys and scores, best first."""


class PostgresIndex:
    """A `VectorIndex` that reads mcp.search_points and mcp.search_vectors. Safe to call from several threads.

    It is made for one search, and remembers the payloads that it read until that ends, or until `forget`. They are
    those of the keys, for every caller: what a caller may see is in the filters, which are never left out.

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
        self._answers = Answers()
        self._payloads: dict[tuple[Collection, str], Mapping[str, Any]] = {}
        self.model = model

    def ask_ahead(self, questions: Sequence[Question]) -> None:
        """Get the answers to questions in one statement; each is given to the first that asks."""
        asked = [statement for question in questions if (statement := self._statement(question)) is not None]
        if len(asked) > 1:
            rows = self._send("ask_ahead", questions=statements.together(asked))
            self._answers.put(statements.rows_of_each(asked, rows))

    def forget(self) -> None:
        """Forget answers and payloads."""
        self._answers.put(())
        self._payloads = {}

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
        return self._by_words(collection, self._words(text), where, limit)

    def search_terms(
        self, collection: Collection, weights: Mapping[str, float], *, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        """Return the records that have one of the terms, by the sum of weight times impact, then by key."""
        return self._by_words(collection, self._words(weights), where, limit)

    def match(self, collection: Collection, *, where: IndexFilter, limit: int) -> list[str]:
        """Return the keys of records that pass the filter, in key order, without ranking."""
        asked = _asked(collection, where)
        rows = [] if asked is None else self._run(statements.matching(asked, limit))
        self._remember(collection, {key: payload for key, payload in rows if payload is not None})
        return [key for key, _ in rows]

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return the payloads of the records that exist, by key, in the order of `keys`."""
        wanted = [key for key in dict.fromkeys(keys) if _storable(key)]
        known = self._known(collection, wanted)
        if missing := [key for key in wanted if key not in known]:
            rows = self._run(statements.payloads(collection.value, missing))
            read = {key: payload for key, payload in rows}  # noqa: C416 (rows are lists)
            self._remember(collection, read)
            known |= read
        return {key: known[key] for key in wanted if key in known}

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        """Return how many records pass the filter."""
        asked = _asked(collection, where or IndexFilter())
        return 0 if asked is None else int(self._run(statements.counted(asked))[0][0])

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
        rows = self._run(self._near(asked, vectors, count))
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
            rows = self._run(statements.by_words(asked, words, count))
            return [(key, score) for key, score in rows]

        return _hits(with_ties(fetch, limit, spare=_spare(limit)), limit)

    def _near(self, asked: str, vectors: Sequence[str], count: int) -> Statement:
        return statements.nearest(asked, self.model.name, self.model.dimension, vectors, count)

    def _statement(self, question: Question) -> Statement | None:
        """Return what will be sent first for a question; None where nothing will be."""
        if isinstance(question, LookedUp):
            wanted = [key for key in dict.fromkeys(question.keys) if _storable(key)]
            known = self._known(question.collection, wanted)
            missing = [key for key in wanted if key not in known]
            return statements.payloads(question.collection.value, missing) if missing else None
        asked = _asked(question.collection, question.where)
        if asked is None:
            return None
        if isinstance(question, Nearest):
            return self._near(asked, [_vector_text(vector) for vector in question.vectors], question.limit + 1)
        if isinstance(question, ByWords):
            words = self._words(question.words)
            count = question.limit + 1 + _spare(question.limit)
            return statements.by_words(asked, words, count) if words.places else None
        if isinstance(question, Counted):
            return statements.counted(asked)
        return statements.matching(asked, question.limit)

    def _words(self, words: str | Mapping[str, float]) -> Words:
        return Words.of(self._bm25.query(words) if isinstance(words, str) else terms_vector(words))

    def _known(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        return {key: payload for key in keys if (payload := self._payloads.get((collection, key))) is not None}

    def _remember(self, collection: Collection, payloads: Mapping[str, Mapping[str, Any]]) -> None:
        if len(self._payloads) + len(payloads) <= _KNOWN_PAYLOADS:
            self._payloads.update({(collection, key): payload for key, payload in payloads.items()})

    def _run(self, statement: Statement) -> Rows:
        known = self._answers.take(statement)
        return self._send(statement.name, **statement.params) if known is None else known

    def _send(self, name: str, **params: object) -> Rows:
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


def _spare(limit: int) -> int:
    """Return how many more are asked for at once by words, where ties at the cut are to be expected."""
    return limit // 10


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
