"""What runs, what it falls back to, and what it says of it (message-search, sections 1, 5, 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import DatabaseUnavailable, IndexTimeout, IndexUnavailable, RerankerUnavailable
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.mail.search.outcome import SearchOutcome
from skillroute.mail.search.search import MessageSearch
from skillroute.mail.text import MAX_IMPACT, query_terms

from tests.builders import System
from tests.component.mail.search.conftest import MakeSystem
from tests.doubles import FakeClock, LogRecords, TableEmbedder, at

MODES = ("lexical", "semantic", "hybrid", "hybrid_rerank")


class FakeReranker:
    """Finds a text the better, the longer it is."""

    name = "fake/reranker"

    def __init__(self) -> None:
        self.away = False
        self.asked: list[tuple[str, Sequence[str], float]] = []

    def logits(self, query: str, texts: Sequence[str], *, timeout_s: float) -> list[float]:
        self.asked.append((query, texts, timeout_s))
        if self.away:
            raise RerankerUnavailable("away")
        return [len(text) / 10.0 for text in texts]


@pytest.fixture
def filled(system: System) -> System:
    """Found by words in one order, by meaning in the other."""
    system.store_message("approval approval", "of the budget", at(0.2))
    system.store_message("budget", "the approval is on its way, a bit longer than the others", at(0.6))
    system.store_message("lunch", "pizza", at(0.9))
    return system


def with_reranker(system: System, reranker: FakeReranker) -> System:
    parts = system.parts
    system.message_search = MessageSearch(
        parts.replica, parts.query_embedder, parts.database, reranker, rerank_timeout_s=2.0
    )
    return system


def outcome(system: System, budget: Budget | None = None, **request: object) -> SearchOutcome:
    asked = MessageSearchRequest(text="approval", explain=True, **request)  # type: ignore[arg-type]
    return system.message_search.search(asked, LAPTOP, budget=budget)


def served(answer: SearchOutcome) -> tuple[str, str | None, str | None]:
    explain = answer.response.explain
    assert explain is not None
    assert (explain.actual_mode, explain.engine, explain.downgrade_reason) == (
        answer.response.mode, answer.response.engine, answer.reason,
    )  # fmt: skip
    assert explain.mode_downgraded == (explain.requested_mode != explain.actual_mode)
    return answer.actual, answer.response.engine, answer.reason


class TestEveryMode:
    def test_lexical_is_the_default_and_finds_words(self, filled: System) -> None:
        assert served(outcome(filled)) == ("lexical", "tantivy", None)
        assert len(filled.found_mail("approval")) == 2

    def test_semantic_ranks_all_by_meaning(self, filled: System) -> None:
        assert served(outcome(filled, mode="semantic")) == ("semantic", "hybrid", None)
        assert list(filled.mail_scores("approval", mode="semantic").values()) == [0.9, 0.6, 0.2]

    def test_decision_35_hybrid_fuses_the_cosine_and_how_many_of_the_words_are_there(self, filled: System) -> None:
        assert served(outcome(filled, mode="hybrid")) == ("hybrid", "hybrid", None)
        found = filled.mail_results("approval", mode="lexical", explain=True)
        words = {id_: result.raw_score or 0.0 for id_, result in found.items()}
        assert len(words) == 2
        most = sum(query_terms("approval").values()) * MAX_IMPACT
        cosines = filled.mail_scores("approval", mode="semantic")
        expected = {id_: (cosine + 0.4 * words.get(id_, 0.0) / most) / 1.4 for id_, cosine in cosines.items()}
        assert filled.mail_scores("approval", mode="hybrid") == pytest.approx(expected, abs=1e-6)
        assert filled.mail_scores("approval", mode="hybrid", fusion="coverage") == filled.mail_scores(
            "approval", mode="hybrid"
        )

    @pytest.mark.parametrize("request_", [{"fusion": "rrf"}, {"rrf_k": 60}, {"fusion": "rrf", "rrf_k": 60}])
    def test_hybrid_fuses_both_by_rank_where_that_is_asked_for(
        self, filled: System, request_: dict[str, object]
    ) -> None:
        first, second, lunch = sorted(filled.found_mail("approval", mode="semantic"))
        halves = {first: (1, 3), second: (2, 2), lunch: (None, 1)}
        expected = {
            id_: round(sum(1 / (60 + rank) for rank in ranks if rank) * 61 / 2, 9) for id_, ranks in halves.items()
        }
        assert filled.mail_scores("approval", mode="hybrid", **request_) == expected
        assert filled.mail_scores("approval", mode="hybrid", fusion="coverage", rrf_k=60) != expected

    def test_hybrid_rerank_asks_the_reranker_of_the_head(self, filled: System) -> None:
        reranker = FakeReranker()
        with_reranker(filled, reranker)

        answer = outcome(filled, mode="hybrid_rerank")

        assert served(answer) == ("hybrid_rerank", "hybrid", None)
        [(query, texts, timeout_s)] = reranker.asked
        assert (query, len(texts), timeout_s) == ("approval", 3, 2.0)
        assert [result.subject for result in answer.response.results] == ["budget", "approval approval", "lunch"]
        [code] = {code for result in answer.response.results for code in (result.reason_codes or [])[-1:]}
        assert code == "reranked"
        assert answer.response.explain is not None
        assert answer.response.explain.timing is not None
        assert answer.response.explain.timing.rerank_us is not None

    def test_no_more_than_the_head_is_reranked(self, filled: System) -> None:
        for number in range(15):
            filled.store_message(f"approval {number}", "", at(0.5))
        reranker = FakeReranker()
        with_reranker(filled, reranker)

        results = outcome(filled, mode="hybrid_rerank", rerank_top_k=10).response.results

        assert len(reranker.asked[0][1]) == 10
        assert len(results) == 18
        assert [("reranked" in (result.reason_codes or [])) for result in results] == [True] * 10 + [False] * 8
        scores = [result.score for result in results]
        assert scores == sorted(scores, reverse=True)

    def test_what_has_no_vector_is_found_by_words_all_the_same(self, filled: System) -> None:
        id_ = filled.store_message("approval", "without a vector")

        assert id_ in filled.found_mail("approval", mode="hybrid")
        assert id_ not in filled.found_mail("approval", mode="semantic")

    def test_a_message_is_found_by_the_next_query_whatever_the_mode(self, filled: System) -> None:
        """message-search, section 9."""
        for mode in MODES:
            id_ = filled.store_message(f"approval {mode}", "", at(0.99))
            assert id_ in filled.found_mail("approval", mode=mode)
            filled.delete_messages(id_)
            assert id_ not in filled.found_mail("approval", mode=mode)


class TestFallingBack:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        ("error", "stage"), [(IndexUnavailable("broken"), None), (IndexTimeout("slow"), "lexical")]
    )
    def test_without_the_index_every_mode_is_full_text(
        self, filled: System, mode: str, error: IndexUnavailable, stage: str | None
    ) -> None:
        filled.index.fail(MAIL_DOCUMENTS, error)

        answer = outcome(filled, mode=mode)

        assert served(answer) == ("lexical", "fts5", "engine_error")
        assert (answer.index_state, answer.is_degraded) == ("failed", True)
        # Semantic search asks for vectors first.
        assert answer.timeout_stage == ("vector" if stage and mode == "semantic" else stage)
        assert len(answer.response.results) == 2

    @pytest.mark.parametrize("mode", MODES[1:])
    def test_without_the_model_every_mode_is_lexical(self, filled: System, mode: str) -> None:
        filled.embedder.away = True

        answer = outcome(filled, mode=mode)

        assert served(answer) == ("lexical", "tantivy", "feature_unavailable")
        assert answer.index_state == "ready"

    def test_the_model_is_left_alone_for_a_while_after_it_failed(self, filled: System) -> None:
        filled.embedder.away = True
        for _ in range(3):
            outcome(filled, mode="hybrid")
        assert len(filled.embedder.calls) == 1

        filled.embedder.away = False
        filled.clock.advance(31.0)
        assert served(outcome(filled, mode="hybrid")) == ("hybrid", "hybrid", None)

    def test_without_a_reranker_the_answer_is_hybrid(self, filled: System) -> None:
        assert served(outcome(filled, mode="hybrid_rerank")) == ("hybrid", "hybrid", "feature_unavailable")

    def test_with_a_reranker_that_fails_the_answer_is_hybrid(self, filled: System) -> None:
        reranker = FakeReranker()
        reranker.away = True
        with_reranker(filled, reranker)

        answer = outcome(filled, mode="hybrid_rerank")

        assert served(answer) == ("hybrid", "hybrid", "feature_unavailable")
        assert len(reranker.asked) == 1
        assert answer.timeout_stage is None
        # What was fused is served: neither half is asked for again.
        assert sorted(call.method for call in filled.index.searches(MAIL_DOCUMENTS)) == [
            "search", "search_terms",
        ]  # fmt: skip
        assert [result.id for result in answer.response.results] == filled.found_mail("approval", mode="hybrid")

    def test_hybrid_rerank_without_the_model_is_lexical_and_asks_no_reranker(self, filled: System) -> None:
        reranker = FakeReranker()
        with_reranker(filled, reranker)
        filled.embedder.away = True

        assert served(outcome(filled, mode="hybrid_rerank")) == ("lexical", "tantivy", "feature_unavailable")
        assert reranker.asked == []

    @pytest.mark.parametrize("mode", MODES)
    def test_an_index_of_another_models_vectors_is_searched_by_words(
        self, filled: System, system_with: MakeSystem, mode: str
    ) -> None:
        other = system_with(embedder=TableEmbedder(name="other"))

        answer = outcome(other, mode=mode)

        missing = None if mode == "lexical" else "feature_unavailable"
        assert served(answer) == ("lexical", "tantivy", missing)
        assert len(answer.response.results) == 2

    def test_without_postgresql_there_is_no_answer(self, filled: System) -> None:
        filled.database.down = True

        with pytest.raises(DatabaseUnavailable):
            filled.search_mail("approval")

    @pytest.mark.parametrize("mode", MODES)
    def test_a_downgrade_is_an_event_and_a_metric(self, filled: System, log: LogRecords, counted, mode: str) -> None:  # type: ignore[no-untyped-def]
        filled.index.fail(MAIL_DOCUMENTS, IndexUnavailable("broken"))

        outcome(filled, mode=mode)

        events = log.having("search.mode.downgrade")
        assert len(events) == (mode != "lexical")
        for record in events:
            assert (record.requested, record.actual, record.reason) == (mode, "lexical", "engine_error")  # type: ignore[attr-defined]
        assert counted("SearchModeDowngrade") == len(events)
        assert counted("SearchDegraded") == 1


class TestSettings:
    @pytest.mark.parametrize("mode", MODES)
    def test_postgresql_serves_every_mode_with_index_and_model_down(
        self, filled: System, system_with: MakeSystem, mode: str
    ) -> None:
        forced = system_with(search_engine="fts5")
        forced.embedder.away = True
        forced.feed.down = True  # whoever asked for the index would fail

        answer = outcome(forced, mode=mode)

        assert served(answer) == ("lexical", "fts5", "kill_switch")
        assert (answer.index_state, answer.is_degraded) == ("bypassed", False)
        assert len(answer.response.results) == 2
        assert (forced.embedder.calls, forced.feed.polls) == ([], 0)

    @pytest.mark.parametrize(
        ("setting", "mode"), [("tantivy", "lexical"), ("hybrid", "hybrid"), ("elastic", "lexical"), ("", "lexical")]
    )
    def test_the_mode_of_a_query_that_names_none(
        self, filled: System, system_with: MakeSystem, setting: str, mode: str
    ) -> None:
        chosen = system_with(search_engine=setting)

        assert chosen.search_mail("approval").mode == mode
        assert chosen.search_mail("approval", mode="semantic").mode == "semantic"

    def test_an_unknown_setting_is_warned_about_once(self, system_with: MakeSystem, log: LogRecords) -> None:
        chosen = system_with(search_engine="elastic")

        for _ in range(3):
            chosen.search_mail("approval")

        [record] = log.having("SKILLROUTE_SEARCH_ENGINE is unknown and counts as not set")
        assert record.value == "elastic"  # type: ignore[attr-defined]


class TestBudget:
    @pytest.fixture(autouse=True)
    def ready(self, filled: System) -> None:
        """The index is there: how long building one takes is no affair of these budgets."""
        filled.found_mail("approval")

    @pytest.mark.parametrize(
        ("given_ms", "mode", "served_as", "stage"),
        [
            (251, "hybrid_rerank", "hybrid_rerank", None),
            (250, "hybrid_rerank", "hybrid", "rerank"),
            (250, "hybrid", "hybrid", None),
            (121, "semantic", "semantic", None),
            (120, "hybrid_rerank", "lexical", "vector"),
            (120, "hybrid", "lexical", "vector"),
            (120, "semantic", "lexical", "vector"),
            (1, "lexical", "lexical", None),
            (0, "hybrid", "lexical", "vector"),
        ],
    )
    def test_what_still_fits_is_served(
        self, filled: System, given_ms: float, mode: str, served_as: str, stage: str | None
    ) -> None:
        with_reranker(filled, FakeReranker())

        answer = outcome(filled, Budget(given_ms, FakeClock()), mode=mode)

        assert answer.actual == served_as
        assert answer.timeout_stage == stage
        assert answer.reason == ("feature_unavailable" if stage else None)

    def test_time_that_the_search_itself_took_counts(self, filled: System) -> None:
        reranker = FakeReranker()
        with_reranker(filled, reranker)
        filled.embedder.takes_s = 0.1

        answer = outcome(filled, Budget(300, filled.clock), mode="hybrid_rerank")

        assert served(answer) == ("hybrid", "hybrid", "feature_unavailable")
        assert (answer.timeout_stage, reranker.asked) == ("rerank", [])

    def test_the_reranker_gets_no_more_time_than_is_left_before_it_is_too_late_for_it(self, filled: System) -> None:
        reranker = FakeReranker()
        with_reranker(filled, reranker)

        outcome(filled, Budget(600, FakeClock()), mode="hybrid_rerank")
        outcome(filled, Budget(9000, FakeClock()), mode="hybrid_rerank")

        assert [asked[2] for asked in reranker.asked] == [0.35, 2.0]

    def test_a_reranker_that_uses_up_its_time_is_told_of(self, filled: System) -> None:
        class Slow(FakeReranker):
            def logits(self, query: str, texts: Sequence[str], *, timeout_s: float) -> list[float]:
                filled.clock.advance(timeout_s)
                raise RerankerUnavailable("too slow")

        with_reranker(filled, Slow())

        answer = outcome(filled, Budget(600, filled.clock), mode="hybrid_rerank")

        assert served(answer) == ("hybrid", "hybrid", "feature_unavailable")
        assert answer.timeout_stage == "rerank"

    def test_the_model_gets_no_more_time_than_leaves_some_for_words(self, filled: System) -> None:
        filled.embedder.takes_s = 1.0
        answer = outcome(filled, Budget(620, filled.clock), mode="hybrid")

        assert [call.timeout_s for call in filled.embedder.calls] == [0.5]
        assert served(answer) == ("lexical", "tantivy", "feature_unavailable")
        assert answer.timeout_stage == "vector"
        assert len(answer.response.results) == 2
        # It was the time, not the model: the next query asks it.
        assert served(outcome(filled, mode="hybrid")) == ("hybrid", "hybrid", None)

    @pytest.mark.parametrize("given_ms", [250, 200])
    def test_without_a_reranker_there_is_none_that_time_is_short_for(self, filled: System, given_ms: float) -> None:
        answer = outcome(filled, Budget(given_ms, FakeClock()), mode="hybrid_rerank")

        assert served(answer) == ("hybrid", "hybrid", "feature_unavailable")
        assert answer.timeout_stage is None
