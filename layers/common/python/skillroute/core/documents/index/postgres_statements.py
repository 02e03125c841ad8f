"""The statements of a search in PostgreSQL as values: sent one by one, or several ahead in one round trip."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.core.documents.index.words import Words

Rows = list[list[Any]]

_MATCHED_WITH_PAYLOADS = 1_000
"""The most of which `match` reads the payloads as well: who looks for so few looks those up next."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and its parameters, which can be looked up; `asked` is its filter as JSON, where it has one."""

    name: str
    asked: str | None
    others: tuple[tuple[str, Any], ...]

    @property
    def params(self) -> dict[str, Any]:
        """Return all parameters as the statement takes them."""
        lists = {name: list(value) if isinstance(value, tuple) else value for name, value in self.others}
        return lists if self.asked is None else {"asked": self.asked, **lists}


def nearest(asked: str, model: str, dimension: int, vectors: Sequence[str], count: int) -> Statement:
    """Return the statement that finds the nearest of each vector."""
    others = (("model", model), ("dimension", dimension), ("vectors", tuple(vectors)), ("limit", count))
    return Statement("nearest_points", asked, others)


def by_words(asked: str, words: Words, count: int) -> Statement:
    """Return the statement that finds what has a word."""
    others = (("terms", tuple(words.places)), ("weights", tuple(words.values)), ("limit", count))
    return Statement("points_by_words", asked, others)


def matching(asked: str, limit: int) -> Statement:
    """Return the statement that finds what passes, with the payloads of a few."""
    return Statement("match_points", asked, (("limit", limit), ("with_payloads", limit <= _MATCHED_WITH_PAYLOADS)))


def counted(asked: str) -> Statement:
    """Return the statement that counts what passes."""
    return Statement("count_points", asked, ())


def payloads(collection: str, keys: Sequence[str]) -> Statement:
    """Return the statement that looks payloads up."""
    return Statement("point_payloads", None, (("collection", collection), ("keys", tuple(keys))))


def together(statements: Iterable[Statement]) -> str:
    """Return statements as `ask_ahead` takes them."""
    return "[" + ",".join(map(_in_json, statements)) + "]"


def rows_of_each(statements: Sequence[Statement], rows: Rows) -> list[tuple[Statement, Rows]]:
    """Return the rows of `ask_ahead` as those of each statement."""
    answers: list[tuple[Statement, Rows]] = [(statement, []) for statement in statements]
    for place, of_vector, key, score, payload in rows:
        statement, own = answers[place - 1]
        if statement.name == "nearest_points":
            own.append([of_vector, key, score])
        elif statement.name == "points_by_words":
            own.append([key, score])
        else:
            own.append([int(score)] if statement.name == "count_points" else [key, payload])
    return answers


class Answers:
    """Rows that were got ahead. Each is given once: who asks again gets what is there by then. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[Statement, Rows] = {}

    def put(self, answers: Iterable[tuple[Statement, Rows]]) -> None:
        """Keep these, and forget those that were not taken."""
        fresh = dict(answers)
        with self._lock:
            self._rows = fresh

    def take(self, statement: Statement) -> Rows | None:
        """Return the rows of a statement and forget them; None where they were not got."""
        with self._lock:
            return self._rows.pop(statement, None)


def _in_json(statement: Statement) -> str:
    others = dict(statement.others)
    for name in ("vectors", "terms", "weights"):
        if name in others:
            others[name] = _literal(others[name])
    # The filter is JSON already.
    return f'{json.dumps({"name": statement.name, **others})[:-1]}, "asked": {statement.asked or "null"}}}'


def _literal(values: tuple[Any, ...]) -> str:
    """Return numbers, or vectors as text, as PostgreSQL reads an array."""
    return "{" + ",".join(f'"{value}"' if isinstance(value, str) else repr(value) for value in values) + "}"
