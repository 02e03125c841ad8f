"""What the tools of a group do, and how many speak of what it is called."""

from __future__ import annotations

import pytest
from skillroute_local.proposing.deeds import covered, deeds_of
from skillroute_local.proposing.words import ToolText


def tools(*names: str, server: str | None = None) -> list[ToolText]:
    return [ToolText(name, server=server) for name in names]


@pytest.mark.parametrize(
    ("names", "deeds"),
    [
        (("list_order", "list_orders", "cancel_order"), ("list", "cancel")),
        (("zia_list_rules", "zia_list_urls"), ("list",)),
        (("make_order", "fetch_order", "cancel_order"), ("cancel", "fetch", "make")),
        (("create_order", "list_orders", "cancel_order", "send_order"), ("cancel", "create", "list")),
        (("weather", "rain_radar"), ()),
    ],
)
def test_the_most_frequent_verbs_that_say_something_come_first(names: tuple[str, ...], deeds: tuple[str, ...]) -> None:
    assert deeds_of(tools(*names)) == deeds


def test_a_tool_speaks_of_a_name_that_has_one_of_its_phrases_in_whole() -> None:
    group = tools("list_pull_requests", "merge_pull_request", "list_issues", "sign_request")
    assert covered(group, "Pull Requests") == 0.5
    assert covered(group, "Pull Requests & Issues") == 0.75


def test_the_name_of_the_product_need_not_be_spoken_of() -> None:
    assert covered(tools("list_groups", "list_group_users", server="okta-mcp-server"), "Okta Groups") == 1.0
