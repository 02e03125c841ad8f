"""Any text, filter and number is searched without an error, whatever serves it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.component.mail.search.conftest import MakeSystem
from tests.doubles import at


def _is_name(text: str) -> bool:
    return bool(text.strip()) and not any(char == "\0" or 0xD800 <= ord(char) < 0xE000 for char in text)


TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["water", "POL-358", "AND", "OR", "NOT", "NEAR", "'", '"', "\\", "%", "_", ":*", "&", "|", "!", "<->", "()",
             "水道", "ß", "İ", "\0", "\ud800", "é", "x" * 3000, "--", "$1", ":query", "NULL", "💧", "a-b-c-"]
        ),
        max_size=8,
    ).map(" ".join),
)  # fmt: skip
NAMES = st.one_of(st.none(), st.text(min_size=1, max_size=20).filter(_is_name))
NUMBERS = st.integers(-(2**63), 2**63 - 1)
REQUESTS = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["lexical", "semantic", "hybrid", "hybrid_rerank"]),
        "doc_kind": st.sampled_from(["message", "agent", "project"]),
        "ranking": st.sampled_from(["relevance", "recency"]),
    },
    optional={
        "limit": st.integers(),
        "min_score": st.floats(allow_nan=False, allow_infinity=False),
        "cursor": st.one_of(
            st.text(max_size=40),
            st.builds(lambda bits, id_: f"s{bits:016x}:i{id_}", st.integers(0, 2**64 - 1), NUMBERS),
        ),
        "rrf_k": st.integers(),
        "project_id": st.integers(1, 2**63 - 1),
        "product_id": st.integers(1, 2**63 - 1),
        "sender_name": NAMES,
        "recipient_name": NAMES,
        "agent_name": NAMES,
        "direction": st.sampled_from(["inbox", "outbox"]),
        "thread_id": NAMES,
        "time_range": st.fixed_dictionaries({"min_ts": NUMBERS, "max_ts": NUMBERS}),
        "scope": st.builds(
            lambda ids: {"project_set": {"allowed_project_ids": ids}}, st.lists(st.integers(1, 2**63 - 1), max_size=3)
        ),
        "redaction": st.fixed_dictionaries({"redact_body": st.booleans(), "redact_agent_names": st.booleans()}),
    },
)  # fmt: skip


@pytest.mark.parametrize("setting", ["fts5", None, "shadow"])
def test_any_query_is_answered(system_with: MakeSystem, setting: str | None) -> None:
    system = system_with(search_engine=setting)
    system.store_message("water POL-358", "水道 ß %_\\ a-b-c", at(0.5))
    system.store_message("x" * 3000, "water İ 💧", at(-0.5))
    system.store_agent("WaterLily", system.store_project("water"))

    @settings(derandomize=True)
    @given(TEXTS, REQUESTS)
    @example("%", {"mode": "hybrid", "min_score": 0.0})
    @example("water", {"ranking": "recency", "cursor": "sffefffffffffffff:i1"})
    @example(
        "", {"ranking": "recency", "time_range": {"min_ts": -5, "max_ts": 2**63 - 1}, "cursor": "sffefffffffffffff:i1"}
    )
    def ask(text: str, request: dict[str, Any]) -> None:
        answer = system.search_mail(text, explain=True, **request)
        again = system.search_mail(text, explain=True, **request)

        scores = [result.score for result in answer.results]
        assert all(0.0 <= score <= 1.0 for score in scores)
        assert [(result.id, result.score) for result in again.results] == [
            (result.id, result.score) for result in answer.results
        ]
        if request.get("ranking") != "recency":
            places = [(-result.score, result.id) for result in answer.results]
            assert places == sorted(set(places))
        answer.to_json()

    ask()
