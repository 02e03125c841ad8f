"""What the skill is called that is drafted for a tool without one."""

from __future__ import annotations

import pytest
from skillroute.skills.classification.model import ToolProfile
from skillroute.skills.suggestions.drafts import draft_skill
from skillroute.skills.text import term_stems


def a_tool(name: str, server: str = "", description: str = "") -> ToolProfile:
    return ToolProfile(1, None, name, description, server, None, (), None)


@pytest.mark.parametrize(
    ("name", "server", "drafted"),
    [
        ("zia_list_rules", "zscaler-mcp-server", "Zia Rules"),
        ("add_slide", "Office-PowerPoint-MCP-Server", "Slide"),
        ("get_by_id", "ehr", "Ehr"),
        ("list_dns_rules", "", "Dns Rules"),
        ("get", "", "Get"),
        ("x", "", "X Tools"),
        ("rules", "ai-mcp-server", "Rules"),
        ("search", "必应", "必应 Search"),
        ("a_" * 60, "", "A A A"),
        ("get", "s" * 90, "S" + "s" * 59),
    ],
)
def test_a_draft_is_named_after_what_the_tool_works_on(name: str, server: str, drafted: str) -> None:
    assert draft_skill(a_tool(name, server), (), "").name == drafted


def test_a_name_that_a_skill_has_is_not_drafted_again() -> None:
    tool = a_tool("list_dns_rules", "acme")

    names = [
        draft_skill(tool, taken, "").name
        for taken in ({"dns rules"}, {"dns rules", "acme dns rules", "dns rules tools"})
    ]

    assert names == ["Acme Dns Rules", "Tools Like Dns Rules"]


def test_tools_of_several_servers_that_work_on_one_thing_ask_for_one_skill() -> None:
    texts = {
        "cancel": "Cancels an order that was not sent.",
        "list": "Lists orders, the latest first.",
        "get": "Shows an order.",
    }

    drafts = [
        draft_skill(a_tool(f"{verb}_{noun}", server, texts[verb]), (), "")
        for verb, noun, server in (("cancel", "order", "ehr"), ("list", "orders", "erp"), ("get", "order", "shop"))
    ]

    assert {draft.name for draft in drafts} == {"Orders"}
    assert drafts[0].description == "Cancel orders, for example: Cancels an order that was not sent."


def test_the_description_is_for_a_person_to_edit() -> None:
    tool = a_tool("list_dns_rules", "acme-mcp", "List the rules of the DNS filter. Needs an API key.")

    draft = draft_skill(tool, (), "Nothing fits.")

    assert draft.description == "List DNS rules, for example: List the rules of the DNS filter."
    assert draft.reasoning == "Nothing fits."


def test_a_description_stays_within_the_limits_of_skills() -> None:
    shortest = draft_skill(a_tool("x"), (), "").description
    longest = draft_skill(a_tool("x" * 2000, "y" * 2000, "z" * 2000), (), "").description

    assert len(shortest) >= 10
    assert len(longest) <= 1000


def test_both_sides_of_a_comparison_lose_their_plural() -> None:
    assert term_stems("listInvoices") == term_stems("list invoice")
    assert term_stems("search queries") == term_stems("Search Query")


@pytest.mark.parametrize(
    ("name", "description", "server", "drafted"),
    [
        ("search", "Search the records.", "ehr", "Records"),
        ("get_by_id", "Gets a patient by id.", "ehr", "Patients"),
        ("set_dns", "Sets a DNS of a zone.", "net", "DNS"),
        ("get_status", "Get a status of a job.", "jobs", "Status"),
        ("run_sql", "Runs a SQL against it.", "db", "SQL"),
    ],
)
def test_a_draft_is_named_after_what_the_description_says_and_without_made_up_plurals(
    name: str, description: str, server: str, drafted: str
) -> None:
    tool = ToolProfile(1, None, name, description, server, None, (), None)
    assert draft_skill(tool, (), "").name == drafted
