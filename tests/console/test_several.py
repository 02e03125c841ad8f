"""Several rows of a list at once, and taking that back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.console.conftest import Console, grave
from tests.console.planted import suggest
from tests.console.test_changes import names_waiting
from tests.e2e.processes import answered, eventually

pytestmark = pytest.mark.console


def tools(console: Console, server: str) -> dict[str, dict[str, Any]]:
    found = answered(console.server.http.get(f"/api/v1/tools?server={server}&limit=100"))
    return {tool["name"]: tool for tool in found}


def settled(console: Console, what: str) -> None:
    console.page.locator("#notices").get_by_text(what).wait_for()


def test_several_tools_are_switched_and_switched_back(console: Console, axe: str) -> None:
    before = {name for name, tool in tools(console, "weather").items() if tool["is_active"]}
    assert len(before) > 2
    console.open("catalogue")
    console.page.keyboard.press("/")
    console.page.keyboard.type("weather")
    console.page.get_by_label("Server", exact=True).select_option("weather")
    console.page.get_by_label("All shown").check()
    console.page.get_by_text(f"{len(before)} tools selected").wait_for()
    assert grave(console, axe) == []
    console.page.get_by_role("button", name="Switch off").first.click()
    settled(console, f"{len(before)} tools are switched off")
    assert not any(tool["is_active"] for tool in tools(console, "weather").values())
    console.page.locator("#notices").get_by_role("button", name="Undo").click()
    settled(console, f"{len(before)} tools are switched on")
    assert {name for name, tool in tools(console, "weather").items() if tool["is_active"]} == before
    assert console.complaints == []


def test_several_tools_are_given_a_skill_by_keys_and_get_their_own_back(console: Console) -> None:
    before = {name: tool["skill_ids"] for name, tool in tools(console, "calendar").items()}
    console.open("catalogue?filter=calendar&server=calendar")
    console.row("create_event").wait_for()
    console.page.get_by_role("listbox", name="Tools").focus()
    console.page.keyboard.press("Home")
    for _ in range(3):
        console.page.keyboard.press("Space")
        console.page.keyboard.press("ArrowDown")
    console.page.get_by_text("3 tools selected").wait_for()
    chosen = console.page.locator(".row", has=console.page.get_by_text("selected")).locator(".code").all_inner_texts()
    console.page.get_by_label("Skill for the selected tools").fill("web_browsing")
    console.page.keyboard.press("Enter")
    settled(console, "web_browsing: given to 3 tools")
    after = {name: tool["skill_ids"] for name, tool in tools(console, "calendar").items()}
    for name, skills in after.items():
        assert skills == (["web_browsing", *before[name]] if name in chosen else before[name])
    console.page.locator("h1").click()
    console.page.keyboard.press("z")
    settled(console, "The earlier skills were given back to 3 tools")
    assert {name: tool["skill_ids"] for name, tool in tools(console, "calendar").items()} == before


def test_what_is_switched_off_stays_so_in_the_list_when_its_skills_are_given_back(console: Console) -> None:
    console.server.put({"server": "shelf", "name": "dust_book", "description": "Dusts a book."})
    console.open("catalogue?server=shelf&filter=dust_book")
    console.row("dust_book").locator(".tick").click()
    console.page.get_by_label("Skill for the selected tools").fill("web_browsing")
    console.page.get_by_role("button", name="Move", exact=True).click()
    given = console.page.locator("#notices p").filter(has_text="web_browsing: given to dust_book")
    given.wait_for()
    console.page.locator(".selection").get_by_role("button", name="Switch off").click()
    settled(console, "dust_book is switched off")
    given.get_by_role("button", name="Undo").click()
    settled(console, "The earlier skills were given back to dust_book")
    console.row("no skill").wait_for()
    assert console.page.locator("[role=option] .off").count() == 1


def test_what_others_changed_meanwhile_is_left_and_named(console: Console) -> None:
    console.open("catalogue?server=maps")
    console.page.get_by_label("All shown").check()
    console.page.locator(".selection").get_by_text("tools selected").wait_for()
    name, tool = next(iter(sorted(tools(console, "maps").items())))
    wanted = [{"skill_id": "communication", "confidence": 1}]
    answered(console.server.http.put(f"/api/v1/tools/{tool['id']}/skills", json={"skills": wanted}))
    console.page.get_by_label("Skill for the selected tools").fill("web_browsing")
    console.page.get_by_role("button", name="Move", exact=True).click()
    console.page.get_by_text("1 tool not changed").wait_for()
    assert f"maps/{name}" in console.page.locator(".problem").inner_text()
    found = tools(console, "maps")
    assert found[name]["skill_ids"] == ["communication"]
    assert {tuple(each["skill_ids"]) for each in found.values()} == {("communication",), ("web_browsing",)}


def test_several_suggestions_are_decided_and_taken_back_together(console: Console) -> None:
    suggest(console.server, "Boat building")
    suggest(console.server, "Stamp collecting")
    suggest(console.server, "Yarn spinning")
    console.open("suggestions")
    for name in ("Boat building", "Stamp collecting"):
        console.row(name).locator(".tick").click()
    console.page.locator("h1").click()
    console.page.keyboard.press("x")
    settled(console, "Rejecting 2 names")
    console.row("Boat building").wait_for(state="detached")
    console.page.keyboard.press("u")
    console.row("Stamp collecting").wait_for()
    assert {"Boat building", "Stamp collecting"} <= names_waiting(console.server)
    console.page.get_by_text("2 names selected").wait_for()
    console.page.keyboard.press("x")
    settled(console, "Rejecting 2 names")
    console.page.keyboard.type("gk")  # what waits to be undone is sent
    console.page.get_by_role("heading", level=1, name="Skills").wait_for()
    eventually(lambda: not {"Boat building", "Stamp collecting"} & names_waiting(console.server), "both are decided")
    console.page.keyboard.type("gu")
    console.row("Yarn spinning").wait_for()
    assert console.page.get_by_text("selected").count() == 0  # what was decided is selected no longer
    assert console.complaints == []


def test_what_is_decided_while_several_are_read_is_not_decided_twice(console: Console) -> None:
    for name in ("Kite mending", "Lace washing"):
        suggest(console.server, name)
    console.open("suggestions")
    for name in ("Lace washing", "Kite mending"):
        console.row(name).locator(".tick").click()
    console.row("Kite mending").click()
    console.page.locator(".detail h2").get_by_text("Kite mending").wait_for()
    asked = console.hold("**/do/suggestions/ids")
    several = console.page.locator(".selection").get_by_role("button", name="Approve them")
    several.click()
    reading = [asked(place) for place in range(2)]
    several.click()  # what is read already is read once
    console.page.locator(".detail").get_by_role("button", name="Reject").click()
    settled(console, "Rejecting Kite mending")
    for route in reading:
        route.continue_()
    settled(console, "Approving 1 name")
    assert console.page.locator("#notices").get_by_text("Approving").count() == 1
    for name in ("Lace washing", "Kite mending"):
        console.page.get_by_role("button", name="Undo u").click()
        console.row(name).wait_for()
    assert {"Kite mending", "Lace washing"} <= names_waiting(console.server)


def test_several_skills_are_switched_and_switched_back(console: Console) -> None:
    before = {each["id"] for each in answered(console.server.http.get("/api/v1/skills?is_active=false"))}
    console.open("skills?skill=code_hosting")
    for name in ("Code Hosting", "File Operations"):
        console.row(name).locator(".tick").click()
    console.page.locator(".selection").get_by_role("button", name="Switch off").click()
    settled(console, "2 skills switched off")
    off = {each["id"] for each in answered(console.server.http.get("/api/v1/skills?is_active=false"))}
    assert {"code_hosting"} < off
    console.page.locator("#notices").get_by_role("button", name="Undo").click()
    settled(console, "2 skills switched on")
    after = {each["id"] for each in answered(console.server.http.get("/api/v1/skills?is_active=false"))}
    assert after == before
