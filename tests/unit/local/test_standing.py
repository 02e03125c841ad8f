"""States in words: their bounds, and that each that is not good says what helps."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute_local.standing import (
    LOW_BYTES,
    STUCK_S,
    disk_state,
    failed_state,
    index_in_words,
    index_state,
    migrations_state,
    part_state,
    queue_state,
)

GB = 1024**3
EMPTY = dict.fromkeys(("waiting", "oldest_s", "given_up", "ready", "under_way", "delayed", "dead_letters"), 0)
UNKNOWN = dict.fromkeys(EMPTY, None)


@pytest.mark.parametrize(
    ("counts", "kind", "word"),
    [
        (EMPTY, "ok", "empty"),
        (UNKNOWN, "off", "not known"),
        (EMPTY | {"waiting": 3, "oldest_s": STUCK_S}, "ok", "waits"),
        (EMPTY | {"waiting": 3, "under_way": 1}, "ok", "at work"),
        (EMPTY | {"waiting": 3, "oldest_s": STUCK_S + 1}, "no", "not worked on"),
        (UNKNOWN | {"waiting": 3, "oldest_s": STUCK_S + 1}, "no", "not worked on"),
        (EMPTY | {"waiting": 3, "oldest_s": STUCK_S + 1, "under_way": 1}, "so", "slow"),
        (EMPTY | {"given_up": 5}, "ok", "empty"),
    ],
)
def test_a_queue_is_stuck_where_work_waits_long_and_none_is_in_progress(
    counts: dict[str, Any], kind: str, word: str
) -> None:
    state = queue_state(counts)
    assert (state.kind, state.word) == (kind, word)
    assert bool(state.help) == (kind != "ok")


def test_work_is_given_up_in_the_database_or_in_a_dead_letter_queue() -> None:
    assert failed_state(EMPTY).kind == "ok"
    assert failed_state(EMPTY | {"given_up": 2, "dead_letters": 1}).word == "2 given up"
    assert failed_state(UNKNOWN | {"dead_letters": 1234}).word == "1,234 given up"


@pytest.mark.parametrize(
    ("free", "total", "kind"),
    [
        (LOW_BYTES, 10 * LOW_BYTES, "ok"),
        (LOW_BYTES - 1, 4 * GB, "no"),
        (50 * GB, 1000 * GB, "so"),
        (100 * GB, 1000 * GB, "ok"),
    ],
)
def test_a_disk_has_little_space_below_a_tenth_or_two_gigabytes(free: int, total: int, kind: str) -> None:
    assert disk_state(free, total).kind == kind


def test_an_index_is_behind_rebuilt_or_away() -> None:
    assert index_state({"index_lag": 0}).word == "ready"
    assert index_state({"index_lag": 2}).word == "catching up"
    assert index_state({"index_rebuilding": True}).kind == "so"
    away = index_state({"dependencies": {"index": {"ok": False}}, "index_rebuilding": True})
    assert (away.kind, "skillroute reindex" in away.help) == ("no", True)
    assert dict(index_in_words({"index_lag": 1}))["index"] == "1 change behind; the next search takes them in first"


def test_without_the_embedding_model_searches_are_answered_all_the_same() -> None:
    assert part_state("embedding_model", is_ok=False).kind == "so"
    assert part_state("database", is_ok=False).kind == "no"
    assert part_state("database", is_ok=True).help == ""


def test_migrations_wait_or_are_unknown() -> None:
    assert migrations_state(0, 0).kind == "ok"
    assert "skillroute migrate" in migrations_state(2, 0).help
    assert migrations_state(2, 1).word == "of a newer version"
