"""Section 7 of message-search: the two tools over a real message search."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.errors.model import DatabaseUnavailable, IndexUnavailable, InvalidInput
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.tools.schemas import SEARCH_MESSAGES_ANSWER, SEARCH_MESSAGES_PRODUCT_ANSWER

from tests.builders import System, of_org
from tests.doubles import FakeClock
from tests.worlds.mail_search import agent

DAY = 86_400_000_000


class Tools:
    """The two tools over a system; every answer is what its schema says."""

    def __init__(self, system: System) -> None:
        self._tools = system.parts.messages.tools

    def search(self, query: str = "approval", *, caller: Caller = LAPTOP, **arguments: Any) -> dict[str, Any]:
        budget = arguments.pop("budget", None)
        answer = self._tools.search_messages({"project_key": "atlas", "query": query, **arguments}, caller, budget)
        Draft202012Validator(SEARCH_MESSAGES_ANSWER).validate(answer)
        return answer

    def search_product(self, query: str = "approval", *, caller: Caller = LAPTOP, **arguments: Any) -> dict[str, Any]:
        answer = self._tools.search_messages_product({"product_key": "suite", "query": query, **arguments}, caller)
        Draft202012Validator(SEARCH_MESSAGES_PRODUCT_ANSWER).validate(answer)
        return answer

    def found(self, query: str = "approval", **arguments: Any) -> list[int]:
        return [each["id"] for each in self.search(query, **arguments)["result"]]

    def found_in_product(self, query: str = "approval", **arguments: Any) -> list[int]:
        return [each["id"] for each in self.search_product(query, **arguments)["result"]]


@pytest.fixture
def tools(system: System) -> Tools:
    return Tools(system)


class TestAnswer:
    def test_a_result_has_the_contracts_fields(self, system: System, tools: Tools) -> None:
        id_ = system.store_message(
            "approval", "waits", thread_id="T-1", importance="high", ack_required=True, created_ts=5 * DAY
        )
        assert tools.search() == {
            "result": [
                {
                    "id": id_,
                    "subject": "approval",
                    "importance": "high",
                    "ack_required": True,
                    "created_ts": 5 * DAY,
                    "thread_id": "T-1",
                    "from": "BlueLake",
                    "snippet": "waits",
                }
            ]
        }

    def test_a_snippet_is_around_the_word_that_was_found_and_has_no_secret(self, system: System, tools: Tools) -> None:
        body = f"Hello. {'and so on ' * 100}the approval came, password=hunter2 is the key. {'and so on ' * 100}"
        system.store_message("status", body)
        [result] = tools.search()["result"]
        assert "the approval came, password=" in result["snippet"]
        assert "hunter2" not in result["snippet"]
        system.mail_id("product", key="suite", name="Suite", projects=["atlas"])
        of_product = tools.search_product(product_key="suite")["result"]
        assert of_product[0]["snippet"] == result["snippet"]

    def test_what_has_no_value_is_absent(self, system: System, tools: Tools) -> None:
        system.store_message("approval")
        [result] = tools.search()["result"]
        assert "thread_id" not in result

    def test_with_explain_it_says_why(self, system: System, tools: Tools) -> None:
        system.store_message("approval")
        answer = tools.search(explain=True)
        [result] = answer["result"]
        assert result["reason_codes"] == ["lexical_match"]
        assert result["score_factors"]["score"] == 1.0
        assert answer["explain"]["method"] == "text_match"
        assert answer["explain"]["facets_applied"] == ["project_id"]

    def test_the_products_has_the_project_of_each_and_no_guidance(self, system: System, tools: Tools) -> None:
        atlas, borealis = system.store_project("atlas"), system.store_project("borealis")
        system.store_product("suite", atlas, borealis)
        one, other = system.store_message("approval"), system.store_message("approval", project="borealis")
        answer = tools.search_product()
        assert {(each["id"], each["project_id"]) for each in answer["result"]} == {(one, atlas), (other, borealis)}
        assert list(answer) == ["result"]
        assert tools.search_product("nothing of the kind") == {"result": []}

    def test_other_projects_are_not_searched(self, system: System, tools: Tools) -> None:
        system.store_product("suite", system.store_project("atlas"), system.store_project("borealis"))
        one = system.store_message("approval")
        two = system.store_message("approval", project="borealis")
        system.store_message("approval", project="cygnus")
        assert tools.found() == [one]
        assert tools.found(project_key="borealis") == [two]
        assert tools.found_in_product() == [one, two]
        assert tools.found_in_product(project="borealis") == [two]
        assert tools.found_in_product(proj="atlas") == [one]


class TestArguments:
    def test_each_filter_filters(self, system: System, tools: Tools) -> None:
        one = system.store_message("approval one", sender="RedFox", importance="urgent", thread_id="T-1", created_ts=0)
        two = system.store_message("approval two", sender="BlueLake", created_ts=DAY - 1)
        three = system.store_message("approval three", sender="BlueLake", importance="high", created_ts=DAY)
        everything = {one, two, three}
        assert set(tools.found()) == everything
        assert tools.found(sender="redfox") == [one]
        assert set(tools.found(from_agent="BLUELAKE")) == {two, three}
        assert set(tools.found(importance="Urgent, high")) == {one, three}
        assert tools.found(thread_id="T-1") == [one]
        assert set(tools.found(until="1970-01-01")) == {one, two}, "the last microsecond of the day is in it"
        assert tools.found(since="1970-01-02") == [three]
        assert tools.found(after="1970-01-01T23:59:59.999999", before="1970-01-01T23:59:59.999999Z") == [two]
        assert tools.found(date_start="1970-01-03", date_end="1970-01-01") == []

    def test_recency_is_the_newest_first(self, system: System, tools: Tools) -> None:
        ids = [system.store_message("approval", created_ts=ts) for ts in (2, 3, 1)]
        assert tools.found(ranking="recency") == [ids[1], ids[0], ids[2]]

    def test_offset_and_limit_are_a_page(self, system: System, tools: Tools) -> None:
        ids = [system.store_message("approval", created_ts=ts) for ts in range(30)]
        assert tools.found() == ids[:20]
        assert tools.found(limit=0) == ids[:20]
        assert tools.found(limit=7, offset=20) == ids[20:27]
        assert tools.found(offset=29) == ids[29:]
        assert tools.found(offset=1_000_000_000) == []

    def test_cursors_lead_through_everything_and_set_the_offset_to_0(self, system: System, tools: Tools) -> None:
        system.store_product("suite", system.store_project("atlas"))
        ids = [system.store_message("approval") for _ in range(10)]
        for search in (tools.search, tools.search_product):
            pages, cursor = [], None
            while True:
                offset = {"offset": 5} if cursor and search == tools.search else {}
                answer = search(limit=3, cursor=cursor, **offset)
                pages.append([each["id"] for each in answer["result"]])
                cursor = answer.get("next_cursor")
                if cursor is None:
                    break
            assert pages == [ids[0:3], ids[3:6], ids[6:9], ids[9:]]

    def test_a_malformed_cursor_is_page_1(self, system: System, tools: Tools) -> None:
        ids = [system.store_message("approval") for _ in range(3)]
        assert tools.found(cursor="s0:i1") == ids

    @pytest.mark.parametrize("query", ["", "   ", "\n\t"])
    def test_a_blank_query_finds_nothing_without_looking(self, system: System, tools: Tools, query: str) -> None:
        system.database.down = system.feed.down = True
        assert tools.search(query) == {"result": []}
        assert tools.search(query, sender="RedFox", explain=True) == {"result": []}
        assert tools.search_product(query) == {"result": []}

    def test_but_its_arguments_are_judged(self, tools: Tools) -> None:
        with pytest.raises(InvalidInput, match=r"^ranking: "):
            tools.search("", ranking="newest")

    def test_text_that_no_engine_can_search_finds_nothing(self, system: System, tools: Tools) -> None:
        system.store_message("approval")
        assert tools.found("?!") == tools.found("AND OR") == []

    @pytest.mark.parametrize("tool", ["search", "search_product"])
    def test_with_the_database_down_it_is_told(self, system: System, tools: Tools, tool: str) -> None:
        system.database.down = True
        with pytest.raises(DatabaseUnavailable):
            getattr(tools, tool)()


class TestPlaces:
    def refused(self, tools: Tools, tool: str = "search", **arguments: Any) -> str:
        with pytest.raises(InvalidInput) as refused:
            getattr(tools, tool)(**arguments)
        return str(refused.value)

    def test_an_unknown_project_names_those_that_there_are(self, system: System, tools: Tools) -> None:
        system.store_project("borealis")
        system.store_project("atlas")
        assert self.refused(tools, project_key="atlantis") == (
            "project_key: is not the key of a project that you may see; allowed are atlas, borealis"
        )

    def test_without_any_it_says_so(self, tools: Tools) -> None:
        assert self.refused(tools) == "project_key: is not the key of a project that you may see; there is none"
        said = self.refused(tools, "search_product")
        assert said == "product_key: is not the key of a product that you may see; there is none"

    def test_of_many_twenty_are_named(self, system: System, tools: Tools) -> None:
        for number in range(25):
            system.store_project(f"p{number:02}")
        said = self.refused(tools)
        assert said.endswith("p18, p19 and 5 more")
        assert "p20" not in said

    def test_an_unknown_product_names_those_that_there_are(self, system: System, tools: Tools) -> None:
        system.store_product("suite")
        assert self.refused(tools, "search_product", product_key="sweet") == (
            "product_key: is not the key of a product that you may see; allowed are suite"
        )

    def test_a_project_that_is_not_the_products_is_unknown(self, system: System, tools: Tools) -> None:
        system.store_product("suite", system.store_project("atlas"))
        system.store_project("borealis")
        said = [self.refused(tools, "search_product", project=key) for key in ("borealis", "nowhere")]
        assert said == ["project: is not the key of a project of suite that you may see; allowed are atlas"] * 2

    def test_unknown_and_forbidden_are_alike(self, system: System, tools: Tools) -> None:
        # GIVEN two projects and two products, of which BlueLake sees one each
        atlas, secret = system.store_project("atlas"), system.store_project("secret")
        system.store_agent("BlueLake", atlas)
        system.store_product("suite", atlas, secret)
        system.store_product("hidden", secret)
        system.store_message("approval")
        system.store_message("approval", project="secret")
        lake = agent("BlueLake")
        # THEN what it may not see is what there is not
        may_see = "that you may see; allowed are"
        asked = {
            "project_key": ("search", "atlas", f"is not the key of a project {may_see} atlas"),
            "product_key": ("search_product", "suite", f"is not the key of a product {may_see} suite"),
            "project": ("search_product", "atlas", f"is not the key of a project of suite {may_see} atlas"),
        }
        for field, (tool, _, said) in asked.items():
            for key in ("hidden", "secret", "nowhere"):
                assert self.refused(tools, tool, caller=lake, **{field: key}) == f"{field}: {said}"
        assert len(tools.found(caller=lake)) == len(tools.found_in_product(caller=lake)) == 1
        assert len(tools.found_in_product()) == 2

    def test_whoever_speaks_for_no_agent_sees_no_project(self, system: System, tools: Tools) -> None:
        system.store_project("atlas")
        nobody = Caller(scopes=frozenset({Scope.SEARCH}))
        said = self.refused(tools, caller=nobody)
        assert said == "project_key: is not the key of a project that you may see; there is none"

    @pytest.mark.parametrize("first", [None, "acme"])
    def test_the_own_organisations_goes_before_the_global_one(
        self, system: System, tools: Tools, first: str | None
    ) -> None:
        # GIVEN a project and a product of the same keys twice, in either order of making
        ids = {}
        for org in sorted([None, "acme"], key=lambda org: org != first):
            system.store_product("suite", system.store_project("atlas", org=org), org=org)
            ids[org] = system.store_message("approval", org=org)
        # THEN each finds its own
        acme = of_org("acme")
        assert tools.found(caller=acme) == tools.found_in_product(caller=acme) == [ids["acme"]]
        assert tools.found_in_product(caller=acme, project="atlas") == [ids["acme"]]
        assert tools.found() == tools.found(caller=of_org("other")) == tools.found_in_product() == [ids[None]]

    def test_of_a_global_product_the_own_project_is_meant_first(self, system: System, tools: Tools) -> None:
        both = system.store_project("atlas"), system.store_project("atlas", org="acme")
        system.store_product("suite", *both)
        common, own = system.store_message("approval"), system.store_message("approval", org="acme")
        assert tools.found_in_product(caller=of_org("acme")) == [common, own]
        assert tools.found_in_product(caller=of_org("acme"), project="atlas") == [own]
        assert tools.found_in_product(project="atlas") == [common]


class TestAssistance:
    def test_hints_change_no_result(self, system: System, tools: Tools) -> None:
        system.store_product("suite", system.store_project("atlas"))
        system.store_message("approval", sender="RedFox")
        lake = system.store_message("approval of BlueLake", sender="BlueLake")
        for search in (tools.search, tools.search_product):
            answer = search("approval from:BlueLake form:RedFox")
            assert answer["assistance"] == {
                "applied_filter_hints": [{"field": "from", "value": "BlueLake"}],
                "did_you_mean": [{"given": "form", "suggestion": "from"}],
            }
            assert len(answer["result"]) == 2
            assert answer["result"][0]["id"] == lake, "the hint's words are words"

    def test_without_hints_there_is_none(self, system: System, tools: Tools) -> None:
        system.store_message("approval")
        assert "assistance" not in tools.search()


class TestGuidance:
    def test_only_where_nothing_was_found(self, system: System, tools: Tools) -> None:
        system.store_message("approval", sender="RedFox")
        assert "guidance" not in tools.search(sender="RedFox")
        [suggestion] = tools.search(sender="Nobody")["guidance"]["suggestions"]
        assert (suggestion["filter"], suggestion["action"]) == ("sender", "drop")

    def test_without_filters_it_is_about_the_query(self, system: System, tools: Tools) -> None:
        system.store_project("atlas")
        [suggestion] = tools.search()["guidance"]["suggestions"]
        assert suggestion["action"] == "simplify"

    def test_the_end_of_the_pages_is_not_in_vain(self, system: System, tools: Tools) -> None:
        system.store_message("approval")
        cursor = tools.search(limit=1)["next_cursor"]
        assert tools.search(limit=1, cursor=cursor) == {"result": []}


class TestDiagnostics:
    def test_in_full_health_there_is_none(self, system: System, tools: Tools) -> None:
        system.store_message("approval")
        assert "diagnostics" not in tools.search(mode="hybrid")

    def test_trouble_in_an_engine_is_told_and_no_error(self, system: System, tools: Tools) -> None:
        system.store_product("suite", system.store_project("atlas"))
        id_ = system.store_message("approval")
        system.index.fail(MAIL_DOCUMENTS, IndexUnavailable("the disk is full"))
        for search in (tools.search, tools.search_product):
            answer = search()
            assert [each["id"] for each in answer["result"]] == [id_]
            told = answer["diagnostics"]
            assert (told["degraded"], told["fallback_mode"]) == (True, "lexical")
            assert (told["search_index_state"], told["budget_tier"]) == ("failed", "full")
            assert "disk" not in str(answer), "what went wrong is for the log"

    def test_without_the_model_the_rest_is_served(self, system: System, tools: Tools) -> None:
        system.store_message("approval")
        system.embedder.away = True
        told = tools.search(mode="hybrid")["diagnostics"]
        assert (told["fallback_mode"], told["search_index_state"]) == ("lexical", "ready")
        assert "embedding model" in told["remediation_hints"][0]

    @pytest.mark.parametrize(
        ("left_ms", "fallback", "stage", "tier"),
        [
            (10_000.0, "hybrid", None, "full"),
            (250.5, "hybrid", None, "full"),
            (250.0, "hybrid", None, "no_rerank"),  # there is no reranker to be short of time for
            (121.0, "hybrid", None, "no_rerank"),
            (120.0, "lexical", "vector", "lexical_only"),
            (0.0, "lexical", "vector", "lexical_only"),
        ],
    )
    def test_with_little_time_less_is_served(
        self, system: System, tools: Tools, left_ms: float, fallback: str, stage: str | None, tier: str
    ) -> None:
        id_ = system.store_message("approval")
        tools.search()  # the index is there
        answer = tools.search(mode="hybrid_rerank", budget=Budget(left_ms, clock=FakeClock()))
        told = answer["diagnostics"]
        assert [each["id"] for each in answer["result"]] == [id_]
        assert (told["fallback_mode"], told.get("timeout_stage"), told["budget_tier"]) == (fallback, stage, tier)
        assert told["budget_remaining_ms"] == round(left_ms)
