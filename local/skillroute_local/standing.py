"""How the parts of a Skillroute stand, in words, with what helps: the same for `skillroute status` and the console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["ok", "so", "no", "off"]
"""Good, needs a look, bad, not in use."""

STUCK_S = 15 * 60
"""Work that waits longer and is not in progress is not worked on: the relay publishes each minute."""
LOW_SHARE, LOW_BYTES = 0.10, 2 * 1024**3
"""Disk space that is too little: PostgreSQL stops at none."""

_PARTS = {
    "database": "Is PostgreSQL up, and may Skillroute log in? `skillroute status` checks it too.",
    "index": "The next search builds the index, or run `skillroute reindex`.",
    "embedding_model": "Searches match words only until the model is available: check its provider and its settings.",
}


@dataclass(frozen=True, slots=True)
class State:
    """A state: its kind, a word or two, and what helps; empty where nothing needs to be done."""

    kind: Kind
    word: str
    help: str = ""


def part_state(name: str, *, is_ok: bool) -> State:
    """Return the state of a dependency of `GET /ready`."""
    if is_ok:
        return State("ok", "ok")
    # Without the model searches are answered all the same.
    return State("so" if name == "embedding_model" else "no", "unavailable", _PARTS.get(name, ""))


def queue_state(counts: Mapping[str, Any]) -> State:
    """Return whether the work of a queue is done in time, from its counts (`queue_counts.counts_of`)."""
    waits = (counts["oldest_s"] or 0) > STUCK_S
    if waits and not counts["under_way"]:
        return State(
            "no",
            "not worked on",
            f"The oldest waits longer than {STUCK_S // 60} minutes, and nothing is in progress. Is `make run` with its "
            "pump running, or the function of this queue? Its log names the error.",
        )
    if waits:
        return State(
            "so",
            "slow",
            f"The oldest waits longer than {STUCK_S // 60} minutes, while others are in progress: let it go on, or "
            "let more consumers run.",
        )
    known = [counts[name] for name in ("waiting", "ready", "under_way", "delayed") if counts[name] is not None]
    if not known:
        return State("off", "not known", "Neither the database nor the queue can be read from here.")
    return State("ok", "at work" if counts["under_way"] else "waits" if any(known) else "empty")


def failed_state(counts: Mapping[str, Any]) -> State:
    """Return whether work of a queue was given up."""
    failed = max(counts["given_up"] or 0, counts["dead_letters"] or 0)
    if failed:
        return State(
            "no",
            f"{failed:,} given up",
            "Read the reasons (`skillroute dlq list`), remove their cause, then try the work again.",
        )
    return State("ok", "none given up")


def index_state(health: Mapping[str, Any]) -> State:
    """Return the state of the index, from what `GET /ready` answers."""
    part = health.get("dependencies", {}).get("index")
    if part is not None and not part["ok"]:
        return part_state("index", is_ok=False)
    if health.get("index_rebuilding"):
        return State("so", "rebuilding", "An index is built anew; searches go on. Nothing needs to be done.")
    if health.get("index_lag"):
        return State("ok", "catching up")
    return State("ok", "ready")


def _counted(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"


def index_in_words(health: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what needs words: a number alone looks like a fault where all is well. It is empty where there is none."""
    lag = health.get("index_lag") or 0
    yield "index", f"{_counted(lag, 'change')} behind; the next search takes them in first" if lag else ""
    yield "rebuilding", "an index is built anew; searches go on" if health.get("index_rebuilding") else ""
    refused = health.get("embedding_refused") or 0
    yield (
        "refused",
        (
            f"{_counted(refused, 'text')} by the embedding model, found by words only: `skillroute dlq refused`"
            if refused
            else ""
        ),
    )


def migrations_state(waiting: int, unknown: int) -> State:
    """Return the state of a database's migrations."""
    if unknown:
        return State("no", "of a newer version", "Install the version that made this database, or restore a back-up.")
    if waiting:
        return State("no", f"{waiting} waiting", "Run `skillroute migrate`; `up` does it when it starts.")
    return State("ok", "up to date")


def disk_state(free: int, total: int) -> State:
    """Return the state of a volume, from its bytes."""
    if free < LOW_BYTES or free < LOW_SHARE * total:
        return State(
            "no" if free < LOW_BYTES else "so",
            "little space",
            f"Less than {LOW_SHARE:.0%} or {LOW_BYTES // 1024**3} GB is free: make room on the volume of "
            "SKILLROUTE_HOME, or move it to a larger one.",
        )
    return State("ok", "enough space")
