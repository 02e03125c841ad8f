"""Every page where conditions are hard: nothing leaves the machine, the API fails, a token may only search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.console.conftest import NARROW, WIDE, Console
from tests.console.planted import plant
from tests.console.test_changes import names_waiting
from tests.console.test_pages import PAGES
from tests.console.test_servers import token
from tests.e2e.processes import HASHING, Processes, Up, answered, eventually
from tests.temporary import temporary_directory

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Route

pytestmark = pytest.mark.console

MOST_BYTES = 300_000
"""Of the package's files that a page loads, but for the map, which draws."""

FAILURES: dict[str, Callable[[Route], None]] = {
    "500": lambda route: route.fulfill(status=500, body="Internal Server Error"),
    "503": lambda route: route.fulfill(
        status=503, json={"detail": "the database is away", "remedy": "Start it, then try again.", "request_id": "r-1"}
    ),
    "gone": lambda route: route.abort(),
}
SAYS = {"500": "the console answered 500", "503": "the database is away", "gone": "the console does not answer"}
ANSWERED = "Failed to load resource"
"""What the browser writes of an answer that is an error."""


def test_no_page_asks_another_machine_and_none_is_heavy(context: BrowserContext, examples: Up, opened: Any) -> None:
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    for place in PAGES:
        console: Console = opened(examples)
        console.page.on("websocket", lambda socket: asked.append(socket.url))
        console.page.on("worker", lambda worker: asked.append(worker.url))
        done: list[Any] = []
        console.page.on("requestfinished", lambda request, done=done: done.append(request))
        console.open(place)
        console.page.get_by_text(PAGES[place][1]).first.wait_for()
        eventually(partial(_has_files, console, done), f"{place} has its files")
        loaded = {request.url: len(request.response().body()) for request in _files(done)}
        if not place.startswith("map"):
            assert sum(loaded.values()) <= MOST_BYTES, (place, loaded)
        assert context.service_workers == []
        console.page.close()
    assert len(asked) > 10 * len(PAGES)
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(examples.url).netloc}


def _has_files(console: Console, requests: list[Any]) -> bool:
    return bool(console.page.title()) and len(_files(requests)) > 5


def _files(requests: list[Any]) -> list[Any]:
    return [request for request in requests if "/static/" in request.url]


@pytest.mark.parametrize("place", PAGES)
def test_an_api_that_fails_is_shown_and_what_is_there_stays(console: Console, place: str) -> None:
    text = PAGES[place][1]
    for way, fail in FAILURES.items():
        console.page.goto("about:blank")
        console.page.route("**/do/**", fail)
        console.page.goto(f"{console.url}#/{place}")
        console.page.locator("h1").get_by_text(PAGES[place][0], exact=True).wait_for()
        typed = _type(console)
        if not place.startswith("doctor"):  # it reads nothing until it is examined
            _is_shown(console, way)
            if not place.startswith("search"):  # else it is blank
                console.page.locator("#page .state.no, #page .note").first.wait_for()
            _try_again(console, fail)
        console.page.get_by_text(text).first.wait_for()
        assert _typed(console) == typed, way

        console.page.route("**/do/**", fail)
        _refresh(console)
        _is_shown(console, way)
        console.page.get_by_text(text).first.wait_for()
        assert _typed(console) == typed, way
        console.page.unroute("**/do/**")
        _refresh(console)  # what was read since is no error any more
        eventually(lambda: console.page.locator("#errors .problem").count() == 0, "it is no error any more")
        assert _typed(console) == typed, way
    assert [line for line in console.complaints if ANSWERED not in line] == []


@pytest.mark.parametrize("place", PAGES)
def test_one_request_that_fails_is_shown_and_the_others_are_not_lost_by_it(console: Console, place: str) -> None:
    """What a page asks for only after something else was answered fails too."""
    asked = set(_asked(console, place))
    assert asked, "the page asks for nothing"
    if place.startswith(("search", "evaluation")):  # which modes there are: without an answer they offer the three
        asked.discard(f"{console.url}do/health/state")
    for name in sorted(asked):
        console.page.goto("about:blank")
        console.page.route(name, FAILURES["503"])
        _examine(console, place)
        shown = console.page.locator("#page, #errors").filter(has_text=SAYS["503"])
        eventually(lambda shown=shown: shown.count() > 0, f"{name} failed, and the page says so")
        console.page.unroute(name)
        assert [line for line in console.complaints if ANSWERED not in line] == [], name


def _asked(console: Console, place: str) -> list[str]:
    """Return the addresses of what the API is asked for by a page, until it asks no more."""
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url) if "/do/" in request.url else None)
    _examine(console, place)
    return asked


def _examine(console: Console, place: str) -> None:
    console.open(place)
    if place == "doctor":
        _refresh(console)
        console.page.get_by_role("button", name="Examine").wait_for()  # it is "Stop" until the examination has ended


def _is_shown(console: Console, way: str) -> None:
    box = console.page.locator("#errors .problem").filter(has_text=SAYS[way]).first
    box.wait_for()
    box.get_by_role("button", name="Try again").wait_for()


def _try_again(console: Console, fail: Callable[[Route], None]) -> None:
    """Try again what failed: once more in vain, and then until nothing is left of it."""
    boxes = console.page.locator("#errors .problem")
    again = boxes.get_by_role("button", name="Try again")
    before = boxes.count()
    with console.page.expect_request("**/do/**"):
        again.first.dispatch_event("click")  # at once: what fails later may take its place
    eventually(lambda: boxes.count() >= before, "it is shown again, beside what failed later")
    console.page.unroute("**/do/**", fail)

    def is_solved() -> bool:
        again.evaluate_all("([first]) => first?.click()")  # one that succeeds may take the others away
        return boxes.count() == 0

    eventually(is_solved, "nothing is left of it")


def _filter(console: Console) -> Any:
    return console.page.locator("#page input[type=search][data-first]")


def _type(console: Console) -> str:
    """Type into the filter of the page, where it has one, what lets all rows stay."""
    field = _filter(console)
    if field.count() and field.is_enabled() and not field.input_value():
        field.fill(" ")
    return _typed(console)


def _typed(console: Console) -> str:
    return str(_filter(console).input_value()) if _filter(console).count() else ""


def _refresh(console: Console) -> None:
    """Have the page read again what it shows."""
    page = console.page.locator("#page")
    for button in (page.get_by_role("button", name="Reload"), page.locator("form.tools button.main")):
        if button.count():
            button.first.click()
            return
    console.page.locator("h1").click()
    console.page.keyboard.press("r")


@pytest.fixture(scope="module")
def tokens(locked: Up) -> dict[str, str]:
    return {"search": token(locked, "search"), "all": token(locked, "search", "skills", "catalog", "admin")}


LOCKED = {
    "overview": ("shown to callers with scope admin", "scope catalog"),
    "suggestions": ("lacks the scope 'skills'",),
    "health": ("scope catalog", "scope admin"),
    "learning": ("lacks the scope 'skills'",),
    "log": ("lacks the scope 'admin'",),
    "changes": ("scope catalog",),
    "servers": ("scope catalog",),
}
"""What pages say to who may only search of what they do not show; the others show all."""

ONCE = """(() => {
  const wait = window.setTimeout;
  window.setTimeout = (run, ms, ...given) => wait(run, ms < 5000 ? ms : 3_600_000, ...given);
})()"""
"""What a page reads again by itself, every 5 s or 15 s, it does not: how often it asks for something is counted."""


@pytest.mark.parametrize("place", PAGES)
def test_a_token_that_may_only_search_sees_what_it_may_and_another_is_entered_right_there(
    opened: Callable[..., Console], locked: Up, tokens: dict[str, str], place: str
) -> None:
    console = opened(locked)
    console.page.add_init_script(ONCE)
    asked: Counter[str] = Counter()
    console.page.on("request", lambda request: asked.update([request.url]))
    console.page.goto(f"{console.url}#/{place.replace('workshop', 'browser')}")
    if place in {"map", "doctor"}:  # what they ask for first is refused to nobody
        console.page.evaluate("given => sessionStorage.setItem('skillroute-console-token', given)", tokens["search"])
    else:
        console.enter(tokens["search"])
    name = place.partition("?")[0]
    shown = console.page.locator("#page")
    for says in LOCKED.get(name, ()):
        shown.get_by_text(says).filter(visible=True).first.wait_for()
    typed = _type(console)
    if name == "doctor":
        _refresh(console)
    console.page.wait_for_load_state("networkidle")
    console.page.locator("#errors .problem").filter(has_text="no bearer token").first.wait_for(state="detached")
    eventually(lambda: len(shown.inner_text()) > 50, "there is something to see")
    assert max((count for url, count in asked.items() if "/do/" in url), default=0) <= 4, asked
    refused = console.page.locator("#errors .problem")
    if refused.count():
        assert "scope" in refused.first.inner_text()
        console.enter(tokens["all"])
        refused.first.wait_for(state="detached")
        eventually(lambda: refused.count() == 0, "nothing is refused any more")
        shown.get_by_text("lacks the scope").first.wait_for(state="detached")
    assert _typed(console) == typed
    assert [line for line in console.complaints if ANSWERED not in line] == []


def test_a_suggestion_that_another_tab_decided_is_not_decided_again(opened: Callable[..., Console], desk: Up) -> None:
    first, second = _both(opened, desk, "suggestions")
    for tab in (first, second):
        tab.row("Clock repair").click()
        tab.page.get_by_text("No skill is about clock repair").first.wait_for()
    second.page.get_by_role("button", name="Reject").first.click()
    second.page.keyboard.type("gl")
    eventually(lambda: second.page.title() and "Clock repair" not in names_waiting(desk), "one tab has decided")
    first.page.get_by_role("button", name="Approve").first.click()
    first.page.get_by_text("Approving Clock repair").wait_for()  # first it looks whether the id is free
    first.page.keyboard.type("gl")
    problem = first.page.locator(".problem").filter(has_text="Clock repair was not decided")
    problem.get_by_text("Another user has decided it").wait_for()
    assert desk.http.get("/api/v1/skills/clock_repair").status_code == 404


def test_skills_that_another_tab_gave_a_tool_are_shown_and_not_written_over(
    opened: Callable[..., Console], desk: Up
) -> None:
    [tool] = desk.items(name="translate_text")
    first, second = _both(opened, desk, f"catalogue?tool={tool['id']}")

    def give(tab: Console, skill: str) -> None:
        tab.page.get_by_label("Skill to add").fill(skill)
        tab.page.get_by_role("button", name="Add", exact=True).last.click()
        tab.page.get_by_role("button", name=f"Remove {skill}").wait_for()
        tab.page.get_by_role("button", name="Save skills").click()

    give(second, "smart_home")
    second.page.get_by_text("translate_text: skills saved").wait_for()
    give(first, "web_browsing")
    first.page.locator(".problem").filter(has_text="changed meanwhile").filter(has_text="smart_home").wait_for()
    first.page.get_by_role("button", name="Remove web_browsing").wait_for()
    now = {row["skill_id"] for row in answered(desk.http.get(f"/api/v1/tools/{tool['id']}/skills"))}
    assert "smart_home" in now
    assert "web_browsing" not in now


def test_a_finding_that_another_tab_dismissed_keeps_its_reason(opened: Callable[..., Console], desk: Up) -> None:
    desk.put({"server": "tabs", "name": "fold_napkin", "description": "TODO"})
    first, second = _both(opened, desk, "doctor")
    for tab in (first, second):
        tab.page.get_by_label("search for each tool").uncheck()
        tab.page.get_by_role("button", name="Examine").click()
        tab.page.get_by_label("Kind", exact=True).select_option("description_empty")
        tab.row("fold_napkin").click()
        tab.page.get_by_label("Reason").wait_for()
    for tab, reason in ((second, "theirs"), (first, "mine")):
        tab.page.get_by_label("Reason").fill(reason)
        tab.page.get_by_role("button", name="Dismiss x").click()
        if tab is second:
            tab.page.locator("#notices").get_by_text("Dismissed:").wait_for()
    problem = first.page.locator(".problem").filter(has_text="The finding was not dismissed")
    problem.get_by_text("theirs").wait_for()
    assert first.page.get_by_label("Reason").input_value() == "mine"


def _both(opened: Callable[..., Console], server: Up, place: str) -> tuple[Console, Console]:
    tabs = opened(server), opened(server)
    for tab in tabs:
        tab.open(place)
    return tabs


@pytest.fixture(scope="module")
def desk(processes: Processes) -> Iterator[Up]:
    """The examples, and suggestions, for two tabs."""
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        server = processes.up(Path(name) / "home", "--no-pump", **HASHING).ready()
        plant(server)
        yield server


CUT = """() => [...document.querySelectorAll('#page, #pages, header')].flatMap((place) => [...place.querySelectorAll(
  'a[href], button, input, select, textarea, summary, [tabindex="0"]')]).filter((one) => one.checkVisibility({
  checkVisibilityCSS: true }) && !one.disabled).flatMap((one) => {
    one.focus();
    if (document.activeElement !== one) return [];
    one.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const style = getComputedStyle(one);
    const drawn = style.outlineStyle !== 'none' ? parseFloat(style.outlineWidth) : 0;
    const around = getComputedStyle(one.parentElement, '::after'); // over rows, which would cover the list's own
    if (one.classList.contains('list') && parseFloat(around.borderTopWidth) > 0) return [];
    if (!drawn && style.boxShadow === 'none') return [`no ring: ${one.outerHTML.slice(0, 120)}`];
    const by = drawn + parseFloat(style.outlineOffset);
    const box = one.getBoundingClientRect();
    for (let over = one.parentElement; over; over = over.parentElement) {
      if (getComputedStyle(over).overflowX === 'visible') continue;
      const clip = over.getBoundingClientRect();
      const [left, right] = [clip.left + over.clientLeft, clip.left + over.clientLeft + over.clientWidth];
      if (box.width < over.clientWidth && (box.left - by < left - 0.5 && over.scrollLeft === 0
        || box.right + by > right + 0.5 && over.scrollLeft + over.clientWidth >= over.scrollWidth)
        || box.top - by < clip.top - 0.5 && over.scrollTop === 0 && box.bottom > clip.top)
        return [`${over.className || over.id}: ${one.outerHTML.slice(0, 120)}`];
    }
    return [];
  })"""
"""What has the focus by keys without a ring, or with one that a box around it cuts."""


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_ring_around_the_focus_is_cut(console: Console, size: Any) -> None:
    console.page.set_viewport_size(size)
    console.page.emulate_media(reduced_motion="reduce")
    found = {}
    for place in PAGES:
        console.open(place)
        console.page.get_by_text(PAGES[place][1]).first.wait_for()
        console.page.keyboard.press("Tab")
        found[place] = console.page.evaluate(CUT)
        moves = "() => document.getAnimations().filter((one) => one.playState === 'running').length"
        eventually(lambda moves=moves: console.page.evaluate(moves) == 0, f"nothing moves on {place} for long")
    cut = [f"{place}: {one}" for place, of in found.items() for one in of]
    assert not cut, "\n".join(cut)
