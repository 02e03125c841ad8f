"""Requests of message search: defaults, what is clamped, what is refused; and the filter both engines take.

message-search, section 2.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError
from skillroute.mail.search.answers import Explain, MessageResult, MessageSearchResponse
from skillroute.mail.search.model import (
    MAX_TEXT,
    RRF_K,
    CallerScoped,
    MailFilter,
    MessageSearchRequest,
    ProjectScoped,
    Redaction,
    engine_setting,
)


def request(**fields: Any) -> MessageSearchRequest:
    """Read a request as it comes over HTTP: as JSON."""
    return MessageSearchRequest.model_validate_json(json.dumps(fields))


def test_defaults_are_the_contract_s() -> None:
    assert request().model_dump() == {
        "text": "", "doc_kind": "message", "mode": None, "ranking": "relevance", "limit": 50, "rerank_top_k": 100,
        "rrf_k": None, "fusion": None, "min_score": None, "cursor": None, "explain": False, "project_id": None,
        "product_id": None, "importance": [], "direction": None, "agent_name": None, "sender_name": None,
        "recipient_name": None, "thread_id": None, "ack_required": None, "time_range": None,
        "scope": "unrestricted", "redaction": None,
    }  # fmt: skip
    assert RRF_K == 60  # of fusion rrf, where none is given: a number that is given asks for it


@pytest.mark.parametrize(
    ("field", "least", "most"), [("limit", 1, 1000), ("rerank_top_k", 10, 1000), ("rrf_k", 1, 1000)]
)
def test_numbers_are_clamped_silently(field: str, least: int, most: int) -> None:
    given = [-(10**30), -1, 0, least, least + 1, most - 1, most, most + 1, 10**30]
    read = [getattr(request(**{field: number}), field) for number in given]
    assert read == [least, least, max(least, 0), least, least + 1, most - 1, most, most, most]


@pytest.mark.parametrize(
    ("text", "read"), [("  a\n\tb  ", "a b"), ("\u00a0", ""), ("a\0b", "a b"), ("x" * MAX_TEXT, "x" * MAX_TEXT)]
)
def test_the_text_is_trimmed_and_folded(text: str, read: str) -> None:
    assert request(text=text).text == read


def test_the_length_of_a_text_is_counted_after_folding() -> None:
    assert request(text=" " * MAX_TEXT + "a" * MAX_TEXT).text == "a" * MAX_TEXT
    with pytest.raises(ValidationError, match=f"{MAX_TEXT + 1} characters"):
        request(text="a" * (MAX_TEXT + 1))


@pytest.mark.parametrize(
    "fields",
    [
        {"doc_kind": "product"}, {"mode": "exact"}, {"mode": "Lexical"}, {"ranking": "newest"}, {"limit": "5"},
        {"limit": True}, {"limit": 5.5}, {"min_score": "0.5"}, {"importance": ["huge"]},
        {"importance": "high"}, {"direction": "both"}, {"project_id": 0}, {"project_id": 2**63}, {"thread_id": ""},
        {"thread_id": "a\0"}, {"agent_name": " "}, {"sender_name": "x" * 257}, {"recipient_name": "\ud800"},
        {"ack_required": "yes"}, {"time_range": {"min_ts": 1.5}}, {"time_range": {"min_ts": 2**63}},
        {"time_range": {"from": 1}}, {"scope": "all"}, {"scope": {}}, {"scope": {"caller_scoped": {}}},
        {"scope": {"project_set": {"allowed_project_ids": [0]}}}, {"scope": {"project_set": {}}},
        {"scope": {"caller_scoped": {"caller_agent": "a"}, "project_set": {"allowed_project_ids": []}}},
        {"redaction": {"redact_everything": True}}, {"redaction": {"placeholder": "\0"}}, {"offset": 1},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_none_of_the_allowed_values_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        request(**fields)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_least_score_is_a_number(number: str) -> None:
    with pytest.raises(ValidationError):
        MessageSearchRequest.model_validate_json(f'{{"min_score": {number}}}')


def test_scopes_are_read() -> None:
    by_caller = request(scope={"caller_scoped": {"caller_agent": " Blue Lake "}}).scope
    assert isinstance(by_caller, CallerScoped) and by_caller.caller_scoped.caller_agent == "Blue Lake"
    by_projects = request(scope={"project_set": {"allowed_project_ids": []}}).scope
    assert isinstance(by_projects, ProjectScoped) and by_projects.project_set.allowed_project_ids == []


def test_redaction_is_active_when_anything_is_replaced() -> None:
    assert not Redaction().is_active
    assert Redaction().placeholder == "[redacted]"
    for part in ("redact_body", "redact_agent_names", "redact_thread_ids"):
        assert Redaction.model_validate({part: True}).is_active


@pytest.mark.parametrize(
    ("value", "setting"),
    [
        (None, None), ("", None), ("  ", None), ("fts5", "postgres"), (" FTS5 ", "postgres"), ("tantivy", "bm25"),
        ("shadow", "shadow"), ("hybrid", "hybrid"), ("lexical", None), ("elastic", None), ("fts5,shadow", None),
        ("postgres", None), ("bm25", None),
    ],
)  # fmt: skip
def test_an_unknown_setting_counts_as_unset(value: str | None, setting: str | None) -> None:
    assert engine_setting(value) == setting


@pytest.mark.parametrize(
    ("fields", "nothing"),
    [
        ({}, False), ({"project_ids": ()}, True), ({"project_ids": (1,)}, False), ({"min_ts": 2, "max_ts": 1}, True),
        ({"min_ts": 1, "max_ts": 1}, False), ({"min_ts": 1}, False), ({"max_ts": 0}, False),
        ({"min_ts": 0, "max_ts": -1}, True),
    ],
)  # fmt: skip
def test_no_project_and_an_inverted_time_range_pass_nothing(fields: dict[str, Any], nothing: bool) -> None:
    assert MailFilter("message", None, **fields).passes_nothing is nothing


def test_what_has_no_value_is_left_out_of_an_answer() -> None:
    result = MessageResult(doc_kind="message", id=1, score=0.5, created_ts=3, sender="Ann", to=[], ack_required=False)
    answer = json.loads(MessageSearchResponse(results=[result], mode="lexical").to_json())
    assert answer == {
        "results": [
            {
                "doc_kind": "message",
                "id": 1,
                "score": 0.5,
                "created_ts": 3,
                "created_at": "1970-01-01T00:00:00.000003Z",
                "from": "Ann",
                "to": [],
                "ack_required": False,
            }
        ],
        "mode": "lexical",
    }


def test_explain_says_what_the_contract_has_always_there() -> None:
    always = {name for name, field in Explain.model_fields.items() if field.is_required()}
    assert always == {
        "method", "normalized_query", "used_like_fallback", "facet_count", "facets_applied", "sql", "scope_policy",
        "denied_count", "redacted_count", "mode_downgraded", "cursor_invalidated",
    }  # fmt: skip
