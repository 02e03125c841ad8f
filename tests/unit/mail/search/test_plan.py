"""The planner against section 1 of message-search, written out."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest
from skillroute.mail.search.model import DowngradeReason, EngineSetting, Mode, engine_setting
from skillroute.mail.search.plan import Part, Plan, default_mode, plan

MODES: tuple[Mode, ...] = get_args(Mode)
PARTS: tuple[Part, ...] = get_args(Part)
SETTINGS: tuple[EngineSetting | None, ...] = (*get_args(EngineSetting), None)

# asked for, what is away -> what runs, who orders, whose absence is the reason
ROWS: list[tuple[Mode, str, Mode, str, Part | None]] = [
    ("lexical", "", "lexical", "bm25", None),
    ("lexical", "model", "lexical", "bm25", None),
    ("lexical", "reranker", "lexical", "bm25", None),
    ("lexical", "model reranker", "lexical", "bm25", None),
    ("lexical", "index", "lexical", "postgres", "index"),
    ("lexical", "index model", "lexical", "postgres", "index"),
    ("lexical", "index reranker", "lexical", "postgres", "index"),
    ("lexical", "index model reranker", "lexical", "postgres", "index"),
    ("semantic", "", "semantic", "hybrid", None),
    ("semantic", "reranker", "semantic", "hybrid", None),
    ("semantic", "model", "lexical", "bm25", "model"),
    ("semantic", "model reranker", "lexical", "bm25", "model"),
    ("semantic", "index", "lexical", "postgres", "index"),
    ("semantic", "index model", "lexical", "postgres", "index"),
    ("semantic", "index reranker", "lexical", "postgres", "index"),
    ("semantic", "index model reranker", "lexical", "postgres", "index"),
    ("hybrid", "", "hybrid", "hybrid", None),
    ("hybrid", "reranker", "hybrid", "hybrid", None),
    ("hybrid", "model", "lexical", "bm25", "model"),
    ("hybrid", "model reranker", "lexical", "bm25", "model"),
    ("hybrid", "index", "lexical", "postgres", "index"),
    ("hybrid", "index model", "lexical", "postgres", "index"),
    ("hybrid", "index reranker", "lexical", "postgres", "index"),
    ("hybrid", "index model reranker", "lexical", "postgres", "index"),
    ("hybrid_rerank", "", "hybrid_rerank", "hybrid", None),
    ("hybrid_rerank", "reranker", "hybrid", "hybrid", "reranker"),
    ("hybrid_rerank", "model", "lexical", "bm25", "model"),
    ("hybrid_rerank", "model reranker", "lexical", "bm25", "model"),
    ("hybrid_rerank", "index", "lexical", "postgres", "index"),
    ("hybrid_rerank", "index model", "lexical", "postgres", "index"),
    ("hybrid_rerank", "index reranker", "lexical", "postgres", "index"),
    ("hybrid_rerank", "index model reranker", "lexical", "postgres", "index"),
]
REASONS: dict[Part, DowngradeReason] = {
    "index": "engine_error",
    "model": "feature_unavailable",
    "reranker": "feature_unavailable",
}


def test_the_rows_are_all_that_there_can_be() -> None:
    every = {(mode, frozenset(away)) for mode in MODES for n in range(4) for away in itertools.combinations(PARTS, n)}

    assert {(mode, frozenset(away.split())) for mode, away, *_ in ROWS} == every
    assert len(ROWS) == len(every)


@pytest.mark.parametrize("setting", ["bm25", "hybrid", None])
@pytest.mark.parametrize(("mode", "away", "runs", "engine", "why"), ROWS)
def test_what_is_there_decides(
    mode: Mode, away: str, runs: Mode, engine: str, why: Part | None, setting: EngineSetting | None
) -> None:
    missing = {part: REASONS[part] for part in PARTS if part in away.split()}

    chosen = plan(mode, setting, missing)

    assert (chosen.mode, chosen.engine) == (runs, engine)
    assert chosen.reason == (None if why is None else REASONS[why])


@pytest.mark.parametrize("setting", ["postgres", "shadow"])
@pytest.mark.parametrize(("mode", "away"), [row[:2] for row in ROWS])
def test_the_kill_switch_and_the_shadow_serve_every_mode_by_full_text(
    mode: Mode, away: str, setting: EngineSetting
) -> None:
    missing = {part: REASONS[part] for part in PARTS if part in away.split()}

    assert plan(mode, setting, missing) == Plan("lexical", "postgres", "kill_switch")


@pytest.mark.parametrize("reason", get_args(DowngradeReason))
def test_the_reason_is_that_of_the_missing_part(reason: DowngradeReason) -> None:
    assert plan("hybrid", None, {"index": reason}).reason == reason
    assert plan("hybrid", None, {"model": reason}).reason == reason
    assert plan("hybrid_rerank", None, {"reranker": reason}).reason == reason


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_that_is_named_stays(mode: Mode, setting: EngineSetting | None) -> None:
    assert default_mode(mode, setting) == mode


@pytest.mark.parametrize(
    ("setting", "mode"),
    [("postgres", "lexical"), ("bm25", "lexical"), ("shadow", "lexical"), ("hybrid", "hybrid"), (None, "lexical")],
)
def test_the_setting_hybrid_changes_the_mode_of_queries_that_name_none(
    setting: EngineSetting | None, mode: Mode
) -> None:
    assert default_mode(None, setting) == mode


@pytest.mark.parametrize(
    ("said", "setting"),
    [
        ("fts5", "postgres"), ("TANTIVY", "bm25"), (" shadow ", "shadow"), ("hybrid", "hybrid"),
        ("", None), (None, None), ("elastic", None), ("semantic", None),
        ("postgres", None), ("bm25", None),
    ],
)  # fmt: skip
def test_an_unknown_setting_counts_as_unset(said: str | None, setting: EngineSetting | None) -> None:
    assert engine_setting(said) == setting
