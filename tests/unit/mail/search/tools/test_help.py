"""Section 7 of message-search: assistance, guidance and diagnostics."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.mail.search.answers import MessageSearchResponse
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.model import DowngradeReason, Mode
from skillroute.mail.search.outcome import IndexState, SearchOutcome, Stage
from skillroute.mail.search.tools.arguments import SEARCH_MESSAGES
from skillroute.mail.search.tools.help import assistance, diagnostics, edit_distance, guidance

from tests.doubles import FakeClock


class TestAssistance:
    @pytest.mark.parametrize(
        ("text", "hints"),
        [
            ("from:BlueLake approval", [("from", "BlueLake")]),
            ("approval From:BlueLake", [("from", "BlueLake")]),
            ('from:"Blue Lake" approval', [("from", "Blue Lake")]),
            ("thread:T-1 importance:high", [("thread", "T-1"), ("importance", "high")]),
            (
                "before:2026-03-31 after:2026-01-01T00:00:00Z",
                [("before", "2026-03-31"), ("after", "2026-01-01T00:00:00Z")],
            ),
            ("from:BlueLake, from:BlueLake", [("from", "BlueLake")]),
        ],
    )
    def test_hints_within_the_text_are_reported(self, text: str, hints: list[tuple[str, str]]) -> None:
        expected = [{"field": field, "value": value} for field, value in hints]
        assert assistance(text) == {"applied_filter_hints": expected, "did_you_mean": []}

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "approval",
            "from: BlueLake",
            "from:",
            'from:""',
            "notfrom:BlueLake",
            "https://example.test/from:BlueLake",
            "12:30",
            "POL-358: approval",
            "subject:approval",
        ],
    )
    def test_everything_else_is_just_words(self, text: str) -> None:
        assert assistance(text) is None

    @pytest.mark.parametrize(
        ("given_", "suggestion"),
        [
            ("form", "from"),
            ("frm", "from"),
            ("Thred", "thread"),
            ("treads", "thread"),
            ("importence", "importance"),
            ("imprtnce", "importance"),
            ("befor", "before"),
            ("aftr", "after"),
        ],
    )
    def test_a_misspelt_field_is_asked_about(self, given_: str, suggestion: str) -> None:
        expected = {"applied_filter_hints": [], "did_you_mean": [{"given": given_, "suggestion": suggestion}]}
        assert assistance(f"{given_}:x approval") == expected

    def test_of_a_query_of_colons_each_hint_is_told_once_in_its_order(self) -> None:
        text = " ".join(["form:x", "from:a", "from:b", "form:y", "frm:z", "sender:q"] * 300)
        assert assistance(text) == {
            "applied_filter_hints": [{"field": "from", "value": "a"}, {"field": "from", "value": "b"}],
            "did_you_mean": [{"given": "form", "suggestion": "from"}, {"given": "frm", "suggestion": "from"}],
        }

    @pytest.mark.parametrize("name", ["imprtnc", "threadful", "sender", "subject"])
    def test_three_letters_are_too_many(self, name: str) -> None:
        assert assistance(f"{name}:x") is None


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("", "", 0),
        ("", "from", 4),
        ("from", "from", 0),
        ("form", "from", 2),
        ("kitten", "sitting", 3),
        ("abc", "yabd", 2),
    ],
)
def test_the_edit_distance_counts_letters(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == distance


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=12))
def test_the_edit_distance_is_one(one: str, other: str, third: str) -> None:
    assert (edit_distance(one, other) == 0) is (one == other)
    assert edit_distance(one, third) <= edit_distance(one, other) + edit_distance(other, third)


class TestGuidance:
    def suggestions(self, **arguments: Any) -> list[tuple[str | None, str]]:
        judged = SEARCH_MESSAGES.judge({"project_key": "atlas", "query": "approval", **arguments})
        found = guidance(judged)
        assert list(found) == ["suggestions"]
        assert all(each["message"] for each in found["suggestions"])
        return [(each["filter"], each["action"]) for each in found["suggestions"]]

    def test_without_filters_the_query_is_to_be_simplified(self) -> None:
        assert self.suggestions() == [(None, "simplify")]

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"sender": "BlueLake"}, ("sender", "drop")),
            ({"from_agent": "BlueLake"}, ("sender", "drop")),
            ({"importance": "high"}, ("importance", "drop")),
            ({"thread_id": "T-1"}, ("thread_id", "drop")),
            ({"date_start": "2026-01-01"}, ("date_start", "widen")),
            ({"date_end": "2026-01-01"}, ("date_end", "widen")),
            ({"date_start": "1970-01-01"}, ("date_start", "widen")),
            ({"offset": 20}, ("offset", "drop")),
        ],
    )
    def test_each_filter_has_one(self, arguments: dict[str, Any], expected: tuple[str, str]) -> None:
        assert self.suggestions(**arguments) == [expected]

    def test_all_filters_have_one_each(self) -> None:
        found = self.suggestions(
            sender="x", importance="low", thread_id="t", date_start="2026-01-01", date_end="2026-01-02"
        )
        assert [name for name, _ in found] == ["sender", "importance", "thread_id", "date_start", "date_end"]


class TestDiagnostics:
    def told(
        self,
        requested: Mode,
        actual: Mode,
        reason: DowngradeReason | None,
        *,
        index: IndexState = "ready",
        stage: Stage | None = None,
        given_ms: float | None = None,
    ) -> dict[str, Any] | None:
        response = MessageSearchResponse(results=[], mode=actual)
        budget = Budget(given_ms, clock=FakeClock())
        return diagnostics(SearchOutcome(response, requested, actual, reason, index, stage, budget))

    @pytest.mark.parametrize("reason", [None, "kill_switch"])
    def test_what_was_asked_for_or_set_has_none(self, reason: DowngradeReason | None) -> None:
        assert self.told("hybrid", "lexical", reason) is None

    def test_the_fields_are_the_contracts(self) -> None:
        found = self.told(
            "hybrid_rerank", "lexical", "feature_unavailable", index="ready", stage="vector", given_ms=100.4
        )
        assert found is not None
        [hint] = found.pop("remediation_hints")
        assert found == {
            "degraded": True,
            "fallback_mode": "lexical",
            "timeout_stage": "vector",
            "budget_tier": "lexical_only",
            "budget_remaining_ms": 100,
            "search_index_state": "ready",
        }
        assert "time" in hint

    def test_without_an_end_of_time_nothing_remains_to_be_told_of(self) -> None:
        found = self.told("semantic", "lexical", "feature_unavailable")
        assert found is not None
        assert found["budget_tier"] == "full"
        assert {"timeout_stage", "budget_remaining_ms"}.isdisjoint(found)

    @pytest.mark.parametrize(
        ("requested", "actual", "reason", "helps"),
        [
            ("hybrid_rerank", "hybrid", "feature_unavailable", "reranker"),
            ("hybrid_rerank", "lexical", "feature_unavailable", "embedding model"),
            ("semantic", "lexical", "feature_unavailable", "embedding model"),
            ("lexical", "lexical", "index_not_ready", "being built"),
            ("lexical", "lexical", "engine_error", "vector index failed"),
            ("lexical", "lexical", "invalid_query", "fewer and shorter words"),
        ],
    )
    def test_what_helps_depends_on_what_was_missing(
        self, requested: Mode, actual: Mode, reason: DowngradeReason, helps: str
    ) -> None:
        found = self.told(requested, actual, reason)
        assert found is not None
        assert helps in found["remediation_hints"][0]
