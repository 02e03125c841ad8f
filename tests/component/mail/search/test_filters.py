"""The query's fields, on both lexical engines and in a listing (message-search, sections 2 and 5)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.time.timing import Stopwatch

from tests.builders import of_org
from tests.component.mail.search.conftest import MakeMailbox
from tests.component.mail.search.mailbox import Mailbox

Where = dict[str, Any]


@pytest.fixture(params=["bm25", "postgres", "listing"])
def ask(request: pytest.FixtureRequest, mailbox_with: MakeMailbox) -> tuple[Mailbox, str]:
    """A mailbox, and the text that finds everything in it."""
    mailbox = mailbox_with(search_engine="fts5" if request.param == "postgres" else None)
    return mailbox, "" if request.param == "listing" else "water"


def found(ask: tuple[Mailbox, str], **where: Any) -> list[int]:
    mailbox, text = ask
    return sorted(mailbox.found(text, **where))


class TestFilters:
    @pytest.fixture
    def ids(self, ask: tuple[Mailbox, str]) -> dict[str, int]:
        put = ask[0].message
        return {
            "a": put("water", sender="BlueLake", to=["RedFox"], importance="high", thread_id="T-1", created_ts=100),
            "b": put("water", sender="RedFox", to=["BlueLake"], cc=["GreenHill"], created_ts=200, ack_required=True),
            "c": put("water", sender="GreenHill", to=["RedFox"], bcc=["BlueLake"], created_ts=300, importance="low"),
            "d": put("water", project="borealis", sender="GreyOwl", to=["RedFox"], created_ts=400, thread_id="T-2"),
        }

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({"importance": ["high"]}, "a"),
            ({"importance": ["high", "low"]}, "ac"),
            ({"importance": ["urgent"]}, ""),
            ({"sender_name": "BlueLake"}, "a"),
            ({"sender_name": " bluelake "}, "a"),
            ({"sender_name": "Nobody"}, ""),
            ({"recipient_name": "REDFOX"}, "acd"),
            ({"recipient_name": "GreenHill"}, "b"),
            ({"recipient_name": "BlueLake"}, "bc"),
            ({"agent_name": "BlueLake"}, "abc"),
            ({"agent_name": "BlueLake", "direction": "outbox"}, "a"),
            ({"agent_name": "BlueLake", "direction": "inbox"}, "bc"),
            ({"agent_name": "GreenHill", "direction": "inbox"}, "b"),
            ({"agent_name": "BlueLake", "direction": "inbox", "recipient_name": "GreenHill"}, "b"),
            ({"agent_name": "BlueLake", "direction": "inbox", "recipient_name": "bluelake"}, "bc"),
            ({"agent_name": "BlueLake", "direction": "outbox", "sender_name": "BLUELAKE"}, "a"),
            ({"agent_name": "BlueLake", "direction": "outbox", "sender_name": "RedFox"}, ""),
            ({"agent_name": "BlueLake", "sender_name": "RedFox"}, "b"),
            ({"thread_id": "T-1"}, "a"),
            ({"thread_id": "t-1"}, ""),
            ({"ack_required": True}, "b"),
            ({"ack_required": False}, "acd"),
            ({"time_range": {"min_ts": 200, "max_ts": 300}}, "bc"),
            ({"time_range": {"min_ts": 201}}, "cd"),
            ({"time_range": {"max_ts": 199}}, "a"),
            ({"time_range": {"min_ts": 300, "max_ts": 200}}, ""),
            ({"importance": ["high", "low"], "recipient_name": "RedFox", "time_range": {"min_ts": 150}}, "c"),
        ],
    )
    def test_all_filters_must_hold(
        self, ask: tuple[Mailbox, str], ids: dict[str, int], where: Where, expected: str
    ) -> None:
        assert found(ask, **where) == [ids[name] for name in expected]

    def test_direction_without_an_agent_is_ignored(self, ask: tuple[Mailbox, str], ids: dict[str, int]) -> None:
        mailbox, _ = ask

        assert len(mailbox.found("water", direction="inbox")) == 4
        assert mailbox.explain("", direction="inbox").method == "empty"

    def test_projects_and_products(self, ask: tuple[Mailbox, str], ids: dict[str, int]) -> None:
        mailbox, _ = ask
        atlas, borealis = mailbox.project("atlas"), mailbox.project("borealis")
        both, none = mailbox.product("both", atlas, borealis), mailbox.product("none")

        assert found(ask, project_id=borealis) == [ids["d"]]
        assert found(ask, product_id=both) == sorted(ids.values())
        assert found(ask, product_id=none) == []
        assert found(ask, product_id=10**6) == found(ask, project_id=10**6) == []
        # project_id wins; the product is not applied
        assert found(ask, product_id=none, project_id=borealis) == [ids["d"]]
        assert mailbox.explain("water", product_id=none, project_id=borealis).facets_applied == ["project_id"]

    @pytest.mark.parametrize(
        "where",
        [
            {"importance": ["urgent"]}, {"agent_name": "Nobody", "direction": "outbox"}, {"thread_id": "no"},
            {"ack_required": True}, {"time_range": {"max_ts": -5}}, {"sender_name": "no"}, {"recipient_name": "no"},
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("kind", ["agent", "project"])
    def test_filters_of_messages_are_ignored_for_agents_and_projects(
        self, mailbox: Mailbox, where: Where, kind: str
    ) -> None:
        mailbox.agent("WaterWorks", description="water")
        mailbox.project("water")

        assert len(mailbox.found("water", doc_kind=kind, **where)) == 1
        assert mailbox.explain("water", doc_kind=kind, **where).facets_applied == []
        assert mailbox.explain("", doc_kind=kind, **where).method == "empty"


class TestKinds:
    @pytest.mark.parametrize("setting", ["fts5", None])
    def test_each_kind_is_found_alone(self, mailbox_with: MakeMailbox, setting: str | None) -> None:
        mailbox = mailbox_with(search_engine=setting)
        project = mailbox.project("water", name="Water works", description="pipes")
        agent = mailbox.agent("WaterLily", project, description="water the garden", contact="mailto:lily@example.test")
        message = mailbox.message("water", "x" * 500, project="water", thread_id="T")

        for kind, id_ in [("project", project), ("message", message)]:
            assert mailbox.found("water", doc_kind=kind) == [id_]
        assert mailbox.found("garden", doc_kind="agent") == [agent]
        [shown] = mailbox.search("garden", doc_kind="agent").results
        assert (shown.name, shown.contact, shown.description) == (
            "WaterLily", "mailto:lily@example.test", "water the garden",
        )  # fmt: skip
        assert shown.project_ids == [project]
        [shown] = mailbox.search("pipes", doc_kind="project").results
        assert (shown.key, shown.name) == ("water", "Water works")
        [shown] = mailbox.search("water").results
        assert (shown.subject, shown.project_id, shown.thread_id) == ("water", project, "T")
        assert (shown.sender, shown.to, shown.cc, shown.bcc) == ("BlueLake", ["RedFox"], [], [])
        assert shown.snippet == "x" * 280

    def test_a_contact_is_not_searched(self, mailbox: Mailbox) -> None:
        mailbox.agent("BlueLake", contact="mailto:lily@example.test")

        assert mailbox.found("lily", doc_kind="agent") == []


class TestText:
    def test_nothing_without_filters_is_empty(self, mailbox: Mailbox) -> None:
        mailbox.message("water")
        answer = mailbox.search(" \t\n ", explain=True)

        assert (answer.results, answer.engine) == ([], None)
        assert answer.explain is not None
        assert (answer.explain.method, answer.explain.facet_count) == ("empty", 0)

    @pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid", "hybrid_rerank"])
    def test_nothing_with_filters_lists(self, mailbox: Mailbox, mode: str) -> None:
        ids = [mailbox.message("water", created_ts=number // 2) for number in range(5)]
        answer = mailbox.search("", mode=mode, ack_required=False, explain=True)

        assert [result.id for result in answer.results] == ids
        assert {result.score for result in answer.results} == {1.0}
        assert (answer.engine, answer.mode) == ("fts5", "lexical")
        assert answer.explain is not None
        assert (answer.explain.method, answer.explain.mode_downgraded) == ("filter_only", False)
        assert mailbox.pages("", ack_required=False, limit=2) == [ids[:2], ids[2:4], ids[4:]]
        newest = [ids[at] for at in (4, 2, 3, 0, 1)]
        assert mailbox.found("", ack_required=False, ranking="recency") == newest
        pages = mailbox.pages("", ack_required=False, ranking="recency", limit=2)
        assert pages == [newest[:2], newest[2:4], newest[4:]]

    @pytest.mark.parametrize("setting", ["fts5", None])
    @pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
    @pytest.mark.parametrize("text", ["?!", "---", "AND", "OR NOT", "NEAR AND", "( ) * \" '", "%", "_", "\\", "🙂"])
    def test_text_that_no_engine_can_search_finds_nothing(
        self, mailbox_with: MakeMailbox, setting: str | None, mode: str, text: str
    ) -> None:
        mailbox = mailbox_with(search_engine=setting)
        mailbox.message("AND OR NOT % _ \\ ?! 🙂", "near")

        for where in ({}, {"ack_required": False}):
            answer = mailbox.search(text, mode=mode, explain=True, **where)
            assert answer.results == []
            assert answer.explain is not None
            assert answer.explain.method == "text_match"

    @pytest.mark.parametrize("setting", ["fts5", None])
    def test_identifiers_with_hyphens_are_one_term(self, mailbox_with: MakeMailbox, setting: str | None) -> None:
        mailbox = mailbox_with(search_engine=setting)
        ticket = mailbox.message("POL-358 is done")
        mailbox.message("POL-359 and 358 are not", "pol")

        for text in ("POL-358", "pol-358", "(POL-358)", "about: POL-358!"):
            assert mailbox.found(text) == [ticket]

    @pytest.mark.parametrize("setting", ["fts5", None])
    def test_wild_cards_are_literal(self, mailbox_with: MakeMailbox, setting: str | None) -> None:
        mailbox = mailbox_with(search_engine=setting)
        mailbox.message("water")

        assert mailbox.found("wat%") == mailbox.found("w_ter") == mailbox.found("wate*") == []

    def test_what_postgresql_refuses_falls_back_to_ilike_with_every_term(self, mailbox_with: MakeMailbox) -> None:
        """A word of more than 2,046 bytes is none that full text can look for."""
        mailbox = mailbox_with(search_engine="fts5")
        long = "x" * 3000
        whole = mailbox.message("water", f"garden {long} %_\\")
        mailbox.message("water", "garden")

        answer = mailbox.search(f"WATER {long}", explain=True)

        assert [result.id for result in answer.results] == [whole]
        assert answer.results[0].reason_codes == ["like_match"]
        assert answer.explain is not None
        assert (answer.explain.method, answer.explain.used_like_fallback) == ("like_fallback", True)
        assert (answer.explain.engine, answer.explain.downgrade_reason) == ("fts5", "invalid_query")
        assert mailbox.found(f"fire {long}") == []
        assert mailbox.search(f"water {long}", limit=1).next_cursor is not None

    def test_masked_secrets_are_not_found(self, mailbox: Mailbox) -> None:
        mailbox.message("water", "password=hunter2secret")

        assert mailbox.found("hunter2secret") == []
        assert len(mailbox.found("password")) == 1


class TestExplain:
    def test_the_facets_come_in_the_order_of_the_contract(self, mailbox: Mailbox) -> None:
        explain = mailbox.explain(
            "water",
            time_range={"min_ts": 1},
            ack_required=False,
            thread_id="T",
            recipient_name="A",
            sender_name="B",
            agent_name="C",
            direction="inbox",
            importance=["low"],
            product_id=1,
        )

        assert explain.facets_applied == [
            "product_id", "importance", "direction", "agent_name", "sender_name", "recipient_name", "thread_id",
            "ack_required", "time_range",
        ]  # fmt: skip
        assert explain.facet_count == 9

    @pytest.mark.parametrize("where", [{"importance": []}, {"time_range": {}}])
    def test_what_asks_for_nothing_is_no_facet(self, mailbox: Mailbox, where: Where) -> None:
        assert mailbox.explain("water", **where).facets_applied == []

    def test_sql_has_placeholders_only_and_is_for_operators(self, mailbox_with: MakeMailbox) -> None:
        mailbox = mailbox_with(search_engine="fts5")
        mailbox.message("secretword")

        sql = mailbox.explain("secretword", thread_id="T-secret").sql
        assert ":query" in sql
        assert "secret" not in sql
        assert "ILIKE" in mailbox.explain("x" * 3000).sql
        assert mailbox.explain("", thread_id="T-secret").sql.count(":thread_id") == 1
        assert "ORDER BY d.id" in mailbox.explain("", thread_id="T-secret").sql
        newest = mailbox.explain("", thread_id="T-secret", ranking="recency").sql
        assert "ORDER BY d.created_ts DESC, d.id" in newest
        assert "secret" not in newest
        searcher = of_org(None, "search")  # type: ignore[arg-type]
        assert mailbox.explain("secretword", caller=searcher).sql == ""

    def test_only_stages_that_ran_are_timed(self, mailbox: Mailbox) -> None:
        mailbox.message("water")

        timing = mailbox.explain("water").timing
        assert timing is not None
        assert timing.lexical_us is not None
        assert timing.total_us >= timing.lexical_us
        assert (timing.vector_us, timing.fusion_us, timing.rerank_us) == (None, None, None)
        timing = mailbox.explain("water", mode="hybrid").timing
        assert timing is not None
        assert None not in (timing.lexical_us, timing.vector_us, timing.fusion_us)

    def test_times_are_for_operators(self, mailbox: Mailbox) -> None:
        """They would tell how many hidden messages have a word."""
        mailbox.message("water")
        searcher = of_org(None, "search")  # type: ignore[arg-type]

        for request in ({"text": "water"}, {"text": ""}, {"text": "?"}, {"text": "water", "mode": "hybrid"}):
            assert mailbox.explain(**request, caller=searcher).timing is None
            assert mailbox.explain(**request).timing is not None

    @pytest.mark.parametrize(
        "request_", [{"text": "water"}, {"text": "water", "mode": "hybrid"}, {"importance": ["low"]}]
    )
    def test_counting_what_the_scope_leaves_out_is_its_own_time(
        self, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch, request_: Where
    ) -> None:
        mailbox.message("water", importance="low")
        mailbox.explain(**request_)
        asked: list[str] = []
        timed = Stopwatch.stage

        def noted(watch: Stopwatch, name: str) -> AbstractContextManager[None]:
            asked.append(name)
            return timed(watch, name)

        monkeypatch.setattr(Stopwatch, "stage", noted)

        mailbox.explain(**request_)
        stages = [name for name in asked if name != "scope"]
        asked.clear()
        explain = mailbox.explain(**request_, scope={"project_set": {"allowed_project_ids": [10**9]}})

        assert explain.denied_count == 1
        assert [name for name in asked if name != "scope"] == stages
        assert asked.count("scope") > 2

    def test_without_explain_nothing_is_explained(self, mailbox: Mailbox) -> None:
        mailbox.message("water")
        answer = mailbox.search("water")

        assert answer.explain is None
        [result] = answer.results
        assert (result.raw_score, result.reason_codes, result.score_factors) == (None, None, None)
        [result] = mailbox.search("water", explain=True).results
        assert result.reason_codes == ["lexical_match"]
        assert result.score_factors == {"score": 1.0, "raw_score": result.raw_score, "lexical_rank": 1.0}

    def test_a_result_that_is_deleted_while_the_page_is_made_is_left_out(self, mailbox: Mailbox) -> None:
        ids = [mailbox.message("water") for _ in range(3)]
        mailbox.system.index.count  # noqa: B018 (made, so that the only read is that of the page)
        mailbox.found("water", caller=LAPTOP)
        mailbox.system.database.before_read = lambda: mailbox.delete(ids[0])

        answer = mailbox.search("water", limit=2)

        assert [result.id for result in answer.results] == [ids[1]]
        assert answer.next_cursor is not None
        mailbox.system.database.before_read = lambda: None
        assert mailbox.found("water", cursor=answer.next_cursor) == [ids[2]]
