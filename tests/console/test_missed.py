"""The page Unanswered: what found nothing is given to a tool by one key, found by the next search, and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.console.conftest import NARROW, Console, expect, grave, lines_of
from tests.console.planted import SCRIPT
from tests.e2e.processes import answered, eventually

pytestmark = pytest.mark.console

DOG = "wash the dog"


@pytest.fixture
def home(console: Console) -> Iterator[Path]:
    """The folder of judged requests and of decisions; both, and the tools' requests, as they were before afterwards."""
    folder = console.server.home.path
    paths = [folder / "requests.jsonl", folder / "requests.missed.jsonl"]
    before = {path: path.read_bytes() if path.exists() else None for path in paths}
    for path in paths:
        path.unlink(missing_ok=True)
    yield folder
    for path, content in before.items():
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(content)
    for tool in tools_with(console, DOG):
        kept = [request for request in tool["requests"] if request["text"] != DOG]
        answered(console.server.http.put(f"/api/v1/tools/{tool['id']}", json=tool | {"requests": kept}))


def tools_with(console: Console, request: str) -> list[dict[str, Any]]:
    """Return the tools that serve a request, as they say."""
    found = answered(console.server.http.get("/api/v1/tools", params={"limit": 500}))
    return [tool for tool in found if request in [one["text"] for one in tool["requests"] or []]]


def opened(console: Console, place: str = "missed") -> Any:
    """Open the page, and return the pane of the request once the nearest tools are there."""
    console.open(place)
    pane = console.page.locator(".detail")
    pane.locator(".near").first.wait_for()
    return pane


def title_of(pane: Any, at: int) -> str:
    title: str = pane.locator(".near").nth(at).locator("a.code").inner_text()
    return title


def found_now(console: Console, text: str) -> None:
    """Wait until a search finds what was served: the index may take longer than the page looks by itself."""
    again = console.page.get_by_role("button", name="Search again")

    def is_shown() -> bool:
        again.evaluate_all("([first]) => first?.click()")  # it may be found, and the button gone, by now
        return console.page.get_by_text(text).count() > 0

    eventually(is_shown, text)


def test_a_request_is_given_to_a_tool_by_one_key_and_the_next_search_finds_it(
    console: Console, home: Path, axe: str
) -> None:
    pane = opened(console)
    assert pane.locator("h2").inner_text() == DOG
    # Why each is near, in words and as a figure.
    assert "in meaning" in pane.locator(".near").nth(1).inner_text()
    assert grave(console, axe) == []
    tool = title_of(pane, 1)

    console.page.keyboard.press("2")  # with g n before it, three keys from any page

    found_now(console, f"{DOG}: {tool} is found at place ")
    expect(console.row(DOG)).to_have_count(0)
    [stored] = tools_with(console, DOG)
    assert f"{stored['server']}/{stored['name']}" == tool or stored["name"] == tool
    assert lines_of(home / "requests.jsonl") == [{"query": DOG, "needs": [[tool]]}]
    answer = answered(console.server.http.post("/api/v1/search?receipt=false", json={"query": DOG}))
    assert stored["id"] in [found["db_id"] for found in answer["tools"]]
    assert not answer["metadata"]["no_match"]

    console.page.keyboard.press("z")
    console.row(DOG).wait_for()
    eventually(lambda: tools_with(console, DOG) == [], "no tool serves it any more")
    eventually(lambda: lines_of(home / "requests.jsonl") == [], "it is no judged request any more")
    assert console.complaints == []


def test_what_is_served_is_searched_for_again_and_can_be_taken_back(console: Console, home: Path) -> None:
    pane = opened(console)
    pane.locator(".near").nth(0).get_by_role("button", name="This one serves it").focus()
    console.page.keyboard.press("s")
    found_now(console, "is found at place 1 now")

    pane = opened(console, "missed?state=served&days=90")
    days = console.page.get_by_label("Days")
    eventually(lambda: console.page.title() and days.input_value() == "90", "the address is followed")
    pane.get_by_text("found at place 1 now").wait_for()
    pane.get_by_text("serves it").first.wait_for()
    address = f"state=served&days=90&request={DOG.replace(' ', '+')}"
    eventually(lambda: console.page.title() and console.page.url.endswith(address), "the address says what is open")
    console.page.keyboard.press("b")
    console.page.get_by_text(f"Taken back: {DOG}").wait_for()
    pane.get_by_text("to decide").wait_for()
    assert tools_with(console, DOG) == []


@pytest.mark.parametrize(
    ("key", "state"), [("n", "nothing should"), ("m", "a tool is missing"), ("x", "not a request")]
)
def test_a_request_ends_otherwise_and_that_is_undone(console: Console, home: Path, key: str, state: str) -> None:
    opened(console)
    console.page.keyboard.press(key)
    expect(console.row(DOG)).to_have_count(0)
    console.page.get_by_label("State").select_option(label=state)
    console.row(DOG).wait_for()
    address = f"request={DOG.replace(' ', '+')}"
    eventually(lambda: console.page.title() and console.page.url.endswith(address), "the address says what is open")
    console.page.get_by_role("button", name="Undo").click()
    expect(console.page.get_by_label("State")).to_have_value("open")
    console.row(DOG).wait_for()
    eventually(lambda: lines_of(home / "requests.missed.jsonl") == [], "the decision is taken back")


def test_another_tool_is_named_by_its_title(console: Console, home: Path) -> None:
    pane = opened(console)
    console.page.keyboard.press("f")
    console.page.keyboard.type("workshop/tap_dance")
    console.page.keyboard.press("Enter")
    found_now(console, f"{DOG}: workshop/tap_dance is found at place ")
    assert [tool["name"] for tool in tools_with(console, DOG)] == ["tap_dance"]
    assert pane.count() == 1


def test_of_a_tool_with_eight_requests_one_is_replaced(console: Console, home: Path) -> None:
    pane = opened(console)
    name = title_of(pane, 0).split("/")[-1]
    found = answered(console.server.http.get("/api/v1/tools", params={"limit": 500}))
    tool = next(one for one in found if one["name"] == name)
    eight = [{"text": f"request {number}", "source": "person"} for number in range(8)]
    answered(console.server.http.put(f"/api/v1/tools/{tool['id']}", json=tool | {"requests": eight}))
    try:
        console.page.keyboard.press("1")
        dialog = console.page.get_by_role("dialog")
        dialog.get_by_text("serves eight requests already").wait_for()
        dialog.get_by_label("request 5").check()
        dialog.get_by_role("button", name="Replace it").click()
        expect(console.row(DOG)).to_have_count(0)
        [served] = tools_with(console, DOG)
        texts = [request["text"] for request in served["requests"]]
        assert (len(texts), "request 5" in texts) == (8, False)
    finally:
        before = {"requests": tool["requests"] or []}
        answered(console.server.http.put(f"/api/v1/tools/{tool['id']}", json=tool | before))


def test_a_decision_of_another_tab_is_shown(console: Console, home: Path) -> None:
    opened(console)
    other = Console(console.page.context.new_page(), console.url, console.server)
    opened(other)
    other.page.keyboard.press("x")
    expect(other.row(DOG)).to_have_count(0)
    expect(console.row(DOG)).to_have_count(0)
    other.page.keyboard.press("z")
    console.row(DOG).wait_for()


def test_what_is_typed_stays_though_another_tab_decides_on_the_request(console: Console, home: Path) -> None:
    pane = opened(console)
    other = Console(console.page.context.new_page(), console.url, console.server)
    opened(other)
    held: list[Any] = []
    console.page.route("**/do/catalogue/tools", lambda route: held.append(route))  # noqa: PLW0108 (a method it cannot mark)
    console.page.keyboard.press("f")
    console.page.keyboard.type("no_such_tool")
    console.page.keyboard.press("Enter")
    eventually(lambda: console.page.title() and held, "whether there is one is asked for")
    other.page.keyboard.press("x")
    pane.get_by_text("Not a request, decided").wait_for()
    assert console.page.evaluate("document.activeElement.value") == "no_such_tool"
    assert pane.locator("h2").inner_text() == DOG
    held[0].continue_()
    # What is wrong with it stands below the field that took the place of the one it was typed in.
    pane.get_by_text("There is no tool no_such_tool").wait_for()
    console.page.keyboard.type("m")
    assert console.page.evaluate("document.activeElement.value") == "no_such_toolm"
    assert [line["decision"] for line in lines_of(home / "requests.missed.jsonl")] == ["dismissed"]


def test_what_was_decided_elsewhere_is_not_written_over(console: Console, home: Path) -> None:
    opened(console)
    group = {"query": DOG, "wordings": [DOG]}
    decided = console.server.http.post(
        "/console/do/missed/decide",
        json={"group": group, "decision": "dismissed"},
        headers={"x-skillroute-console": "x"},
    )
    assert decided.status_code == 200, decided.text
    console.page.keyboard.press("1")
    console.page.get_by_text("another user or tab has decided").wait_for()
    expect(console.row(DOG)).to_have_count(0)
    assert tools_with(console, DOG) == []


def test_texts_are_text_and_looking_counts_no_search(console: Console, home: Path) -> None:
    opened(console)
    console.row("feed the fish").click()
    console.page.locator(".detail h2").get_by_text(SCRIPT).wait_for()
    assert console.page.evaluate("window.pwned") is None
    counts = console.row(DOG).inner_text()
    opened(console, f"missed?request={DOG.replace(' ', '+')}")
    console.page.keyboard.press("r")
    eventually(lambda: console.page.title() and console.row(DOG).inner_text() == counts, "the counts are the same")


@pytest.mark.parametrize(("typed", "kept"), [("dog", "dog"), ("no+such", "")])
def test_the_filter_of_an_address_stays_where_the_request_that_is_open_fits_it(
    console: Console, home: Path, typed: str, kept: str
) -> None:
    address = f"missed?filter={typed}&request={DOG.replace(' ', '+')}"
    field = console.page.get_by_label("Filter requests")
    for follow in (console.open, console.follow):  # as it is opened, and from another one of the page
        follow(address)
        console.page.locator(".detail h2").get_by_text(DOG).wait_for()
        eventually(lambda: console.page.title() and field.input_value() == kept, "the filter is that of the address")
        console.follow("missed")


def test_a_narrow_window_shows_the_list_or_what_is_open(console: Console, home: Path, axe: str) -> None:
    console.page.set_viewport_size(NARROW)
    console.open("missed")
    console.row(DOG).click()
    console.page.locator(".near").first.wait_for()
    assert console.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert grave(console, axe) == []
    console.page.get_by_role("button", name="Back to the list").click()
    console.row(DOG).wait_for()


def test_requests_are_downloaded_to_plan_with(console: Console, home: Path) -> None:
    opened(console)
    with console.page.expect_download() as begun:
        console.page.get_by_role("button", name="CSV").click()
    text = begun.value.path().read_text("utf-8")
    assert text.startswith("request,searches,callers,")
    assert f"{DOG},2,1," in text


def test_what_is_found_now_is_shown_though_the_page_reads_anew_meanwhile(console: Console, home: Path) -> None:
    with console.page.expect_response("**/do/missed/nearest") as asked:
        pane = opened(console)
    near = asked.value.json() | {"no_match": False}
    tool = title_of(pane, 0)
    held: list[Any] = []
    console.page.route(
        "**/do/missed/nearest",
        lambda route: held.append(route) if DOG in route.request.post_data else route.continue_(),
    )
    console.page.keyboard.press("1")
    console.page.get_by_text(f"Searching again: {DOG}").wait_for()
    eventually(lambda: console.page.title() and held, "a search looks for it")
    with console.page.expect_response("**/do/missed/groups") as read:
        console.page.keyboard.press("r")
    read.value.finished()
    held[0].fulfill(json={"tools": [], "no_match": True})  # the index does not have it yet
    eventually(lambda: console.page.title() and len(held) > 1, "a search looks for it again")
    held[1].fulfill(json=near)
    console.page.get_by_text(f"{DOG}: {tool} is found at place 1 now").wait_for()


def test_a_button_that_is_pressed_twice_decides_once(console: Console, home: Path) -> None:
    pane = opened(console)
    held: list[Any] = []
    console.page.route("**/do/missed/decide", lambda route: held.append(route))  # noqa: PLW0108
    button = pane.get_by_role("button", name="Not a request")
    button.click()
    eventually(lambda: console.page.title() and held, "it is sent")
    button.click()
    console.page.keyboard.press("n")
    for route in held:
        route.continue_()
    console.page.get_by_text(f"Not a request: {DOG}").wait_for()
    expect(console.row(DOG)).to_have_count(0)
    assert len(held) == 1
    assert console.page.locator(".problem").count() == 0


def test_an_address_that_is_followed_before_the_first_answer_is_opened(console: Console, home: Path) -> None:
    held: list[Any] = []
    console.page.route("**/do/missed/groups", lambda route: route.continue_() if held else held.append(route))
    console.page.goto(f"{console.url}#/missed?request={DOG.replace(' ', '+')}")
    eventually(lambda: console.page.title() and held, "the requests are asked for")
    fish = f"feed the fish {SCRIPT}"
    console.page.evaluate("(text) => { location.hash = `#/missed?request=${encodeURIComponent(text)}`; }", fish)
    console.page.evaluate("new Promise((done) => setTimeout(done))")
    held[0].continue_()
    console.page.locator(".detail h2").get_by_text("feed the fish").wait_for()
    assert console.page.locator("#notices p").count() == 0


def test_what_is_not_found_for_long_is_searched_for_again(console: Console, home: Path) -> None:
    with console.page.expect_response("**/do/missed/nearest") as asked:
        opened(console)
    near = asked.value.json() | {"no_match": False}
    answers = [{"tools": [], "no_match": True}]
    console.page.route(
        "**/do/missed/nearest",
        lambda route: route.fulfill(json=answers[-1]) if DOG in route.request.post_data else route.continue_(),
    )
    console.page.keyboard.press("1")
    again = console.page.get_by_role("button", name="Search again")
    again.focus()
    answers.append(near)
    console.page.keyboard.press("Enter")
    console.page.get_by_text("is found at place 1 now").wait_for()
    eventually(lambda: again.count() == 0, "there is nothing to search for again")
    eventually(lambda: console.page.evaluate("document.activeElement.role") == "status", "the focus is not gone")


def test_what_is_taken_back_before_it_is_shown_is_not_searched_for(console: Console, home: Path) -> None:
    pane = opened(console)
    tool = title_of(pane, 0)
    read = console.hold("**/do/missed/groups")
    console.page.keyboard.press("1")
    after = read(0)
    console.page.get_by_role("button", name="Undo").click()
    read(1).continue_()
    console.page.get_by_text(f"Taken back: {DOG}").wait_for()
    pane.get_by_text("to decide").wait_for()
    with console.page.expect_response("**/do/missed/groups"):
        after.continue_()
    console.settle()
    assert console.page.get_by_text(f"Searching again: {DOG}").count() == 0
    assert console.page.get_by_text(f"{DOG}: {tool} is").count() == 0


def test_a_reading_with_another_count_lets_nothing_be_decided_twice(console: Console, home: Path) -> None:
    pane = opened(console)
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.url))
    decided = console.hold("**/do/missed/decide")
    pane.get_by_role("button", name="Not a request").click()
    request = decided()

    def more(route: Any) -> None:
        answer = route.fetch().json()
        rows = [row | {"searches": row["searches"] + 5} for row in answer["rows"]]
        route.fulfill(json=answer | {"rows": rows})

    console.page.route("**/do/missed/groups", more, times=1)
    console.page.keyboard.press("r")
    pane.get_by_text("7 searches").wait_for()
    console.page.keyboard.press("n")
    request.continue_()
    expect(console.row(DOG)).to_have_count(0)
    assert len([url for url in sent if url.endswith("/do/missed/decide")]) == 1
    assert console.page.locator(".problem").count() == 0


@pytest.mark.parametrize("how", ["overtaken", "failed"])
def test_a_followed_request_is_opened_also_if_its_reading_is(console: Console, home: Path, how: str) -> None:
    pane = opened(console)
    console.row("feed the fish").click()
    pane.locator("h2").get_by_text("feed the fish").wait_for()
    read = console.hold("**/do/missed/groups")
    console.follow(f"missed?days=7&request={DOG.replace(' ', '+')}")
    first = read(0)
    if how == "overtaken":
        console.page.keyboard.press("r")
        first.continue_()
    else:
        first.fulfill(status=503, json={"detail": "the database is away", "remedy": "Start it."})
        console.page.get_by_role("button", name="Try again").click()
    read(1).continue_()
    pane.locator("h2").get_by_text(DOG).wait_for()


def test_the_error_of_a_decision_is_gone_once_it_is_decided(console: Console, home: Path) -> None:
    pane = opened(console)
    away = {"detail": "the database is away", "remedy": "Start it."}
    console.page.route("**/do/missed/decide", lambda route: route.fulfill(status=503, json=away), times=1)
    pane.get_by_role("button", name="Not a request").click()
    problem = console.page.locator(".problem").get_by_text(f"{DOG}: not decided")
    problem.wait_for()
    console.page.keyboard.press("x")
    expect(console.row(DOG)).to_have_count(0)
    problem.wait_for(state="detached")


def test_a_decision_that_ends_after_the_page_was_left_shows_where_one_came_back(console: Console, home: Path) -> None:
    pane = opened(console)
    decided = console.hold("**/do/missed/decide")
    pane.get_by_role("button", name="Not a request").click()
    request = decided()
    console.open("log")
    opened(console)
    request.continue_()
    expect(console.row(DOG)).to_have_count(0)


def test_nearest_tools_that_cannot_be_read_after_the_page_was_left_are_no_problem(console: Console, home: Path) -> None:
    asked = console.hold("**/do/missed/nearest")
    console.page.goto(f"{console.url}#/missed")
    request = asked()
    console.page.locator("#pages a[data-id=log]").click()
    console.page.get_by_role("heading", level=1, name="Log").wait_for()
    with console.page.expect_response("**/do/missed/nearest"):
        request.fulfill(status=503, json={"detail": "the database is away", "remedy": "Start it."})
    console.settle()
    assert console.page.locator(".problem").count() == 0


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_that_are_served_the_last_one_is_searched_for(
    console: Console, home: Path, order: tuple[int, int]
) -> None:
    pane = opened(console)
    asked = console.hold("**/do/missed/groups")
    before = pane.locator("h2").inner_text()
    console.page.keyboard.press("1")
    readings = [asked(0)]
    console.page.keyboard.press("j")
    pane.locator("h2").filter(has_not_text=before).wait_for()
    pane.locator(".near").first.wait_for()
    name = pane.locator("h2").inner_text()
    console.page.keyboard.press("1")
    readings.append(asked(1))
    for place in order:
        with console.page.expect_response("**/do/missed/groups"):
            readings[place].continue_()
        console.settle()
    console.page.locator("p[role=status]").filter(has_text=name).wait_for()
