"""Values of the tools' arguments: what is accepted, and the errors of anything else (message-search, 7).

Each function takes what came over the wire and raises `ValueError` with what is allowed instead.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import TypeVar, get_args

from skillroute.mail.model import IMPORTANCES, Importance, to_ts
from skillroute.mail.search.model import MAX_LIMIT, MAX_TEXT, Mode, Ranking
from skillroute.mail.text import folded, storable

T = TypeVar("T", bound=str)

DEFAULT_LIMIT = 20
MAX_OFFSET = 1_000_000_000
"""With a limit beside it still a number that PostgreSQL can count to."""

MAX_NAME = 256
RANKINGS: tuple[Ranking, ...] = get_args(Ranking)
MODES: tuple[Mode, ...] = get_args(Mode)

_DAY_US = 86_400_000_000
# Python takes any character between date and time.
_TIME = re.compile(r"[0-9W-]{7,10}[T ]\S+", re.ASCII)
_DATES = "an ISO 8601 date or time, such as 2026-03-31 or 2026-03-31T14:30:00Z"


def query(given: object) -> str:
    """Return a query as it is searched: trimmed, white space folded; it may be blank."""
    text = folded(_string(given))
    if len(text) > MAX_TEXT:
        raise ValueError(f"must have at most {MAX_TEXT} characters")
    return text


def name(given: object) -> str:
    """Return a name or a key without the blanks around it."""
    return _named(_string(given).strip())


def thread(given: object) -> str:
    """Return the id of a thread, to the letter."""
    return _named(_string(given))


def limit(given: object) -> int:
    """Return how many results are wanted: below 1 it is the default, above the most it is that."""
    number = _integer(given)
    return DEFAULT_LIMIT if number < 1 else min(number, MAX_LIMIT)


def offset(given: object) -> int:
    """Return how many results are passed over."""
    number = _integer(given)
    if not 0 <= number <= MAX_OFFSET:
        raise ValueError(f"must be from 0 to {MAX_OFFSET}")
    return number


def flag(given: object) -> bool:
    """Return a truth value."""
    if not isinstance(given, bool):
        raise ValueError("must be true or false")
    return given


def token(given: object) -> str:
    """Return a cursor as it is: what is malformed counts as none, without an error."""
    return _string(given)


def ranking(given: object) -> Ranking:
    """Return a ranking."""
    return _one_of(given, RANKINGS)


def mode(given: object) -> Mode:
    """Return a mode."""
    return _one_of(given, MODES)


def importance(given: object) -> tuple[Importance, ...]:
    """Return levels out of a list with commas, in the contract's order, each once.

    Examples
    --------
    >>> importance("URGENT, high")
    ('high', 'urgent')
    """
    parts = {part.strip().lower() for part in _string(given).split(",")} - {""}
    if not parts or not parts <= set(IMPORTANCES):
        raise ValueError(f"must be any of {', '.join(IMPORTANCES)}, separated by commas")
    return tuple(level for level in IMPORTANCES if level in parts)


def start(given: object) -> int:
    """Return microseconds since the epoch; a date is its first."""
    return _moment(given)[0]


def end(given: object) -> int:
    """Return microseconds since the epoch; a date is its last."""
    return _moment(given)[1]


def _moment(given: object) -> tuple[int, int]:
    """Return the first and the last microsecond of a day, or of a moment; without a zone it is UTC."""
    text = _string(given, _DATES).strip().upper()
    try:
        if not _TIME.fullmatch(text):
            first = to_ts(datetime.combine(date.fromisoformat(text), time(), UTC))
            return first, first + _DAY_US - 1
        moment = datetime.fromisoformat(text)
        ts = to_ts(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except ValueError:
        raise ValueError(f"must be {_DATES}") from None
    return ts, ts


def _string(given: object, what: str = "a string") -> str:
    if not isinstance(given, str):
        raise ValueError(f"must be {what}")
    return given


def _integer(given: object) -> int:
    if type(given) is not int:  # a bool is no number here
        raise ValueError("must be a whole number")
    return given


def _named(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank; leave it out for no condition")
    if len(text) > MAX_NAME:
        raise ValueError(f"must have at most {MAX_NAME} characters")
    return storable(text)


def _one_of(given: object, allowed: tuple[T, ...]) -> T:
    found = next((choice for choice in allowed if choice == given), None)
    if found is None:
        raise ValueError(f"must be one of {', '.join(allowed)}")
    return found
