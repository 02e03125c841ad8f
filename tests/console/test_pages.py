"""Every page, with the examples and with the real catalogues: it shows, it is reached by keys, and nothing runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.console.conftest import NARROW, Console, grave
from tests.console.planted import SCRIPT
from tests.e2e.processes import Up, eventually

pytestmark = pytest.mark.console

PAGES = {
    "overview": ("Overview", "Searches a minute"),
    "search?q=book+a+table+for+friday": ("Search", "reserve_table"),
    "catalogue": ("Catalogue", "click_element"),
    "skills": ("Skills", "Calendar Management"),
    "suggestions": ("Suggestions", "Bee keeping"),
    "map": ("Map", "tools"),
    "doctor": ("Doctor", "that make tools hard to find"),
    "health": ("Health", "All dependencies are available"),
    "learning": ("Learning", "has the requests that found nothing"),
    "missed": ("Unanswered", "wash the dog"),
    "log": ("Log", "event"),
    "changes": ("Changes", "Adds numbers, all that there are."),
    "evaluation": ("Evaluation", "request"),
    "servers?server=workshop": ("Servers", "tune_pipe"),
}
"""Where each page is, its title, and what it shows of the examples."""

LETTERS = {
    "c": "Catalogue", "k": "Skills", "u": "Suggestions", "m": "Map", "d": "Doctor", "h": "Health", "l": "Learning",
    "t": "Log", "e": "Evaluation", "a": "Changes", "s": "Search",
    "o": "Overview", "v": "Servers", "n": "Unanswered",
}  # fmt: skip
"""What follows g, and the title of the page that it leads to."""

IN_CATALOGUES = {
    "Overview": "1,495",
    "Search": "okta-mcp-server",
    "Catalogue": "1,538 tools",
    "Skills": "Calendar Management",
    "Suggestions": "No open suggestions",
    "Map": "1,538 tools",
    "Doctor": "that make tools hard to find",
    "Health": "1,538",
    "Learning": "Nothing was learned yet",
    "Unanswered": "Requests come here by themselves",
    "Log": "event",
    "Changes": "No changed definition waits.",
    "Evaluation": "request",
    "Servers": "never asked",
}


@pytest.mark.parametrize("place", PAGES)
def test_each_page_shows_what_there_is(console: Console, place: str) -> None:
    title, text = PAGES[place]
    console.open(place)
    assert console.page.locator("h1").inner_text() == title
    console.page.get_by_text(text).first.wait_for()
    assert console.complaints == []
    assert console.page.locator(".problem").count() == 0


def test_a_mode_that_no_reranker_serves_is_not_offered(console: Console) -> None:
    with console.page.expect_response("**/do/health/state"):
        console.open("search?q=book+a+table+for+friday")
    console.page.get_by_text("reserve_table").first.wait_for()
    options = console.page.get_by_label("Mode").first.locator("option")
    offered = ["the default", "semantic", "lexical", "hybrid"]
    eventually(lambda: options.all_inner_texts() == offered, "the modes that there are are offered")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", PAGES)
def test_no_page_keeps_anybody_out(console: Console, axe: str, place: str, scheme: Any) -> None:
    console.page.emulate_media(color_scheme=scheme)
    console.open(place)
    console.page.get_by_text(PAGES[place][1]).first.wait_for()
    assert grave(console, axe) == []


@pytest.mark.parametrize("place", PAGES)
def test_a_narrow_window_needs_no_sideways_scrolling(console: Console, axe: str, place: str) -> None:
    console.page.set_viewport_size(NARROW)
    console.open(place)
    console.page.get_by_text(PAGES[place][1]).first.wait_for()
    assert console.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert grave(console, axe) == []


def test_the_catalogues_are_filtered_as_one_types(opened: Callable[..., Console], large: Up) -> None:
    console = opened(large)
    console.open("catalogue")
    console.page.get_by_text("1,538 tools").wait_for()
    # What is out of view is no element, or thousands would stutter.
    assert console.page.locator("[role=option]").count() < 60

    console.page.keyboard.press("/")
    console.page.keyboard.type("okta group")

    console.page.get_by_text(" of 1,538 tools").wait_for()
    assert "okta" in console.page.locator("[role=option]").first.inner_text().lower()
    console.page.locator("h1").click()
    console.page.keyboard.press("j")
    assert console.page.locator(".detail h2").first.inner_text()
    assert console.complaints == []


@pytest.mark.parametrize("place", PAGES)
def test_each_page_shows_the_real_catalogues(opened: Callable[..., Console], large: Up, place: str) -> None:
    console = opened(large)
    console.open(place.replace("book+a+table+for+friday", "list+okta+users"))
    assert console.page.locator("h1").inner_text() == PAGES[place][0]
    console.page.get_by_text(IN_CATALOGUES[PAGES[place][0]]).first.wait_for()
    assert console.complaints == []


def test_a_list_is_walked_by_keys(console: Console) -> None:
    console.open("catalogue")
    console.page.get_by_role("listbox", name="Tools").focus()
    console.page.keyboard.press("End")
    last = console.page.locator("[role=option][aria-selected=true]")
    assert last.get_attribute("aria-posinset") == last.get_attribute("aria-setsize")
    console.page.keyboard.press("Home")
    assert console.page.locator("[role=option][aria-selected=true]").get_attribute("aria-posinset") == "1"


def test_pages_are_reached_by_keys_alone(console: Console) -> None:
    console.open("search")
    console.page.keyboard.press("Escape")
    for letter, title in LETTERS.items():
        console.page.keyboard.type(f"g{letter}")
        console.page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
        console.page.keyboard.press("Escape")
    console.page.keyboard.press("?")
    console.page.get_by_role("dialog", name="Keys").wait_for()


def test_an_answer_to_the_page_that_is_left_does_not_change_the_address(console: Console) -> None:
    held: dict[str, Any] = {}

    def hold(pattern: str) -> None:
        console.page.route(pattern, lambda route: held.update({pattern: route}))

    def asked(pattern: str) -> Any:
        # Routes are told of while something is asked of the page.
        return eventually(lambda: console.page.title() and held.get(pattern), f"{pattern} is asked for")

    hold("**/do/skills/skills")
    hold("**/page_suggestions.js")
    console.page.goto(f"{console.url}#/skills")
    skills = asked("**/do/skills/skills")
    console.page.keyboard.type("gu")
    suggestions = asked("**/page_suggestions.js")
    skills.continue_()
    console.row("Calendar Management").wait_for()
    assert console.page.url.endswith("#/suggestions")
    suggestions.continue_()
    console.page.get_by_role("heading", level=1, name="Suggestions").wait_for()


@pytest.mark.parametrize("place", ["search?q=hostile_tool", "catalogue", "suggestions"])
def test_markup_in_texts_is_text_and_does_nothing(console: Console, place: str) -> None:
    console.open(place)
    if place == "catalogue":
        console.page.keyboard.press("/")
        console.page.keyboard.type("hostile")
        console.row("hostile_tool").click()
        console.page.locator(".detail").get_by_text("Input schema as JSON").click()
    if place.startswith("search"):
        console.page.get_by_text("Figures and arguments").first.click()
    if place == "suggestions":
        _suggest_markup(console)
    console.page.get_by_text(SCRIPT).first.wait_for()
    assert console.page.evaluate("window.pwned") is None
    assert console.page.locator("#page img, #page script").count() == 0
    assert console.complaints == []


def _suggest_markup(console: Console) -> None:
    line = {
        "kind": "suggestion", "suggestion": "new_skill", "name": f"Hostile {SCRIPT}"[:100],
        "description": f"Hostile: {SCRIPT}", "tool": {"server": "hostile", "type": "tool", "name": "hostile_tool"},
        "tool_name": "hostile_tool", "skill_id": None, "reasoning": SCRIPT, "source": "llm_auto", "status": "pending",
        "resolved_skill_id": None, "reviewed_by": None, "review_reason": None, "created_at": "2026-11-20T09:00:00Z",
        "reviewed_at": None,
    }  # fmt: skip
    answer = console.server.http.post("/api/v1/import", json={"lines": [line]}).json()
    assert answer["results"][0]["status"] != "failed", answer
    console.page.reload()
    console.row("Hostile").click()


def test_no_page_has_a_key_of_its_own_that_the_frame_has(console: Console) -> None:
    for place in PAGES:
        console.open(place)
        console.page.keyboard.press("?")
        dialog = console.page.get_by_role("dialog")
        dialog.wait_for()
        keys = dialog.locator("kbd").all_inner_texts()
        assert len(keys) == len(set(keys)), place
        assert "g" not in keys, place
        assert {f"g {letter}" for letter in LETTERS} <= set(keys)
        dialog.get_by_role("button", name="Close").click()


def test_a_search_says_in_words_why_it_found_a_tool(console: Console) -> None:
    def reasons(request: str) -> list[str]:
        console.open(f"search?q={request}")
        console.page.locator(f".compare[data-asked='{request}'] .hit").first.wait_for()
        said: list[str] = console.page.locator(".hit .why").all_inner_texts()
        return said

    named = reasons("reserve_table")
    assert named[0].startswith("Named exactly")
    assert "all words of the request are in its name" in named[0]
    assert not any("amed exactly" in reason for reason in named[1:])
    meant = reasons("listen to my favourite songs")
    assert any(reason.startswith("Nearest in meaning of all (0.") for reason in meant)
    assert any("o word of the request is in this tool" in reason for reason in meant)


def test_results_come_before_settings_where_there_is_little_room(console: Console) -> None:
    console.page.set_viewport_size(NARROW)
    console.open("search?q=book+a+table+for+friday")
    console.page.locator(".hit").first.wait_for()
    assert not console.page.get_by_label("Strategy").is_visible()
    console.page.get_by_text("Settings all default").click()
    console.page.get_by_role("spinbutton", name="Results").fill("3")
    console.page.get_by_role("spinbutton", name="Results").press("Enter")
    console.page.get_by_text("results: 3").wait_for()
    eventually(lambda: console.page.title() and console.page.locator(".hit").count() == 3, "three results are shown")


def fail(route: Any) -> None:
    route.fulfill(status=503, body=json.dumps({"detail": "the answer came too late", "remedy": "None."}))


@pytest.mark.parametrize(
    ("place", "action"),
    [
        ("catalogue", "catalogue/tools"),
        ("catalogue", "catalogue/tool"),
        ("skills", "skills/skills"),
        ("skills", "skills/skill"),
        ("search?q=mail", "search/run"),
        ("evaluation", "evaluation/requests"),
        ("overview", "overview/latest"),
        ("health", "health/system"),
    ],
)
def test_what_fails_for_a_page_that_was_left_is_not_shown_on_the_next_one(
    console: Console, place: str, action: str
) -> None:
    asked = console.hold(f"**/do/{action}")
    console.page.goto(f"{console.url}#/{place}")
    late = asked(0)
    console.page.keyboard.press("Escape")
    console.page.keyboard.type("gt")
    console.page.get_by_role("heading", level=1, name="Log", exact=True).wait_for()
    with console.page.expect_response(f"**/do/{action}"):
        fail(late)
    console.settle()
    assert console.page.locator("#errors .problem").all_inner_texts() == []


@pytest.mark.parametrize("place", ["catalogue", "skills"])
def test_what_fails_for_an_item_that_is_not_open_any_more_is_not_shown(console: Console, place: str) -> None:
    action = {"catalogue": "catalogue/tool", "skills": "skills/skill"}[place]
    console.open(place)
    console.page.locator(".detail .lead, .detail form, .detail fieldset").first.wait_for()
    asked = console.hold(f"**/do/{action}")
    console.page.locator("[role=option]").nth(1).click()
    late = asked(0)
    console.page.locator("[role=option]").nth(2).click()
    asked(1).continue_()
    console.page.locator(".detail h2").wait_for()
    console.page.locator(".detail").get_by_text("Reading …").wait_for(state="detached")
    with console.page.expect_response(f"**/do/{action}"):
        fail(late)
    console.settle()
    assert console.page.locator("#errors .problem").all_inner_texts() == []


def test_going_back_while_a_search_runs_shows_what_the_address_says(console: Console) -> None:
    console.open("search?q=book+a+table")
    console.page.locator("[data-asked='book a table'] .hit").first.wait_for()
    asked = console.hold("**/do/search/run")
    console.page.get_by_label("Request", exact=True).fill("send a mail")
    console.page.keyboard.press("Enter")
    late = asked(0)
    console.follow("search?q=book+a+table")
    again = asked(1)
    with console.page.expect_response("**/do/search/run"):
        late.continue_()
    again.continue_()
    console.page.get_by_text("Searching …").wait_for(state="detached")
    assert console.page.locator("[data-asked]").get_attribute("data-asked") == "book a table"
    assert console.page.get_by_label("Request", exact=True).input_value() == "book a table"
    assert console.page.url.endswith("#/search?q=book+a+table")


def test_a_mode_that_was_chosen_while_modes_are_read_stays(console: Console) -> None:
    console.open("search")
    console.page.get_by_label("Mode", exact=True).select_option("lexical")
    asked = console.hold("**/do/health/state")
    console.page.reload()
    state = asked(0)
    console.page.get_by_label("Mode", exact=True).select_option("semantic")
    answer = state.fetch()
    state.fulfill(json={**answer.json(), "modes": [*answer.json()["modes"], "reranked"]})
    console.page.locator("option[value=reranked]").first.wait_for(state="attached")
    assert console.page.get_by_label("Mode", exact=True).input_value() == "semantic"


def test_filters_of_an_address_that_is_followed_while_tools_are_read_stay(console: Console) -> None:
    [tool] = console.server.items(name="create_event")
    asked = console.hold("**/do/catalogue/tools")
    console.page.goto(f"{console.url}#/catalogue")
    tools = asked(0)
    console.follow(f"catalogue?filter=create&tool={tool['id']}")
    tools.continue_()
    console.row("create_event").wait_for()
    console.page.locator(".detail h2").get_by_text("create_event", exact=True).wait_for()
    assert console.page.get_by_label("Filter", exact=True).input_value() == "create"
    assert f"tool={tool['id']}" in console.page.url


def test_filters_of_an_address_that_is_followed_while_skills_are_read_stay(console: Console) -> None:
    asked = console.hold("**/do/skills/skills")
    console.page.goto(f"{console.url}#/skills")
    skills = asked(0)
    console.follow("skills?filter=calendar&state=on&skill=calendar_management")
    skills.continue_()
    console.row("Calendar Management").wait_for()
    console.page.locator(".detail h2").get_by_text("Calendar Management", exact=True).wait_for()
    assert console.page.get_by_label("Filter skills").input_value() == "calendar"
    assert console.page.get_by_label("State").input_value() == "on"


def test_a_tool_of_another_server_takes_the_filter_of_the_address_away(console: Console) -> None:
    [tool] = console.server.items(name="create_event")
    console.open(f"catalogue?server=workshop&tool={tool['id']}")
    console.page.locator(".detail h2").get_by_text("create_event", exact=True).wait_for()
    with (
        console.page.expect_response("**/do/servers/registered"),
        console.page.expect_response("**/do/catalogue/tools"),
    ):
        console.page.get_by_role("button", name="Reload").click()
    console.row("click_element").wait_for()
    eventually(lambda: console.page.title() and "server=" not in console.page.url, "the address has no server")
    assert console.page.get_by_label("Server", exact=True).input_value() == ""


@pytest.mark.parametrize(("place", "name"), [("catalogue", "create_event"), ("skills", "Calendar Management")])
def test_what_is_changed_while_the_list_is_read_is_not_drawn_as_it_was_before(
    console: Console, place: str, name: str
) -> None:
    action = {"catalogue": "catalogue/tools", "skills": "skills/skills"}[place]
    console.open(place)
    console.row(name).first.click()
    console.page.locator(".detail h2").get_by_text(name, exact=True).wait_for()
    asked = console.hold(f"**/do/{action}")
    console.page.get_by_role("button", name="Reload").click()
    before = asked(0).fetch()
    off = console.page.locator("[role=option] .off").get_by_text(name, exact=True)
    console.page.locator(".detail").get_by_role("button", name="Switch off").click()
    off.wait_for()
    again = asked(1)
    for held, more in ((asked(0), {"response": before}), (again, {"response": again.fetch()})):
        with console.page.expect_response(f"**/do/{action}"):
            held.fulfill(**more)
        console.settle()
        assert off.count() == 1
    console.page.locator(".detail").get_by_role("button", name="Switch on").click()
    off.wait_for(state="detached")


def test_who_stops_to_follow_the_log_and_follows_it_again_reads_each_event_once(console: Console) -> None:
    console.open("log")
    console.page.locator("tbody tr").first.wait_for()
    [event, *_] = console.page.evaluate(
        "import('./static/calls.js').then(({ act }) => act('log/events', {})).then(({ rows }) => rows)"
    )
    asked = console.hold("**/do/log/events")
    box = console.page.get_by_label("Follow")
    box.check()
    first = asked(0)
    box.uncheck()
    box.check()
    second = asked(1)
    one, other = ({**event, "id": f"{place}" * 8, "what": f"event {place}"} for place in "12")
    with console.page.expect_response("**/do/log/events"):
        first.fulfill(json={"rows": [one], "most": 100})
    second.fulfill(json={"rows": [one, other], "most": 100})
    console.page.get_by_role("cell", name="event 2").wait_for()
    assert console.page.get_by_role("cell", name="event 1").count() == 1


def test_a_request_that_is_half_typed_is_not_searched_for_though_another_page_has_changed_something(
    console: Console,
) -> None:
    console.open("search?q=book+a+table")
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.url) if request.url.endswith("search/run") else None)
    field = console.page.get_by_label("Request", exact=True)
    field.fill("half a requ")
    console.page.evaluate("document.dispatchEvent(new CustomEvent('changed-elsewhere'))")
    console.settle()
    assert sent == []
    field.fill("book a table")
    console.page.evaluate("document.dispatchEvent(new CustomEvent('changed-elsewhere'))")
    eventually(lambda: console.page.title() and sent, "what is shown is searched for again")
