"""The page Map: points that are chosen by pointer and by keys, and thousands of them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.console.conftest import Console
from tests.e2e.processes import Up

pytestmark = pytest.mark.console


def test_a_tool_is_found_on_the_map_by_keys_and_leads_to_the_catalogue(
    opened: Callable[..., Console], large: Up
) -> None:
    console = opened(large)
    console.open("map")
    console.page.get_by_text("1,538 tools").wait_for()
    console.page.keyboard.press("/")
    console.page.keyboard.type("okta list_users")
    console.page.keyboard.press("Escape")
    console.page.keyboard.press("j")
    console.page.locator(".picked").get_by_text("list_users").wait_for()
    console.page.get_by_role("listbox", name="Tools on the map").focus()
    console.page.keyboard.press("Enter")
    console.page.get_by_role("heading", level=1, name="Catalogue").wait_for()
    console.page.locator(".detail").get_by_role("heading", name="list_users", exact=True).wait_for()
    assert console.complaints == []


def test_a_point_is_named_under_the_pointer_and_chosen_by_a_click(console: Console) -> None:
    console.page.route(
        "**/do/map/points",
        lambda route: route.fulfill(
            body=json.dumps(
                {
                    "points": {
                        "tools": [[7, "<b>cut</b>", "wood", 0, 0.0, 0.5], [8, "sew", "", -1, 1.0, 0.5]],
                        "skills": [["craft", "Crafts", 0.5, 0.5]],
                        "without_vector": 3,
                        "left_out": 0,
                    }
                }
            )
            + "\n"
        ),
    )
    console.open("map")
    console.page.get_by_text("3 tools without a vector yet").wait_for()
    box = console.page.locator("canvas").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2

    console.page.mouse.move(box["x"] + 20, middle)
    console.page.get_by_text("wood/<b>cut</b>: Crafts").wait_for()
    console.page.mouse.click(box["x"] + box["width"] - 20, middle)
    assert console.page.locator(".picked").inner_text().split() == ["sew", "in", "no", "skill"]

    console.page.get_by_label("Skill", exact=True).select_option(label="Crafts (1)")
    assert console.page.locator("[role=option]").count() == 1
    assert console.complaints == []
