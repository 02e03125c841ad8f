"""What the skill is called that is drafted for a tool without one."""

from __future__ import annotations

import pytest
from skillroute.skills.classification import ToolProfile
from skillroute.skills.text import draft_skill, term_stems


def a_tool(name: str, server: str = "", description: str = "") -> ToolProfile:
    return ToolProfile(1, None, name, description, server, None, (), None)


@pytest.mark.parametrize(
    ("name", "server", "drafted"),
    [
        ("zia_list_rules", "zscaler-mcp-server", "Zscaler"),
        ("add_slide", "Office-PowerPoint-MCP-Server", "Office PowerPoint"),
        ("list_dns_rules", "", "Dns Rules"),
        ("get", "", "Get"),
        ("x", "", "X Tools"),
        ("rules", "ai-mcp-server", "Rules"),
        ("search", "必应", "必应 Search"),
        ("a_" * 60, "", "A A A A A A A A A A A A A A A A A A A A A A A A A A A A A A"),
        ("rules", "s" * 90, "S" + "s" * 59),
    ],
)
def test_a_draft_is_named_after_the_server_or_else_after_the_subject(name: str, server: str, drafted: str) -> None:
    assert draft_skill(a_tool(name, server), (), "").name == drafted


def test_a_name_that_a_skill_has_is_not_drafted_again() -> None:
    tool = a_tool("list_dns_rules", "acme")

    names = [draft_skill(tool, taken, "").name for taken in ({"acme"}, {"acme", "acme dns rules"})]

    assert names == ["Acme Dns Rules", "Dns Rules"]


def test_the_description_is_for_a_person_to_edit() -> None:
    tool = a_tool("list_dns_rules", "acme-mcp", "List the rules of the DNS filter. Needs an API key.")

    draft = draft_skill(tool, (), "Nothing fits.")

    assert draft.description == "Tools like list dns rules of acme-mcp: List the rules of the DNS filter."
    assert draft.reasoning == "Nothing fits."


def test_a_description_stays_within_the_limits_of_skills() -> None:
    shortest = draft_skill(a_tool("x"), (), "").description
    longest = draft_skill(a_tool("x" * 2000, "y" * 2000, "z" * 2000), (), "").description

    assert len(shortest) >= 10
    assert len(longest) <= 1000


def test_both_sides_of_a_comparison_lose_their_plural() -> None:
    assert term_stems("listInvoices") == term_stems("list invoice")
    assert term_stems("search queries") == term_stems("Search Query")
