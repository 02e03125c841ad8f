"""Which outcomes can be read, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.errors.model import InvalidInput
from skillroute.core.input.json_input import validated
from skillroute.learning.outcomes.schemas import FeedbackRequest, OutcomeReport

from tests.api.routes import SEARCH_ID


@pytest.mark.parametrize("tool_id", [7, "7", 2**63 - 1])
def test_a_tool_is_named_by_its_number_or_its_text(tool_id: Any) -> None:
    read = OutcomeReport.model_validate({"search_id": SEARCH_ID, "tool_id": tool_id, "outcome": "called"}).reported()
    assert (str(read.search_id), read.tool_id, read.source) == (SEARCH_ID, int(tool_id), "program")


@pytest.mark.parametrize(
    ("changed", "field", "says"),
    [
        ({"tool_id": None}, "tool_id", "is required with wrong"),
        ({"outcome": "nothing_fits"}, "tool_id", "leave it out"),
        ({"tool_id": 0}, "tool_id", "must be at least 1"),
        ({"tool_id": "0"}, "tool_id", "must be at least 1"),
        ({"tool_id": 2**63}, "tool_id", "must be at most"),
        ({"tool_id": "٣"}, "tool_id", "must be a whole number"),
        ({"tool_id": "mail/send"}, "tool_id", "must be a whole number"),
        ({"tool_id": True}, "tool_id", "must be a whole number"),
        ({"search_id": "7"}, "search_id", "UUID"),
        ({"outcome": "liked"}, "outcome", "succeeded"),
        ({"source": "agent"}, "source", "person"),
        ({"caller": "ann"}, "caller", ""),
    ],
)
def test_what_is_wrong_names_its_field(changed: dict[str, Any], field: str, says: str) -> None:
    raw = {"search_id": SEARCH_ID, "tool_id": 7, "outcome": "wrong", **changed}
    with pytest.raises(InvalidInput) as refused:
        validated(OutcomeReport, raw, whole="outcome")
    assert refused.value.field == field
    assert says in refused.value.message


def test_an_outcome_that_is_missing_hides_no_other_problem() -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(OutcomeReport, {"search_id": SEARCH_ID}, whole="outcome")
    assert [problem.field for problem in refused.value.problems] == ["outcome"]


def test_each_of_many_is_read_on_its_own() -> None:
    good = {"search_id": SEARCH_ID, "outcome": "nothing_fits"}
    read = FeedbackRequest(outcomes=[good, "no outcome", {**good, "outcome": "failed"}]).read()
    assert [type(one).__name__ for one in read] == ["Reported", "InvalidInput", "InvalidInput"]
