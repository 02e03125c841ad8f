"""The page Doctor: an examination runs while one looks at it, its findings lead to what they are about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.console.conftest import Console, grave
from tests.e2e.processes import Up

pytestmark = pytest.mark.console

HELP = "How to fix it"


def test_a_finding_leads_to_its_tool(console: Console, axe: str) -> None:
    console.open("doctor")
    console.page.keyboard.press("r")
    console.page.get_by_text(HELP).wait_for()
    assert "searched for" in console.page.get_by_role("status").first.inner_text()
    assert grave(console, axe) == []

    console.page.get_by_label("Kind", exact=True).select_option("tools_without_skill")
    assert {row.split("\n")[1] for row in console.page.locator("[role=option]").all_inner_texts()} == {
        "tools without skill"
    }
    tool = console.page.locator(".detail a").first
    name = tool.inner_text().rpartition("/")[2]
    tool.click()

    console.page.get_by_role("heading", level=1, name="Catalogue").wait_for()
    console.page.locator(".detail").get_by_role("heading", name=name, exact=True).wait_for()
    # What was found is there still.
    console.page.go_back()
    console.page.get_by_text(HELP).wait_for()
    assert console.complaints == []


def test_an_examination_goes_on_while_other_pages_are_looked_at(opened: Callable[..., Console], large: Up) -> None:
    console = opened(large)
    console.open("doctor")
    console.page.get_by_label("search for each tool").uncheck()
    console.page.get_by_role("button", name="Examine").click()
    console.page.keyboard.press("4")
    console.page.get_by_role("heading", level=1, name="Skills").wait_for()
    console.page.keyboard.press("7")
    console.page.get_by_text(HELP).wait_for()
    assert "1,538 tools" in console.page.get_by_role("status").first.inner_text()
    # What is out of view is no element, here either.
    assert console.page.locator("[role=option]").count() < 60

    console.page.keyboard.press("/")
    console.page.keyboard.type("okta")
    assert all("okta" in row.lower() for row in console.page.locator("[role=option]").all_inner_texts())
    console.page.set_viewport_size({"width": 400, "height": 800})
    assert console.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert console.complaints == []


def test_an_examination_is_stopped_and_one_that_fails_says_so(opened: Callable[..., Console], large: Up) -> None:
    console = opened(large)
    console.open("doctor")
    console.page.get_by_role("button", name="Examine").click()
    console.page.get_by_role("progressbar", name="Examined").wait_for()
    console.page.get_by_text("searching for each tool").wait_for()
    console.page.keyboard.press("r")
    console.page.get_by_role("button", name="Examine").wait_for()
    assert console.page.locator(".problem").count() == 0

    console.page.route("**/do/doctor/examine", lambda route: route.abort())
    console.page.keyboard.press("r")
    console.page.get_by_text("The catalogue could not be examined").wait_for()
    console.page.unroute("**/do/doctor/examine")
    console.page.get_by_role("button", name="Try again").click()
    console.page.get_by_role("progressbar", name="Examined").wait_for()
