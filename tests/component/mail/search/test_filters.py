"""The query's fields, on both lexical engines and in a listing (message-search, sections 2 and 5)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.time.timing import Stopwatch

from tests.builders import System, of_org
from tests.component.mail.search.conftest import MakeSystem

Where = dict[str, Any]


@pytest.fixture(params=["bm25", "postgres", "listing"])
def ask(request: pytest.FixtureRequest, system_with: MakeSystem) -> tuple[System, str]:
    """A system, and the text that finds everything in it."""
    system = system_with(search_engine="fts5" if request.param == "postgres" else None)
    return system, "" if request.param == "listing" else "water"


def found(ask: tuple[System, str], **where: Any) -> list[int]:
    system, text = ask
    return sorted(system.found_mail(text, **where))


class TestFilters:
    @pytest.fixture
    def ids(self, ask: tuple[System, str]) -> dict[str, int]:
        put = ask[0].store_message
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
        self, ask: tuple[System, str], ids: dict[str, int], where: Where, expected: str
    ) -> None:
        assert found(ask, **where) == [ids[name] for name in expected]

    def test_direction_without_an_agent_is_ignored(self, ask: tuple[System, str], ids: dict[str, int]) -> None:
        system, _ = ask

        assert len(system.found_mail("water", direction="inbox")) == 4
        assert system.explain_mail("", direction="inbox").method == "empty"

    def test_projects_and_products(self, ask: tuple[System, str], ids: dict[str, int]) -> None:
        system, _ = ask
        atlas, borealis = system.store_project("atlas"), system.store_project("borealis")
        both, none = system.store_product("both", atlas, borealis), system.store_product("none")

        assert found(ask, project_id=borealis) == [ids["d"]]
        assert found(ask, product_id=both) == sorted(ids.values())
        assert found(ask, product_id=none) == []
        assert found(ask, product_id=10**6) == found(ask, project_id=10**6) == []
        # project_id wins; the product is not applied
        assert found(ask, product_id=none, project_id=borealis) == [ids["d"]]
        assert system.explain_mail("water", product_id=none, project_id=borealis).facets_applied == ["project_id"]

    @pytest.mark.parametrize(
        "where",
        [
            {"importance": ["urgent"]}, {"agent_name": "Nobody", "direction": "outbox"}, {"thread_id": "no"},
            {"ack_required": True}, {"time_range": {"max_ts": -5}}, {"sender_name": "no"}, {"recipient_name": "no"},
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("kind", ["agent", "project"])
    def test_filters_of_messages_are_ignored_for_agents_and_projects(
        self, system: System, where: Where, kind: str
    ) -> None:
        system.store_agent("WaterWorks", description="water")
        system.store_project("water")

        assert len(system.found_mail("water", doc_kind=kind, **where)) == 1
        assert system.explain_mail("water", doc_kind=kind, **where).facets_applied == []
        assert system.explain_mail("", doc_kind=kind, **where).method == "empty"


class TestKinds:
    @pytest.mark.parametrize("setting", ["fts5", None])
    def test_each_kind_is_found_alone(self, system_with: MakeSystem, setting: str | None) -> None:
        system = system_with(search_engine=setting)
        project = system.store_project("water", name="Water works", description="pipes")
        agent = system.store_agent(
            "WaterLily", project, description="water the garden", contact="mailto:lily@example.test"
        )
        message = system.store_message("water", "x" * 500, project="water", thread_id="T")

        for kind, id_ in [("project", project), ("message", message)]:
            assert system.found_mail("water", doc_kind=kind) == [id_]
        assert system.found_mail("garden", doc_kind="agent") == [agent]
        [shown] = system.search_mail("garden", doc_kind="agent").results
        assert (shown.name, shown.contact, shown.description) == (
            "WaterLily", "mailto:lily@example.test", "water the garden",
        )  # fmt: skip
        assert shown.project_ids == [project]
        [shown] = system.search_mail("pipes", doc_kind="project").results
        assert (shown.key, shown.name) == ("water", "Water works")
        [shown] = system.search_mail("water").results
        assert (shown.subject, shown.project_id, shown.thread_id) == ("water", project, "T")
        assert (shown.sender, shown.to, shown.cc, shown.bcc) == ("BlueLake", ["RedFox"], [], [])
        assert shown.snippet == "x" * 280

    def test_a_contact_is_not_searched(self, system: System) -> None:
        system.store_agent("BlueLake", contact="mailto:lily@example.test")

        assert system.found_mail("lily", doc_kind="agent") == []


class TestText:
    def test_nothing_without_filters_is_empty(self, system: System) -> None:
        system.store_message("water")
        answer = system.search_mail(" \t\n ", explain=True)

        assert (answer.results, answer.engine) == ([], None)
        assert answer.explain is not None
        assert (answer.explain.method, answer.explain.facet_count) == ("empty", 0)

    @pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid", "hybrid_rerank"])
    def test_nothing_with_filters_lists(self, system: System, mode: str) -> None:
        ids = [system.store_message("water", created_ts=number // 2) for number in range(5)]
        answer = system.search_mail("", mode=mode, ack_required=False, explain=True)

        assert [result.id for result in answer.results] == ids
        assert {result.score for result in answer.results} == {1.0}
        assert (answer.engine, answer.mode) == ("fts5", "lexical")
        assert answer.explain is not None
        assert (answer.explain.method, answer.explain.mode_downgraded) == ("filter_only", False)
        assert system.mail_pages("", ack_required=False, limit=2) == [ids[:2], ids[2:4], ids[4:]]
        newest = [ids[at] for at in (4, 2, 3, 0, 1)]
        assert system.found_mail("", ack_required=False, ranking="recency") == newest
        pages = system.mail_pages("", ack_required=False, ranking="recency", limit=2)
        assert pages == [newest[:2], newest[2:4], newest[4:]]

    @pytest.mark.parametrize("setting", ["fts5", None])
    @pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
    @pytest.mark.parametrize("text", ["?!", "---", "AND", "OR NOT", "NEAR AND", "( ) * \" '", "%", "_", "\\", "🙂"])
    def test_text_that_no_engine_can_search_finds_nothing(
        self, system_with: MakeSystem, setting: str | None, mode: str, text: str
    ) -> None:
        system = system_with(search_engine=setting)
        system.store_message("AND OR NOT % _ \\ ?! 🙂", "near")

        for where in ({}, {"ack_required": False}):
            answer = system.search_mail(text, mode=mode, explain=True, **where)
            assert answer.results == []
            assert answer.explain is not None
            assert answer.explain.method == "text_match"

    @pytest.mark.parametrize("setting", ["fts5", None])
    def test_identifiers_with_hyphens_are_one_term(self, system_with: MakeSystem, setting: str | None) -> None:
        system = system_with(search_engine=setting)
        ticket = system.store_message("POL-358 is done")
        system.store_message("POL-359 and 358 are not", "pol")

        for text in ("POL-358", "pol-358", "(POL-358)", "about: POL-358!"):
            assert system.found_mail(text) == [ticket]

    @pytest.mark.parametrize("setting", ["fts5", None])
    def test_wild_cards_are_literal(self, system_with: MakeSystem, setting: str | None) -> None:
        system = system_with(search_engine=setting)
        system.store_message("water")

        assert system.found_mail("wat%") == system.found_mail("w_ter") == system.found_mail("wate*") == []

    def test_what_postgresql_refuses_falls_back_to_ilike_with_every_term(self, system_with: MakeSystem) -> None:
        """A word of more than 2,046 bytes is none that full text can look for."""
        system = system_with(search_engine="fts5")
        long = "x" * 3000
        whole = system.store_message("water", f"garden {long} %_\\")
        system.store_message("water", "garden")

        answer = system.search_mail(f"WATER {long}", explain=True)

        assert [result.id for result in answer.results] == [whole]
        assert answer.results[0].reason_codes == ["like_match"]
        assert answer.explain is not None
        assert (answer.explain.method, answer.explain.used_like_fallback) == ("like_fallback", True)
        assert (answer.explain.engine, answer.explain.downgrade_reason) == ("fts5", "invalid_query")
        assert system.found_mail(f"fire {long}") == []
        assert system.search_mail(f"water {long}", limit=1).next_cursor is not None

    def test_masked_secrets_are_not_found(self, system: System) -> None:
        system.store_message("water", "password=hunter2secret")

        assert system.found_mail("hunter2secret") == []
        assert len(system.found_mail("password")) == 1


class TestExplain:
    def test_the_facets_come_in_the_order_of_the_contract(self, system: System) -> None:
        explain = system.explain_mail(
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
    def test_what_asks_for_nothing_is_no_facet(self, system: System, where: Where) -> None:
        assert system.explain_mail("water", **where).facets_applied == []

    def test_sql_has_placeholders_only_and_is_for_operators(self, system_with: MakeSystem) -> None:
        system = system_with(search_engine="fts5")
        system.store_message("secretword")

        sql = system.explain_mail("secretword", thread_id="T-secret").sql
        assert ":query" in sql
        assert "secret" not in sql
        assert "ILIKE" in system.explain_mail("x" * 3000).sql
        assert system.explain_mail("", thread_id="T-secret").sql.count(":thread_id") == 1
        assert "ORDER BY d.id" in system.explain_mail("", thread_id="T-secret").sql
        newest = system.explain_mail("", thread_id="T-secret", ranking="recency").sql
        assert "ORDER BY d.created_ts DESC, d.id" in newest
        assert "secret" not in newest
        searcher = of_org(None, "search")  # type: ignore[arg-type]
        assert system.explain_mail("secretword", caller=searcher).sql == ""

    def test_only_stages_that_ran_are_timed(self, system: System) -> None:
        system.store_message("water")

        timing = system.explain_mail("water").timing
        assert timing is not None
        assert timing.lexical_us is not None
        assert timing.total_us >= timing.lexical_us
        assert (timing.vector_us, timing.fusion_us, timing.rerank_us) == (None, None, None)
        timing = system.explain_mail("water", mode="hybrid").timing
        assert timing is not None
        assert None not in (timing.lexical_us, timing.vector_us, timing.fusion_us)

    def test_times_are_for_operators(self, system: System) -> None:
        """They would tell how many hidden messages have a word."""
        system.store_message("water")
        searcher = of_org(None, "search")  # type: ignore[arg-type]

        for request in ({"text": "water"}, {"text": ""}, {"text": "?"}, {"text": "water", "mode": "hybrid"}):
            assert system.explain_mail(**request, caller=searcher).timing is None
            assert system.explain_mail(**request).timing is not None

    @pytest.mark.parametrize(
        "request_", [{"text": "water"}, {"text": "water", "mode": "hybrid"}, {"importance": ["low"]}]
    )
    def test_counting_what_the_scope_leaves_out_is_its_own_time(
        self, system: System, monkeypatch: pytest.MonkeyPatch, request_: Where
    ) -> None:
        system.store_message("water", importance="low")
        system.explain_mail(**request_)
        asked: list[str] = []
        timed = Stopwatch.stage

        def noted(watch: Stopwatch, name: str) -> AbstractContextManager[None]:
            asked.append(name)
            return timed(watch, name)

        monkeypatch.setattr(Stopwatch, "stage", noted)

        system.explain_mail(**request_)
        stages = [name for name in asked if name != "scope"]
        asked.clear()
        explain = system.explain_mail(**request_, scope={"project_set": {"allowed_project_ids": [10**9]}})

        assert explain.denied_count == 1
        assert [name for name in asked if name != "scope"] == stages
        assert asked.count("scope") > 2

    def test_without_explain_nothing_is_explained(self, system: System) -> None:
        system.store_message("water")
        answer = system.search_mail("water")

        assert answer.explain is None
        [result] = answer.results
        assert (result.raw_score, result.reason_codes, result.score_factors) == (None, None, None)
        [result] = system.search_mail("water", explain=True).results
        assert result.reason_codes == ["lexical_match"]
        assert result.score_factors == {"score": 1.0, "raw_score": result.raw_score, "lexical_rank": 1.0}

    def test_a_result_that_is_deleted_while_the_page_is_made_is_left_out(self, system: System) -> None:
        ids = [system.store_message("water") for _ in range(3)]
        system.index.count  # noqa: B018 (made, so that the only read is that of the page)
        system.found_mail("water", caller=LAPTOP)
        system.database.before_read = lambda: system.delete_messages(ids[0])

        answer = system.search_mail("water", limit=2)

        assert [result.id for result in answer.results] == [ids[1]]
        assert answer.next_cursor is not None
        system.database.before_read = lambda: None
        assert system.found_mail("water", cursor=answer.next_cursor) == [ids[2]]
