"""Each rule, on shapes that real catalogues have."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from skillroute_local.doctor import Asked, Catalogue, Code, Finding, Skill, Tool, diagnose

_ids = itertools.count(1)

# fmt: off
SAY_NOTHING = [
    "search", "fetch", "query", "run", "get", "get_data", "query_data", "getInfo", "list-all-items", "execute_tool",
    "tool_7", "fn12", "x", "q2", "7", "0f9c3a77b1de",
]
SAY_SOMETHING = [
    "bing_search", "search_papers", "read_file", "send_mail", "create_task", "read_query", "check_in", "think", "mfcc",
    "delete_resource", "get_object_info", "create_function", "calculate", "test", "az511", "mca", "获取数据",
]
# fmt: on

ZPA = "Delete a ZPA {} (destructive operation)"
SLIDES = """{}

!!! How to replace what a slide shows. 1. Full replacement, which is the most reliable: delete the old slide, insert
an empty one in the same position, insert the new SVG there. 2. A fresh file, for several pages: create another
presentation and insert every SVG in order, without confusion by earlier content. 3. Notes: an SVG on an existing slide
is laid over the existing content; file names may become very long after repeated operations."""


def tool(title: str, description: str = "Draws a map of a coast.", **fields: Any) -> Tool:
    server, _, name = title.rpartition("/")
    return Tool(next(_ids), server, name, description=description, **{"skill_ids": ("maps",), **fields})


def found(
    code: Code, tools: Iterable[Tool], skills: Iterable[Skill] = (), asked: dict[int, Asked] | None = None
) -> list[Finding]:
    """Return the findings of one code; there is a skill that all tools are in, unless skills are given."""
    catalogue = Catalogue(tuple(tools), tuple(skills) or (Skill("maps", "Maps"),), asked or {})
    return [finding for finding in diagnose(catalogue) if finding.code is code]


def names(findings: Iterable[Finding]) -> list[list[str]]:
    return [[concerned.title for concerned in finding.tools] for finding in findings]


class TestToolsThatNobodyFinds:
    def rule(self, asked: Asked, **fields: Any) -> list[Finding]:
        one = tool("web/fetch_json", "Fetch a JSON file from a URL", **fields)
        return found(Code.TOOL_NOT_FINDABLE, [one], asked={one.id: asked})

    @pytest.mark.parametrize("rank", [1, 5])
    def test_the_first_five_are_found(self, rank: int) -> None:
        assert self.rule(Asked(rank)) == []

    def test_one_without_an_answer_is_no_finding(self) -> None:
        assert found(Code.TOOL_NOT_FINDABLE, [tool("web/fetch_json")]) == []

    def test_the_reason_names_the_place_and_what_comes_first(self) -> None:
        [finding] = self.rule(Asked(6, 6, ("bio/fetch", "wiki/get_article")))
        assert finding.reason == ("its own description finds it in place 6; before it come bio/fetch, wiki/get_article")
        assert "first sentence of its description" in finding.help

    def test_a_tool_that_its_skills_keep_out_is_to_get_a_skill(self) -> None:
        [without] = self.rule(Asked(None, 2, ("bio/fetch",)), skill_ids=())
        [other] = self.rule(Asked(None, 2, ("bio/fetch",)))
        assert "it is in no skill, and others match; among all tools it is number 2" in without.reason
        assert "skillroute skills propose" in without.help
        assert "its skills keep it out" in other.reason
        assert other.help.endswith("now it is in maps")

    def test_the_farther_away_it_is_the_more_it_hurts(self) -> None:
        ways = [Asked(6, 6), Asked(11, 11), Asked(None, 3), Asked(None, None)]
        weights = [self.rule(asked)[0].weight for asked in ways]
        assert weights == sorted(set(weights))
        assert weights[-1] == 100


class TestEmptyDescriptions:
    @pytest.mark.parametrize("text", ["", "  \n", "-", "...", "TODO", "No description provided.", "N/A", "123"])
    def test_are_found(self, text: str) -> None:
        assert names(found(Code.DESCRIPTION_EMPTY, [tool("leetcode/get-problem", text)])) == [["leetcode/get-problem"]]

    @pytest.mark.parametrize("text", ["Lists sites", "查询12306余票信息。", "Returns todo items", "获取所有菜谱"])
    def test_short_ones_are_not_empty(self, text: str) -> None:
        assert found(Code.DESCRIPTION_EMPTY, [tool("leetcode/get-problem", text)]) == []


class TestLongDescriptions:
    def test_the_longer_the_worse(self) -> None:
        lengths = [390, 410, 900, 5000]
        findings = [found(Code.DESCRIPTION_TOO_LONG, [tool("a/b", "word " * (size * 4 // 5))]) for size in lengths]
        weights = [finding.weight for some in findings for finding in some]
        assert [len(some) for some in findings] == [0, 1, 1, 1]
        assert weights == sorted(weights)
        assert weights[-1] <= 45

    def test_indentation_is_not_counted(self) -> None:
        assert found(Code.DESCRIPTION_TOO_LONG, [tool("a/b", "word\n" + " " * 5000 + "word")]) == []

    def test_a_letter_of_another_script_is_a_token(self) -> None:
        assert len(found(Code.DESCRIPTION_TOO_LONG, [tool("a/b", "幻灯片" * 140)])) == 1


class TestDescriptionsThatRepeatTheName:
    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("stripe/cancel_subscription", "Cancels a subscription"),
            ("webflow/pages_list", "List all pages"),
            ("kubectl/install_helm_chart", "Install a Helm chart."),
            ("Hacker News/getUserSubmissions", "Get a user's submissions"),
            ("sonarqube/search_metrics", "Search for SonarQube metrics"),
        ],
    )
    def test_are_found(self, title: str, text: str) -> None:
        assert names(found(Code.DESCRIPTION_REPEATS_NAME, [tool(title, text)])) == [[title]]

    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("kubectl/get_logs", "Get logs from a pod."),
            ("git/git_checkout", "Switches branches"),
            ("12306/get-tickets", "查询12306余票信息。"),
            ("stripe/cancel_subscription", ""),
        ],
    )
    def test_what_says_more_is_not(self, title: str, text: str) -> None:
        assert found(Code.DESCRIPTION_REPEATS_NAME, [tool(title, text)]) == []


class TestNames:
    @pytest.mark.parametrize("name", SAY_NOTHING)
    def test_that_say_nothing_are_found(self, name: str) -> None:
        assert names(found(Code.NAME_SAYS_NOTHING, [tool(f"acme/{name}")])) == [[f"acme/{name}"]]

    @pytest.mark.parametrize("name", SAY_SOMETHING)
    def test_that_say_something_are_not(self, name: str) -> None:
        assert found(Code.NAME_SAYS_NOTHING, [tool(f"acme/{name}")]) == []

    def test_one_that_other_servers_use_hurts_more(self) -> None:
        alone = found(Code.NAME_SAYS_NOTHING, [tool("bio/search")])
        shared = found(Code.NAME_SAYS_NOTHING, [tool("bio/search"), tool("keboola/Search", "Finds tables.")])
        assert (len(alone), len(shared)) == (1, 2)
        assert min(finding.weight for finding in shared) > alone[0].weight
        assert "keboola has one of this name too" in shared[0].reason

    def test_a_product_of_two_letters_is_its_servers_name(self) -> None:
        assert found(Code.NAME_SAYS_NOTHING, [tool("IG/ig")]) == []


class TestNearDuplicates:
    def test_the_same_tool_of_two_servers(self) -> None:
        tools = [
            tool("Puppeteer/puppeteer_fill", "Fill out an input field"),
            tool("Playwright MCP Server/playwright_fill", "fill out an input field"),
            tool("Playwright MCP Server/playwright_click", "Click an element on the page"),
        ]
        [finding] = found(Code.NEAR_DUPLICATES, tools)
        assert names([finding]) == [["Playwright MCP Server/playwright_fill", "Puppeteer/puppeteer_fill"]]
        assert finding.reason.startswith("2 tools of Playwright MCP Server and Puppeteer have")

    def test_more_of_them_hurt_more(self) -> None:
        databases = ["mssql", "mysql", "oracle", "postgres"]
        tools = [tool(f"{name}/get_job_status", "Get background job status") for name in databases]
        pair, four = found(Code.NEAR_DUPLICATES, tools[:2]), found(Code.NEAR_DUPLICATES, tools)
        assert (len(pair), len(four), len(four[0].tools)) == (1, 1, 4)
        assert four[0].weight > pair[0].weight

    @pytest.mark.parametrize(
        ("one", "other", "fields"),
        [
            # Other products, of one name.
            (("mysql/list_tables", "List the tables of a MySQL schema"), ("sqlite/list_tables", "Show all views"), {}),
            # One family, which says the same of other things.
            (("zscaler/zpa_delete_group", ZPA.format("group")), ("zscaler/zpa_delete_rule", ZPA.format("rule")), {}),
            # Without a description the name alone would decide.
            (("a/get_user", ""), ("b/get_user", ""), {}),
            (("a/get_user", "Who somebody is"), ("b/get_user", "Who somebody is"), {"type": "prompt"}),
        ],
    )
    def test_others_are_none(self, one: tuple[str, str], other: tuple[str, str], fields: dict[str, Any]) -> None:
        assert found(Code.NEAR_DUPLICATES, [tool(*one), tool(*other, **fields)]) == []


class TestDescriptionsAlike:
    def test_the_same_text_of_two_tools(self) -> None:
        text = "Get the details of a specific Agent in your Wayfound organization."
        tools = [
            tool("wayfound/get_agent_details", text),
            tool("wayfound/get_manager_analysis_for_agent", text.upper()),
        ]
        [finding] = found(Code.DESCRIPTIONS_ALIKE, tools)
        assert names([finding]) == [["wayfound/get_agent_details", "wayfound/get_manager_analysis_for_agent"]]

    def test_what_tells_them_apart_is_lost_in_a_long_text(self) -> None:
        tools = [
            tool("okppt/remove_page", SLIDES.format("Takes one away.")),
            tool("okppt/blank", SLIDES.format("Adds one.")),
        ]
        [finding] = found(Code.DESCRIPTIONS_ALIKE, tools)
        assert names([finding]) == [["okppt/blank", "okppt/remove_page"]]
        assert "long descriptions" in finding.reason

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            # Near-duplicates are a finding of their own.
            (("Puppeteer/puppeteer_fill", "Fill an input"), ("Playwright/playwright_fill", "Fill an input")),
            # A template whose texts differ in what the names differ in.
            (("zscaler/zpa_delete_group", ZPA.format("group")), ("zscaler/zpa_delete_rule", ZPA.format("rule"))),
            (("okta/confirm_group", SLIDES.format("A group.")), ("okta/confirm_app", SLIDES.format("An app."))),
            # The same words in another order.
            (("zid/group_users", "Get users in a group"), ("zid/user_groups", "Get groups of a user")),
            (
                ("billing/plans_of_rule", SLIDES.format("Lists plans of a rule.")),
                ("billing/rules_of_plan", SLIDES.format("Lists rules of a plan.")),
            ),
            (("a/get_user", ""), ("a/get_group", "")),
        ],
    )  # fmt: skip
    def test_others_are_told_apart(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        assert found(Code.DESCRIPTIONS_ALIKE, [tool(*one), tool(*other)]) == []


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


BARE = {"type": "string"}


class TestArguments:
    def rule(self, input_schema: Any, title: str = "git/git_show", text: str = "Shows a commit") -> list[Finding]:
        return found(Code.ARGUMENTS_UNDESCRIBED, [tool(title, text, input_schema=input_schema)])

    def test_those_without_a_description_are_named(self) -> None:
        [finding] = self.rule(schema("revision", revision=BARE, repo_path=BARE, format={**BARE, "description": "How."}))
        assert finding.reason == "1 tool has 2 arguments without a description: git_show has repo_path, revision"

    def test_a_server_has_one_finding_that_all_findings_about_what_searches_read_precede(self) -> None:
        tools = [tool(f"git/show_{number}", "Draws a coast.", input_schema=schema(ref=BARE)) for number in range(12)]
        tools += [tool("hg/show", "Shows a change set", input_schema=schema(ref=BARE)), tool("hg/cat", "Shows a file")]
        findings = diagnose(Catalogue([*tools, tool("hg/search", "")], [Skill("maps", "Maps")]))
        arguments = [one for one in findings if one.code is Code.ARGUMENTS_UNDESCRIBED]
        assert [len(one.tools) for one in arguments] == [12, 1]
        assert arguments[0].reason.startswith("12 tools have 12 arguments without a description")
        assert findings[-2:] == arguments

    def test_the_body_that_imports_make_is_described_by_its_properties(self) -> None:
        parts = {"type": "object", "properties": {"name": BARE}}
        assert self.rule(schema("body", body=parts)) == []
        assert len(self.rule(schema("body", payload=parts))) == 1
        assert len(self.rule(schema("body", body={"type": "object"}))) == 1

    @pytest.mark.parametrize("value", [{**BARE, "description": "  "}, {**BARE, "description": 7}, True, {}])
    def test_an_empty_description_is_none(self, value: Any) -> None:
        assert len(self.rule(schema(revision=value))) == 1

    @pytest.mark.parametrize(
        ("name", "value", "text"),
        [
            ("mode", {"enum": ["fast", "exact"]}, "Shows a commit"),
            ("kind", {"const": "commit"}, "Shows a commit"),
            ("kind", {"anyOf": [{"enum": ["tag"]}, {"type": "null"}]}, "Shows a commit"),
            ("kind", {"oneOf": [{"const": 1, "description": "A tag"}]}, "Shows a commit"),
            ("kind", {"$ref": "#/properties/format"}, "Shows a commit"),
            ("kind", {"anyOf": [{"$ref": "#/properties/format"}, {"type": "null"}]}, "Shows a commit"),
            ("page", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "Shows commits"),
            ("page", {"type": ["integer", "null"]}, "Shows commits"),
            ("files", {"type": "array", "items": {"description": "A path."}}, "Shows commits"),
            ("files", {"type": "array", "items": {"properties": {"a": {"description": "A path."}}}}, "Shows commits"),
            ("range", {"type": "object", "properties": {"from": {"description": "The first."}}}, "Shows commits"),
            ("url", {**BARE, "anyOf": [{"format": "uri"}, {"format": "iri"}]}, "Shows a page"),
            ("sha", BARE, "Shows a commit by its Secure Hash (SHA)."),
            ("revision", BARE, "Shows a commit.\n\nArgs:\n    revision: What to show."),
            ("revision", BARE, "Shows a commit.\n\nArgs:\n    revision (str, optional): What to show."),
            ("revision", BARE, "Shows the commit `revision`."),
            ("文件", BARE, "显示。\n\nArgs:\n    文件：路径"),
            ("nameSpace", BARE, "Get all pods in the specified name space."),
            ("limit", {"type": "integer"}, "Shows commits"),
            ("query", BARE, "Finds commits"),
            ("_compatibility", {}, "Shows a commit"),
            ("git", BARE, "Shows a commit"),  # the name of the tool has it
        ],
    )
    def test_what_is_described_elsewhere_is_no_finding(self, name: str, value: Any, text: str) -> None:
        described = {"description": "How it is written.", "type": "string"}
        assert self.rule(schema(**{name: value, "format": described}), text=text) == []

    @pytest.mark.parametrize(
        "value",
        [
            {"items": {"properties": {"a": {}}}},
            {"properties": 7, "items": []},
            {"$ref": "#/nowhere/there"},
            {"$ref": "https://example.com/s"},
            {"$ref": 7},
            {"anyOf": [BARE, None]},
        ],
    )
    def test_choices_and_references_that_say_nothing_are_no_description(self, value: Any) -> None:
        assert len(self.rule(schema(revision=value))) == 1

    def test_a_plain_name_does_not_describe_an_object(self) -> None:
        assert len(self.rule(schema(query={"type": "object"}))) == 1

    @pytest.mark.parametrize("value", [None, {}, [], {"properties": None}, {"properties": ["a"]}, {"properties": {}}])
    def test_a_schema_may_be_anything(self, value: Any) -> None:
        assert self.rule(value) == []


class TestSkills:
    def test_tools_without_one_are_a_finding_for_each_server(self) -> None:
        tools = [
            tool("arxiv/search_papers", skill_ids=()),
            tool("arxiv/read_paper", skill_ids=("deleted",)),
            tool("notion/create_page", skill_ids=()),
            tool("notion/read_page"),
            tool("lonely", skill_ids=()),
        ]
        findings = found(Code.TOOLS_WITHOUT_SKILL, tools)
        assert names(findings)[0] == ["arxiv/read_paper", "arxiv/search_papers"]
        assert [finding.reason.partition(":")[0] for finding in findings] == [
            "none of the 2 items of arxiv is in a skill",
            "the only item without a server is in no skill",
            "1 of the 2 items of notion is in no skill",
        ]

    def test_without_any_skill_there_is_one_finding(self) -> None:
        tools = (tool("arxiv/search_papers", skill_ids=()), tool("notion/create_page", skill_ids=()))
        [finding] = [one for one in diagnose(Catalogue(tools)) if one.code is Code.TOOLS_WITHOUT_SKILL]
        assert len(finding.tools) == 2
        assert "skillroute skills propose" in finding.help

    def test_a_skill_that_no_tool_is_in(self) -> None:
        skills = [Skill("maps", "Maps"), Skill("mail", "Mail")]
        [finding] = found(Code.SKILL_WITHOUT_TOOLS, [tool("osm/route")], skills)
        assert finding.skills == ("mail",)

    def overlap(self, shared: int, alone: int, other: int, *skills: Skill) -> list[Finding]:
        both = skills or (Skill("files", "Files"), Skill("papers", "Documents"))
        ids = tuple(skill.id for skill in both)
        tools = [tool(f"s/both_{number}", skill_ids=ids) for number in range(shared)]
        tools += [tool(f"s/one_{number}", skill_ids=ids[:1]) for number in range(alone)]
        tools += [tool(f"s/other_{number}", skill_ids=ids[1:]) for number in range(other)]
        return found(Code.SKILLS_OVERLAP, tools, both)

    def test_skills_that_share_most_of_their_tools_overlap(self) -> None:
        [finding] = self.overlap(4, 1, 9)
        assert finding.skills == ("files", "papers")
        assert "4 of the 5 tools of the smaller are in both" in finding.reason
        assert len(finding.tools) == 4

    @pytest.mark.parametrize("shared", [(0, 5, 5), (2, 0, 0), (3, 3, 9)])
    def test_those_that_share_few_do_not(self, shared: tuple[int, int, int]) -> None:
        assert self.overlap(*shared) == []

    @pytest.mark.parametrize(
        "pair",
        [
            (Skill("email", "Email"), Skill("e_mails", "emails")),
            (
                Skill("a", "Letters", "Write, read and answer electronic mail.", ("inbox", "draft")),
                Skill("b", "Post", "Read, write and answer electronic mail", ("draft", "inbox")),
            ),
        ],
    )
    def test_those_whose_texts_say_the_same_overlap(self, pair: tuple[Skill, Skill]) -> None:
        [finding] = self.overlap(0, 1, 1, *pair)
        assert finding.skills == tuple(sorted(skill.id for skill in pair))
        assert finding.reason.endswith("their texts say the same")
        assert finding.tools == ()

    def test_those_that_share_an_aim_only_do_not(self) -> None:
        pair = (
            Skill("a", "Stock prices", "Find prices of shares", ("stock", "price")),
            Skill("b", "Crypto prices", "Find prices of coins", ("crypto", "price")),
        )
        assert self.overlap(0, 1, 1, *pair) == []


def test_a_good_catalogue_has_no_findings() -> None:
    tools = [
        tool("osm/find_route", "Finds the fastest way between two places by car, bicycle or on foot."),
        tool(
            "osm/nearby_places",
            "Lists restaurants, shops and sights around a point.",
            input_schema=schema("radius", radius={"type": "number", "description": "Metres around it."}),
        ),
    ]
    asked = {one.id: Asked(1) for one in tools}
    assert diagnose(Catalogue(tools, [Skill("maps", "Maps", "Routes and places")], asked)) == []


def test_findings_can_be_compared_and_stored() -> None:
    one = tool("a/search", input_schema=schema(revision=BARE))
    [finding] = found(Code.NAME_SAYS_NOTHING, [one])
    assert {finding, dataclasses.replace(finding)} == {finding}


class TestWhatPosesAsAnother:
    def test_names_that_look_the_same_in_other_letters_are_found_together(self) -> None:
        posing = [tool("mail/send_mail"), tool("strange/s\u0435nd_m\u0430il"), tool("other/send_message")]
        assert names(found(Code.NAMES_LOOK_ALIKE, posing)) == [["mail/send_mail", "strange/s\u0435nd_m\u0430il"]]

    def test_one_name_of_two_servers_and_names_of_another_script_are_none(self) -> None:
        honest = [tool("a/send"), tool("b/Send"), tool("c/отправить"), tool("d/cafe\u0301"), tool("e/caf\u00e9")]
        assert found(Code.NAMES_LOOK_ALIKE, honest) == []

    def test_stored_texts_with_what_nobody_sees_are_found(self) -> None:
        tools = [tool("a/add", "Adds numbers.\u200b"), tool("a/take", "Takes numbers.")]
        assert names(found(Code.HIDDEN_CHARACTERS, tools)) == [["a/add"]]


class TestDescriptionsThatSuitAnyTool:
    @pytest.mark.parametrize(
        "text",
        [
            "This tool is used to perform operations",
            "Performs the given action.",
            "Provides various functionality for users",
            "some description",
            "This function performs the required task and returns the result.",
            "Handler for requests.",
        ],
    )
    def test_are_found(self, text: str) -> None:
        assert names(found(Code.DESCRIPTION_BOILERPLATE, [tool("billing/adjust_invoice", text)])) == [
            ["billing/adjust_invoice"]
        ]

    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("billing/adjust_invoice", "Adjusts an invoice"),
            ("todo/delete_task", "Delete a task"),
            ("billing/adjust_invoice", "This tool is used to credit a customer"),
            ("billing/adjust_invoice", ""),
            ("12306/get-tickets", "查询12306余票信息。"),
        ],
    )
    def test_what_says_something_is_not(self, title: str, text: str) -> None:
        assert found(Code.DESCRIPTION_BOILERPLATE, [tool(title, text)]) == []

    def test_a_name_in_empty_phrases_repeats_the_name(self) -> None:
        one = tool("billing/adjust_invoice", "This tool is used to perform the adjustment of the invoice")
        assert names(found(Code.DESCRIPTION_REPEATS_NAME, [one])) == [["billing/adjust_invoice"]]


class TestWordsThatNobodyAsksWith:
    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("erp/bil_adj2", "Adj."),
            ("erp/upd_qty_inv", "Upd qty."),
            ("erp/run_flow", "Executes ZKR posting for LFB1 against KORA."),
            ("erp/zfi_rcn", "Runs the GLX recon for KORA legs."),
            ("erp/kora_sync", "Runs the GLX recon for KORA legs."),
        ],
    )
    def test_are_found(self, title: str, text: str) -> None:
        [finding] = found(Code.WORDS_UNEXPLAINED, [tool(title, text)])
        assert [one.title for one in finding.tools] == [title]

    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("erp/bil_adj2", "Adjust the amount of a bill after it was sent to the customer."),
            ("stars/get_horoscope", "Get your horoscope"),
            ("bluesky/create-post", "Create a new post on Bluesky"),
            (
                "LumbreTravel/list_hotels",
                "Obtiene todos los hoteles para asociar a una actividad en un programa de viaje",
            ),
            ("12306/get-tickets", "查询12306余票信息。"),
            ("erp/bil_adj2", ""),
        ],
    )
    def test_what_somebody_would_ask_for_is_not(self, title: str, text: str) -> None:
        assert found(Code.WORDS_UNEXPLAINED, [tool(title, text)]) == []
