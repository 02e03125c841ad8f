"""What all pages share: the palette, the way back, the menu of narrow windows, and undoing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.console.conftest import NARROW, Console, grave
from tests.e2e.processes import Up, answered, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = pytest.mark.console


def chosen(console: Console) -> str:
    found: str = console.page.locator(".palette [aria-selected=true] .title").inner_text()
    return found


@pytest.mark.parametrize(
    ("typed", "kind", "place"),
    [
        ("heal", "Page", "#/health"),
        ("calendar man", "Skill", "#/skills?skill=calendar_management"),
        ("reserve tab", "Tool", "#/catalogue?tool="),
        ("fix my bicycle", "Search", "#/search?q=fix+my+bicycle"),
    ],
)
def test_the_palette_leads_everywhere(console: Console, typed: str, kind: str, place: str) -> None:
    console.open("log")
    console.page.keyboard.press("Control+k")
    console.page.keyboard.type(typed)
    option = console.page.locator(".palette [role=option]", has=console.page.locator(".kind", has_text=kind)).first
    option.wait_for()
    while console.page.locator(".palette [aria-selected=true] .kind").inner_text() != kind:
        console.page.keyboard.press("ArrowDown")
    console.page.keyboard.press("Enter")
    eventually(lambda: console.page.title() and place in console.page.url, "the palette leads there")
    assert console.page.get_by_role("dialog").count() == 0
    assert console.complaints == []


def test_the_palette_does_what_the_page_does_and_keeps_nobody_out(console: Console, axe: str) -> None:
    console.open("search")
    console.page.keyboard.press("Control+k")
    console.page.keyboard.type("compare two")
    console.page.get_by_role("option", name="compare two settings").wait_for()
    assert grave(console, axe) == []
    assert chosen(console) == "compare two settings"
    console.page.keyboard.press("Enter")
    console.page.get_by_role("group", name="Settings B").wait_for()


def test_the_palette_has_all_tools_of_the_catalogues(opened: Callable[..., Console], large: Up) -> None:
    console = opened(large)
    console.open("log")
    console.page.keyboard.press("Control+k")
    console.page.keyboard.type("okta list_users")
    console.page.get_by_role("option", name="list_users").first.wait_for()
    assert console.complaints == []


def test_what_was_opened_is_gone_back_from_and_what_was_passed_by_is_not(console: Console) -> None:
    console.open("skills?skill=calendar_management")
    console.page.get_by_role("heading", level=2, name="Calendar Management").wait_for()
    console.row("Communication").click()
    eventually(lambda: console.page.title() and "skill=communication" in console.page.url, "the address follows")
    for _ in range(3):
        console.page.keyboard.press("j")
    eventually(lambda: console.page.title() and "skill=communication" not in console.page.url, "the address follows")
    console.page.go_back()
    console.page.get_by_role("heading", level=2, name="Calendar Management").wait_for()
    console.page.go_forward()
    eventually(lambda: "calendar" not in console.page.url and console.page.title(), "forward is where one stopped")


@pytest.mark.parametrize(
    ("place", "gone", "says"),
    [
        ("catalogue", "tool=999999", "No tool in the list has the number 999999"),
        ("skills", "skill=of_nobody", "There is no skill of_nobody in the list"),
    ],
)
def test_an_address_of_what_is_gone_says_so(console: Console, place: str, gone: str, says: str) -> None:
    console.open(f"{place}?{gone}")
    console.page.get_by_text(says).first.wait_for()
    console.page.locator("[role=option][aria-selected=true]").wait_for()
    assert gone not in console.page.url
    assert console.complaints == []


def test_the_way_back_leads_from_page_to_page(console: Console) -> None:
    console.open("search?q=book+a+table+for+friday")
    console.page.get_by_role("link", name="reserve_table").click()
    console.page.get_by_role("heading", level=2, name="reserve_table").wait_for()
    console.page.go_back()
    console.page.get_by_role("link", name="reserve_table").wait_for()
    assert console.page.get_by_role("searchbox", name="Request").input_value() == "book a table for friday"


def test_an_address_is_followed_also_if_the_page_writes_its_own_before(console: Console) -> None:
    console.open("suggestions")
    rows = console.page.locator("[role=option]")
    eventually(lambda: rows.count() > 1, "several suggestions wait")
    # What a page does before the browser has told it of the new address, as an answer may that comes in between.
    console.page.evaluate(
        "location.hash = '#/suggestions?show=merged'; document.querySelectorAll('[role=option]')[1].click()"
    )
    shown = console.page.get_by_label("Which suggestions")
    eventually(lambda: console.page.title() and shown.input_value() == "merged", "the address is followed")
    assert console.page.url.endswith("#/suggestions?show=merged")


@pytest.mark.parametrize(
    ("page", "label", "address", "value"),
    [
        ("catalogue", "State", "state=bare", "bare"),
        ("catalogue", "Filter", "filter=reserve+table", "reserve table"),
        ("catalogue", "Server", "server=restaurants", "restaurants"),
        ("servers", "State", "state=off", "off"),
        ("servers", "Order", "sort=tools", "tools"),
        ("servers", "Filter", "filter=tables", "tables"),
        ("evaluation", "Kind", "kind=nothing", "nothing"),
        ("evaluation", "Filter requests", "filter=table", "table"),
        ("missed", "State", "state=all", "all"),
        ("missed", "Filter requests", "filter=table", "table"),
        ("doctor", "Filter findings", "filter=table", "table"),
        ("map", "Filter tools", "filter=table", "table"),
        ("suggestions", "Which suggestions", "show=merged", "merged"),
        ("suggestions", "Filter suggestions", "filter=tuning", "tuning"),
        ("skills", "State", "state=empty", "empty"),
        ("skills", "Order", "sort=fewest", "fewest"),
        ("skills", "Filter skills", "filter=calendar", "calendar"),
        ("log", "Kind", "kind=change", "change"),
        ("log", "Outcome", "outcome=refused", "refused"),
        ("log", "Actor", "actor=ann", "ann"),
    ],
)
def test_another_address_of_the_page_that_is_open_is_followed(
    console: Console, page: str, label: str, address: str, value: str
) -> None:
    control = console.page.get_by_label(label, exact=True)
    console.open(page)
    without = control.input_value()
    assert without != value
    console.open(f"{page}?{address}")
    eventually(lambda: console.page.title() and control.input_value() == value, "what is filtered by is shown")
    assert address in console.page.url
    console.open(page)
    eventually(lambda: console.page.title() and control.input_value() == without, "nothing is filtered")
    console.open(f"{page}?{address.partition('=')[0]}=no+such")
    assert console.complaints == []


WRITTEN = """window.written = [];
for (const name of ["pushState", "replaceState"]) {
  const write = history[name].bind(history);
  history[name] = (...given) => { window.written.push(given[2]); write(...given); };
}"""


@pytest.mark.parametrize("page", ["skills", "catalogue"])
def test_a_page_that_reads_leads_its_address_nowhere_else_in_between(console: Console, page: str) -> None:
    [tool] = console.server.items(name="create_event")
    place = f"skills?skill={tool['primary_skill_id']}" if page == "skills" else f"catalogue?tool={tool['id']}"
    console.page.add_init_script(WRITTEN)
    console.open(place)
    console.page.locator(".detail h2").first.wait_for()
    console.page.locator(".detail").get_by_text("Reading …").wait_for(state="detached")
    assert set(console.page.evaluate("window.written")) <= {f"#/{place}"}  # who reloads just then stays there


def test_a_token_that_is_being_typed_stays_where_its_error_comes_again(console: Console) -> None:
    asked = console.hold("**/do/log/events")
    console.page.goto(f"{console.url}#/log")
    refused = {"detail": "no bearer token", "remedy": "Enter a token."}
    asked(0).fulfill(status=401, json=refused)
    typed = console.page.get_by_label("Token")
    typed.press_sequentially("eyJ")
    console.page.evaluate("document.dispatchEvent(new CustomEvent('changed-elsewhere'))")
    asked(1).fulfill(status=401, json=refused | {"request_id": "again"})
    console.page.get_by_text("request again").wait_for()
    console.page.keyboard.type("hbG")
    assert typed.input_value() == "eyJhbG"
    assert console.page.locator("#errors .problem").count() == 1


@pytest.mark.parametrize("place", ["map", "search?q=book+a+table+for+friday"])
def test_what_the_browser_kept_of_a_tab_that_was_left_is_loaded_anew(console: Console, place: str) -> None:
    console.open(place)
    shown = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: %s }))"
    console.page.evaluate("window.isKept = true")
    console.page.evaluate(shown % "false")  # the tab was opened just now
    assert console.page.evaluate("window.isKept") is True
    with console.page.expect_navigation():
        console.page.evaluate(f"dispatchEvent(new PageTransitionEvent('pagehide')); {shown % 'true'}")
    console.page.locator("#page > *").first.wait_for()
    assert console.page.evaluate("window.isKept") is None
    assert console.page.url.endswith(f"#/{place}")
    assert console.complaints == []


def test_the_last_change_is_undone_by_a_key(console: Console) -> None:
    console.open("catalogue")
    console.page.keyboard.press("/")
    console.page.keyboard.type("reserve_table")
    console.row("reserve_table").last.click()
    console.page.get_by_role("button", name="Switch off").click()
    console.page.get_by_role("button", name="Switch on").wait_for()
    console.page.locator("h1").click()
    console.page.keyboard.press("z")
    console.page.get_by_role("button", name="Switch off").wait_for()
    found = "/api/v1/tools?name=reserve_table"
    eventually(lambda: answered(console.server.http.get(found))[0]["is_active"], "the tool is on again")
    assert console.complaints == []


def test_a_narrow_window_has_a_menu(console: Console, axe: str) -> None:
    console.page.set_viewport_size(NARROW)
    console.open("skills")
    assert not console.page.get_by_role("link", name="Health").is_visible()
    console.page.get_by_role("button", name="Menu, Skills").click()
    console.page.get_by_role("link", name="Health").wait_for()
    assert grave(console, axe) == []
    console.page.keyboard.press("Escape")
    console.page.get_by_role("link", name="Health").wait_for(state="hidden")
    console.page.get_by_role("button", name="Menu, Skills").click()
    console.page.get_by_role("link", name="Health").click()
    console.page.get_by_role("button", name="Menu, Health").wait_for()
    assert not console.page.get_by_role("link", name="Skills", exact=True).is_visible()


def test_a_letter_that_leads_nowhere_does_nothing_else(console: Console) -> None:
    console.open("search")
    console.page.locator("h1").click()
    console.page.keyboard.type("g")
    console.page.locator("body.going").wait_for()
    console.page.keyboard.type("?")
    assert console.page.locator("body.going").count() == 0
    assert console.page.get_by_role("dialog").count() == 0
    assert console.page.url.endswith("#/search")


def typed_in_palette(console: Console, text: str) -> None:
    console.page.keyboard.press("Control+k")
    console.page.keyboard.type(text)


def test_the_palette_leads_to_pages_where_names_cannot_be_read_and_keeps_what_was_typed(console: Console) -> None:
    problem = json.dumps({"detail": "the database is away", "remedy": "Start it."})
    console.page.route("**/do/palette/tools", lambda route: route.fulfill(status=503, body=problem))
    console.open("log")
    typed_in_palette(console, "calendar man")
    console.page.get_by_text("Tools, skills and servers are not all here: the database is away.").wait_for()
    assert console.page.get_by_role("combobox", name="Page, tool").input_value() == "calendar man"
    console.page.get_by_role("option", name="Calendar Management").wait_for()  # what was read before is there
    console.page.unroute("**/do/palette/tools")
    console.page.keyboard.press("Escape")
    console.page.get_by_role("button", name="Try again").click()
    console.page.get_by_role("combobox", name="Page, tool").wait_for()
    console.page.keyboard.type("reserve tab")
    console.page.get_by_role("option", name="reserve_table").wait_for()


def test_the_palette_that_is_opened_again_shows_what_is_still_being_read(console: Console) -> None:
    held: list[Route] = []
    console.page.route("**/do/palette/tools", lambda route: held.append(route))  # noqa: PLW0108 (Playwright marks it)
    console.open("log")
    typed_in_palette(console, "late arrival")
    eventually(lambda: console.page.title() and held, "the names are asked for")
    console.page.keyboard.press("Escape")
    typed_in_palette(console, "late arrival")
    console.page.get_by_text("Reading names").wait_for()
    held[0].fulfill(body=json.dumps({"tools": [[1, "late_arrival", "airport"]]}) + "\n")
    console.page.get_by_role("option", name="late_arrival").wait_for()
    assert len(held) == 1


def test_the_palette_keeps_what_was_moved_to_where_names_come_later(console: Console) -> None:
    held: list[Route] = []
    console.page.route("**/do/palette/tools", lambda route: held.append(route))  # noqa: PLW0108 (Playwright marks it)
    console.open("log")
    typed_in_palette(console, "fix my bicycle")
    eventually(lambda: console.page.title() and held, "the names are asked for")
    console.page.keyboard.press("ArrowUp")  # the last one
    last = chosen(console)
    tools = [[number, f"fix my bicycle {number}", "workshop"] for number in range(1, 4)]
    held[0].fulfill(body=json.dumps({"tools": tools}) + "\n")
    console.page.get_by_role("option", name="fix my bicycle 3").wait_for()
    assert chosen(console) == last


def test_the_palette_forgets_what_another_token_saw(console: Console) -> None:
    def shown(*servers: str) -> Callable[[Route], None]:
        body = json.dumps({"skills": [], "servers": [{"id": 1, "name": name} for name in servers]})
        return lambda route: route.fulfill(body=body)

    console.page.route("**/do/palette/tools", lambda route: route.fulfill(body=json.dumps({"tools": []}) + "\n"))
    console.page.route("**/do/palette/names", shown("acme vault"))
    console.open("log")
    typed_in_palette(console, "vault")
    console.page.get_by_role("option", name="acme vault").wait_for()
    console.page.keyboard.press("Escape")
    console.page.route("**/do/palette/names", shown("open vault"))
    console.page.evaluate("document.dispatchEvent(new CustomEvent('token'))")
    typed_in_palette(console, "vault")
    console.page.get_by_role("option", name="open vault").wait_for()
    assert console.page.get_by_role("option", name="acme vault").count() == 0


def test_what_is_undone_after_the_page_was_left_shows_where_one_came_back(console: Console) -> None:
    console.open("catalogue?filter=reserve_table")
    console.row("reserve_table").last.click()
    console.page.get_by_role("button", name="Switch off").click()
    console.page.get_by_role("button", name="Switch on").wait_for()
    tool = console.page.url.partition("tool=")[2].partition("&")[0]
    console.open("log")
    console.page.get_by_role("heading", level=1, name="Log", exact=True).wait_for()
    console.open(f"catalogue?tool={tool}")
    console.page.get_by_role("button", name="Switch on").wait_for()
    console.page.locator("h1").click()
    console.page.keyboard.press("z")
    console.page.get_by_role("button", name="Switch off").wait_for()
    assert "filter=" not in console.page.url  # the address of the page that was left
    assert console.complaints == []


@pytest.mark.parametrize(
    "made",
    [
        "(await import('/console/static/list.js')).List({ label: 'x', key: (one) => one, row: () => [] })",
        "(await import('/console/static/scatter.js')).Scatter({ label: 'x', drawing: 'canvas' })",
    ],
)
def test_what_a_page_drew_goes_with_the_page(console: Console, made: str) -> None:
    console.open("log")
    console.page.evaluate(f"async () => {{ window.left = new WeakRef(new {made}); }}")
    developer = console.page.context.new_cdp_session(console.page)

    def is_gone() -> bool:
        developer.send("HeapProfiler.collectGarbage")
        return bool(console.page.evaluate("window.left.deref() === undefined"))

    eventually(is_gone, "nothing holds it")
