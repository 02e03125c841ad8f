"""What is made of the results: confidence in the first never exceeds that in the first five."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.caller import LAPTOP
from skillroute.search.candidates.candidate import Hit
from skillroute.search.candidates.retrieve import Candidate, Ranking
from skillroute.search.ranking.confidence import Standing, load_confidences
from skillroute.search.ranking.no_match import Judge
from skillroute.search.run import ToolSearchRun

HIT = Hit(Candidate("1", 0.5, 0.5), {"name": "tool", "description": ""})


def judged(standing: Standing | None, model: str, no_match_below: float | None = None) -> ToolSearchRun:
    run = ToolSearchRun(LAPTOP)
    ranking: Any = SimpleNamespace(standing=lambda key: standing)
    Judge(no_match_below)(run, cast(Ranking, ranking), model, [HIT], "")
    return run


@given(st.builds(Standing, st.floats(0, 1), st.floats(0, 1), st.integers(1, 200)))
@pytest.mark.parametrize("model", sorted(load_confidences()))
def test_the_first_is_no_likelier_than_the_first_five(model: str, standing: Standing) -> None:
    run = judged(standing, model)
    assert run.confidence is not None
    assert run.confidence_first_five is not None
    assert run.confidence <= run.confidence_first_five
    assert run.no_match is (run.confidence_first_five < load_confidences()[model].no_match_below)


def test_the_two_curves_may_cross_and_the_lower_counts() -> None:
    """High above its rivals, and near to nothing."""
    model, standing = "all-minilm-l6-v2-int8-v1", Standing(0.95, 0.0, 1)
    curves = load_confidences()[model]
    assert curves.first(standing) > curves.first_five(standing)
    assert judged(standing, model).confidence == curves.first_five(standing)


def test_a_first_result_that_does_something_else_is_less_likely() -> None:
    model, standing = "tool-minilm-l6-int8-v2", Standing(0.5, 0.5, 8, ahead=1.0, words_found=0.3)
    ranking: Any = SimpleNamespace(standing=lambda key: standing)
    hit = Hit(Candidate("1", 0.5, 0.5), {"name": "list_labels", "description": "Lists all labels."})
    said = []
    for query in ("List labels", "Delete a label"):
        run = ToolSearchRun(LAPTOP)
        Judge(None)(run, cast(Ranking, ranking), model, [hit], query)
        said.append(run.confidence_first_five)
    curve = load_confidences()[model].first_five
    assert said == [curve(standing), curve(replace(standing, other_action=True))]
    assert said[0] > said[1]


def test_a_threshold_that_is_set_counts_instead_of_the_models() -> None:
    model, standing = "tool-minilm-l6-int8-v2", Standing(0.5, 0.5, 8)
    assert [judged(standing, model, below).no_match for below in (None, 0.0, 1.0)] == [False, False, True]


@pytest.mark.parametrize(("standing", "model"), [(None, "tool-minilm-l6-int8-v2"), (Standing(0.5, 0.5, 8), "other")])
def test_without_a_probability_or_curves_nothing_is_judged(standing: Standing | None, model: str) -> None:
    run = judged(standing, model, 1.0)
    assert (run.confidence, run.confidence_first_five, run.no_match) == (None, None, False)


@pytest.mark.parametrize(
    ("bm25", "is_named", "no_match"), [(0.0, False, True), (1.5, False, False), (0.0, True, False)]
)
def test_a_request_in_another_language_is_judged_by_its_words(bm25: float, is_named: bool, no_match: bool) -> None:
    run = ToolSearchRun(LAPTOP, language="ja")
    ranking: Any = SimpleNamespace(
        standing=lambda key: Standing(0.9, 0.9, 8), explain=lambda candidate: SimpleNamespace(bm25=bm25)
    )
    hit = Hit(Candidate("1", 0.5, 0.5, is_named=is_named), HIT.payload)
    Judge(None)(run, cast(Ranking, ranking), "tool-minilm-l6-int8-v2", [hit], "")
    assert (run.confidence, run.confidence_first_five, run.no_match) == (None, None, no_match)
